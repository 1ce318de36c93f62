/// Which layer of each video fits the path of one subscriber: down at once, up one step after a while.
///
/// What a path carries shows only when it is used, so going up is a trial: if it has to be taken back soon, the next one waits twice as long.
struct LayerAllocator {
  /// One video of the subscriber. The first of a list are the most important.
  struct Wish {
    /// Bits a second of each layer, the lowest first; nil for one the publisher does not send.
    var rates: [Int?]
    /// The highest layer it may get.
    var ceiling: Int
    /// nil where its video rests.
    var current: Int?
  }

  static let wait = MediaTime.Interval.seconds(8)
  /// Where it is measured what the path carries.
  static let measuredWait = MediaTime.Interval.seconds(1)
  static let waitLimit = MediaTime.Interval.seconds(120)
  static let measuredWaitLimit = MediaTime.Interval.seconds(20)
  /// A step up that holds for so long has succeeded.
  static let trial = MediaTime.Interval.seconds(15)
  /// Measuring is not exact: so much more than is needed.
  private static let margin = 1.05

  /// Bits a second, sound included, with which the next layer could be had; nil where all have what they may have.
  private(set) var wanted: Double?
  private var lastChange: MediaTime?
  private var lastRise: MediaTime?
  private var lastFall: MediaTime?
  /// Trials in a row that had to be taken back.
  private var failures: Int64 = 0
  /// The last fall had no reason.
  private var isForgiven = false

  /// The layer for each wish; nil for none, which leaves sound alone.
  ///
  /// - Parameter other: bits a second of sound, which always goes first.
  mutating func allocate(_ wishes: [Wish], _ path: PathEstimate.State, other: Int, now: MediaTime) -> [Int?] {
    let current = wishes.map { wish in wish.current.map { min($0, wish.ceiling) } }
    wanted = nil
    switch path {
    case .unknown: return wishes.map { $0.ceiling }
    case .congested(let rate):
      let lowered = Self.fit(wishes, into: rate - Double(other), notAbove: current)
      if lowered != current { noteFall(now) }
      return lowered
    case .open(let limit):
      let isDue = isDue(after: Self.wait, limit: Self.waitLimit, now)
      return raise(wishes, current, into: limit ?? .infinity, other, steps: isDue ? 1 : 0, now)
    case .measured(let rate):
      let isDue = isDue(after: Self.measuredWait, limit: Self.measuredWaitLimit, now)
      return raise(wishes, current, into: rate / Self.margin, other, steps: isDue ? .max : 0, now)
    }
  }

  private mutating func isDue(after wait: MediaTime.Interval, limit: MediaTime.Interval, _ now: MediaTime) -> Bool {
    let last = lastChange ?? now
    lastChange = last
    if isForgiven { return true }
    return now - last >= min(wait * (1 << failures), limit)
  }

  /// Raises step by step, the subscription with least first, as long as the bandwidth suffices.
  private mutating func raise(
    _ wishes: [Wish], _ current: [Int?], into limit: Double, _ other: Int, steps: Int, _ now: MediaTime
  ) -> [Int?] {
    var raised = current
    var left = steps
    while true {
      let raisable = wishes.indices.filter { Self.next(wishes[$0], above: raised[$0]) != nil }
      guard let i = raisable.min(by: { raised[$0] ?? -1 < raised[$1] ?? -1 }) else { break }
      var next = raised
      next[i] = Self.next(wishes[i], above: raised[i])
      let needed = Double(zip(wishes, next).reduce(other) { $0 + Self.rate($1.0, $1.1) })
      guard left > 0, needed <= limit else {
        wanted = needed
        break
      }
      left -= 1
      raised = next
    }
    if raised != current { (lastChange, lastRise, isForgiven) = (now, now, false) }
    return raised
  }

  /// What the last fall was for turned out to be no reason: what it took away may come back at once.
  mutating func forgive() { (failures, lastRise, lastFall, isForgiven) = (0, nil, nil, true) }

  private mutating func noteFall(_ now: MediaTime) {
    if let lastRise, now - lastRise < Self.trial {
      failures = min(failures + 1, 7)
    } else if lastFall.map({ now - $0 >= Self.trial }) ?? true {
      failures = 0
    }
    (lastChange, lastFall, lastRise, isForgiven) = (now, now, nil, false)
  }

  /// Everyone the lowest layer, in order, then everyone the next, as long as it fits.
  static func fit(_ wishes: [Wish], into budget: Double, notAbove limits: [Int?]) -> [Int?] {
    var chosen = [Int?](repeating: nil, count: wishes.count)
    var left = budget
    var hasRaised = true
    while hasRaised {
      hasRaised = false
      for i in wishes.indices {
        guard let limit = limits[i], let next = next(wishes[i], above: chosen[i]), next <= limit else { continue }
        let more = Double(rate(wishes[i], next) - rate(wishes[i], chosen[i]))
        guard more <= left else { continue }
        left -= more
        chosen[i] = next
        hasRaised = true
      }
    }
    return chosen
  }

  /// The next layer that is sent.
  private static func next(_ wish: Wish, above layer: Int?) -> Int? {
    let first = layer.map { $0 + 1 } ?? 0
    guard first <= wish.ceiling else { return nil }
    return (first...wish.ceiling).first { $0 < wish.rates.count && wish.rates[$0] != nil }
  }

  /// Of a layer, or of the next lower one that is sent.
  private static func rate(_ wish: Wish, _ layer: Int?) -> Int {
    guard let layer else { return 0 }
    return wish.rates.prefix(layer + 1).last { $0 != nil }.flatMap { $0 } ?? 0
  }
}
