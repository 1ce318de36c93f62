/// Whether a subscriber's path carries what is sent to it, as far as its own reports tell.
///
/// The receiver's estimate (REMB) begins low and grows by a few percent a second, and only with what is sent: below the rate sent it means
/// congestion only once it grows no more. Loss counts besides, as in draft-ietf-rmcat-gcc-02 §6.
struct PathEstimate {
  enum State: Equatable {
    /// Nothing was reported yet.
    case unknown
    /// What is sent arrives; nil where nothing says how much more would.
    case open(limit: Double?)
    /// So many bits a second arrive, fewer than are sent.
    case congested(Double)
  }

  /// An estimate this old says nothing any more.
  static let estimateLimit = MediaTime.Interval.seconds(5)
  /// An estimate that has not grown by `growth` for so long does not grow.
  static let growthLimit = MediaTime.Interval.seconds(2)
  private static let growth = 1.02
  /// How far below the rate sent an estimate may stand: both are measured.
  private static let tolerance = 0.9
  /// Of 256: more lost than a tenth is congestion, less than a fiftieth is none.
  private static let heavyLoss: UInt8 = 26
  private static let lightLoss: UInt8 = 5
  static let floor = 30_000.0

  private var receiver: (rate: Double, time: MediaTime)?
  private var grown: (rate: Double, time: MediaTime)?
  /// By loss alone; nil while nothing was lost.
  private var byLoss: Double?

  mutating func receive(estimate: UInt64, now: MediaTime) {
    let rate = Double(estimate)
    receiver = (rate, now)
    guard let before = grown else {
      grown = (rate, now)
      return
    }
    if rate >= before.rate * Self.growth { grown = (rate, now) } else { grown = (min(rate, before.rate), before.time) }
  }

  /// - Parameters:
  ///   - fractionLost: of a reception report, in 1/256.
  ///   - sent: bits a second that go to it.
  mutating func receive(fractionLost: UInt8, sent: Int) {
    if fractionLost > Self.heavyLoss {
      let base = min(byLoss ?? .infinity, Double(sent))
      byLoss = max(Self.floor, base * (1 - 0.5 * Double(fractionLost) / 256))
    } else if fractionLost < Self.lightLoss, let rate = byLoss {
      let raised = rate * 1.08
      // Far above what is sent it limits nothing.
      byLoss = raised > 4 * Double(max(sent, 100_000)) ? nil : raised
    }
  }

  func state(sent: Int, now: MediaTime) -> State {
    let sent = Double(sent)
    let fresh = receiver.flatMap { now - $0.time < Self.estimateLimit ? $0.rate : nil }
    if let fresh, let grown, fresh < Self.tolerance * sent, now - grown.time >= Self.growthLimit {
      return .congested(min(fresh, byLoss ?? fresh))
    }
    if let byLoss { return byLoss < sent ? .congested(byLoss) : .open(limit: byLoss) }
    return receiver == nil ? .unknown : .open(limit: nil)
  }
}
