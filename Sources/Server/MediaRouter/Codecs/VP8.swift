/// The payload descriptor of VP8. RFC 7741 §4.2 and §4.3.
enum VP8 {
  static func describe(_ packet: RawSpan, _ payload: Range<Int>) -> PayloadDescription {
    var description = PayloadDescription()
    var offset = payload.lowerBound
    let end = payload.upperBound
    let first = packet.uint8(at: offset)
    offset += 1
    let partition = first & 0x0F
    description.startsFrame = first & 0x10 != 0 && partition == 0
    if first & 0x80 != 0 {
      guard offset < end else { return PayloadDescription() }
      let extended = packet.uint8(at: offset)
      offset += 1
      if extended & 0x80 != 0 {
        guard let pictureID = PayloadDescription.Field(pictureIDAt: offset, in: packet, payload) else {
          return PayloadDescription()
        }
        description.pictureID = pictureID
        offset += pictureID.bytes
      }
      if extended & 0x40 != 0 {
        guard offset < end else { return PayloadDescription() }
        description.baseLayerIndex = PayloadDescription.Field(
          offset: UInt8(offset - payload.lowerBound), bits: 8, value: UInt16(packet.uint8(at: offset)))
        offset += 1
      }
      if extended & 0x30 != 0 {
        guard offset < end else { return PayloadDescription() }
        let layers = packet.uint8(at: offset)
        if extended & 0x20 != 0 {
          description.temporalLayer = layers >> 6
          description.isSwitchingPoint = layers & 0x20 != 0
        }
        offset += 1
      }
    }
    description.descriptorBytes = UInt8(clamping: offset - payload.lowerBound)
    // The first bit of the payload header is 0 for a key frame.
    if description.startsFrame, offset < end, packet.uint8(at: offset) & 1 == 0 { description.isKeyFrame = true }
    return description
  }
}
