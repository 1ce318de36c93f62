import HTTPServer
import HomeserverAPI
import JSON
import MatrixModel
import RoomRules
import ServerRooms

/// Calls in rooms: ours, announced as `martlet.call`.
extension Routes {
  /// - Parameter publicBaseURL: where clients reach this server; nil takes what the request says in `Host`.
  package mutating func addRoomCallRoutes(_ projects: CallProjects, _ sessions: CallSessions, publicBaseURL: String?) {
    let (rooms, clock) = (homeserver.rooms, homeserver.configuration.clock)

    on(.createCallToken) { request, session in
      let roomID: RoomID = try request.path("roomId")
      let role = try await rooms.callRole(of: session.userID, in: roomID)
      guard let secret = projects.secret(of: .rooms) else { preconditionFailure("the homeserver is a project") }
      let call = try await sessions.session(of: roomID)
      let token = ConnectionToken.issue(
        for: call.id, role: role, session.userID, session.deviceID, secret: secret, now: clock.now())
      return .json { writer in
        writer.object { writer in
          writer.member("session_id", call.id)
          writer.member("token", token)
          writer.member("url", Self.socketURL(publicBaseURL, request.http))
        }
      }
    }
  }

  private static func socketURL(_ publicBaseURL: String?, _ request: Request) -> String {
    guard let base = publicBaseURL else { return "ws://\(request.headers["Host"] ?? "localhost")" + CallServer.socketPath }
    // http and https become ws and wss.
    return "ws" + base.dropFirst(4) + CallServer.socketPath
  }
}

extension Rooms {
  func isEncrypted(_ roomID: RoomID) async throws -> Bool {
    try await database.read { try self.cache.snapshot(of: roomID, in: $0)?[.encryption] != nil }
  }

  /// The role of a member in the room's call: members who may remove others moderate. Throws `M_FORBIDDEN` for users outside the room.
  func callRole(of user: UserID, in roomID: RoomID) async throws -> Role {
    let snapshot = try await joinedRoom(roomID, of: user)
    return snapshot.powerLevels.level(of: user) >= snapshot.powerLevels.required(.kick) ? .moderator : .publisher
  }
}
