/// Characters that stand in HTML under a name or a number.
enum HTMLEntities {
  /// The bytes with what is known decoded; anything else stays as it is. Controls are left out.
  static func decode(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var i = bytes.startIndex
    while i < bytes.endIndex {
      if bytes[i] == UInt8(ascii: "&"), let (scalar, end) = entity(bytes, at: i) {
        UTF8.encode(scalar) { decoded.append($0) }
        i = end
      } else {
        if isShown(bytes[i]) { decoded.append(bytes[i]) }
        i += 1
      }
    }
    return decoded
  }

  /// Text that means itself.
  static func escape(_ bytes: ArraySlice<UInt8>, to out: inout [UInt8]) {
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "&"): out += "&amp;".utf8
      case UInt8(ascii: "<"): out += "&lt;".utf8
      case UInt8(ascii: ">"): out += "&gt;".utf8
      case UInt8(ascii: "\""): out += "&quot;".utf8
      default: if isShown(byte) { out.append(byte) }
      }
    }
  }

  private static func isShown(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == 9 || byte == 10 }

  private static func entity(_ bytes: ArraySlice<UInt8>, at start: Int) -> (Unicode.Scalar, end: Int)? {
    let name = bytes[(start + 1)...].prefix(10).prefix { $0 != UInt8(ascii: ";") }
    guard !name.isEmpty, name.endIndex < bytes.endIndex, bytes[name.endIndex] == UInt8(ascii: ";") else { return nil }
    if name.first == UInt8(ascii: "#") {
      return number(name.dropFirst()).map { ($0, name.endIndex + 1) }
    }
    return scalar(named: name).map { ($0, name.endIndex + 1) }
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Unicode.Scalar? {
    let isHexadecimal = digits.first.map { $0 | 0x20 == UInt8(ascii: "x") } ?? false
    let text = String(decoding: isHexadecimal ? digits.dropFirst() : digits, as: UTF8.self)
    guard let value = UInt32(text, radix: isHexadecimal ? 16 : 10) else { return nil }
    guard let scalar = Unicode.Scalar(value), value >= 0x20 || value == 9 || value == 10, value != 0x7F else {
      return "\u{FFFD}"
    }
    return scalar
  }

  private static func scalar(named name: ArraySlice<UInt8>) -> Unicode.Scalar? {
    for (known, scalar) in names where name.count == known.utf8CodeUnitCount {
      if name.elementsEqual(UnsafeBufferPointer(start: known.utf8Start, count: known.utf8CodeUnitCount)) { return scalar }
    }
    return nil
  }

  private static var names: [(StaticString, Unicode.Scalar)] {
    [
      ("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("nbsp", "\u{A0}"), ("hellip", "…"),
      ("mdash", "—"), ("ndash", "–"), ("lsquo", "‘"), ("rsquo", "’"), ("ldquo", "“"), ("rdquo", "”"), ("laquo", "«"),
      ("raquo", "»"), ("bull", "•"), ("middot", "·"), ("copy", "©"), ("reg", "®"), ("trade", "™"), ("deg", "°"), ("euro", "€"),
      ("times", "×"), ("rarr", "→"), ("larr", "←")
    ]
  }
}
