/// Takes units of H.264 out of their packets, and keeps the parameter sets. RFC 6184 §5.6 to §5.8, packetization modes 0 and 1.
struct H264Units {
  private static let sequenceParameters: UInt8 = 7
  private static let pictureParameters: UInt8 = 8
  private static let aggregate: UInt8 = 24
  private static let fragment: UInt8 = 28
  static let parametersLimit = 1_024

  private var sequence: [UInt8] = []
  private var picture: [UInt8] = []
  /// Where the unit begins, in the frame's bytes, whose last fragment has not come; its length stands before it.
  private var open: Int?

  /// No unit waits for a fragment.
  var isWhole: Bool { open == nil }

  mutating func begin() { open = nil }

  /// Whether a stranger can begin with this packet.
  static func beginsSequence(_ packet: [UInt8]) -> Bool {
    guard let first = packet.first else { return false }
    if first & 0x1F == aggregate { return packet.count > 3 && packet[3] & 0x1F == sequenceParameters }
    return first & 0x1F == sequenceParameters
  }

  /// Appends what a packet holds, each unit after its length; false for what is malformed or of another mode.
  mutating func append(_ packet: [UInt8], to frame: inout [UInt8]) -> Bool {
    guard let first = packet.first else { return false }
    switch first & 0x1F {
    case 1...23:
      guard isWhole else { return false }
      append(unit: packet[...], to: &frame)
      return true
    case Self.aggregate: return isWhole && appendAggregate(packet, to: &frame)
    case Self.fragment: return appendFragment(packet, to: &frame)
    default: return false
    }
  }

  private mutating func append(unit: ArraySlice<UInt8>, to frame: inout [UInt8]) {
    guard let first = unit.first else { return }
    if unit.count <= Self.parametersLimit {
      if first & 0x1F == Self.sequenceParameters { sequence = Array(unit) }
      if first & 0x1F == Self.pictureParameters { picture = Array(unit) }
    }
    frame += Self.length(unit.count) + unit
  }

  private mutating func appendAggregate(_ packet: [UInt8], to frame: inout [UInt8]) -> Bool {
    var offset = 1
    while offset < packet.count {
      guard offset + 2 <= packet.count else { return false }
      let count = Int(packet[offset]) << 8 | Int(packet[offset + 1])
      guard count > 0, offset + 2 + count <= packet.count else { return false }
      append(unit: packet[(offset + 2)..<(offset + 2 + count)], to: &frame)
      offset += 2 + count
    }
    return offset > 1
  }

  private mutating func appendFragment(_ packet: [UInt8], to frame: inout [UInt8]) -> Bool {
    guard packet.count > 2 else { return false }
    let (isFirst, isLast) = (packet[1] & 0x80 != 0, packet[1] & 0x40 != 0)
    guard isFirst == isWhole else { return false }
    if isFirst {
      frame += [0, 0, 0, 0]
      open = frame.count
      frame.append(packet[0] & 0xE0 | packet[1] & 0x1F)
    }
    frame += packet[2...]
    guard isLast, let start = open else { return true }
    frame.replaceSubrange((start - 4)..<start, with: Self.length(frame.count - start))
    open = nil
    return true
  }

  private static func length(_ count: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } }

  // MARK: Parameters

  /// By the parameter sets that came last; nil before they did, or where they are malformed.
  var track: WebMTrack? {
    guard !picture.isEmpty, sequence.count > 3, let size = H264Parameters.size(sequence) else { return nil }
    // Lengths of four bytes, one set of each.
    var record: [UInt8] = [1, sequence[1], sequence[2], sequence[3], 0xFF, 0xE1]
    record += Self.length(sequence.count).suffix(2) + sequence + [1]
    record += Self.length(picture.count).suffix(2) + picture
    return .h264(width: size.width, height: size.height, configuration: record)
  }
}
