import JSON
import MatrixModel
import ServerQueries

/// What a user told the administrators of: a message, a room or a person.
package struct AdministeredReport: Listed, Hashable {
  package let number: Int64
  /// Milliseconds since 1970.
  package let received: Int64
  package let reporter: UserID
  package let reason: ByteString
  package let room: RoomID?
  package let event: EventID?
  package let user: UserID?

  package var key: ByteString { ByteString("\(number)") }

  init?(_ json: JSON) {
    guard let number = json.integer("id"), let reporter = UserID(json["user_id"]) else { return nil }
    self.number = number
    self.reporter = reporter
    received = json.integer("received_ts") ?? 0
    reason = json.text("reason") ?? ""
    room = RoomID(json["room_id"])
    event = EventID(json["event_id"])
    user = UserID(json["reported_user_id"])
  }
}

/// A report with what it is about.
package struct ReportDetails: Sendable {
  package struct Message: Sendable {
    package let event: EventID
    package let sender: UserID
    /// Milliseconds since 1970.
    package let sent: Int64
    /// The text; empty for what has none.
    package let text: ByteString
    package let type: ByteString
    package let isRemoved: Bool

    init?(_ json: JSON) {
      guard let event = EventID(json["event_id"]), let sender = UserID(json["sender"]) else { return nil }
      self.event = event
      self.sender = sender
      sent = json.integer("origin_server_ts") ?? 0
      text = json["content"]?.text("body") ?? ""
      type = json.text("type") ?? ""
      isRemoved = json["unsigned"]?["redacted_because"] != nil
    }
  }

  package let report: AdministeredReport
  /// nil if it is gone.
  package let message: Message?
  /// The messages around it, the oldest first.
  package let before: [Message]
  package let after: [Message]
  package let roomName: ByteString?

  /// The user that the report is about.
  package var accused: UserID? { message?.sender ?? report.user }

  init?(_ json: JSON) {
    guard let report = AdministeredReport(json) else { return nil }
    self.report = report
    message = json["event_json"].flatMap { Message($0) }
    before = json["events_before"]?.elements.compactMap { Message($0) } ?? []
    after = json["events_after"]?.elements.compactMap { Message($0) } ?? []
    roomName = json.text("room_name")
  }
}

extension Endpoint {
  fileprivate static let reports = Endpoint(
    .get, "/_matrix/client/unstable/martlet.administration/reports", .administrator, rateLimited: true)
  fileprivate static let report = Endpoint(
    .get, "/_matrix/client/unstable/martlet.administration/reports/{reportId}", .administrator, rateLimited: true)
  fileprivate static let dismiss = Endpoint(
    .delete, "/_matrix/client/unstable/martlet.administration/reports/{reportId}", .administrator, rateLimited: true)
  fileprivate static let redact = Endpoint(
    .post, "/_matrix/client/unstable/martlet.administration/rooms/{roomId}/redact/{eventId}", .administrator,
    rateLimited: true)
}

/// Documentation/Administration.md, "Over HTTP".
extension Query {
  /// The newest first.
  package static func administeredReports(before: Int64?, limit: Int) -> Query<PagedList<AdministeredReport>.Page> {
    let parameters = URLQuery().adding("before", before).adding("limit", limit)
    return Query<PagedList<AdministeredReport>.Page>(.reports, Endpoint.reports.path(), parameters: parameters) { json in
      json.page("reports", before: "next_before") { AdministeredReport($0) }
    }
  }

  package static func report(_ number: Int64) -> Query<ReportDetails> {
    Query<ReportDetails>(.report, Endpoint.report.path(ByteString("\(number)"))) { ReportDetails($0) }
  }

  /// Nothing happens to what was reported.
  package static func dismissReport(_ number: Int64) -> Query<Void> {
    Query<Void>(.dismiss, Endpoint.dismiss.path(ByteString("\(number)")))
  }

  /// Removes a message, whether the administrator is in its room or not.
  package static func remove(_ event: EventID, in room: RoomID, reason: ByteString) -> Query<Void> {
    Query<Void>(
      .redact, Endpoint.redact.path(room.text, event.text),
      body: JSONWriter.object { writer in if !reason.isEmpty { writer.member("reason", reason) } })
  }
}
