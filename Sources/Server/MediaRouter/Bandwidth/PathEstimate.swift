/// What a subscriber's path carries, in bits a second, as far as its own reports tell.
///
/// The receiver's estimate (REMB) is the first source; loss corrects it, as draft-ietf-rmcat-gcc-02 §6 does.
struct PathEstimate {
  /// An estimate this old says nothing any more.
  static let estimateLimit = MediaTime.Interval.seconds(5)
  /// Of 256: more lost than a tenth is congestion, less than a fiftieth is none.
  private static let heavyLoss: UInt8 = 26
  private static let lightLoss: UInt8 = 5
  static let floor = 30_000.0

  private var receiver: (rate: Double, time: MediaTime)?
  /// By loss alone; nil while nothing was lost.
  private var byLoss: Double?

  mutating func receive(estimate: UInt64, now: MediaTime) { receiver = (Double(estimate), now) }

  /// - Parameters:
  ///   - fractionLost: of a reception report, in 1/256.
  ///   - sent: bits a second that go to it.
  mutating func receive(fractionLost: UInt8, sent: Int) {
    if fractionLost > Self.heavyLoss {
      let base = min(byLoss ?? .infinity, Double(sent))
      byLoss = max(Self.floor, base * (1 - 0.5 * Double(fractionLost) / 256))
    } else if fractionLost < Self.lightLoss, let rate = byLoss {
      let grown = rate * 1.08
      // Far above what is sent it limits nothing.
      byLoss = grown > 4 * Double(max(sent, 100_000)) ? nil : grown
    }
  }

  /// nil while nothing is known: then everything may be sent.
  func bitsPerSecond(now: MediaTime) -> Double? {
    let received = receiver.flatMap { now - $0.time < Self.estimateLimit ? $0.rate : nil }
    switch (received, byLoss) {
    case (let rate?, let loss?): return min(rate, loss)
    case (let rate?, nil): return rate
    case (nil, let loss): return loss
    }
  }
}
