/// What a path carries by what is lost on it, as in draft-ietf-rmcat-gcc-02 §6. Loss that stays although less is sent has other reasons and limits
/// nothing.
struct LossLimit {
  /// Of 256. A loss of more than a tenth is congestion; less than a fiftieth is not.
  private static let heavy = 26.0
  private static let light = 5.0
  /// So much less than before that a full path would lose less of it.
  private static let less = 0.8
  /// What no heavy loss confirmed for so long says nothing any more: some is lost anyway, and less than is heavy neither takes away nor gives back.
  static let lifetime = MediaTime.Interval.seconds(5)

  /// So many reports of no loss in a row, and it limits nothing.
  private static let cleanLimit = 5

  private var rate: Double?
  /// When much was lost.
  private var last: MediaTime?
  /// The share that the window before reported.
  private var before: UInt8?
  /// How much was lost of how much, when less was sent because of it.
  private var fall: (fraction: Double, sent: Double)?
  /// The share that is lost regardless of our rate. 0 if nothing is lost, or if it is not known yet.
  private(set) var foreign = 0.0
  private var clean = 0

  /// What a window of reports shows.
  enum Finding: Equatable {
    case nothing
    /// Less is to be sent from now on; what was sent before says nothing of that.
    case congestion
    /// What less was sent for has other reasons: so many bits a second are carried, infinite where no loss was ever ours.
    case chance(carried: Double)
  }

  /// - Parameters:
  ///   - reported: of a window of reports, in 1/256.
  ///   - sent: bits a second.
  ///   - isLeast: less cannot be sent.
  @discardableResult mutating func receive(_ reported: UInt8, sent: Double, isLeast: Bool = false, now: MediaTime) -> Finding {
    // A short burst is no congestion; two windows in a row are. Of sound alone one tells enough: the second was that for which nothing else is sent.
    let previous = before ?? (isLeast ? fall.map { UInt8($0.fraction) } : nil)
    before = reported
    guard previous != nil || fall == nil else { return .nothing }
    let fraction = Double(min(reported, previous ?? reported))
    if self.rate(now: now) == nil, foreign == 0 { (rate, fall) = (nil, nil) }
    clean = fraction < Self.light ? clean + 1 : 0
    if clean == 0, isForeign(fraction, sent, isLeast) {
      return takeAsChance(fraction, sent, now)
    } else if fraction > Self.heavy {
      if foreign > 0 || sent <= Self.less * (fall?.sent ?? .infinity) { fall = (fraction, sent) }
      (foreign, last, before) = (0, now, nil)
      rate = max(PathEstimate.floor, min(rate ?? .infinity, sent) * Self.left(of: fraction / 256))
      return .congestion
    } else if clean >= Self.cleanLimit {
      (rate, fall, foreign) = (nil, nil, 0)
    } else if clean > 0 {
      rate = rate.map { $0 * 1.08 }
    }
    return .nothing
  }

  /// What was sent for it before may be sent again, as far as that loss was no more than chance makes of this.
  private mutating func takeAsChance(_ fraction: Double, _ sent: Double, _ now: MediaTime) -> Finding {
    let before = fall ?? (fraction, sent)
    let wasChance = foreign > 0 || before.fraction <= 2 * fraction + Self.heavy
    let wasOurs = rate(now: now) != nil
    fall = (max(wasChance ? before.fraction : Self.heavy, fraction), sent)
    (rate, foreign) = (nil, fraction / 256)
    guard wasOurs else { return .nothing }
    return .chance(carried: wasChance ? .infinity : before.sent * (256 - before.fraction) / (256 - fraction))
  }

  /// Of what is sent, where so much is lost. More than half is no chance: no more than arrives is carried.
  private static func left(of lost: Double) -> Double { lost > 0.5 ? 1 - lost : 1 - 0.5 * lost }

  /// Whether it has other reasons than what is sent: it stays although less is, or nothing less can be.
  private func isForeign(_ fraction: Double, _ sent: Double, _ isLeast: Bool) -> Bool {
    if isLeast { return true }
    guard let fall, fraction <= 128 else { return false }
    if foreign > 0 { return fraction <= 2 * fall.fraction }
    guard sent <= Self.less * fall.sent else { return false }
    // Two windows of much loss were chance.
    if fraction <= Self.heavy { return fall.fraction <= 2 * Self.heavy }
    // Nearer to the share that was lost of more than to what a full path leaves of anything: as much as before.
    let carried = fall.sent * (1 - fall.fraction / 256)
    return fraction >= (fall.fraction + 256 * max(0, 1 - carried / sent)) / 2
  }

  /// Bits a second; nil where loss limits nothing.
  func rate(now: MediaTime) -> Double? { last.map { now - $0 < Self.lifetime } ?? false ? rate : nil }
}
