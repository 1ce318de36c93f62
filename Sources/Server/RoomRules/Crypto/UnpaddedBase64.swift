/// Base64 without `=`, in the standard and the URL-safe alphabet.
///
/// Spec: Appendices, "Unpadded Base64" and "URL-safe unpadded Base64".
package enum UnpaddedBase64 {
  package enum Alphabet: Sendable { case standard, urlSafe }

  package static func encode(_ bytes: some Collection<UInt8>, _ alphabet: Alphabet = .standard) -> [UInt8] {
    let table = alphabet == .standard ? standardTable : urlSafeTable
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 4 + 2) / 3)
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        text.append(table[Int(bits >> UInt32(count) & 63)])
      }
    }
    if count > 0 { text.append(table[Int(bits << UInt32(6 - count) & 63)]) }
    return text
  }

  /// Reads either alphabet, with or without padding. nil for other bytes and impossible lengths.
  ///
  /// Bits behind the last whole byte are ignored, as signatures in old rooms need it.
  package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count * 3 / 4)
    var bits: UInt32 = 0
    var count = 0
    var digits = 0
    var padding = 0
    for byte in text {
      if byte == UInt8(ascii: "=") {
        padding += 1
        continue
      }
      guard padding == 0, let digit = digit(byte) else { return nil }
      bits = bits << 6 | UInt32(digit)
      digits += 1
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    guard digits % 4 != 1, padding == 0 || (digits + padding) % 4 == 0 && padding <= 2 else { return nil }
    return bytes
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }

  private static let standardTable = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let urlSafeTable = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
