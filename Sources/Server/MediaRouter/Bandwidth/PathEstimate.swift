/// Whether a subscriber's path carries what is sent to it, by what its own reports tell: when packets arrived (`SenderEstimate`) or, where it does
/// not tell that, its own estimate (REMB); and what is lost.
///
/// REMB begins low and grows by a few percent a second, and only with what is sent: below the rate sent it means congestion only once it grows no more.
struct PathEstimate {
  enum State: Equatable {
    /// Nothing was reported yet.
    case unknown
    /// What is sent arrives; nil where nothing says how much more would.
    case open(limit: Double?)
    /// What is sent arrives, and so many bits a second would. More can be found out by trying.
    case measured(Double)
    /// So many bits a second arrive, fewer than are sent.
    case congested(Double)
  }

  /// An estimate this old says nothing any more.
  static let estimateLimit = MediaTime.Interval.seconds(5)
  /// An estimate that has not grown by `growth` for so long does not grow.
  static let growthLimit = MediaTime.Interval.seconds(2)
  private static let growth = 1.02
  /// So long a queue needs until it is empty.
  private static let aftermath = MediaTime.Interval.milliseconds(300)
  /// How far below the rate sent an estimate may stand: both are measured.
  private static let tolerance = 0.9
  static let floor = 30_000.0

  /// Where the subscriber tells when packets arrive.
  var sender: SenderEstimate?
  private var receiver: (rate: Double, time: MediaTime)?
  private var grown: (rate: Double, time: MediaTime)?
  private var loss = LossLimit()
  /// Of what goes now: sound alone, or more.
  private var window = (isLeast: false, losses: LossWindow())

  mutating func receive(estimate: UInt64, now: MediaTime) {
    let rate = Double(estimate)
    receiver = (rate, now)
    guard let before = grown else {
      grown = (rate, now)
      return
    }
    if rate >= before.rate * Self.growth { grown = (rate, now) } else { grown = (min(rate, before.rate), before.time) }
  }

  /// Whether this shows that what was lost so far has other reasons than what is sent.
  ///
  /// - Parameters:
  ///   - reported: since it was told last.
  ///   - sent: bits a second that go to it.
  ///   - isLeast: it is sound alone, which always goes.
  mutating func receive(_ reported: PacketLoss, sent: Int, isLeast: Bool = false, now: MediaTime) -> Bool {
    if isLeast != window.isLeast {
      measureAnew(isLeast, now)
      return false
    }
    guard let fraction = window.losses.add(reported, now: now) else { return false }
    defer { sender?.lost = loss.foreign }
    switch loss.receive(fraction, sent: Double(sent), isLeast: isLeast, now: now) {
    case .nothing:
      if loss.rate(now: now) == nil { sender?.confirm() }
      return false
    case .congestion:
      measureAnew(isLeast, now)
      if var lowered = sender {
        lowered.lower(to: carried(lowered, now: now))
        sender = lowered
      }
      return false
    case .chance(let carried):
      sender?.restore(upTo: carried)
      return true
    }
  }

  /// What is on its way says nothing of what is sent from now on, nor does what finds a queue that is still full.
  private mutating func measureAnew(_ isLeast: Bool, _ now: MediaTime) {
    window = (isLeast, LossWindow(isSoundAlone: isLeast))
    sender?.countLosses(from: now + Self.aftermath)
  }

  /// The receiver's, while it says something.
  private func estimate(_ now: MediaTime) -> Double? {
    receiver.flatMap { now - $0.time < Self.estimateLimit ? $0.rate : nil }
  }

  /// Bits a second that what is lost leaves; infinite where nothing is lost because of what is sent. What does arrive is carried, whatever is lost
  /// of the rest.
  private func carried(_ sender: SenderEstimate, now: MediaTime) -> Double {
    loss.rate(now: now).map { max($0, SenderEstimate.decrease * (sender.arriving ?? 0)) } ?? .infinity
  }

  /// Bits a second that the path carries, and what of them nothing uses. Where that is not measured, a path has as much room again as what is
  /// sent or estimated.
  func room(sent: Int, now: MediaTime) -> (carried: Double, spare: Double) {
    if let sender {
      let carried = min(sender.rate, carried(sender, now: now))
      return (carried, min(sender.spare(sent: sent, now: now), max(0, carried - Double(sent))))
    }
    let known = max(SenderEstimate.initial, Double(sent), estimate(now) ?? 0)
    return (known, known)
  }

  func state(sent: Int, now: MediaTime) -> State {
    let sent = Double(sent)
    if let sender {
      let carried = carried(sender, now: now)
      let rate = min(sender.rate, carried)
      return sender.isCongested(now) || carried < sent ? .congested(rate) : .measured(rate)
    }
    let (byLoss, fresh) = (loss.rate(now: now), estimate(now))
    if let fresh, let grown, fresh < Self.tolerance * sent, now - grown.time >= Self.growthLimit {
      return .congested(min(fresh, byLoss ?? fresh))
    }
    if let byLoss { return byLoss < sent ? .congested(byLoss) : .open(limit: byLoss) }
    return receiver == nil ? .unknown : .open(limit: nil)
  }
}
