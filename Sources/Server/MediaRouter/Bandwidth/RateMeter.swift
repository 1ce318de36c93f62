/// Bits a second, over the last second in tenths.
struct RateMeter {
  private static let slotMicroseconds: Int64 = 100_000

  private var slots = InlineArray<10, Int>(repeating: 0)
  private var current: Int64 = 0

  mutating func add(_ bytes: Int, now: MediaTime) {
    advance(now)
    slots[Int(current % 10)] += bytes
  }

  mutating func bitsPerSecond(now: MediaTime) -> Int {
    advance(now)
    return (0..<10).reduce(0) { $0 + slots[$1] } * 8
  }

  private mutating func advance(_ now: MediaTime) {
    let slot = max(current, now.microseconds / Self.slotMicroseconds)
    guard slot != current else { return }
    for passed in max(current + 1, slot - 9)...slot { slots[Int(passed % 10)] = 0 }
    current = slot
  }
}
