/// What the clocks show, passed in. Both in milliseconds.
package struct CallTime: Sendable {
  /// Never goes back; for deadlines and rates.
  package var monotonic: Int64
  /// Since 1970; for people.
  package var wall: Int64

  package init(monotonic: Int64, wall: Int64) {
    self.monotonic = monotonic
    self.wall = wall
  }
}

/// A bucket that fills by its rate and is emptied by what is done.
struct TokenBucket: Sendable {
  private let rate: CallLimits.Rate
  /// Thousandths of a token.
  private var level: Int64
  private var filledAt: Int64

  init(_ rate: CallLimits.Rate, at now: Int64) {
    self.rate = rate
    level = rate.burst * 1_000
    filledAt = now
  }

  /// Takes one, or so many (of more than a burst, a burst); else tells in how many milliseconds they are there.
  mutating func take(_ count: Int = 1, at now: Int64) -> Int64? {
    fill(at: now)
    let wanted = min(Int64(count), rate.burst) * 1_000
    guard level < wanted else {
      level -= wanted
      return nil
    }
    return (wanted - level + rate.perSecond - 1) / rate.perSecond
  }

  mutating func isFull(at now: Int64) -> Bool {
    fill(at: now)
    return level == rate.burst * 1_000
  }

  private mutating func fill(at now: Int64) {
    // A thousandth of a token a millisecond for each token a second; no more time than fills it counts.
    let passed = min(max(0, now - filledAt), rate.burst * 1_000 / rate.perSecond + 1)
    level = min(rate.burst * 1_000, level + passed * rate.perSecond)
    filledAt = max(now, filledAt)
  }
}
