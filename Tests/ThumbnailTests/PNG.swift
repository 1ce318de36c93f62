/// The smallest PNG writer there is: deflate without compression, so that every byte is known.
enum PNG {
  enum Colour: UInt8 {
    case grey = 0
    case colour = 2
    case colourAlpha = 6

    var channels: Int {
      switch self {
      case .grey: 1
      case .colour: 3
      case .colourAlpha: 4
      }
    }
  }

  /// An image of eight bits a channel; `pixel(x, y)` gives its channels.
  static func encode(width: Int, height: Int, colour: Colour, pixel: (Int, Int) -> [UInt8]) -> [UInt8] {
    var rows: [UInt8] = []
    rows.reserveCapacity(height * (1 + width * colour.channels))
    for y in 0..<height {
      rows.append(0)
      for x in 0..<width { rows += pixel(x, y) }
    }
    return file(width: width, height: height, depth: 8, colour: colour, rows: rows)
  }

  /// Black, one bit a pixel: many pixels in few bytes.
  static func black(width: Int, height: Int) -> [UInt8] {
    let rows = [UInt8](repeating: 0, count: height * (1 + (width + 7) / 8))
    return file(width: width, height: height, depth: 1, colour: .grey, rows: rows)
  }

  /// Claims a size in its header and has nothing to show for it.
  static func headerOnly(width: Int, height: Int) -> [UInt8] {
    file(width: width, height: height, depth: 8, colour: .colour, rows: [])
  }

  private static func file(width: Int, height: Int, depth: UInt8, colour: Colour, rows: [UInt8]) -> [UInt8] {
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
      + chunk("IHDR", bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [depth, colour.rawValue, 0, 0, 0])
      + chunk("IDAT", stored(rows)) + chunk("IEND", [])
  }

  /// RFC 1950 around RFC 1951 §3.2.4.
  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = [0x78, 0x01]
    var start = 0
    repeat {
      let end = min(start + 65_535, bytes.count)
      let length = UInt16(end - start)
      result.append(end == bytes.count ? 1 : 0)
      for value in [length, ~length] { result += [UInt8(value & 0xFF), UInt8(value >> 8)] }
      result += bytes[start..<end]
      start = end
    } while start < bytes.count
    var a: UInt32 = 1
    var b: UInt32 = 0
    for byte in bytes {
      a = (a + UInt32(byte)) % 65_521
      b = (b + a) % 65_521
    }
    return result + bigEndian(b << 16 | a)
  }

  private static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
    let named = Array(type.utf8) + body
    return bigEndian(UInt32(body.count)) + named + bigEndian(checksum(named))
  }

  private static let checksumTable: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
  }

  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(0xFFFF_FFFF) { checksumTable[Int(($0 ^ UInt32($1)) & 0xFF)] ^ ($0 >> 8) }
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] {
    [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
  }
}
