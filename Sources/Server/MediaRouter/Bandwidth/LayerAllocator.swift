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
  static let waitLimit = MediaTime.Interval.seconds(120)
  /// A step up that holds for so long has succeeded.
  static let trial = MediaTime.Interval.seconds(15)

  private var lastChange: MediaTime?
  private var lastRise: MediaTime?
  private var currentWait = LayerAllocator.wait

  /// The layer for each wish; nil for none, which leaves sound alone.
  ///
  /// - Parameter other: bits a second of sound, which always goes first.
  mutating func allocate(_ wishes: [Wish], _ path: PathEstimate.State, other: Int, now: MediaTime) -> [Int?] {
    let current = wishes.map { wish in wish.current.map { min($0, wish.ceiling) } }
    switch path {
    case .unknown: return wishes.map { $0.ceiling }
    case .congested(let rate):
      let lowered = Self.fit(wishes, into: rate - Double(other), notAbove: current)
      if lowered != current { noteFall(now) }
      return lowered
    case .open(let limit):
      let lastChange = self.lastChange ?? now
      self.lastChange = lastChange
      guard now - lastChange >= currentWait,
        let i = wishes.indices.first(where: { Self.next(wishes[$0], above: current[$0]) != nil })
      else { return current }
      var raised = current
      raised[i] = Self.next(wishes[i], above: current[i])
      let wanted = zip(wishes, raised).reduce(other) { $0 + Self.rate($1.0, $1.1) }
      guard Double(wanted) <= limit ?? .infinity else { return current }
      self.lastChange = now
      lastRise = now
      return raised
    }
  }

  private mutating func noteFall(_ now: MediaTime) {
    let wasTrial = lastRise.map { now - $0 < Self.trial } ?? false
    currentWait = wasTrial ? min(currentWait * 2, Self.waitLimit) : Self.wait
    lastChange = now
    lastRise = nil
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
