import Glibc

/// What a path carries, by when the packets that went over it arrived: less where they begin to wait, more as long as they do not, and at once
/// more where a burst of padding came through. In the spirit of draft-ietf-rmcat-gcc-02 §5.
struct SenderEstimate {
  /// Before anything is known.
  static let initial = 1_000_000.0
  static let limit = 100_000_000.0
  /// Between two decreases: so long it takes until the first one shows.
  static let patience = MediaTime.Interval.milliseconds(300)
  /// For so long after a decrease the path counts as congested.
  static let aftermath = MediaTime.Interval.milliseconds(600)
  /// No probing so soon after a decrease.
  static let caution = MediaTime.Interval.seconds(2)
  static let decrease = 0.85
  /// A minute.
  private static let jumpTicks = 60_000_000 / TransportFeedback.tickMicroseconds
  /// No burst of ours makes packets wait for so long, in microseconds.
  private static let suspicious: Int64 = 200_000
  /// A sender that uses so little of the rate fills no queue.
  private static let little = 0.3
  /// A receiver that loses more than half cannot use a higher layer.
  private static let lostLimit = 0.5
  /// In a second.
  private static let growth = 1.08

  /// Bits a second.
  private(set) var rate = SenderEstimate.initial
  private(set) var packets = SentPackets()
  private(set) var probe = PathProbe()
  /// The share of packets that the path loses whatever is sent. What of a burst does not arrive for that reason has passed the narrowest place all the
  /// same, or nothing were ever proven.
  var lost = 0.0
  /// What was sent before counts for no loss.
  private var lossesBegin: MediaTime?
  /// Of how many packets feedback may tell.
  private(set) var budget = FeedbackBudget()
  /// The rate is the initial one.
  private var isAssumed = true
  /// What was known before losses said otherwise.
  private var before: (rate: Double, isAssumed: Bool)?
  private var queue = PathQueue()
  private var arrivals = ArrivalRate()
  /// The last arrival in ticks that do not wrap.
  private var lastTick: Int64?
  /// Bits a second that arrive; nil before that is known.
  private(set) var arriving: Double?
  private var lastDecrease: MediaTime?
  private var lastFeedback: MediaTime?

  mutating func send(_ number: UInt16, bytes: Int, isMedia: Bool = true, now: MediaTime) {
    packets.insert(number, bytes: bytes, isMedia: isMedia, now: now)
    budget.fill()
  }

  /// Losses of what was sent before are not told any more.
  mutating func countLosses(from time: MediaTime) { lossesBegin = time }

  /// Losses show that the path carries no more: a short queue that stays full lets no packet wait longer than the one before.
  mutating func lower(to carried: Double) {
    guard carried < rate else { return }
    before = before ?? (rate, isAssumed)
    (rate, isAssumed) = (max(PathEstimate.floor, carried), false)
  }

  /// Nothing speaks against the rate: what was known before losses lowered it is of a path that is no more.
  mutating func confirm() { before = nil }

  /// Those losses had other reasons, as far as so many bits a second go.
  mutating func restore(upTo carried: Double) {
    guard let before else { return }
    (rate, self.before) = (max(rate, min(before.rate, carried)), nil)
    isAssumed = before.isAssumed && carried == .infinity
  }

  /// Feedback told of so many packets, whether it was of use or could be read to its end.
  mutating func charge(_ packets: Int) { budget.take(packets) }

  /// What turns out to be lost of media: what is of repairs and padding shows what a burst does. What counted as lost, and arrived after all, is taken
  /// back.
  @discardableResult mutating func receive(_ feedback: TransportFeedback, now: MediaTime) -> PacketLoss {
    var number = feedback.base
    var loss = PacketLoss(lost: 0, expected: 0)
    var hasNews = false
    for arrival in feedback.arrivals {
      defer { number &+= 1 }
      guard let arrival else {
        if let packet = packets.miss(number, now: now) { probe.miss(sent: packet.time) }
        continue
      }
      guard let packet = packets.take(number, now: now) else { continue }
      hasNews = true
      if counts(packet) {
        if packet.wasLost { loss.lost -= 1 } else { loss.expected += 1 }
      }
      note(packet, arrived: unwrap(arrival) * TransportFeedback.tickMicroseconds)
    }
    // Later than what arrived beside it, so that right after a change less seems lost than is. Counted in step, which was tried, two windows of chance
    // take a picture away more often: of 80 seeds with 5 % of loss two then rest, none so; with 20 % they rest for up to 3.5 s, and for 2.5 s so.
    while let packet = packets.takeLost(now) {
      if counts(packet) { (loss.lost, loss.expected) = (loss.lost + 1, loss.expected + 1) }
    }
    // What tells nothing costs nothing: what arrived of late is looked through.
    if hasNews { update(now) }
    return loss
  }

  private func counts(_ packet: SentPackets.Packet) -> Bool {
    packet.isMedia && lossesBegin.map { packet.time >= $0 } ?? true
  }

  private mutating func note(_ packet: SentPackets.Packet, arrived: Int64) {
    arrivals.add(packet.bytes, at: arrived)
    queue.add(sent: packet.time.microseconds, arrived: arrived)
    let bytes = Int(Double(packet.bytes) / (1 - min(lost, Self.lostLimit)))
    if packet.wasMissed { probe.miss(sent: packet.time, -1) }
    if let proof = probe.receive(sent: packet.time, bytes: bytes, arrived: arrived, lost: lost) { take(proof) }
  }

  /// Where nothing was known, a burst that had to wait is all that is known. One that had not shows the least, of a small one much too little.
  private mutating func take(_ proof: PathProbe.Proof) {
    let proven = min(Self.limit, 0.95 * proof.rate)
    guard proof.isLimit || !isAssumed || proven > rate else { return }
    rate = max(isAssumed ? max(PathEstimate.floor, arriving ?? 0) : rate, proven)
    isAssumed = false
  }

  private mutating func update(_ now: MediaTime) {
    let elapsed = lastFeedback.map { min(1, (now - $0).seconds) } ?? 0
    lastFeedback = now
    guard let arriving = arrivals.bitsPerSecond() else { return }
    self.arriving = arriving
    switch queue.trend {
    case .filling:
      // A burst fills the queue for as long as it lasts, and what is far less than the path carries fills none: then its ends were busy.
      let mayPass = probe.isFelt(now) || arriving < Self.little * rate
      guard lastDecrease.map({ now - $0 >= Self.patience }) ?? true, !mayPass || queue.delay > Self.suspicious else { return }
      rate = max(PathEstimate.floor, min(rate, Self.decrease * arriving))
      isAssumed = false
      lastDecrease = now
    case .steady: break
    case .empty:
      // What was not tried is not known.
      let ceiling = 1.5 * arriving + 10_000
      if rate < ceiling { rate = min(Self.limit, min(ceiling, max(arriving, rate * pow(Self.growth, elapsed)))) }
    }
  }

  /// nil while the rate is the initial one.
  var known: Double? { isAssumed ? nil : rate }

  func isCongested(_ now: MediaTime) -> Bool { lastDecrease.map { now - $0 < Self.aftermath } ?? false }

  /// Bits a second that nothing uses.
  ///
  /// - Parameter sent: bits a second of what is new.
  func spare(sent: Int, now: MediaTime) -> Double { !isCongested(now) && queue.trend == .empty ? rate - Double(sent) : 0 }

  /// Bits a second that would be of use.
  mutating func want(_ wanted: Double, sent: Double, now: MediaTime) {
    guard queue.trend == .empty, lastDecrease.map({ now - $0 >= Self.caution }) ?? true else { return }
    probe.want(wanted, known: rate, sent: sent, now: now)
  }

  /// Packets of padding to send now.
  mutating func takePadding(packetBytes: Int, now: MediaTime) -> Int {
    probe.advance(to: now)
    return probe.take(packetBytes: packetBytes, now: now)
  }

  /// The reference time of feedback has 24 bits of 64 ms. A clock that jumps begins anew.
  private mutating func unwrap(_ tick: Int64) -> Int64 {
    let step = lastTick.map { Int64(Int32(truncatingIfNeeded: tick &- $0)) } ?? 0
    guard let lastTick, abs(step) < Self.jumpTicks else {
      (queue, arrivals) = (PathQueue(), ArrivalRate())
      self.lastTick = tick
      return tick
    }
    self.lastTick = max(lastTick, lastTick + step)
    return lastTick + step
  }
}
