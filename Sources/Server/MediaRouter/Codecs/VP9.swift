/// The payload descriptor of VP9. RFC 9628 §4.2.
enum VP9 {
  static func describe(_ packet: RawSpan, _ payload: Range<Int>) -> PayloadDescription {
    var description = PayloadDescription()
    var offset = payload.lowerBound
    let end = payload.upperBound
    let first = packet.uint8(at: offset)
    offset += 1
    description.startsFrame = first & 0x08 != 0
    description.endsFrame = first & 0x04 != 0
    description.needsEarlierPicture = first & 0x40 != 0
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
        offset += 1
      }
    }
    description.descriptorBytes = UInt8(clamping: Self.end(first, offset, packet, payload) - payload.lowerBound)
    // Not predicted from another picture, and the lowest spatial layer: the others may lean on it.
    description.isKeyFrame = description.startsFrame && !description.needsEarlierPicture && description.spatialLayer == 0
    return description
  }

  /// Where the descriptor ends: behind the pictures this one is predicted from (flexible mode) and the scalability structure. The payload's end for
  /// one that does not end within it.
  private static func end(_ first: UInt8, _ start: Int, _ packet: RawSpan, _ payload: Range<Int>) -> Int {
    var offset = start
    func byte() -> UInt8? { offset < payload.upperBound ? packet.uint8(at: offset) : nil }
    if first & 0x50 == 0x50 {
      for _ in 0..<3 {
        guard let difference = byte() else { return payload.upperBound }
        offset += 1
        if difference & 1 == 0 { break }
      }
    }
    guard first & 0x02 != 0 else { return min(offset, payload.upperBound) }
    guard let structure = byte() else { return payload.upperBound }
    offset += 1
    if structure & 0x10 != 0 { offset += 4 * (Int(structure >> 5) + 1) }
    guard structure & 0x08 != 0 else { return min(offset, payload.upperBound) }
    guard let pictures = byte() else { return payload.upperBound }
    offset += 1
    for _ in 0..<pictures {
      guard let picture = byte() else { return payload.upperBound }
      offset += 1 + Int(picture >> 2 & 3)
    }
    return min(offset, payload.upperBound)
  }
}
