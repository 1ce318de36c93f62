/// Bits a second that arrived, by the receiver's clock, over the last half second.
struct ArrivalRate {
  static let spanMicroseconds: Int64 = 500_000
  /// The span ends by the receiver's clock, which may stand still.
  static let arrivalsLimit = SentPackets.entriesLimit

  private var arrivals: [(time: Int64, bytes: Int)] = []
  private var latest: Int64?

  mutating func add(_ bytes: Int, at time: Int64) {
    if arrivals.count >= Self.arrivalsLimit { arrivals.removeFirst(Self.arrivalsLimit / 4) }
    arrivals.append((time, bytes))
    latest = max(latest ?? time, time)
  }

  /// nil while too little has arrived to tell.
  mutating func bitsPerSecond() -> Double? {
    guard let latest else { return nil }
    let first = latest - Self.spanMicroseconds
    arrivals.removeAll { $0.time <= first }
    guard arrivals.count > 1, let oldest = arrivals.lazy.map(\.time).min() else { return nil }
    let span = latest - oldest
    guard span >= Self.spanMicroseconds / 3 else { return nil }
    return Double(arrivals.reduce(0) { $0 + $1.bytes }) * 8_000_000 / Double(span)
  }
}
