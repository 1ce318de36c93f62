import JSON
import MatrixModel

/// Names that people and rooms give themselves, so that none passes for something else.
///
/// Spec: Client-Server API, "Calculating the display name for a user"; UTS #39 on what cannot be seen; UTR #36 on bidirectional text.
enum ShownName {
  /// The name as a member or room event has it, cut to `Limits.nameBytes`; nil where there is none.
  static func read(_ json: JSON?) -> ByteString? {
    guard let text = json?.text, !text.isEmpty else { return nil }
    guard text.count > Limits.nameBytes else { return text }
    var end = Limits.nameBytes
    while end > 0, text.utf8[end] & 0xC0 == 0x80 { end -= 1 }
    return ByteString(decoding: text.utf8[..<end])
  }

  /// Without what breaks the line, or turns around what stands behind the name.
  static func harmless(_ name: ByteString) -> ByteString { isPlain(name) ? name : filtered(name) { !isControl($0) } }

  /// What the eye sees of it: names with the same are hard to tell apart. Empty where it sees nothing.
  static func visible(_ name: ByteString) -> ByteString {
    trimmed(isPlain(name) ? name : filtered(name) { !isControl($0) && !isInvisible($0) })
  }

  /// Whether it can be taken for another's user ID, or says in which direction to read.
  static func isMisleading(_ name: ByteString, of user: UserID) -> Bool {
    if name.utf8.first == UInt8(ascii: "@") || !isPlain(name) {
      if let id = UserID(visible(name)), id != user { return true }
      return name.string.unicodeScalars.contains { isDirection($0.value) }
    }
    return false
  }

  // MARK: Characters

  /// Printable ASCII alone.
  private static func isPlain(_ name: ByteString) -> Bool { name.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } }

  private static func trimmed(_ name: ByteString) -> ByteString {
    guard name.utf8.first == 0x20 || name.utf8.last == 0x20 else { return name }
    var bytes = name.utf8[...]
    while bytes.first == 0x20 { bytes.removeFirst() }
    while bytes.last == 0x20 { bytes.removeLast() }
    return ByteString(decoding: bytes)
  }

  private static func filtered(_ name: ByteString, _ isKept: (UInt32) -> Bool) -> ByteString {
    let scalars = name.string.unicodeScalars
    if scalars.allSatisfy({ isKept($0.value) }) { return name }
    var kept = String.UnicodeScalarView()
    for scalar in scalars where isKept(scalar.value) { kept.append(scalar) }
    return ByteString(String(kept))
  }

  private static func isControl(_ scalar: UInt32) -> Bool {
    scalar < 0x20 || (0x7F...0x9F).contains(scalar) || scalar == 0x2028 || scalar == 0x2029 || isEmbedding(scalar)
  }

  /// Embeddings, overrides and isolates.
  private static func isEmbedding(_ scalar: UInt32) -> Bool {
    (0x202A...0x202E).contains(scalar) || (0x2066...0x2069).contains(scalar)
  }

  private static func isDirection(_ scalar: UInt32) -> Bool {
    isEmbedding(scalar) || scalar == 0x200E || scalar == 0x200F || scalar == 0x061C
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
