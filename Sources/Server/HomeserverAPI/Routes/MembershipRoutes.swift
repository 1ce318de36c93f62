import HTTPServer
import JSON
import MatrixModel
import ServerAccounts
import ServerRooms

/// Coming into rooms and going out of them.
extension Routes {
  package mutating func addMembershipRoutes() {
    addJoiningRoutes()
    addLeavingRoutes()
    addMemberChangingRoutes()
  }

  private mutating func addJoiningRoutes() {
    let rooms = homeserver.rooms

    @Sendable func join(_ roomID: RoomID, _ body: JSON, _ session: Session) async throws -> Response {
      try await rooms.join(
        roomID, by: session.actor, reason: try body.optionalText("reason")?.string,
        thirdPartySigned: try body.optionalObject("third_party_signed"))
      return .json { $0.object { $0.member("room_id", roomID) } }
    }
    on(.joinRoom) { request, session in
      let body = try await request.optionalObject()
      return try await join(request.roomIDOrAlias(rooms), body, session)
    }
    on(.joinRoomByID) { request, session in
      let roomID: RoomID = try request.path("roomId")
      return try await join(roomID, request.optionalObject(), session)
    }

    on(.knockRoom) { request, session in
      let reason = try await request.optionalObject().optionalText("reason")?.string
      let roomID = try await request.roomIDOrAlias(rooms)
      try await rooms.knock(on: roomID, by: session.actor, reason: reason)
      return .json { $0.object { $0.member("room_id", roomID) } }
    }
  }

  private mutating func addLeavingRoutes() {
    let rooms = homeserver.rooms

    on(.leaveRoom) { request, session in
      let reason = try await request.optionalObject().optionalText("reason")?.string
      try await rooms.leave(try request.path("roomId"), by: session.actor, reason: reason)
      return .emptyObject
    }

    on(.forgetRoom) { request, session in
      try await rooms.forget(try request.path("roomId"), by: session.actor)
      return .emptyObject
    }
  }

  private mutating func addMemberChangingRoutes() {
    let rooms = homeserver.rooms

    // Two operations of the standard share the path: by user ID, and by an address that an identity server knows.
    on(.inviteUser) { request, session in
      let body = try await request.object()
      let roomID: RoomID = try request.path("roomId")
      if body.given("user_id") == nil, body.given("medium") != nil || body.given("address") != nil {
        try await rooms.invite(try ThirdPartyInvitation(body), to: roomID, by: session.actor)
      } else {
        try await rooms.invite(
          try body.requiredIdentifier("user_id"), to: roomID, by: session.actor,
          reason: try body.optionalText("reason")?.string)
      }
      return .emptyObject
    }

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

extension APIRequest {
  /// The room that `roomIdOrAlias` in the path names. Throws `M_INVALID_PARAM`, `M_NOT_FOUND` for an alias that nobody has.
  ///
  /// `via` and the older `server_name` in the query name servers to join through. They are ignored, as there is no federation yet.
  func roomIDOrAlias(_ rooms: Rooms) async throws -> RoomID {
    if let alias = RoomAlias(path("roomIdOrAlias")) { return try await rooms.room(of: alias) }
    return try path("roomIdOrAlias")
  }
}
