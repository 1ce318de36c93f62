/// Converts the times of a source to the machine's clock. The first frame is due now, and the intervals between frames stay the same.
struct SourceClock: Sendable {
  /// The largest difference. If it is exceeded, the source has changed its clock.
  static let driftLimitMicroseconds: Int64 = 2_000_000

  private var offset: Int64?

  /// Returns when a frame is due, in microseconds of `CLOCK_MONOTONIC`.
  /// - Parameter now: the current time of that clock.
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
