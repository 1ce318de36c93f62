/// From the clock of a source to the machine's: the first frame is taken now, and the distances between frames stay what they are.
struct SourceClock: Sendable {
  /// A source that is further off than this has another clock by now.
  static let driftLimitMicroseconds: Int64 = 2_000_000

  private var offset: Int64?

  /// When a frame is due, in microseconds of `CLOCK_MONOTONIC`.
  /// - Parameter now: of that clock.
  mutating func place(_ timestamp: Int64, now: Int64) -> Int64 {
    if let offset {
      let (due, overflows) = timestamp.addingReportingOverflow(offset)
      if !overflows, due <= now + Self.driftLimitMicroseconds, due >= now - Self.driftLimitMicroseconds { return due }
    }
    let (difference, overflows) = now.subtractingReportingOverflow(timestamp)
    offset = overflows ? nil : difference
    return now
  }
}
