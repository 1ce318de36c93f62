/// Cuts a page in UTF-8 into tags and texts, in one pass. Source: HTML Standard §13.2.5.
struct HTMLScanner {
  enum Token {
    case text(Range<Int>)
    case start(HTMLTag)
    case end(HTMLTag)
    /// A comment, a declaration, or what is neither.
    case other
  }

  private let bytes: [UInt8]
  private(set) var position = 0
  /// The element whose content is text up to its end tag.
  private var textElement: String?

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Elements in which a tag is text.
  private static let textElements: Set<String> = [
    "script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"
  ]

  /// Tells that the element of the start tag before has begun.
  mutating func readText(of name: String) {
    if Self.textElements.contains(name) { textElement = name }
  }

  /// nil at the end.
  mutating func next() -> Token? {
    guard position < bytes.count else { return nil }
    let start = position
    if let name = textElement {
      textElement = nil
      position = endTag(of: Array(name.utf8)) ?? bytes.count
      if position > start { return .text(start..<position) }
    }
    while position < bytes.count, !isMarkup(at: position) { position += 1 }
    if position > start { return .text(start..<position) }
    return markup()
  }

  private func byte(_ index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }

  private func isMarkup(at index: Int) -> Bool {
    guard bytes[index] == UInt8(ascii: "<") else { return false }
    let next = byte(index + 1)
    return HTMLTag.isLetter(next) || [UInt8(ascii: "/"), UInt8(ascii: "!"), UInt8(ascii: "?")].contains(next)
  }

  private mutating func markup() -> Token {
    if HTMLTag.isLetter(byte(position + 1)) { return tag(at: position + 1).map { .start($0) } ?? .other }
    if byte(position + 1) == UInt8(ascii: "/"), HTMLTag.isLetter(byte(position + 2)) {
      return tag(at: position + 2).map { .end($0) } ?? .other
    }
    if bytes[position...].starts(with: "<!--".utf8) {
      skipComment()
    } else {
      position = bytes[position...].firstIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? bytes.count
    }
    return .other
  }

  /// nil for a tag that the page ends in.
  private mutating func tag(at start: Int) -> HTMLTag? {
    let tag = HTMLTag(bytes, at: start)
    position = tag?.end ?? bytes.count
    return tag
  }

  private mutating func skipComment() {
    position += 4
    if byte(position) == UInt8(ascii: ">") {
      position += 1
      return
    }
    while position < bytes.count {
      if byte(position) == UInt8(ascii: "-"), byte(position + 1) == UInt8(ascii: "-") {
        if byte(position + 2) == UInt8(ascii: ">") {
          position += 3
          return
        }
        if byte(position + 2) == UInt8(ascii: "!"), byte(position + 3) == UInt8(ascii: ">") {
          position += 4
          return
        }
      }
      position += 1
    }
  }

  private func endTag(of name: [UInt8]) -> Int? {
    var index = position
    while index + 2 + name.count <= bytes.count {
      if bytes[index] == UInt8(ascii: "<"), bytes[index + 1] == UInt8(ascii: "/"),
        bytes[(index + 2)..<(index + 2 + name.count)].elementsEqual(name, by: { HTMLTag.lowercased($0) == $1 }),
        HTMLTag.endsName(byte(index + 2 + name.count))
      {
        return index
      }
      index += 1
    }
    return nil
  }
}

/// Where the parts of one tag stand in a page.
struct HTMLTag {
  private let nameRange: Range<Int>
  private var attributes: [(name: Range<Int>, value: Range<Int>)] = []
  /// Whether it ends in `/>`.
  private(set) var isClosed = false
  /// The place behind it.
  private(set) var end: Int

  /// Bytes of a name that are looked at.
  private static let nameBytesLimit = 32

  /// - Parameter start: of its name.
  /// nil where the page ends before the tag.
  init?(_ bytes: [UInt8], at start: Int) {
    var index = start
    while index < bytes.count, !Self.endsName(bytes[index]) { index += 1 }
    nameRange = start..<index
    end = index
    while true {
      while index < bytes.count, Self.isBlank(bytes[index]) || bytes[index] == UInt8(ascii: "/") { index += 1 }
      guard index < bytes.count else { return nil }
      if bytes[index] == UInt8(ascii: ">") {
        isClosed = bytes[index - 1] == UInt8(ascii: "/")
        end = index + 1
        return
      }
      let attribute = Self.attribute(bytes, &index)
      if attributes.count < HTMLPage.attributesLimit { attributes.append(attribute) }
    }
  }

  private static func attribute(_ bytes: [UInt8], _ index: inout Int) -> (name: Range<Int>, value: Range<Int>) {
    let start = index
    index += 1
    while index < bytes.count, !endsName(bytes[index]), bytes[index] != UInt8(ascii: "=") { index += 1 }
    let name = start..<index
    skipBlanks(bytes, &index)
    guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else { return (name, index..<index) }
    index += 1
    skipBlanks(bytes, &index)
    guard index < bytes.count else { return (name, index..<index) }
    let quote = bytes[index]
    guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      let first = index
      while index < bytes.count, !isBlank(bytes[index]), bytes[index] != UInt8(ascii: ">") { index += 1 }
      return (name, first..<index)
    }
    let first = index + 1
    index = bytes[first...].firstIndex(of: quote) ?? bytes.count
    let value = first..<index
    if index < bytes.count { index += 1 }
    return (name, value)
  }

  private static func skipBlanks(_ bytes: [UInt8], _ index: inout Int) {
    while index < bytes.count, isBlank(bytes[index]) { index += 1 }
  }

  /// In lower case, its first bytes.
  func name(in bytes: [UInt8]) -> String {
    String(decoding: bytes[nameRange].prefix(Self.nameBytesLimit).map(Self.lowercased), as: UTF8.self)
  }

  /// Returns the place of the value of the first attribute with this name; nil if there is no such attribute.
  func value(of name: StaticString, in bytes: [UInt8]) -> Range<Int>? {
    name.withUTF8Buffer { name in
      attributes.first { bytes[$0.name].elementsEqual(name, by: { Self.lowercased($0) == $1 }) }?.value
    }
  }

  static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) && byte != 0x0B }

  static func endsName(_ byte: UInt8) -> Bool { isBlank(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">") }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
