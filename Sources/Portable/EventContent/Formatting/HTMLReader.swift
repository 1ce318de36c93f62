/// Splits HTML into tags and text in one pass. It never fails: what is no tag is text. O(bytes).
package struct HTMLReader {
  package struct Attribute {
    let name: Range<Int>
    let value: Range<Int>
  }

  package enum Token {
    /// Undecoded.
    case text(Range<Int>)
    /// nil for an element that is not known; `attributes` are the reader's until the next token.
    case start(HTMLTag?)
    case end(HTMLTag?)
  }

  let bytes: [UInt8]
  private(set) var attributes: [Attribute] = []
  private var position = 0
  /// A tag or comment without an end was seen: behind it everything is text, so that no byte is looked at again and again.
  private var isOnlyText = false

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  package mutating func next() -> Token? {
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "<"), !isOnlyText {
        let start = position
        if let token = readTag() { return token }
        if position > start { continue }
        position += 1
        return text(from: start)
      }
      return text(from: position)
    }
    return nil
  }

  /// The characters of a text token.
  package func characters(_ range: Range<Int>) -> [UInt8] { HTMLEntities.decode(bytes[range]) }

  /// What the element that was just started says in that attribute, decoded; nil where it says nothing that is allowed.
  package func value(of wanted: HTMLAttribute, in tag: HTMLTag) -> [UInt8]? {
    let found = attributes.first { HTMLAttribute(name: bytes[$0.name], of: tag) == wanted }
    return found.flatMap { wanted.accepted(HTMLEntities.decode(bytes[$0.value])) }
  }

  private mutating func text(from start: Int) -> Token {
    while position < bytes.count, isOnlyText || bytes[position] != UInt8(ascii: "<") { position += 1 }
    return .text(start..<position)
  }

  /// nil with `position` moved: something without content. nil where it stays: no tag.
  private mutating func readTag() -> Token? {
    guard position + 1 < bytes.count else { return nil }
    switch bytes[position + 1] {
    case UInt8(ascii: "!"), UInt8(ascii: "?"):
      skipComment()
      return nil
    case UInt8(ascii: "/"):
      guard position + 2 < bytes.count, HTMLReader.isLetter(bytes[position + 2]) else { return nil }
      guard let name = readTagBody(from: position + 2) else { return nil }
      return .end(HTMLTag(name: bytes[name]))
    case let byte where HTMLReader.isLetter(byte):
      guard let name = readTagBody(from: position + 1) else { return nil }
      let tag = HTMLTag(name: bytes[name])
      if let tag, tag.isRaw { skipRaw(tag) }
      return .start(tag)
    default: return nil
    }
  }

  /// Name and attributes up to `>`; nil where none comes.
  private mutating func readTagBody(from start: Int) -> Range<Int>? {
    attributes = []
    var i = start
    while i < bytes.count, !isSpace(bytes[i]), bytes[i] != UInt8(ascii: ">"), bytes[i] != UInt8(ascii: "/") { i += 1 }
    let name = start..<i
    while i < bytes.count {
      if bytes[i] == UInt8(ascii: ">") {
        position = i + 1
        return name
      }
      if isSpace(bytes[i]) || bytes[i] == UInt8(ascii: "/") { i += 1 } else { readAttribute(&i) }
    }
    isOnlyText = true
    return nil
  }

  private mutating func readAttribute(_ i: inout Int) {
    let start = i
    i += 1
    while i < bytes.count, !isSpace(bytes[i]), !isEnd(bytes[i]), bytes[i] != UInt8(ascii: "=") { i += 1 }
    let name = start..<i
    var value = i..<i
    var next = i
    while next < bytes.count, isSpace(bytes[next]) { next += 1 }
    if next < bytes.count, bytes[next] == UInt8(ascii: "=") {
      i = next + 1
      while i < bytes.count, isSpace(bytes[i]) { i += 1 }
      value = readValue(&i)
    }
    if attributes.count < ContentLimits.htmlAttributes { attributes.append(Attribute(name: name, value: value)) }
  }

  private func readValue(_ i: inout Int) -> Range<Int> {
    guard i < bytes.count else { return i..<i }
    let quote = bytes[i]
    guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      let start = i
      while i < bytes.count, !isSpace(bytes[i]), bytes[i] != UInt8(ascii: ">") { i += 1 }
      return start..<i
    }
    let start = i + 1
    i = start
    while i < bytes.count, bytes[i] != quote { i += 1 }
    let value = start..<i
    if i < bytes.count { i += 1 }
    return value
  }

  private mutating func skipComment() {
    let isComment = bytes[position...].starts(with: "<!--".utf8)
    var i = position + (isComment ? 4 : 2)
    while i < bytes.count {
      if bytes[i] == UInt8(ascii: ">"), !isComment || (bytes[i - 1] == UInt8(ascii: "-") && bytes[i - 2] == UInt8(ascii: "-")) {
        position = i + 1
        return
      }
      i += 1
    }
    isOnlyText = true
  }

  /// Skips to the end tag, which comes next, or to the end of the text if there is no end tag.
  private mutating func skipRaw(_ tag: HTMLTag) {
    let count = tag.name.utf8CodeUnitCount
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "<"), position + 2 + count <= bytes.count, bytes[position + 1] == UInt8(ascii: "/"),
        HTMLReader.isName(bytes[(position + 2)..<(position + 2 + count)], tag.name)
      {
        return
      }
      position += 1
    }
  }

  // MARK: Bytes

  /// ASCII letters of either case are the same.
  static func isName(_ bytes: ArraySlice<UInt8>, _ name: StaticString) -> Bool {
    guard bytes.count == name.utf8CodeUnitCount else { return false }
    var i = 0
    for byte in bytes {
      if lowercased(byte) != name.utf8Start[i] { return false }
      i += 1
    }
    return true
  }

  static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 0x20 : byte }

  static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 97 < 26 }

  private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 9 && byte <= 13) }
  private func isEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") }
}
