/// Which of the last 1,024 packet indices were seen. RFC 3711 §3.3.2.
struct ReplayWindow {
  static let width: UInt64 = 1024

  /// The highest index seen; nil before the first.
  private(set) var highest: UInt64?
  /// The bit of index i is `i % width`.
  private var bits = InlineArray<16, UInt64>(repeating: 0)

  /// The index that a sequence number most likely stands for: the one nearest to the highest. RFC 3711 §3.3.1.
  ///
  /// nil where it would lie before the first packet, or beyond what a key may seal.
  func index(of sequenceNumber: UInt16) -> UInt64? {
    guard let highest else { return UInt64(sequenceNumber) }
    let distance = Int64(Int16(bitPattern: sequenceNumber &- UInt16(truncatingIfNeeded: highest)))
    let index = Int64(highest) + distance
    return (0..<(1 << 48)).contains(index) ? UInt64(index) : nil
  }

  /// Whether a packet with this index may come: it is ahead, or within the window and not seen.
  func isFresh(_ index: UInt64) -> Bool {
    guard let highest, index <= highest else { return true }
    guard highest - index < Self.width else { return false }
    return bits[Int(index % Self.width / 64)] & 1 << (index % 64) == 0
  }

  /// Notes an authentic packet, for which `isFresh` held.
  mutating func insert(_ index: UInt64) {
    if let highest, index > highest {
      if index - highest >= Self.width {
        bits = InlineArray(repeating: 0)
      } else {
        for skipped in (highest + 1)...index { bits[Int(skipped % Self.width / 64)] &= ~(1 << (skipped % 64)) }
      }
    }
    bits[Int(index % Self.width / 64)] |= 1 << (index % 64)
    highest = max(highest ?? index, index)
  }
}
