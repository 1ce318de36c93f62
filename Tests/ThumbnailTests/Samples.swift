import Glibc

/// Images made for the tests.
enum Samples {
  /// A file of `Pictures`, which the cameras of phones or other programs made.
  static func picture(_ name: String) -> [UInt8] {
    let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
    guard let file = fopen("/\(folder)/Pictures/\(name)", "r") else { return [] }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes[..<count])
  }

  /// Left half red, right half blue.
  static func halves(width: Int, height: Int) -> [UInt8] {
    PNG.encode(width: width, height: height, colour: .colour) { x, _ in x < width / 2 ? [255, 0, 0] : [0, 0, 255] }
  }

  static func transparent(width: Int, height: Int) -> [UInt8] {
    PNG.encode(width: width, height: height, colour: .colourAlpha) { _, _ in [0, 255, 0, 100] }
  }

  /// A JPEG, as the program itself writes it.
  static func jpeg(width: Int, height: Int) -> [UInt8] {
    Program.run(["\(width)", "\(height)", "scale"], input: halves(width: width, height: height)).answer.body
  }

  /// The JPEG with an Exif segment that holds the orientation (1...8) and a camera name.
  static func turned(_ jpeg: [UInt8], orientation: UInt8) -> [UInt8] {
    let camera = Array("SECRETCAMERA\0".utf8)
    let directory: [UInt8] =
      [0, 2]
      + [0x01, 0x0F, 0, 2, 0, 0, 0, UInt8(camera.count), 0, 0, 0, 38]
      + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]
      + [0, 0, 0, 0]
    let body = Array("Exif\0\0".utf8) + [0x4D, 0x4D, 0, 42, 0, 0, 0, 8] + directory + camera
    let length = UInt16(body.count + 2)
    return jpeg[..<2] + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)] + body + jpeg[2...]
  }

  /// One pixel each.
  static let gif: [UInt8] =
    Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 255, 255, 255, 0, 0, 0]
    + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]
  static let webP: [UInt8] =
    Array("RIFF".utf8) + [0x1A, 0, 0, 0] + Array("WEBPVP8L".utf8)
    + [0x0D, 0, 0, 0, 0x2F, 0, 0, 0, 0x10, 0x07, 0x10, 0x11, 0x11, 0x88, 0x88, 0xFE, 0x07, 0]

  /// A GIF whose frames are one colour each, a tenth of a second long.
  static func animatedGIF(width: UInt8, height: UInt8, frames: Int) -> [UInt8] {
    let header = Array("GIF89a".utf8) + [width, 0, height, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]
    let pixels = Int(width) * Int(height)
    let repeated: [UInt8] = [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
    return header + repeated
      + (0..<frames).flatMap { frame -> [UInt8] in
        let control: [UInt8] = [0x21, 0xF9, 4, 4, 10, 0, 0, 0, 0x2C, 0, 0, 0, 0, width, 0, height, 0, 0, 2]
        return control + blocks(uncompressed(colour: frame % 2, count: pixels)) + [0]
      } + [0x3B]
  }

  /// LZW codes of 3 bits, a clear code before every two pixels so that they never grow.
  private static func uncompressed(colour: Int, count: Int) -> [UInt8] {
    var codes: [Int] = []
    for pixel in 0..<count {
      if pixel % 2 == 0 { codes.append(4) }
      codes.append(colour)
    }
    codes.append(5)
    var bytes: [UInt8] = []
    var (bits, bitCount) = (0, 0)
    for code in codes {
      bits |= code << bitCount
      bitCount += 3
      while bitCount >= 8 {
        bytes.append(UInt8(bits & 0xFF))
        bits >>= 8
        bitCount -= 8
      }
    }
    return bitCount > 0 ? bytes + [UInt8(bits)] : bytes
  }

  private static func blocks(_ bytes: [UInt8]) -> [UInt8] {
    stride(from: 0, to: bytes.count, by: 255).flatMap { start in
      let block = bytes[start..<min(bytes.count, start + 255)]
      return [UInt8(block.count)] + block
    }
  }

  /// The PNG with the chunk that says it is animated; its CRC is zero, which decoders pass over in a chunk they do not know.
  static func withAnimationChunk(_ png: [UInt8]) -> [UInt8] {
    let header = 8 + 25
    return png[..<header] + [0, 0, 0, 8] + Array("acTL".utf8) + [0, 0, 0, 2, 0, 0, 0, 0] + [0, 0, 0, 0] + png[header...]
  }

  static let scalableVector = Array(
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"><rect width=\"9\" height=\"9\"/></svg>".utf8)
  static let portableDocument = Array("%PDF-1.4\n1 0 obj\n<</Type/Catalog>>\nendobj\n%%EOF\n".utf8)
  static let portablePixmap = Array("P6\n2 2\n255\n123456789012".utf8)

  /// Bytes without meaning, the same at every run.
  static func noise(count: Int, seed: UInt64) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(state >> 56)
    }
  }
}
