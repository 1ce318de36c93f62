import Glibc

/// The clock of this machine beside that of the PostgreSQL server.
enum ClockComparison {
  static func offset(in transaction: ReadTransaction) throws -> Duration {
    let before = microseconds()
    let found = try transaction.first("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)") {
      $0.integer(0)
    }
    return offset(of: found ?? before, asked: before, answered: microseconds())
  }

  /// - Parameters:
  ///   - time: that of the other clock at some moment between question and answer, whose times are of this machine's. All in microseconds.
  static func offset(of time: Int64, asked: Int64, answered: Int64) -> Duration {
    if time < asked { return .microseconds(asked - time) }
    return .microseconds(min(0, answered - time))
  }

  private static func microseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}
