/// What a path carries by what is lost on it, as in draft-ietf-rmcat-gcc-02 §6. Loss that stays although less is sent has other reasons and limits
/// nothing.
struct LossLimit {
  /// Of 256: more lost than a tenth is congestion, less than a fiftieth is none.
  private static let heavy: UInt8 = 26
  private static let light: UInt8 = 5
  /// What nobody confirmed for so long says nothing any more.
  static let lifetime = MediaTime.Interval.seconds(5)

  /// So many reports of no loss in a row, and it limits nothing.
  private static let cleanLimit = 5

  private var rate: Double?
  private var last: MediaTime?
  /// How much was lost of how much, when less was sent because of it.
  private var fall: (fraction: Double, sent: Double)?
  /// The loss is not ours.
  private var isForeign = false
  private var clean = 0

  /// - Parameters:
  ///   - fraction: of a reception report, in 1/256.
  ///   - sent: bits a second.
  mutating func receive(_ fraction: UInt8, sent: Double, now: MediaTime) {
    last = now
    clean = fraction < Self.light ? clean + 1 : 0
    if fraction > Self.heavy {
      receive(heavy: Double(fraction), sent: sent)
    } else if clean >= Self.cleanLimit {
      (rate, fall, isForeign) = (nil, nil, false)
    } else if clean > 0 {
      rate = rate.map { $0 * 1.08 }
    }
  }

  private mutating func receive(heavy fraction: Double, sent: Double) {
    if let fall, fraction <= 2 * fall.fraction, isForeign || fraction >= 0.6 * fall.fraction && sent <= 0.8 * fall.sent {
      isForeign = true
      rate = nil
      return
    }
    if fall == nil || isForeign { fall = (fraction, sent) }
    isForeign = false
    rate = max(PathEstimate.floor, min(rate ?? .infinity, sent) * (1 - 0.5 * fraction / 256))
  }

  /// Bits a second; nil where loss limits nothing.
  func rate(now: MediaTime) -> Double? { last.map { now - $0 < Self.lifetime } ?? false ? rate : nil }
}
