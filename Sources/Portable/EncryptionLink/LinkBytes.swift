import JSON

/// Why bytes are no message of this link.
package enum LinkError: Error, Equatable {
  case cutOff
  /// Something follows the message.
  case tooLong
  case unknownKind
}

/// Numbers little-endian; texts and bytes after their count, lists after the count of their elements.
struct LinkWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write(kind: UInt8) { bytes.append(kind) }
  mutating func write(_ flag: Bool) { bytes.append(flag ? 1 : 0) }
  mutating func write(_ number: Int64) { write(UInt64(bitPattern: number)) }

  mutating func write(_ number: UInt32) {
    for shift: UInt32 in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  mutating func write(_ number: UInt64) {
    write(UInt32(truncatingIfNeeded: number))
    write(UInt32(truncatingIfNeeded: number >> 32))
  }

  mutating func write(_ content: [UInt8]) {
    write(UInt32(content.count))
    bytes += content
  }

  mutating func write(_ text: ByteString) {
    write(UInt32(text.utf8.count))
    bytes += text.utf8
  }

  mutating func write(_ record: LinkRecord) {
    write(record.key)
    write(record.value)
  }

  mutating func write(_ records: [LinkRecord]) { write(records) { $0.write($1) } }

  mutating func write<Element>(_ elements: [Element], _ body: (inout Self, Element) -> Void) {
    write(UInt32(elements.count))
    for element in elements { body(&self, element) }
  }
}

struct LinkReader {
  private let source: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { source = bytes }

  func end() throws(LinkError) {
    guard position == source.count else { throw .tooLong }
  }

  mutating func byte() throws(LinkError) -> UInt8 {
    guard position < source.count else { throw .cutOff }
    defer { position += 1 }
    return source[position]
  }

  mutating func flag() throws(LinkError) -> Bool {
    switch try byte() {
    case 0: false
    case 1: true
    default: throw .unknownKind
    }
  }

  mutating func uint32() throws(LinkError) -> UInt32 {
    var number: UInt32 = 0
    for shift: UInt32 in [0, 8, 16, 24] { number |= UInt32(try byte()) << shift }
    return number
  }

  mutating func uint64() throws(LinkError) -> UInt64 {
    let low = try uint32()
    return UInt64(low) | UInt64(try uint32()) << 32
  }

  mutating func int64() throws(LinkError) -> Int64 { Int64(bitPattern: try uint64()) }

  mutating func bytes() throws(LinkError) -> [UInt8] {
    let count = try uint32()
    guard count <= source.count - position else { throw .cutOff }
    defer { position += Int(count) }
    return Array(source[position..<position + Int(count)])
  }

  mutating func text() throws(LinkError) -> ByteString { ByteString(decoding: try bytes()) }

  mutating func record() throws(LinkError) -> LinkRecord { LinkRecord(key: try text(), value: try bytes()) }

  mutating func records() throws(LinkError) -> [LinkRecord] { try list { (one) throws(LinkError) in try one.record() } }

  mutating func list<Element>(_ element: (inout Self) throws(LinkError) -> Element) throws(LinkError) -> [Element] {
    let count = try uint32()
    // Every element has a byte at least.
    guard count <= source.count - position else { throw .cutOff }
    var elements: [Element] = []
    for _ in 0..<count { elements.append(try element(&self)) }
    return elements
  }
}
