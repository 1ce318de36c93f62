/// Keeps a large picture from filling the queue in front of a narrow path all at once: packets of video that are more than a usual picture and what the
/// path carries in `burstSeconds` wait, in order.
///
/// Only bursts wait: what comes steadily goes as it comes, whatever is thought of the path, so that one that carries more is found out.
struct Pacer {
  /// In the cache of its layer until then.
  struct Held {
    let subscription: Subscription
    let output: StreamRewriter.Output
    let sequence: UInt64
    let position: Int
  }

  /// Between two looks at what waits.
  static let step = MediaTime.Interval.milliseconds(3)
  /// More does not wait: all of it goes at once.
  static let packetsLimit = 512
  /// Less is no queue (`PathQueue`).
  private static let burstSeconds = 0.04
  /// What comes steadily may grow by so much without waiting.
  private static let headroom = 1.1

  /// Bytes a second; nil where nothing waits.
  private var rate: Double?
  /// Bytes that may go at once.
  private var burst = 0.0
  private var credit = 0.0
  private var last = MediaTime(microseconds: 0)
  private var held: [Held] = []
  /// Those before it are gone.
  private var next = 0

  var isEmpty: Bool { next == held.count }
  var isFull: Bool { held.count - next >= Self.packetsLimit }

  /// - Parameters:
  ///   - carried: bits a second that the path carries; nil where that is not known, and nothing is held from then on.
  ///   - coming: bits a second that come for it.
  ///   - picture: bytes of a usual picture.
  mutating func pace(carried: Double?, coming: Int, picture: Int, now: MediaTime) {
    let isNew = rate == nil
    rate = carried.map { max($0, Self.headroom * Double(coming)) / 8 }
    guard let rate else { return }
    burst = Self.burstSeconds * rate + Double(picture)
    if isNew { (credit, last) = (burst, now) }
  }

  /// Counts the time that has passed; whether packets may have to wait.
  mutating func begin(_ now: MediaTime) -> Bool {
    guard let rate else { return false }
    credit = min(burst, credit + rate * (now - last).seconds)
    last = now
    return true
  }

  /// Whether the next packet of video waits.
  var mustWait: Bool { credit < 0 || !isEmpty }

  /// So much was sent, of video or of sound.
  mutating func spend(_ bytes: Int) { credit -= Double(bytes) }

  mutating func hold(_ packet: Held) { held.append(packet) }

  /// The next one that may go now, or that is to go whatever there is room for.
  mutating func take(isForced: Bool) -> Held? {
    guard !isEmpty, isForced || credit >= 0 else { return nil }
    defer { forgetFirst() }
    return held[next]
  }

  private mutating func forgetFirst() {
    next += 1
    guard isEmpty || next >= Self.packetsLimit else { return }
    held.removeFirst(next)
    next = 0
  }

  /// Forgets what was on its way to a subscriber that is gone.
  mutating func remove(_ subscription: Subscription) {
    guard !isEmpty else { return }
    held.removeSubrange(..<next)
    next = 0
    held.removeAll { $0.subscription === subscription }
  }
}
