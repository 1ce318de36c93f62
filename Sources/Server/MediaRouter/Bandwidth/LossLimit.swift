/// What a path carries by what is lost on it, as in draft-ietf-rmcat-gcc-02 §6. Loss that stays although less is sent has other reasons and limits
/// nothing.
struct LossLimit {
  /// Of 256: more lost than a tenth is congestion, less than a fiftieth is none.
  private static let heavy = 26.0
  private static let light = 5.0
  /// What no heavy loss confirmed for so long says nothing any more: some is lost anyway, and less than is heavy neither takes away nor gives back.
  static let lifetime = MediaTime.Interval.seconds(5)

  /// So many reports of no loss in a row, and it limits nothing.
  private static let cleanLimit = 5

  private var rate: Double?
  /// When much was lost.
  private var last: MediaTime?
  private var before: UInt8?
  /// How much was lost of how much, when less was sent because of it.
  private var fall: (fraction: Double, sent: Double)?
  /// The share that is lost whatever is sent: that loss is not ours. 0 where there is none, or it is not known yet.
  private(set) var foreign = 0.0
  private var clean = 0

  /// - Parameters:
  ///   - reported: of a window of reports, in 1/256.
  ///   - sent: bits a second.
  ///   - isLeast: less cannot be sent.
  mutating func receive(_ reported: UInt8, sent: Double, isLeast: Bool = false, now: MediaTime) {
    // A short burst is no congestion; two windows in a row are.
    let fraction = Double(min(reported, before ?? reported))
    before = reported
    if self.rate(now: now) == nil, foreign == 0 { (rate, fall) = (nil, nil) }
    clean = fraction < Self.light ? clean + 1 : 0
    if clean == 0, isForeign(fraction, sent, isLeast) {
      fall = (max(fall?.fraction ?? 0, fraction), fall?.sent ?? sent)
      (rate, foreign) = (nil, fraction / 256)
    } else if fraction > Self.heavy {
      if fall == nil || foreign > 0 { fall = (fraction, sent) }
      (foreign, last) = (0, now)
      rate = max(PathEstimate.floor, min(rate ?? .infinity, sent) * (1 - 0.5 * fraction / 256))
    } else if clean >= Self.cleanLimit {
      (rate, fall, foreign) = (nil, nil, 0)
    } else if clean > 0 {
      rate = rate.map { $0 * 1.08 }
    }
  }

  /// Whether it has other reasons than what is sent: it stays although less is, or nothing less can be.
  private func isForeign(_ fraction: Double, _ sent: Double, _ isLeast: Bool) -> Bool {
    if isLeast { return true }
    guard let fall, fraction <= 2 * fall.fraction else { return false }
    return foreign > 0 || sent <= 0.8 * fall.sent && (fraction <= Self.heavy || fraction >= 0.6 * fall.fraction)
  }

  /// Bits a second; nil where loss limits nothing.
  func rate(now: MediaTime) -> Double? { last.map { now - $0 < Self.lifetime } ?? false ? rate : nil }
}
