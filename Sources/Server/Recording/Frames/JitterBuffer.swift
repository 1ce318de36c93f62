import MediaRouter

/// Puts packets in their order again, and tells what did not come.
struct JitterBuffer {
  struct Packet {
    var head: RecordedBatch.Packet
    var media: [UInt8]
    /// Those before it were lost.
    var follows = true
  }

  /// As long as the router asks for a lost packet: five requests, 80 ms apart.
  static let patience = MediaTime.Interval.milliseconds(500)
  /// Packets that wait for one before them.
  static let packetsLimit = 1_024

  private var waiting: [UInt64: Packet] = [:]
  private var next: UInt64?

  mutating func insert(_ packet: Packet) {
    guard packet.head.sequence >= next ?? 0, waiting.count < 2 * Self.packetsLimit else { return }
    if next == nil { next = packet.head.sequence }
    waiting[packet.head.sequence] = packet
  }

  /// The next one in order; nil where it may still come.
  mutating func take(now: MediaTime, isOver: Bool = false) -> Packet? {
    guard let wanted = next, !waiting.isEmpty else { return nil }
    if let packet = waiting.removeValue(forKey: wanted) {
      next = wanted + 1
      return packet
    }
    guard let first = waiting.keys.min(), let oldest = waiting[first]?.head.arrival else { return nil }
    guard isOver || waiting.count >= Self.packetsLimit || now.microseconds - oldest.microseconds >= Self.patience.microseconds
    else { return nil }
    next = first + 1
    var packet = waiting.removeValue(forKey: first)
    packet?.follows = false
    return packet
  }
}
