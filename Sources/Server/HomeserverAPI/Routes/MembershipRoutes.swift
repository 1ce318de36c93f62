import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// Coming into rooms and going out of them.
extension Routes {
  package mutating func addMembershipRoutes() {
    let rooms = homeserver.rooms

    on(.joinRoom) { request, session in
      let name = request.path("roomIdOrAlias")
      let reason = try await request.optionalObject().optionalText("reason")?.string
      let roomID: RoomID
      if let alias = RoomAlias(name) {
        roomID = try await rooms.room(of: alias)
      } else {
        roomID = try request.path("roomIdOrAlias")
      }
      try await rooms.join(roomID, by: session.actor, reason: reason)
      return .json { $0.object { $0.member("room_id", roomID) } }
    }

    on(.joinRoomByID) { request, session in
      let roomID: RoomID = try request.path("roomId")
      let reason = try await request.optionalObject().optionalText("reason")?.string
      try await rooms.join(roomID, by: session.actor, reason: reason)
      return .json { $0.object { $0.member("room_id", roomID) } }
    }

    on(.leaveRoom) { request, session in
      let reason = try await request.optionalObject().optionalText("reason")?.string
      try await rooms.leave(try request.path("roomId"), by: session.actor, reason: reason)
      return .emptyObject
    }

    on(.forgetRoom) { request, session in
      try await rooms.forget(try request.path("roomId"), by: session.actor)
      return .emptyObject
    }

    addMembershipRoute(.inviteUser) { try await rooms.invite($0.user, to: $0.roomID, by: $0.actor, reason: $0.reason) }
    addMembershipRoute(.kick) { try await rooms.kick($0.user, from: $0.roomID, by: $0.actor, reason: $0.reason) }
    addMembershipRoute(.ban) { try await rooms.ban($0.user, from: $0.roomID, by: $0.actor, reason: $0.reason) }
    addMembershipRoute(.unban) { try await rooms.unban($0.user, in: $0.roomID, by: $0.actor, reason: $0.reason) }
  }

  /// What one member asks to be done to another.
  private struct MembershipRequest {
    let user: UserID
    let roomID: RoomID
    let actor: Rooms.Actor
    let reason: String?
  }

  private mutating func addMembershipRoute(
    _ endpoint: Endpoint, _ command: @escaping @Sendable (MembershipRequest) async throws -> Void
  ) {
    on(endpoint) { request, session in
      let body = try await request.object()
      try await command(
        MembershipRequest(
          user: try body.requiredIdentifier("user_id"), roomID: try request.path("roomId"), actor: session.actor,
          reason: try body.optionalText("reason")?.string))
      return .emptyObject
    }
  }
}
