/// What a packet of H.264 tells: whether a decoder can begin with it. RFC 6184 §5.2 to §5.8.
enum H264 {
  private static let instantRefresh: UInt8 = 5
  private static let sequenceParameters: UInt8 = 7

  static func describe(_ packet: RawSpan, _ payload: Range<Int>) -> PayloadDescription {
    var description = PayloadDescription()
    let type = packet.uint8(at: payload.lowerBound) & 0x1F
    switch type {
    case 1...23:
      description.startsFrame = true
      description.isKeyFrame = begins(type)
    case 24:
      description.startsFrame = true
      description.isKeyFrame = aggregate(packet, payload)
    case 28, 29:
      guard payload.count >= 2 else { return description }
      let fragment = packet.uint8(at: payload.lowerBound + 1)
      description.startsFrame = fragment & 0x80 != 0
      description.isKeyFrame = description.startsFrame && begins(fragment & 0x1F)
    default: break
    }
    return description
  }

  /// A sequence parameter set stands before each key frame that a stranger can decode; an encoder that sends none out of band
  /// begins with the picture itself.
  private static func begins(_ type: UInt8) -> Bool { type == sequenceParameters || type == instantRefresh }

  /// STAP-A: several units, each after its length.
  private static func aggregate(_ packet: RawSpan, _ payload: Range<Int>) -> Bool {
    var offset = payload.lowerBound + 1
    while offset + 2 < payload.upperBound {
      let count = Int(packet.uint16(at: offset))
      if begins(packet.uint8(at: offset + 2) & 0x1F) { return true }
      offset += 2 + count
    }
    return false
  }
}
