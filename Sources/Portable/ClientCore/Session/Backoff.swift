import MatrixModel

/// Wait longer after each failure, never all clients at once.
struct Backoff: Sendable {
  private(set) var failures = 0

  mutating func reset() { failures = 0 }

  /// Milliseconds until the next try: doubled each time from one second to thirty, of which a random half is taken off.
  mutating func next(_ random: inout RandomSource, retryAfterMilliseconds: Int64? = nil) -> Int64 {
    let whole = min(Limits.backoffLastMilliseconds, Limits.backoffFirstMilliseconds << Int64(min(failures, 10)))
    failures = min(failures + 1, 1_000)
    if let asked = retryAfterMilliseconds {
      return min(max(asked, 0), Limits.retryAfterMilliseconds) + random.next(below: 250)
    }
    return whole / 2 + random.next(below: whole / 2)
  }
}
