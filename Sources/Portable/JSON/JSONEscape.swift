/// Backslash escapes of JSON strings (RFC 8259 §7).
enum JSONEscape {
  /// `p[at]` is a backslash: the offset behind the escape, a surrogate pair being one escape.
  static func check(_ p: UnsafePointer<UInt8>, _ count: Int, at: Int) throws(JSONError) -> Int {
    guard at + 1 < count else { throw JSONError(.syntax, at: at) }
    switch p[at + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return at + 2
    case UInt8(ascii: "u"):
      guard let unit = unit(p, count, at: at + 2) else { throw JSONError(.syntax, at: at) }
      if unit & 0xF800 != 0xD800 { return at + 6 }
      guard unit < 0xDC00, at + 8 <= count, p[at + 6] == UInt8(ascii: "\\"), p[at + 7] == UInt8(ascii: "u"),
        let low = self.unit(p, count, at: at + 8), low & 0xFC00 == 0xDC00
      else { throw JSONError(.encoding, at: at) }
      return at + 12
    default:
      throw JSONError(.syntax, at: at)
    }
  }

  /// The UTF-8 bytes of a string's inside, already checked by the parser.
  static func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    guard let p = bytes.baseAddress else { return [] }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var i = 0
    while i < bytes.count {
      guard p[i] == UInt8(ascii: "\\"), i + 1 < bytes.count else {
        result.append(p[i])
        i += 1
        continue
      }
      let escape = p[i + 1]
      i += 2
      switch escape {
      case UInt8(ascii: "b"): result.append(0x08)
      case UInt8(ascii: "f"): result.append(0x0C)
      case UInt8(ascii: "n"): result.append(0x0A)
      case UInt8(ascii: "r"): result.append(0x0D)
      case UInt8(ascii: "t"): result.append(0x09)
      case UInt8(ascii: "u"):
        var scalar = unit(p, bytes.count, at: i) ?? 0xFFFD
        i += 4
        if scalar & 0xFC00 == 0xD800 {
          scalar = 0x10000 + (scalar & 0x3FF) << 10 + (unit(p, bytes.count, at: i + 2) ?? 0) & 0x3FF
          i += 6
        }
        append(scalar, to: &result)
      default: result.append(escape)
      }
    }
    return result
  }

  private static func unit(_ p: UnsafePointer<UInt8>, _ count: Int, at: Int) -> UInt32? {
    guard at + 4 <= count else { return nil }
    var value: UInt32 = 0
    for i in at..<at + 4 {
      switch p[i] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(p[i] - UInt8(ascii: "0"))
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(p[i] - UInt8(ascii: "A") + 10)
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(p[i] - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return value
  }

  private static func append(_ scalar: UInt32, to result: inout [UInt8]) {
    switch scalar {
    case 0..<0x80:
      result.append(UInt8(truncatingIfNeeded: scalar))
    case 0x80..<0x800:
      result.append(UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6))
      result.append(UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F))
    case 0x800..<0x10000:
      result.append(UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12))
      result.append(UInt8(truncatingIfNeeded: 0x80 | scalar >> 6 & 0x3F))
      result.append(UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F))
    default:
      result.append(UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18))
      result.append(UInt8(truncatingIfNeeded: 0x80 | scalar >> 12 & 0x3F))
      result.append(UInt8(truncatingIfNeeded: 0x80 | scalar >> 6 & 0x3F))
      result.append(UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F))
    }
  }
}
