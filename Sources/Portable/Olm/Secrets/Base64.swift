/// Unpadded base64, without tables and branches on what it encodes: secret keys are written in it, too. Its arithmetic wraps, as a check for overflow
/// is a branch, though one that is never taken. RFC 4648, §4.
package enum Base64 {
  package static func encode(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 4 + 2) / 3)
    var bits: UInt32 = 0
    var bitCount: UInt32 = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      bitCount += 8
      while bitCount >= 6 {
        bitCount -= 6
        text.append(letter(of: bits >> bitCount & 63))
      }
    }
    if bitCount > 0 { text.append(letter(of: bits << (6 - bitCount) & 63)) }
    return text
  }

  /// Reads text with or without padding. nil if it is not base64, or has bits behind its last byte that are not zero: no two texts
  /// are the same bytes then.
  package static func decode(_ text: [UInt8]) -> [UInt8]? {
    var end = text.count
    while end > 0, text.count - end < 2, text[end - 1] == UInt8(ascii: "=") { end -= 1 }
    guard end % 4 != 1, end == text.count || text.count % 4 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(end * 3 / 4)
    var bits: UInt32 = 0
    var bitCount: UInt32 = 0
    // Negative as soon as one letter was not of the alphabet.
    var wrong: Int32 = 0
    for letter in text[..<end] {
      let value = value(of: letter)
      wrong |= value
      bits = bits << 6 | UInt32(truncatingIfNeeded: value & 63)
      bitCount += 6
      guard bitCount >= 8 else { continue }
      bitCount -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
    }
    return wrong >= 0 && bits & (1 << bitCount - 1) == 0 ? bytes : nil
  }

  /// The same with `-` and `_` in the place of `+` and `/`. RFC 4648, §5.
  package static func encodeForURL(_ bytes: [UInt8]) -> [UInt8] {
    encode(bytes).map { letter in
      let letter = Int32(letter)
      let minus = isIn(0x2B, 0x2B, letter) & (0x2D - 0x2B), underscore = isIn(0x2F, 0x2F, letter) & (0x5F - 0x2F)
      return UInt8(truncatingIfNeeded: letter &+ minus &+ underscore)
    }
  }

  /// Reads either alphabet: `-` is `+`, `_` is `/`.
  package static func decodeFromURL(_ text: [UInt8]) -> [UInt8]? {
    decode(
      text.map { letter in
        let letter = Int32(letter)
        let plus = isIn(0x2D, 0x2D, letter) & (0x2B - 0x2D), slash = isIn(0x5F, 0x5F, letter) & (0x2F - 0x5F)
        return UInt8(truncatingIfNeeded: letter &+ plus &+ slash)
      })
  }

  private static func letter(of value: UInt32) -> UInt8 {
    let value = Int32(truncatingIfNeeded: value)
    var letter = value &+ 0x41
    letter &+= isIn(26, 51, value) & (0x61 - 26 - 0x41)
    letter &+= isIn(52, 61, value) & (0x30 - 52 - 0x41)
    letter &+= isIn(62, 62, value) & (0x2B - 62 - 0x41)
    letter &+= isIn(63, 63, value) & (0x2F - 63 - 0x41)
    return UInt8(truncatingIfNeeded: letter)
  }

  /// -1 if the letter is not of the alphabet.
  private static func value(of letter: UInt8) -> Int32 {
    let letter = Int32(letter)
    var value: Int32 = -1
    value &+= isIn(0x41, 0x5A, letter) & (letter &- 0x40)
    value &+= isIn(0x61, 0x7A, letter) & (letter &- 0x46)
    value &+= isIn(0x30, 0x39, letter) & (letter &+ 5)
    value &+= isIn(0x2B, 0x2B, letter) & 63
    value &+= isIn(0x2F, 0x2F, letter) & 64
    return value
  }

  /// All ones if the value lies between the two, else zero, by the signs of differences.
  private static func isIn(_ low: Int32, _ high: Int32, _ value: Int32) -> Int32 {
    ((low &- 1 &- value) & (value &- high &- 1)) >> 31
  }
}
