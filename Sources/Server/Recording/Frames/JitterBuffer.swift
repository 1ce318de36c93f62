import MediaRouter

/// Puts packets in their order again, and tells what did not come.
struct JitterBuffer {
  struct Packet {
    var head: TappedBatch.Packet
    var media: [UInt8]
    /// Those before it were lost.
    var follows = true
  }

  /// As long as the router asks for a lost packet: five requests, 80 ms apart.
  static let patience = MediaTime.Interval.milliseconds(500)
  /// Packets that wait for one before them.
  static let packetsLimit = 1_024

  private var waiting: [UInt64: Packet] = [:]
  /// The numbers of those that wait, the highest first: a publisher that leaves gaps has the lowest looked for with each packet.
  private var order: [UInt64] = []
  private var next: UInt64?

  mutating func insert(_ packet: Packet) {
    guard packet.head.sequence >= next ?? 0, waiting.count < 2 * Self.packetsLimit else { return }
    if next == nil { next = packet.head.sequence }
    guard waiting.updateValue(packet, forKey: packet.head.sequence) == nil else { return }
    order.insert(packet.head.sequence, at: place(of: packet.head.sequence))
  }

  /// Behind all higher ones.
  private func place(of sequence: UInt64) -> Int {
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      if order[middle] > sequence { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The next one in order; nil where it may still come.
  mutating func take(now: MediaTime, isOver: Bool = false) -> Packet? {
    guard let wanted = next, let first = order.last, let oldest = waiting[first]?.head.arrival else { return nil }
    guard
      first == wanted || isOver || waiting.count >= Self.packetsLimit
        || now.microseconds - oldest.microseconds >= Self.patience.microseconds
    else { return nil }
    next = first + 1
    order.removeLast()
    var packet = waiting.removeValue(forKey: first)
    packet?.follows = first == wanted
    return packet
  }
}
