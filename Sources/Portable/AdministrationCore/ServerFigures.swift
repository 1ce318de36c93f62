import JSON
import MatrixModel
import ServerQueries

/// How much there is on the server now.
package struct ServerFigures: Sendable, Hashable {
  package let users: Int64
  package let activeToday: Int64
  package let activeThisMonth: Int64
  package let rooms: Int64
  package let reports: Int64
  package let files: Int64
  package let fileBytes: Int64

  init?(_ json: JSON) {
    guard let users = json.integer("users") else { return nil }
    self.users = users
    activeToday = json.integer("active_users_today") ?? 0
    activeThisMonth = json.integer("active_users_30_days") ?? 0
    rooms = json.integer("rooms") ?? 0
    reports = json.integer("reports") ?? 0
    files = json.integer("media") ?? 0
    fileBytes = json.integer("media_bytes") ?? 0
  }
}

/// The figures of one day, in UTC.
package struct DailyFigures: Sendable, Hashable {
  /// Milliseconds since 1970 at the day's beginning.
  package let day: Int64
  package let users: Int64
  package let active: Int64
  package let messages: Int64
  package let rooms: Int64
  package let mediaBytes: Int64

  package init(day: Int64, users: Int64 = 0, active: Int64 = 0, messages: Int64 = 0, rooms: Int64 = 0, mediaBytes: Int64 = 0) {
    self.day = day
    self.users = users
    self.active = active
    self.messages = messages
    self.rooms = rooms
    self.mediaBytes = mediaBytes
  }

  init?(_ json: JSON) {
    guard let day = json.integer("day") else { return nil }
    self.init(
      day: day, users: json.integer("users") ?? 0, active: json.integer("active_users") ?? 0,
      messages: json.integer("messages") ?? 0, rooms: json.integer("rooms") ?? 0, mediaBytes: json.integer("media_bytes") ?? 0)
  }

  package static let dayMilliseconds: Int64 = 24 * 60 * 60 * 1_000

  /// Every day from the first to the last, the oldest first. On a day without figures the server was off: what grows stays as it was, and
  /// nobody was there. At most `limit` days, the newest.
  package static func filled(_ days: [DailyFigures], limit: Int) -> [DailyFigures] {
    let days = days.sorted { $0.day < $1.day }
    guard let last = days.last, limit > 0 else { return [] }
    var filled: [DailyFigures] = []
    for day in days {
      let (age, overflows) = last.day.subtractingReportingOverflow(day.day)
      guard !overflows, age < Int64(limit) * dayMilliseconds else { continue }
      while let before = filled.last, day.day - before.day > dayMilliseconds {
        filled.append(
          DailyFigures(
            day: before.day + dayMilliseconds, users: before.users, rooms: before.rooms, mediaBytes: before.mediaBytes))
      }
      filled.append(day)
    }
    return Array(filled.suffix(limit))
  }
}

/// How the server is.
package struct ServerHealth: Sendable, Hashable {
  package let version: ByteString
  package let serverName: ByteString
  /// Milliseconds since 1970.
  package let started: Int64
  package let databaseBytes: Int64
  package let databaseLogBytes: Int64
  /// nil if the system does not tell.
  package let diskFreeBytes: Int64?
  package let diskBytes: Int64?
  package let waitingWrites: Int64
  package let waitingReads: Int64
  package let activeTasks: Int64
  /// How many of the last requests were timed, and within how many microseconds half, 95 and 99 of 100 were answered.
  package let timedRequests: Int64
  package let median: Int64
  package let percentile95: Int64
  package let percentile99: Int64
  /// Why something does not work, in the server's words; empty if all does.
  package let trouble: ByteString

  init?(_ json: JSON) {
    guard let version = json.text("version") else { return nil }
    self.version = version
    serverName = json.text("server_name") ?? ""
    started = json.integer("started_ts") ?? 0
    databaseBytes = json.integer("database_bytes") ?? 0
    databaseLogBytes = json.integer("database_log_bytes") ?? 0
    diskFreeBytes = json.integer("disk_free_bytes")
    diskBytes = json.integer("disk_bytes")
    waitingWrites = json.integer("waiting_writes") ?? 0
    waitingReads = json.integer("waiting_reads") ?? 0
    activeTasks = json.integer("active_tasks") ?? 0
    timedRequests = json.integer("timed_requests") ?? 0
    median = json.integer("request_microseconds_50") ?? 0
    percentile95 = json.integer("request_microseconds_95") ?? 0
    percentile99 = json.integer("request_microseconds_99") ?? 0
    trouble = json.text("trouble") ?? ""
  }
}

extension Endpoint {
  fileprivate static let statistics = Endpoint(
    .get, "/_matrix/client/unstable/martlet.administration/statistics", .administrator, rateLimited: true)
  fileprivate static let daily = Endpoint(
    .get, "/_matrix/client/unstable/martlet.administration/statistics/daily", .administrator, rateLimited: true)
  fileprivate static let health = Endpoint(
    .get, "/_matrix/client/unstable/martlet.administration/health", .administrator, rateLimited: true)
}

/// Documentation/Administration.md, "Over HTTP".
extension Query {
  package static func serverFigures() -> Query<ServerFigures> {
    Query<ServerFigures>(.statistics, Endpoint.statistics.path()) { ServerFigures($0) }
  }

  package static func dailyFigures(days: Int) -> Query<[DailyFigures]> {
    Query<[DailyFigures]>(.daily, Endpoint.daily.path(), parameters: URLQuery().adding("days", days)) { json in
      json["days"]?.elements.compactMap { DailyFigures($0) }
    }
  }

  package static func serverHealth() -> Query<ServerHealth> {
    Query<ServerHealth>(.health, Endpoint.health.path()) { ServerHealth($0) }
  }
}

extension Capabilities {
  /// Whether the account administers the server.
  package var isAdministrator: Bool { all["martlet.administration"]?.bool("enabled") ?? false }
}
