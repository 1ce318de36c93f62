/// A codec whose payload descriptor the router reads.
package enum Codec: Sendable, Equatable {
  case opus
  case vp8
  case vp9
  case h264
  case av1

  /// Of RTP timestamps, in hertz.
  package var clockRate: Int64 { self == .opus ? 48_000 : 90_000 }
  package var isVideo: Bool { self != .opus }
  /// One SSRC may carry several spatial layers that can be told apart.
  var isScalable: Bool { self == .vp9 || self == .av1 }

  /// The name in `a=rtpmap`, in any case.
  package init?(name: some StringProtocol) {
    switch name.lowercased() {
    case "opus": self = .opus
    case "vp8": self = .vp8
    case "vp9": self = .vp9
    case "h264": self = .h264
    case "av1": self = .av1
    default: return nil
    }
  }

  /// The name in `a=rtpmap`, as its payload format registers it.
  package var name: String {
    switch self {
    case .opus: "opus"
    case .vp8: "VP8"
    case .vp9: "VP9"
    case .h264: "H264"
    case .av1: "AV1"
    }
  }

  /// What the payload of one packet tells; `nil` bytes of another form count as a packet that tells nothing.
  ///
  /// - Parameter payload: where the payload lies in `packet`.
  func describe(_ packet: RawSpan, _ payload: Range<Int>) -> PayloadDescription {
    guard !payload.isEmpty else { return PayloadDescription() }
    return switch self {
    case .vp8: VP8.describe(packet, payload)
    case .vp9: VP9.describe(packet, payload)
    case .h264: H264.describe(packet, payload)
    case .av1: AV1.describe(packet, payload)
    case .opus: PayloadDescription()
    }
  }
}

/// What a packet says about its frame, the same words for all codecs. Made once when it arrives.
struct PayloadDescription: Equatable {
  /// A number that a rewriting gives another value, in place.
  struct Field: Equatable {
    /// From the beginning of the payload.
    var offset: UInt8
    /// 7, 8 or 15.
    var bits: UInt8
    var value: UInt16

    init(offset: UInt8, bits: UInt8, value: UInt16) {
      self.offset = offset
      self.bits = bits
      self.value = value
    }

    /// The picture ID of VP8 and VP9 that stands at `offset`: 7 or 15 bits behind the one that tells. RFC 7741 §4.2, RFC 9628 §4.2. nil if it
    /// does not end within the payload.
    init?(pictureIDAt offset: Int, in packet: RawSpan, _ payload: Range<Int>) {
      guard offset < payload.upperBound else { return nil }
      let isWide = packet.uint8(at: offset) & 0x80 != 0
      guard !isWide || offset + 1 < payload.upperBound else { return nil }
      self.init(
        offset: UInt8(offset - payload.lowerBound), bits: isWide ? 15 : 7,
        value: isWide ? packet.uint16(at: offset) & 0x7FFF : UInt16(packet.uint8(at: offset)))
    }

    /// In a payload.
    var bytes: Int { bits == 15 ? 2 : 1 }
  }

  /// The first packet of a frame (of its layer).
  var startsFrame = false
  /// A decoder can begin with this packet's frame. Only with `startsFrame`.
  var isKeyFrame = false
  /// 0 where the codec has no layers.
  var temporalLayer: UInt8 = 0
  var spatialLayer: UInt8 = 0
  /// The last packet of a frame; only where the codec tells.
  var endsFrame = false
  /// VP9: predicted from a picture before this one, not from the lower layer alone.
  var needsEarlierPicture = false
  /// AV1.
  var decodeTargets: DependencyDescriptor.Targets?
  /// From here on this temporal layer can be decoded even if its earlier frames were left out.
  var isSwitchingPoint = false
  /// Of the payload descriptor: behind it lies what the encoder wrote.
  var descriptorBytes: UInt8 = 0
  /// Counts pictures.
  var pictureID: Field?
  /// Counts frames of temporal layer 0.
  var baseLayerIndex: Field?
}
