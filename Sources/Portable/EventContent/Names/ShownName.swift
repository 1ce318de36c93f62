import JSON
import MatrixModel

/// Names that people and rooms give themselves, so that none passes for something else.
///
/// Spec: Client-Server API, "Calculating the display name for a user"; UTS #39 on what cannot be seen; UTR #36 on bidirectional text.
package enum ShownName {
  /// The name as a member or room event has it, cut to `ContentLimits.nameBytes`; nil without a name.
  package static func read(_ json: JSON?) -> ByteString? {
    guard let text = json?.text, !text.isEmpty else { return nil }
    guard text.count > ContentLimits.nameBytes else { return text }
    var end = ContentLimits.nameBytes
    while end > 0, text.utf8[end] & 0xC0 == 0x80 { end -= 1 }
    return ByteString(decoding: text.utf8[..<end])
  }

  /// What the eye sees of it: names with the same are hard to tell apart. Empty where it sees nothing.
  package static func visible(_ name: ByteString) -> ByteString {
    if isPlain(name), isTidy(name) { return name }
    var seen = String.UnicodeScalarView()
    var isApart = false
    for scalar in name.string.unicodeScalars {
      if isSpace(scalar) {
        isApart = !seen.isEmpty
      } else if !scalar.isControl, !isInvisible(scalar.value) {
        if isApart { seen.append(" ") }
        isApart = false
        seen.append(scalar)
      }
    }
    return ByteString(String(seen))
  }

  /// Whether another's user ID stands in it, or it says in which direction to read, or a mark makes one letter of two: which
  /// letters are the same only tables know.
  package static func isMisleading(_ name: ByteString, of user: UserID) -> Bool {
    if !isPlain(name), name.string.unicodeScalars.contains(where: { isDirection($0) || isMark($0.value) }) { return true }
    return name.utf8.contains(UInt8(ascii: "@")) && hasID(visible(name).utf8, otherThan: user.text.utf8)
  }

  // MARK: User IDs

  /// Readers cannot see where an ID ends in a text, so the text counts as having an ID as soon as a server name begins.
  private static func hasID(_ name: [UInt8], otherThan own: [UInt8]) -> Bool {
    var start: Int?
    for (index, byte) in name.enumerated() {
      switch byte {
      case UInt8(ascii: "@"): start = start ?? index
      case UInt8(ascii: " "): start = nil
      case UInt8(ascii: ":"):
        if let first = start, index > first + 1, index + 1 < name.count, isInServerName(name[index + 1]) {
          let rest = name[first...]
          if !rest.starts(with: own) { return true }
          // The own one and more is another.
          if let next = rest.dropFirst(own.count).first, isInServerName(next) { return true }
        }
        start = nil
      default: break
      }
    }
    return false
  }

  private static func isInServerName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "-")...UInt8(ascii: "."), UInt8(ascii: "0")...UInt8(ascii: ":"), UInt8(ascii: "A")...UInt8(ascii: "["),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }

  // MARK: Characters

  /// Printable ASCII alone.
  private static func isPlain(_ name: ByteString) -> Bool { name.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } }

  /// No two spaces together, and none outside.
  private static func isTidy(_ name: ByteString) -> Bool {
    var last: UInt8 = 0x20
    for byte in name.utf8 {
      if byte == 0x20, last == 0x20 { return false }
      last = byte
    }
    return last != 0x20
  }

  /// Of whatever width.
  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x20, 0xA0, 0x1680, 0x2000...0x200A, 0x202F, 0x205F, 0x2800, 0x3000: true
    default: scalar.breaksLine
    }
  }

  /// Accents and the like that go onto the letter before them.
  private static func isMark(_ scalar: UInt32) -> Bool { (0x300...0x36F).contains(scalar) }

  private static func isDirection(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isEmbedding || scalar == "\u{200E}" || scalar == "\u{200F}" || scalar == "\u{061C}"
  }

  /// Fillers, joiners, marks of direction, variation selectors, tags.
  private static func isInvisible(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B...0x180F, 0x200B...0x200F, 0x2060...0x206F, 0x3164,
      0xFE00...0xFE0F, 0xFEFF, 0xFFA0, 0xE0000...0xE0FFF:
      true
    default: false
    }
  }
}
