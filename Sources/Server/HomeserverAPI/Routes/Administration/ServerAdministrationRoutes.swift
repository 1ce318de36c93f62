import HTTPServer
import Homeserver
import JSON
import MatrixModel
import ServerMedia

/// The server itself: its version, its figures, what its administrators did.
extension Routes {
  mutating func addServerAdministrationRoutes() {
    addNameRoute()
    addStatisticsRoutes()
    addAuditRoute()

    // Anyone may ask, as of other servers: it says what this program is.
    on(.get, Self.administration + "/v1/server_version", budget: .read) { _ in
      .json { $0.object { $0.member("server_version", "Martlet") } }
    }
  }

  private mutating func addNameRoute() {
    let name = homeserver.configuration.serverName
    onAdmin(.get, Self.ownAdministration + "/server") { _, _ in .json { $0.object { $0.member("server_name", name) } } }
  }

  private mutating func addStatisticsRoutes() {
    let (statistics, moderation) = (homeserver.statistics, homeserver.mediaModeration)

    onAdmin(.get, Self.administration + "/v1/statistics/users/media") { request, _ in
      let query = try Statistics.MediaQuery(try request.query())
      let (users, total) = try await statistics.media(query)
      return .json(capacity: users.count * 128 + 64) { writer in
        writer.object { writer in
          writer.list("users", users) { user, writer in
            writer.member("user_id", user.userID)
            writer.member("displayname", orNull: user.displayName)
            writer.member("media_count", user.count)
            writer.member("media_length", user.bytes)
          }
          writer.member("total", total)
          writer.next("next_token", after: users.count, from: query.offset, of: total)
        }
      }
    }

    onAdmin(.get, Self.ownAdministration + "/statistics") { _, _ in
      let (server, media) = (try await statistics.server(), try await moderation.statistics())
      return .json { $0.object { Self.write(server, media, to: &$0) } }
    }

    let daily = homeserver.dailyStatistics
    onAdmin(.get, Self.ownAdministration + "/statistics/daily") { request, _ in
      let days = try request.query().integer("days") ?? 30
      guard (1...Int64(DailyStatistics.daysLimit)).contains(days) else {
        throw MatrixError.invalidParameter("'days' is from 1 to \(DailyStatistics.daysLimit).")
      }
      try await daily.note()
      let found = try await daily.list(days: Int(days))
      return .json(capacity: found.count * 128 + 64) { writer in
        writer.object { writer in
          writer.list("days", found) { day, writer in
            writer.member("day", day.day)
            writer.member("users", day.users)
            writer.member("active_users", day.active)
            writer.member("messages", day.messages)
            writer.member("rooms", day.rooms)
            writer.member("media_bytes", day.mediaBytes)
          }
        }
      }
    }
  }

  private mutating func addAuditRoute() {
    let audit = homeserver.audit

    onAdmin(.get, Self.ownAdministration + "/audit") { request, _ in
      let parameters = try request.query()
      var query = AuditLog.Query()
      query.actor = parameters.text("actor")?.string
      query.action = parameters.text("action")?.string
      query.target = parameters.text("target")?.string
      query.before = try parameters.integer("before")
      query.limit = min(try parameters.limit(), AuditLog.listLimit)
      let entries = try await audit.list(query)
      return .json(capacity: entries.count * 256 + 64) { [limit = query.limit] writer in
        writer.object { writer in
          writer.list("entries", entries) { entry, writer in
            writer.member("entry", entry.number)
            writer.member("time", entry.time)
            writer.member("actor", entry.actor)
            writer.member("action", entry.action)
            writer.member("target", entry.target)
            writer.member("details", raw: entry.details)
            writer.member("outcome", orNull: entry.outcome.map { ByteString($0) })
          }
          if entries.count == limit, let last = entries.last { writer.member("next_before", last.number) }
        }
      }
    }
  }

  private static func write(
    _ server: ServerStatistics, _ media: MediaStatistics, to writer: inout JSONWriter
  ) {
    writer.member("users", server.users)
    writer.member("guests", server.guests)
    writer.member("deactivated_users", server.deactivated)
    writer.member("administrators", server.administrators)
    writer.member("active_users_today", server.activeToday)
    writer.member("active_users_30_days", server.activeThisMonth)
    writer.member("devices", server.devices)
    writer.member("rooms", server.rooms)
    writer.member("events", server.events)
    writer.member("reports", server.reports)
    writer.member("media", media.items)
    writer.member("media_bytes", media.bytes)
    writer.member("media_files", media.files)
    writer.member("media_file_bytes", media.fileBytes)
    writer.member("media_quarantined", media.quarantined)
    writer.member("media_pending", media.pending)
  }
}

extension Statistics.MediaQuery {
  /// Throws `M_INVALID_PARAM`.
  fileprivate init(_ parameters: QueryParameters) throws {
    self.init()
    search = parameters.text("search_term")
    if let search, search.isEmpty { throw MatrixError.invalidParameter("'search_term' is not empty.") }
    from = try parameters.integer("from_ts") ?? 0
    until = try parameters.integer("until_ts") ?? .max
    guard from <= until else { throw MatrixError.invalidParameter("'from_ts' is not after 'until_ts'.") }
    offset = try parameters.offset()
    limit = try parameters.limit()
    isReversed = try parameters.isBackwards()
    guard let name = parameters.text("order_by") else { return }
    guard let order = Statistics.MediaOrder(rawValue: name.string) else {
      throw MatrixError.invalidParameter("'order_by' is 'user_id', 'displayname', 'media_count' or 'media_length'.")
    }
    self.order = order
  }
}
