/// Short bursts of padding that show whether a path carries more than is sent on it: what has no wish for more is never probed.
struct PathProbe {
  /// Of one packet of padding: RFC 3550 §5.1 counts it in one byte.
  static let paddingBytes = 255
  static let wait = MediaTime.Interval.seconds(1)
  static let waitLimit = MediaTime.Interval.seconds(5)
  static let afterSuccess = MediaTime.Interval.milliseconds(400)
  /// Feedback on a burst must have come by then.
  static let patience = MediaTime.Interval.seconds(1)
  private static let echo = MediaTime.Interval.milliseconds(400)
  private static let longest = 0.15
  private static let shortest = 0.04
  /// A burst may fill a queue for so long, if the path carries no more than is known.
  private static let harm = 0.15

  /// A burst under way, or waiting for feedback.
  private struct Burst {
    let target: Double
    /// Bits a second of padding.
    let padding: Double
    let start: MediaTime
    let end: MediaTime
    var credit = 0.0
    var last: MediaTime
    /// Of what was sent after its first moment: that is where time begins to count.
    var bytes = 0
    var firstSent: MediaTime?
    var lastSent: MediaTime
    var firstArrival = Int64.min
    var lastArrival = Int64.min
    /// Packets: of padding, of all kinds that arrived, and that are said to be missing.
    var paddingCount = 0
    var arrived = 0
    var missed = 0

    /// Feedback tells of nearly all of it: that may itself be lost.
    var isTold: Bool { Double(arrived + missed) >= 0.95 * Double(paddingCount) }

    /// What came through; nil where that says nothing: more is missing than the path loses anyway, and what arrived did not wait for each other, so it
    /// is not the path's width that cut it.
    func proof(lost: Double) -> Proof? {
      guard let firstSent, lastArrival > firstArrival, lastSent > firstSent else { return nil }
      let (sending, arriving) = ((lastSent - firstSent).microseconds, lastArrival - firstArrival)
      let isLimit = arriving - sending > PathProbe.queueMicroseconds
      let isCut = Double(missed) > (lost + 0.125) * Double(arrived + missed)
      guard isLimit || !isCut else { return nil }
      return Proof(rate: Double(bytes) * 8_000_000 / Double(max(arriving, sending)), isLimit: isLimit)
    }
  }

  struct Proof {
    /// Bits a second that the path carries …
    let rate: Double
    /// … and no more, as packets waited for each other; else at least.
    let isLimit: Bool
  }

  /// The last packets of a burst arrive so much later than they were sent, after the first: less may be a busy receiver.
  private static let queueMicroseconds: Int64 = 20_000

  private var burst: Burst?
  private var currentWait = PathProbe.wait
  private var next: MediaTime?
  private var lastEnd: MediaTime?

  /// Whether packets may be waiting because of a burst.
  func isFelt(_ now: MediaTime) -> Bool { burst != nil || lastEnd.map { now - $0 < Self.echo } ?? false }

  /// Begins a burst if it is time.
  ///
  /// - Parameters:
  ///   - wanted: bits a second that would be of use.
  ///   - known: bits a second that the path carries.
  ///   - sent: what goes to it now.
  mutating func want(_ wanted: Double, known: Double, sent: Double, now: MediaTime) {
    guard burst == nil else { return }
    guard let next else {
      self.next = now + .milliseconds(500)
      return
    }
    guard now >= next else { return }
    let target = min(1.25 * wanted, 3 * max(known, 100_000))
    let padding = target - sent
    guard padding > 0 else { return }
    let seconds = max(Self.shortest, min(Self.longest, known * Self.harm / padding))
    let end = now + MediaTime.Interval(microseconds: Int64(seconds * 1_000_000))
    burst = Burst(target: target, padding: padding, start: now, end: end, last: now, lastSent: now)
  }

  /// How many packets of padding are due.
  mutating func take(packetBytes: Int, now: MediaTime) -> Int {
    guard var current = burst, now < current.end else { return 0 }
    current.credit += current.padding * (now - current.last).seconds / 8 / Double(packetBytes)
    let count = Int(current.credit)
    current.credit -= Double(count)
    current.paddingCount += count
    current.last = now
    burst = current
    return count
  }

  /// Of any packet that is missing; -1 takes that back.
  mutating func miss(sent: MediaTime, _ count: Int = 1) {
    if let current = burst, sent >= current.start, sent < current.end { burst?.missed += count }
  }

  /// Of any packet that arrived; `arrived` in microseconds, `lost` the share that the path loses whatever is sent. What that shows,
  /// once a burst is over and understood.
  mutating func receive(sent: MediaTime, bytes: Int, arrived: Int64, lost: Double = 0) -> Proof? {
    guard var current = burst, sent >= current.start else { return nil }
    guard sent < current.end else { return judge(current, lost: lost, now: sent) }
    current.arrived += 1
    if sent == current.firstSent ?? sent {
      current.firstSent = sent
      current.firstArrival = max(current.firstArrival, arrived)
    } else {
      current.bytes += bytes
      current.lastSent = max(current.lastSent, sent)
      current.lastArrival = max(current.lastArrival, arrived)
    }
    burst = current
    return nil
  }

  /// Gives up a burst that no feedback came of.
  mutating func advance(to now: MediaTime) {
    if let current = burst, now >= current.end + Self.patience { finish(current, nil, now: now) }
  }

  /// What a burst proves whose feedback is there.
  private mutating func judge(_ burst: Burst, lost: Double, now: MediaTime) -> Proof? {
    guard burst.isTold else {
      (self.burst, lastEnd, next) = (nil, now, now + Self.wait)
      return nil
    }
    let proof = burst.proof(lost: lost)
    finish(burst, proof, now: now)
    return proof
  }

  private mutating func finish(_ burst: Burst, _ proof: Proof?, now: MediaTime) {
    let hasSucceeded = proof.map { $0.rate >= 0.85 * burst.target } ?? false
    currentWait = hasSucceeded ? Self.wait : min(currentWait * 2, Self.waitLimit)
    (self.burst, lastEnd, next) = (nil, now, now + (hasSucceeded ? Self.afterSuccess : currentWait))
  }
}
