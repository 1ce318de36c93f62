import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// Pushers, and the list of what one was notified of.
extension Routes {
  mutating func addPushRoutes() {
    let (pushers, notifications) = (homeserver.pushers, homeserver.notifications)
    let clock = homeserver.configuration.clock

    on(.getPushers) { _, session in
      let all = try await pushers.all(of: session.userID)
      return .json { writer in
        writer.object { writer in
          writer.key("pushers")
          writer.array { writer in for pusher in all { pusher.write(to: &writer) } }
        }
      }
    }

    on(.postPusher) { request, session in
      try await pushers.set(try await request.object(), of: session.userID, by: session.hasDevice ? session.deviceID : nil)
      return .emptyObject
    }

    on(.getNotifications) { request, session in
      let query = try request.query()
      let only = query.text("only")
      guard only == nil || only == "highlight" || only == "" else {
        throw MatrixError.invalidParameter("'only' is highlight or left out.")
      }
      let limit = try query.integer("limit").map { Int(min($0, 1_000)) }
      let page = try await notifications.page(
        of: session.userID, from: query.text("from"), limit: limit, onlyHighlights: only == "highlight")
      let reader = session.reader(clock)
      return .json(capacity: 4096) { page.write(to: &$0, for: reader) }
    }
  }
}
