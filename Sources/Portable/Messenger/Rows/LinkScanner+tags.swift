extension LinkScanner {
  /// The end of a tag such as `#Größe_2`, at the beginning of a word: letters of any script, digits and `_`, a letter among them.
  /// What a server's name follows is the address of a room.
  static func tagEnd(_ bytes: Bytes, _ start: Int) -> Int? {
    guard start == 0 || mayComeBeforeTerm(bytes, start) else { return nil }
    var (end, hasLetter) = (start + 1, false)
    while end < bytes.count {
      let (value, next) = scalar(bytes, end)
      let isDigit = value >= 0x30 && value <= 0x39
      guard isDigit || value == 0x5F || isLetter(value) else { break }
      // Of joiners alone nobody sees anything.
      hasLetter = hasLetter || !isDigit && value != 0x5F && value | 1 != 0x200D
      end = next
    }
    if end + 1 < bytes.count, bytes[end] == 0x3A, isWord(bytes[end + 1]) || bytes[end + 1] == 0x5B { return nil }
    return hasLetter && (end == bytes.count || bytes[end] != 0x23) ? end : nil
  }

  /// Space, punctuation, or a byte that ends a character which is not a letter, such as `。`.
  static func mayComeBeforeTerm(_ bytes: Bytes, _ position: Int) -> Bool {
    let byte = bytes[position - 1]
    if byte >= 0x80 {
      var first = position - 1
      while first > 0, bytes[first] & 0xC0 == 0x80 { first -= 1 }
      return !isLetter(scalar(bytes, first).value)
    }
    switch byte {
    // # % & + - . / : = @ _
    case 0x23, 0x25, 0x26, 0x2B, 0x2D, 0x2E, 0x2F, 0x3A, 0x3D, 0x40, 0x5F: return false
    default: return !isWord(byte)
    }
  }

  /// A scalar of valid UTF-8, and where the next one begins.
  static func scalar(_ bytes: Bytes, _ start: Int) -> (value: UInt32, next: Int) {
    let first = bytes[start]
    guard first >= 0xC0 else { return (UInt32(first), start + 1) }
    let count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
    var value = UInt32(first) & (0x7F >> UInt32(count))
    for byte in bytes[(start + 1)..<min(start + count, bytes.count)] { value = value << 6 | UInt32(byte & 0x3F) }
    return (value, min(start + count, bytes.count))
  }

  /// By blocks, which need no tables: signs that stand among letters count as some.
  private static func isLetter(_ value: UInt32) -> Bool {
    switch value {
    case 0x41...0x5A, 0x61...0x7A, 0xAA, 0xB5, 0xBA: true
    // Multiplication, division; Greek, Armenian, Hebrew, Arabic and Indian punctuation.
    case 0xD7, 0xF7, 0x37E, 0x387, 0x55A...0x55F, 0x589...0x58A, 0x5BE, 0x5C0, 0x5C3, 0x5F3...0x5F4: false
    case 0x600...0x60F, 0x61B...0x61F, 0x66A...0x66D, 0x6D4, 0x964...0x965: false
    case 0xC0...0x1FFF: true
    // The joiners that Persian and Indian words are written with.
    case 0x200C, 0x200D: true
    // Ideographic punctuation, brackets, the dot between words.
    case 0x3000...0x3004, 0x3008...0x3020, 0x3030, 0x303D, 0x30FB: false
    case 0x2E80...0xD7FF, 0xF900...0xFDFF, 0xFE70...0xFEFE: true
    // In full width.
    case 0xFF10...0xFF19, 0xFF21...0xFF3A, 0xFF41...0xFF5A, 0xFF66...0xFFDC: true
    case 0x10000...0x1CFFF, 0x20000...0x3FFFF: true
    default: false
    }
  }
}
