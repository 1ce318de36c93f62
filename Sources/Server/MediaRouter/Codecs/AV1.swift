/// The aggregation header of AV1: where a coded video sequence begins. AV1 RTP payload specification §4.4. Layers are told by the dependency
/// descriptor alone.
enum AV1 {
  private static let continuesUnit: UInt8 = 0x80
  private static let beginsSequence: UInt8 = 0x08

  static func describe(_ packet: RawSpan, _ payload: Range<Int>) -> PayloadDescription {
    var description = PayloadDescription()
    let header = packet.uint8(at: payload.lowerBound)
    description.startsFrame = header & continuesUnit == 0
    description.isKeyFrame = description.startsFrame && header & beginsSequence != 0
    return description
  }
}
