import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// What the server says to its users: to one at the path that tools use, to all at ours.
extension Routes {
  mutating func addNoticeRoutes() {
    let (notices, audit, server) = (homeserver.serverNotices, homeserver.audit, homeserver.configuration.serverName)
    addBroadcastRoutes()
    let path = Self.administration + "/v1/send_server_notice"

    @Sendable func send(_ request: APIRequest, _ administrator: Administrator, _ transactionID: TransactionID?) async throws
      -> Response
    {
      let body = try await request.object()
      let userID: UserID = try body.requiredIdentifier("user_id")
      try userID.requireLocal(to: server)
      let notice = try ServerNotices.Notice(
        try body.optionalIdentifier("type") ?? .message, stateKey: try body.optionalText("state_key"),
        try body.requiredObject("content"))
      let eventID = try await audit.record("notice.send", of: userID.string, by: administrator) {
        try await notices.send(notice, to: userID, by: administrator, transactionID: transactionID)
      }
      return .json { $0.object { $0.member("event_id", eventID) } }
    }

    onAdmin(.post, path) { try await send($0, $1, nil) }
    onAdmin(.put, path + "/{txnId}") { try await send($0, $1, try $0.path("txnId")) }
  }

  private mutating func addBroadcastRoutes() {
    let (notices, tasks, audit) = (homeserver.serverNotices, homeserver.administrationTasks, homeserver.audit)

    onAdmin(.post, Self.ownAdministration + "/broadcasts") { request, administrator in
      let content = try await request.object().requiredObject("content")
      let notice = try ServerNotices.Notice(.message, content)
      let id = try await audit.record("notice.broadcast", of: "", by: administrator) {
        try await notices.startBroadcast(notice, by: administrator)
      }
      return .json { $0.object { $0.member("broadcast_id", id) } }
    }

    onAdmin(.get, Self.ownAdministration + "/broadcasts") { _, _ in
      let found = try await tasks.list(.broadcast)
      return .json { writer in
        writer.object { writer in writer.list("broadcasts", found) { Self.write(broadcast: $0, to: &$1) } }
      }
    }

    onAdmin(.get, Self.ownAdministration + "/broadcasts/{broadcastId}") { request, _ in
      let task = try await tasks.task(request.path("broadcastId").string)
      guard task.kind == .broadcast else { throw MatrixError.notFound("There is no such broadcast.") }
      return .json { $0.object { Self.write(broadcast: task, to: &$0) } }
    }
  }

  private static func write(broadcast task: AdministrationTask, to writer: inout JSONWriter) {
    writer.member("broadcast_id", task.id)
    writer.member("status", task.state.rawValue)
    writer.member("actor", task.actor)
    writer.member("reached", task.done)
    writer.member("total", task.total)
    writer.member("failed", task.result?["failed"]?.integer ?? 0)
    writer.member("started_ts", task.started)
    if let finished = task.finished { writer.member("finished_ts", finished) }
    if let error = task.result?["error"]?.string { writer.member("error", error) }
  }
}
