import HTTPServer
import JSON
import MatrixModel
import ServerRooms

/// How users are, and how many of a room are there.
extension Routes {
  mutating func addPresenceRoutes() {
    let homeserver = homeserver

    on(.getPresence) { request, session in
      let status = try await homeserver.presence.status(of: try request.path("userId"), for: session.userID)
      let now = homeserver.configuration.clock.now()
      return .json { writer in writer.object { status.writeMembers(to: &$0, now: now) } }
    }

    on(.setPresence) { request, session in
      try Self.requireOwn(request, session)
      let body = try await request.object()
      guard let presence = PresenceState(try body.requiredText("presence")) else {
        throw MatrixError.invalidParameter("'presence' is offline, online or unavailable.")
      }
      try await homeserver.presence.set(
        presence, try body.optionalText("status_msg"), of: session.userID, session.deviceID)
      return .emptyObject
    }

    on(.getOnlineCounts) { request, session in
      let counts = try await homeserver.rooms.onlineCounts(in: try request.path("roomId"), for: session.userID)
      return .json { writer in
        writer.object { writer in
          writer.member("online", counts.online)
          writer.member("unavailable", counts.unavailable)
          writer.member("joined", counts.joined)
        }
      }
    }
  }
}
