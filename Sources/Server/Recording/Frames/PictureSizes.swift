import MediaRouter

struct PictureSize: Equatable {
  let width: Int
  let height: Int

  /// nil for one without pixels, or with too many.
  init?(_ width: Int, _ height: Int) {
    guard width > 0, height > 0, width <= FrameAssembler.picturePixelsLimit / height else { return nil }
    self.width = width
    self.height = height
  }
}

enum VP8Picture {
  /// Of a key frame. RFC 6386 §9.1.
  static func size(_ frame: [UInt8]) -> PictureSize? {
    guard frame.count >= 10, frame[0] & 1 == 0, Array(frame[3..<6]) == [0x9D, 0x01, 0x2A] else { return nil }
    return PictureSize(Int(frame[6]) | Int(frame[7] & 0x3F) << 8, Int(frame[8]) | Int(frame[9] & 0x3F) << 8)
  }
}

enum VP9Picture {
  /// Of a key frame. VP9 bitstream specification §6.2.
  static func size(_ frame: [UInt8]) -> PictureSize? {
    let bytes = frame.span.bytes
    var bits = BitReader(bytes)
    guard bits.read(2, of: bytes) == 2, let low = bits.read(1, of: bytes), let high = bits.read(1, of: bytes) else {
      return nil
    }
    let profile = high << 1 | low
    if profile == 3 { _ = bits.read(1, of: bytes) }
    // No frame that was shown before, a key frame; then whether it is shown and resilient, and the start code.
    guard bits.read(1, of: bytes) == 0, bits.read(1, of: bytes) == 0, bits.read(2, of: bytes) != nil,
      bits.read(24, of: bytes) == 0x49_8342
    else { return nil }
    if profile >= 2 { _ = bits.read(1, of: bytes) }
    guard let space = bits.read(3, of: bytes) else { return nil }
    let isRGB = space == 7
    if !isRGB { _ = bits.read(1, of: bytes) }
    if profile & 1 == 1 { _ = bits.read(isRGB ? 1 : 3, of: bytes) }
    guard let width = bits.read(16, of: bytes), let height = bits.read(16, of: bytes) else { return nil }
    return PictureSize(Int(width) + 1, Int(height) + 1)
  }

  /// What tells a decoder that a picture is of several frames, one for each spatial layer. VP9 bitstream specification, annex B.
  static func superframeIndex(_ ends: [Int]) -> [UInt8] {
    guard (2...8).contains(ends.count) else { return [] }
    let marker = UInt8(0xC0 | 3 << 3 | (ends.count - 1))
    var index = [marker]
    var start = 0
    for end in ends {
      // Sizes of four bytes, the lowest first.
      for shift in [0, 8, 16, 24] { index.append(UInt8(truncatingIfNeeded: (end - start) >> shift)) }
      start = end
    }
    return index + [marker]
  }
}
