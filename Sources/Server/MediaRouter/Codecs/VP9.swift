/// The payload descriptor of VP9. RFC 9628 §4.2.
enum VP9 {
  static func describe(_ packet: RawSpan, _ payload: Range<Int>) -> PayloadDescription {
    var description = PayloadDescription()
    var offset = payload.lowerBound
    let end = payload.upperBound
    let first = packet.uint8(at: offset)
    offset += 1
    description.startsFrame = first & 0x08 != 0
    if first & 0x80 != 0 {
      guard let pictureID = PayloadDescription.Field(pictureIDAt: offset, in: packet, payload) else {
        return PayloadDescription()
      }
      description.pictureID = pictureID
      offset += pictureID.bytes
    }
    if first & 0x20 != 0 {
      guard offset < end else { return PayloadDescription() }
      let layers = packet.uint8(at: offset)
      description.temporalLayer = layers >> 5
      description.isSwitchingPoint = layers & 0x10 != 0
      description.spatialLayer = layers >> 1 & 7
      offset += 1
      // Outside of flexible mode the index of the base layer follows.
      if first & 0x10 == 0 {
        guard offset < end else { return PayloadDescription() }
        description.baseLayerIndex = PayloadDescription.Field(
          offset: UInt8(offset - payload.lowerBound), bits: 8, value: UInt16(packet.uint8(at: offset)))
      }
    }
    // Not predicted from another picture, and the lowest spatial layer: the others may lean on it.
    description.isKeyFrame = description.startsFrame && first & 0x40 == 0 && description.spatialLayer == 0
    return description
  }
}
