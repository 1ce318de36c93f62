/// Percent-decoding. RFC 3986 §2.1.
enum PercentCoding {
  /// The text of a path segment or query component; nil when a `%` is not followed by two digits or the bytes are no UTF-8.
  static func decode(_ bytes: ArraySlice<UInt8>, plusIsBlank: Bool = false) -> String? {
    let needsWork = bytes.contains { $0 == UInt8(ascii: "%") || (plusIsBlank && $0 == UInt8(ascii: "+")) }
    guard needsWork else { return String(validating: bytes, as: UTF8.self) }
    guard let decoded = decodedBytes(bytes, plusIsBlank: plusIsBlank) else { return nil }
    return String(validating: decoded, as: UTF8.self)
  }

  static func decodedBytes(_ bytes: ArraySlice<UInt8>, plusIsBlank: Bool = false) -> [UInt8]? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      if byte == UInt8(ascii: "%") {
        guard bytes.endIndex - index > 2, let high = digit(bytes[index + 1]), let low = digit(bytes[index + 2]) else {
          return nil
        }
        decoded.append(high << 4 | low)
        index += 3
      } else {
        decoded.append(plusIsBlank && byte == UInt8(ascii: "+") ? 32 : byte)
        index += 1
      }
    }
    return decoded
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 48...57: byte - 48
    case 65...70: byte - 55
    case 97...102: byte - 87
    default: nil
    }
  }
}
