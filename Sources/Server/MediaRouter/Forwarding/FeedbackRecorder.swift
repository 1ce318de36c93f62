/// Notes when the packets of a publisher's transport arrived, for its own congestion control.
/// draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.
struct FeedbackRecorder {
  static let interval = MediaTime.Interval.milliseconds(50)
  /// A packet of feedback tells of so many at most; older ones go untold.
  static let packetsLimit: UInt64 = 512

  private var unwrapper = SequenceUnwrapper()
  private var arrived: [(sequence: UInt64, tick: Int64)] = []
  /// The first number that no feedback told of.
  private var next: UInt64?
  private var number: UInt8 = 0

  var isEmpty: Bool { arrived.isEmpty }

  mutating func receive(_ sequenceNumber: UInt16, now: MediaTime) {
    guard arrived.count < Self.packetsLimit else { return }
    arrived.append((unwrapper.unwrap(sequenceNumber), now.microseconds / TransportFeedback.tickMicroseconds))
  }

  /// The feedback on what arrived since the last one; nil if nothing did.
  mutating func take(sender: UInt32, media: UInt32) -> TransportFeedback? {
    guard let lowest = arrived.lazy.map(\.sequence).min(), let highest = arrived.lazy.map(\.sequence).max() else { return nil }
    // Those missing between two packets of feedback are told of as lost; one that comes late is told of again.
    var base = min(lowest, next ?? lowest)
    if highest - base >= Self.packetsLimit { base = highest - Self.packetsLimit + 1 }
    var arrivals = [Int64?](repeating: nil, count: Int(highest - base) + 1)
    for packet in arrived where packet.sequence >= base { arrivals[Int(packet.sequence - base)] = packet.tick }
    arrived.removeAll(keepingCapacity: true)
    next = max(next ?? 0, highest + 1)
    defer { number &+= 1 }
    return TransportFeedback(
      sender: sender, media: media, base: UInt16(truncatingIfNeeded: base), number: number, arrivals: arrivals)
  }
}
