import HTTPServer
import JSON
import MatrixModel
import ServerDirectory
import ServerRooms

/// What users reported.
extension Routes {
  mutating func addReportAdministrationRoutes() {
    addReportListRoutes()
    addEventReportRoutes()
    addReportDetailRoutes()
    addRemovalRoute()
  }

  private mutating func addReportListRoutes() {
    let reports = homeserver.reports

    onAdmin(.get, Self.eventReports) { request, _ in
      let parameters = try request.query()
      var query = Reports.Query()
      query.offset = try parameters.offset()
      query.limit = try parameters.limit()
      query.isOldestFirst = !(try parameters.isBackwards(default: true))
      query.reporter = try parameters.identifier("user_id")
      query.roomID = try parameters.identifier("room_id")
      let (found, total) = try await reports.page(query)
      return .json(capacity: found.count * 256 + 64) { writer in
        writer.object { writer in
          writer.list("event_reports", found) { Self.write($0, to: &$1) }
          writer.member("total", total)
          writer.next("next_token", after: found.count, from: query.offset, of: total)
        }
      }
    }

    // Ours: reports of rooms and users as well.
    onAdmin(.get, Self.ownAdministration + "/reports") { request, _ in
      let parameters = try request.query()
      let limit = min(try parameters.limit(), Reports.listLimit)
      let found = try await reports.list(before: try parameters.integer("before"), limit: limit)
      return .json(capacity: found.count * 256 + 64) { writer in
        writer.object { writer in
          writer.list("reports", found) { Self.write($0, to: &$1) }
          if found.count == limit, let last = found.last { writer.member("next_before", last.number) }
        }
      }
    }
  }

  private mutating func addEventReportRoutes() {
    let (reports, rooms, audit) = (homeserver.reports, homeserver.roomAdministration, homeserver.audit)
    let clock = homeserver.configuration.clock

    onAdmin(.get, Self.eventReports + "/{reportId}") { request, administrator in
      let report = try await reports.report(try request.reportNumber())
      var event: StoredEvent?
      if let eventID = report.subject.eventID { event = try await rooms.event(eventID) }
      let reader = EventReader(userID: administrator.userID, deviceID: nil, now: clock.now())
      return .json(capacity: 2_048) { [event] writer in
        writer.object { writer in
          Self.write(report, to: &writer)
          guard let event, let roomID = report.subject.roomID else { return }
          writer.member("sender", event.sender)
          writer.key("event_json")
          event.write(to: &writer, for: reader, roomID: roomID)
        }
      }
    }

    onAdmin(.delete, Self.eventReports + "/{reportId}") { request, administrator in
      let number = try request.reportNumber()
      try await audit.record("report.delete", of: "\(number)", by: administrator) { try await reports.delete(number) }
      return .emptyObject
    }
  }

  /// Ours: a report of any kind, with the messages around the one it is about.
  private mutating func addReportDetailRoutes() {
    let (reports, rooms, audit) = (homeserver.reports, homeserver.roomAdministration, homeserver.audit)
    let clock = homeserver.configuration.clock

    onAdmin(.get, Self.ownAdministration + "/reports/{reportId}") { request, administrator in
      let report = try await reports.report(try request.reportNumber())
      var (event, around): (StoredEvent?, (before: [StoredEvent], after: [StoredEvent])) = (nil, ([], []))
      if let eventID = report.subject.eventID, let found = try await rooms.event(eventID) {
        event = found
        around = try await rooms.neighbours(of: found, limit: Self.neighboursLimit)
      }
      // The room may be gone.
      var name: ByteString?
      if let roomID = report.subject.roomID { name = try? await rooms.room(roomID).room.name }
      let reader = EventReader(userID: administrator.userID, deviceID: nil, now: clock.now())
      return .json(capacity: 8_192) { [event, around, name] writer in
        writer.object { writer in
          Self.write(report, to: &writer)
          writer.member("room_name", orNull: name)
          guard let event, let roomID = report.subject.roomID else { return }
          writer.key("event_json")
          event.write(to: &writer, for: reader, roomID: roomID)
          writer.array("events_before", around.before) { $0.write(to: &$1, for: reader, roomID: roomID) }
          writer.array("events_after", around.after) { $0.write(to: &$1, for: reader, roomID: roomID) }
        }
      }
    }

    onAdmin(.delete, Self.ownAdministration + "/reports/{reportId}") { request, administrator in
      let number = try request.reportNumber()
      try await audit.record("report.delete", of: "\(number)", by: administrator) { try await reports.delete(number) }
      return .emptyObject
    }
  }

  /// Ours: removes a message of a room that the administrator is not in.
  private mutating func addRemovalRoute() {
    let (rooms, audit, server) = (homeserver.roomAdministration, homeserver.audit, homeserver.configuration.serverName)

    onAdmin(.post, Self.ownAdministration + "/rooms/{roomId}/redact/{eventId}") { request, administrator in
      let (roomID, eventID): (RoomID, EventID) = (try request.path("roomId"), try request.path("eventId"))
      let reason = try await request.optionalObject().optionalText("reason")
      try await audit.record(
        "room.redact", of: roomID.string, by: administrator, details: { $0.member("event_id", eventID) }
      ) { try await rooms.remove(eventID, in: roomID, reason: reason, of: server) }
      return .emptyObject
    }
  }

  /// Messages that are shown before one that was reported, and behind it.
  private static let neighboursLimit = 5

  private static let eventReports = administration + "/v1/event_reports"

  private static func write(_ report: Reports.Report, to writer: inout JSONWriter) {
    writer.member("id", report.number)
    writer.member("received_ts", report.received)
    writer.member("user_id", report.reporter)
    writer.member("reason", report.reason)
    if let roomID = report.subject.roomID { writer.member("room_id", roomID) }
    if let eventID = report.subject.eventID { writer.member("event_id", eventID) }
    if let userID = report.subject.userID { writer.member("reported_user_id", userID) }
  }
}

extension APIRequest {
  /// Throws `M_INVALID_PARAM`.
  fileprivate func reportNumber() throws -> Int64 {
    guard let number = Int64(path("reportId").string), number >= 0 else {
      throw MatrixError.invalidParameter("The number of a report is a whole number.")
    }
    return number
  }
}
