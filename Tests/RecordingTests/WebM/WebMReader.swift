/// Another reading of the format than the writer's: elements as a tree, for tests.
struct WebMElement {
  let id: UInt32
  let content: [UInt8]
  /// Of its identifier.
  let offset: Int
  let children: [WebMElement]

  static let masters: Set<UInt32> = [
    0x1A45_DFA3, 0x1853_8067, 0x114D_9B74, 0x4DBB, 0x1549_A966, 0x1654_AE6B, 0xAE, 0xE0, 0xE1, 0x1F43_B675, 0x1C53_BB6B, 0xBB,
    0xB7
  ]

  static func read(_ bytes: [UInt8], from start: Int = 0, to end: Int? = nil) -> [WebMElement] {
    var elements: [WebMElement] = []
    var offset = start
    let end = end ?? bytes.count
    while offset < end {
      let idWidth = bytes[offset].leadingZeroBitCount + 1
      let id = bytes[offset..<(offset + idWidth)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      let first = bytes[offset + idWidth]
      let width = first.leadingZeroBitCount + 1
      let raw = bytes[(offset + idWidth)..<(offset + idWidth + width)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let mask = UInt64(1) << UInt64(7 * width) - 1
      let content = offset + idWidth + width
      let count = raw & mask == mask ? end - content : Int(raw & mask)
      guard content + count <= end else { break }
      elements.append(
        WebMElement(
          id: id, content: Array(bytes[content..<(content + count)]), offset: offset,
          children: masters.contains(id) ? read(bytes, from: content, to: content + count) : []))
      offset = content + count
    }
    return elements
  }

  subscript(_ path: UInt32...) -> WebMElement? {
    var found: WebMElement? = self
    for id in path { found = found?.children.first { $0.id == id } }
    return found
  }

  func all(_ id: UInt32) -> [WebMElement] { children.filter { $0.id == id } }

  var number: UInt64 { content.reduce(0) { $0 << 8 | UInt64($1) } }
  var text: String { String(decoding: content, as: UTF8.self) }
  var float: Double { Double(bitPattern: number) }

  /// Of a cluster.
  var blocks: [(track: UInt8, time: Int64, isKey: Bool, bytes: [UInt8])] {
    let start = Int64(self[0xE7]?.number ?? 0)
    return all(0xA3).map { block in
      let time = Int16(bitPattern: UInt16(block.content[1]) << 8 | UInt16(block.content[2]))
      return (block.content[0] & 0x7F, start + Int64(time), block.content[3] & 0x80 != 0, Array(block.content[4...]))
    }
  }
}
