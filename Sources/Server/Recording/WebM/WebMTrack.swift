/// What a file says of one of its tracks.
package enum WebMTrack: Sendable, Equatable {
  case opus
  case vp8(width: Int, height: Int)
  case vp9(width: Int, height: Int)
  /// With the decoder configuration record of ISO/IEC 14496-15 §5.3.3.1; frames are units after their lengths of four bytes.
  case h264(width: Int, height: Int, configuration: [UInt8])

  package var isVideo: Bool { self != .opus }

  /// WebM has no H.264; Matroska does.
  package var isWebM: Bool { if case .h264 = self { false } else { true } }

  /// Samples that a decoder leaves out in the beginning, at 48 kHz: what libopus needs. RFC 7845 §4.2.
  private static let preSkip: UInt16 = 312

  /// RFC 7845 §5.1: version 1, two channels.
  static let opusHead =
    Array("OpusHead".utf8) + [1, 2, UInt8(preSkip & 0xFF), UInt8(preSkip >> 8)] + [0x80, 0xBB, 0, 0] + [0, 0, 0]

  /// RFC 9559 §5.1.4.1, and the codec mappings of draft-ietf-cellar-codec.
  func entry(number: Int) -> [UInt8] {
    var content = EBML.element(0xD7, number: UInt64(number)) + EBML.element(0x73C5, number: UInt64(number))
    // No lacing.
    content += EBML.element(0x83, number: isVideo ? 1 : 2) + EBML.element(0x9C, number: 0)
    switch self {
    case .opus:
      content += EBML.element(0x86, text: "A_OPUS") + EBML.element(0x63A2, Self.opusHead)
      content += EBML.element(0x56AA, number: UInt64(Self.preSkip) * 1_000_000_000 / 48_000)
      content += EBML.element(0x56BB, number: 80_000_000)
      content += EBML.element(0xE1, EBML.element(0xB5, float: 48_000) + EBML.element(0x9F, number: 2))
    case .vp8(let width, let height): content += EBML.element(0x86, text: "V_VP8") + Self.picture(width, height)
    case .vp9(let width, let height): content += EBML.element(0x86, text: "V_VP9") + Self.picture(width, height)
    case .h264(let width, let height, let configuration):
      content += EBML.element(0x86, text: "V_MPEG4/ISO/AVC") + EBML.element(0x63A2, configuration) + Self.picture(width, height)
    }
    return EBML.element(0xAE, content)
  }

  private static func picture(_ width: Int, _ height: Int) -> [UInt8] {
    EBML.element(0xE0, EBML.element(0xB0, number: UInt64(width)) + EBML.element(0xBA, number: UInt64(height)))
  }
}
