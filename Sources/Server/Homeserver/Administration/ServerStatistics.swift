import Database
import JSON
import MatrixModel
import ServerCore

/// How much there is on the server.
package struct ServerStatistics: Sendable {
  package let users: Int64
  package let guests: Int64
  package let deactivated: Int64
  package let administrators: Int64
  /// Accounts seen within a day and within 30 days.
  package let activeToday: Int64
  package let activeThisMonth: Int64
  package let devices: Int64
  package let rooms: Int64
  package let events: Int64
  package let reports: Int64
}

/// One user's share of the media.
package struct UserMediaStatistics: Sendable {
  package let userID: UserID
  package let displayName: ByteString?
  package let count: Int64
  package let bytes: Int64
}

/// Figures for administrators. Counts read an index or a whole table: for a person who asks, not for a clock.
package final class Statistics: Sendable {
  package static let limitRange = 1...1_000

  package enum MediaOrder: String, Sendable {
    case userID = "user_id"
    case displayName = "displayname"
    case count = "media_count"
    case bytes = "media_length"
  }

  package struct MediaQuery: Sendable {
    package var search: ByteString?
    /// Milliseconds since 1970; what was uploaded from the one to the other.
    package var from: Int64 = 0
    package var until = Int64.max
    package var order = MediaOrder.userID
    package var isReversed = false
    package var offset: Int64 = 0
    package var limit = 100

    package init() {}
  }

  private let database: Database
  private let clock: WallClock

  init(database: Database, clock: WallClock) {
    self.database = database
    self.clock = clock
  }

  package func server() async throws -> ServerStatistics {
    let now = clock.now()
    let day: Int64 = 24 * 60 * 60 * 1_000
    return try await database.read { tx in
      let accounts =
        try tx.first(
          """
          SELECT COUNT(*), CAST(SUM(is_guest) AS BIGINT), CAST(SUM(deactivated) AS BIGINT), CAST(SUM(is_admin) AS BIGINT)
          FROM account
          """
        ) { row -> [Int64] in [row.integer(0), row.integer(1), row.integer(2), row.integer(3)] } ?? [0, 0, 0, 0]
      func active(since time: Int64) throws -> Int64 {
        try tx.first("SELECT COUNT(DISTINCT user_id) FROM device WHERE last_seen >= $1", time) { $0.integer(0) } ?? 0
      }
      func count(_ sql: StaticString) throws -> Int64 { try tx.first(sql) { $0.integer(0) } ?? 0 }
      return ServerStatistics(
        users: accounts[0] - accounts[2], guests: accounts[1], deactivated: accounts[2], administrators: accounts[3],
        activeToday: try active(since: now - day), activeThisMonth: try active(since: now - 30 * day),
        devices: try count("SELECT COUNT(*) FROM device"), rooms: try count("SELECT COUNT(*) FROM room"),
        events: try count("SELECT COUNT(*) FROM event"), reports: try count("SELECT COUNT(*) FROM report"))
    }
  }

  /// Who has uploaded how much.
  package func media(_ query: MediaQuery) async throws -> (users: [UserMediaStatistics], total: Int) {
    let pattern = query.search.map { SearchPattern.containing($0) }
    let all = try await database.read { tx in
      try tx.all(
        """
        SELECT m.user_id, COUNT(*), CAST(SUM(m.bytes) AS BIGINT),
          (SELECT value FROM profile_field p WHERE p.user_id = m.user_id AND p.name = 'displayname')
        FROM media m LEFT JOIN account a ON a.user_id = m.user_id
        WHERE m.user_id <> '' AND m.created >= $1 AND m.created <= $2 AND ($3 IS NULL OR a.search_text LIKE $3 ESCAPE '!')
        GROUP BY m.user_id ORDER BY m.user_id
        """, query.from, query.until, pattern
      ) { row in
        UserMediaStatistics(
          userID: row.identifier(0), displayName: row.optionalBlob(3).flatMap { try? JSON.parse($0) }?.text,
          count: row.integer(1), bytes: row.integer(2))
      }
    }
    let isDescending = query.isReversed
    let sorted = all.sorted { left, right in
      let (a, b) = (Self.key(left, query.order), Self.key(right, query.order))
      if a == b { return left.userID < right.userID }
      return (a < b) != isDescending
    }
    let limit = min(max(query.limit, Self.limitRange.lowerBound), Self.limitRange.upperBound)
    return (Array(sorted.dropFirst(Int(clamping: query.offset)).prefix(limit)), sorted.count)
  }

  private static func key(_ user: UserMediaStatistics, _ order: MediaOrder) -> (Int64, ByteString) {
    switch order {
    case .userID: (0, user.userID.text)
    case .displayName: (0, user.displayName ?? "")
    case .count: (user.count, "")
    case .bytes: (user.bytes, "")
    }
  }
}
