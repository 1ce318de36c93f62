/// Stops asking a service that keeps failing: after `failuresLimit` failures in a row nothing is asked for `rest`, then one request tries.
struct Circuit {
  static let failuresLimit = 10
  static let rest = Duration.seconds(5)

  private var failures = 0
  private var closedAgain = ContinuousClock.now

  /// Whether a request may be sent. If the circuit was open, only one request is let through at a time.
  mutating func permits(_ now: ContinuousClock.Instant) -> Bool {
    guard failures >= Self.failuresLimit else { return true }
    guard now >= closedAgain else { return false }
    closedAgain = now + Self.rest
    return true
  }

  mutating func succeeded() { failures = 0 }

  mutating func failed(_ now: ContinuousClock.Instant) {
    failures += 1
    if failures >= Self.failuresLimit { closedAgain = now + Self.rest }
  }
}
