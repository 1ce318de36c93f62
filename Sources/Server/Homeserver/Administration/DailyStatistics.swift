import Database
import MatrixModel
import ServerCore

/// What the server was like on each day, for the graphs of administrators: one row a day (UTC), brought up to date once an hour.
///
/// Messages are counted once, by a cursor over the positions of events, so that a purge takes nothing away from the days before it and no
/// table is read twice.
package final class DailyStatistics: Sendable {
  package struct Day: Sendable, Equatable {
    /// Milliseconds since 1970 at its beginning.
    package let day: Int64
    /// Accounts that are not deactivated.
    package let users: Int64
    /// Accounts of which a device was seen on that day.
    package let active: Int64
    /// Messages that were sent on that day, encrypted ones too.
    package let messages: Int64
    package let rooms: Int64
    package let mediaBytes: Int64
  }

  /// Days that are kept.
  package static let daysLimit = 400
  package static let dayMilliseconds: Int64 = 24 * 60 * 60 * 1_000
  /// Events that one transaction counts at most, so that others can write in between.
  private static let batchPositions: Int64 = 50_000

  private let database: Database
  private let clock: WallClock

  init(database: Database, clock: WallClock) {
    self.database = database
    self.clock = clock
  }

  /// The newest days, the oldest first. Days on which the server was off are missing.
  package func list(days: Int) async throws -> [Day] {
    let limit = min(max(days, 1), Self.daysLimit)
    return try await database.read { tx in
      try tx.all(
        "SELECT day, users, active, messages, rooms, media_bytes FROM daily_statistics ORDER BY day DESC LIMIT $1", limit
      ) { row in
        Day(
          day: row.integer(0), users: row.integer(1), active: row.integer(2), messages: row.integer(3), rooms: row.integer(4),
          mediaBytes: row.integer(5))
      }.reversed()
    }
  }

  /// Brings the row of today up to date, and those of messages that were not counted yet; forgets what is too old.
  package func note() async throws {
    let today = clock.now() / Self.dayMilliseconds * Self.dayMilliseconds
    while try await !countMessages(until: today) {}
    try await database.write { tx in
      let active =
        try tx.first("SELECT COUNT(DISTINCT user_id) FROM device WHERE last_seen >= $1", today) { $0.integer(0) } ?? 0
      try tx.execute(
        """
        UPDATE daily_statistics SET
          users = (SELECT COUNT(*) FROM account WHERE deactivated = 0),
          active = CASE WHEN active < $2 THEN $2 ELSE active END,
          rooms = (SELECT COUNT(*) FROM room),
          media_bytes = (SELECT COALESCE(CAST(SUM(bytes) AS BIGINT), 0) FROM media)
        WHERE day = $1
        """, today, active)
      try tx.execute("DELETE FROM daily_statistics WHERE day < $1", today - Int64(Self.daysLimit) * Self.dayMilliseconds)
    }
  }

  /// Counts one batch. Returns whether nothing is left. The first time, it only notes where counting begins.
  private func countMessages(until today: Int64) async throws -> Bool {
    try await database.write { tx in
      let newest = try tx.first("SELECT COALESCE(MAX(position), 0) FROM event") { $0.integer(0) } ?? 0
      let counted = try tx.first("SELECT MAX(counted) FROM daily_statistics") { $0.optionalInteger(0) } ?? nil
      let start = counted ?? newest
      let end = min(newest, start + Self.batchPositions)
      // A time that a bridge made up counts as today.
      let yesterday = today - Self.dayMilliseconds
      try tx.execute(
        """
        INSERT INTO daily_statistics(day, messages, counted)
        SELECT CASE WHEN timestamp >= $1 AND timestamp < $2 THEN $1 ELSE $2 END AS of_day, COUNT(*), $4 FROM event
        WHERE position > $3 AND position <= $4 AND type IN ('m.room.message', 'm.room.encrypted', 'm.sticker')
        GROUP BY of_day
        ON CONFLICT(day) DO UPDATE SET messages = daily_statistics.messages + excluded.messages
        """, yesterday, today, start, end)
      try tx.execute(
        "INSERT INTO daily_statistics(day, counted) VALUES ($1, $2) ON CONFLICT(day) DO UPDATE SET counted = excluded.counted",
        today, max(start, end))
      return end >= newest
    }
  }
}
