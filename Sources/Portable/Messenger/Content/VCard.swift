/// The first person in a contact file. Files come from strangers: unknown lines are skipped, and each part has a limit.
/// Sources: vCard 2.1 (versit Consortium), RFC 2426, RFC 6350.
public struct VCard: Sendable {
  /// Larger files are not read.
  public static let bytesLimit = 65_536
  /// Numbers, and addresses, that are shown.
  static let linesLimit = 10
  /// Bytes of each text.
  static let textLimit = 200

  public private(set) var name = ""
  public private(set) var organisation = ""
  public private(set) var numbers: [String] = []
  /// For mail.
  public private(set) var addresses: [String] = []

  /// nil where it is no card, or one that says nothing.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count <= VCard.bytesLimit else { return nil }
    var reader = LineReader(bytes)
    // Cards stand in cards: the agent of somebody.
    var depth = 0
    var structured = ""
    while let line = reader.next() {
      guard let property = Property(line, &reader) else { continue }
      if property.isNamed("BEGIN") { depth += 1 }
      if property.isNamed("END") { depth -= 1 }
      if depth <= 0, property.isNamed("END") { break }
      guard depth == 1 else { continue }
      if property.isNamed("VERSION") { reader.keepsFoldingSpace = property.value.first == 0x32 }
      if property.isNamed("FN"), name.utf8.isEmpty { name = property.text }
      if property.isNamed("N"), structured.utf8.isEmpty {
        let parts = property.parts
        structured = ((parts.count > 1 ? parts[1] + " " : "") + parts[0]).trimmed
      }
      if property.isNamed("ORG"), organisation.utf8.isEmpty {
        for part in property.parts.prefix(3) where !part.utf8.isEmpty {
          organisation += (organisation.utf8.isEmpty ? "" : ", ") + part
        }
      }
      if property.isNamed("TEL") { VCard.add(property.text, without: "tel:", to: &numbers) }
      if property.isNamed("EMAIL") { VCard.add(property.text, without: "mailto:", to: &addresses) }
    }
    if name.utf8.isEmpty { name = structured.utf8.isEmpty ? organisation : structured }
    if name.hasSameBytes(as: organisation) { organisation = "" }
    if name.utf8.isEmpty { name = addresses.first ?? numbers.first ?? "" }
    if name.utf8.isEmpty { return nil }
  }

  private static func add(_ text: String, without scheme: String, to list: inout [String]) {
    var bytes = Array(text.utf8)
    if bytes.count >= scheme.utf8.count, lower(bytes[..<scheme.utf8.count]) == Array(scheme.utf8) {
      bytes.removeFirst(scheme.utf8.count)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    guard !bytes.isEmpty, list.count < linesLimit, !list.contains(where: { $0.hasSameBytes(as: text) }) else { return }
    list.append(text)
  }

  fileprivate static func lower(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    bytes.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }
  }

  // MARK: Where they lead

  /// Calls the number; nil where it has too few digits to be one.
  public static func url(ofNumber text: String) -> String? {
    var digits: [UInt8] = []
    for byte in Array(text.utf8) {
      // An extension, or a parameter.
      if byte == 0x3B || byte | 0x20 == 0x78 { break }
      if byte >= 0x30 && byte <= 0x39 || byte == 0x2B && digits.isEmpty { digits.append(byte) }
    }
    return digits.count >= 3 && digits.count <= 16 ? "tel:" + String(decoding: digits, as: UTF8.self) : nil
  }

  /// Returns a `mailto:` URL; nil if the text is not an address or says more than an address.
  public static func url(ofAddress text: String) -> String? {
    var signs = 0
    for byte in Array(text.utf8) {
      switch byte {
      case 0x40: signs += 1
      case 0x2B, 0x2D, 0x2E, 0x5F, 0x30...0x39, 0x41...0x5A, 0x61...0x7A: break
      default: return nil
      }
    }
    return signs == 1 && text.utf8.first != 0x40 && text.utf8.last != 0x40 ? "mailto:" + text : nil
  }
}

/// Lines without their ends, each with those that are folded into it.
private struct LineReader {
  private let bytes: [UInt8]
  private var position = 0
  /// Version 2.1 folds lines at spaces that belong to the text.
  var keepsFoldingSpace = false

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func next() -> [UInt8]? {
    guard position < bytes.count else { return nil }
    var line: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == 0x0A {
        guard position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 else { break }
        if !keepsFoldingSpace { position += 1 }
      } else if byte != 0x0D {
        line.append(byte)
      }
    }
    return line
  }
}

/// `group.NAME;parameters:value`.
private struct Property {
  /// In lower case.
  private let name: [UInt8]
  let value: [UInt8]

  init?(_ line: [UInt8], _ reader: inout LineReader) {
    var isQuoted = false
    var colon: Int?
    for (index, byte) in line.enumerated() {
      if byte == 0x22 { isQuoted.toggle() }
      if byte == 0x3A, !isQuoted {
        colon = index
        break
      }
    }
    guard let colon else { return nil }
    let fields = line[..<colon].split(separator: 0x3B, omittingEmptySubsequences: false)
    let first = fields[0]
    name = VCard.lower(first[(first.lastIndex(of: 0x2E).map { $0 + 1 } ?? first.startIndex)...])
    var value = Array(line[(colon + 1)...])
    let printable = Array("quoted-printable".utf8)
    for field in fields.dropFirst() where VCard.lower(field.suffix(printable.count)) == printable {
      // Its lines go on behind a sign at their end.
      while value.last == 0x3D, let more = reader.next() {
        value.removeLast()
        value += more
      }
      value = Property.decoded(value)
      break
    }
    self.value = value
  }

  func isNamed(_ word: StaticString) -> Bool {
    word.withUTF8Buffer { buffer in
      guard buffer.count == name.count else { return false }
      for (index, byte) in buffer.enumerated() where byte | 0x20 != name[index] { return false }
      return true
    }
  }

  /// RFC 2045, section 6.7.
  private static func decoded(_ value: [UInt8]) -> [UInt8] {
    var decoded: [UInt8] = []
    var position = 0
    while position < value.count {
      if value[position] == 0x3D, position + 2 < value.count, let high = digit(value[position + 1]),
        let low = digit(value[position + 2])
      {
        decoded.append(high << 4 | low)
        position += 3
      } else {
        // Before a space it is the end of a line that goes on in the next one.
        let goesOn = value[position] == 0x3D && position + 1 < value.count && value[position + 1] == 0x20
        if !goesOn { decoded.append(value[position]) }
        position += 1
      }
    }
    return decoded
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
  }

  var text: String { read(splits: false)[0] }

  /// Between semicolons; at least one.
  var parts: [String] { read(splits: true) }

  /// Without escapes, in one line.
  private func read(splits: Bool) -> [String] {
    var parts: [String] = []
    var part: [UInt8] = []
    var isEscaped = false
    for byte in value {
      if byte == 0x5C, !isEscaped {
        isEscaped = true
        continue
      }
      if byte == 0x3B, splits, !isEscaped {
        parts.append(Property.bounded(part))
        part = []
      } else {
        part.append(isEscaped && byte | 0x20 == 0x6E || byte < 0x20 || byte == 0x7F ? 0x20 : byte)
      }
      isEscaped = false
    }
    parts.append(Property.bounded(part))
    return parts
  }

  private static func bounded(_ bytes: [UInt8]) -> String {
    var end = min(bytes.count, VCard.textLimit)
    if end < bytes.count { while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 } }
    return String(decoding: bytes[..<end], as: UTF8.self).trimmed
  }
}
