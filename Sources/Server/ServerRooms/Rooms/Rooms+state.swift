import Database
import JSON
import MatrixModel
import RoomRules

extension Rooms {
  /// The room's state as the user may see it: as of now, or as of when they left.
  ///
  /// Spec: `GET /rooms/{roomId}/state`. Throws `M_FORBIDDEN`.
  package func state(of roomID: RoomID, for user: UserID) async throws -> [StoredEvent] {
    try await database.read { transaction in
      let view = try self.view(of: roomID, for: user, in: transaction)
      if let end = view.end {
        return try RoomLoader(transaction: transaction).state(of: view.room.number, at: end)
      }
      return view.room.state.values.sorted { $0.position < $1.position } + view.room.members.values.map(\.event)
    }
  }

  /// One entry of the state. Throws `M_FORBIDDEN`, `M_NOT_FOUND`.
  package func state(
    _ type: EventType, _ key: ByteString, of roomID: RoomID, for user: UserID
  ) async throws -> StoredEvent {
    let event = try await database.read { transaction in
      let view = try self.view(of: roomID, for: user, in: transaction)
      guard let end = view.end else { return view.room[type, key] }
      return try RoomLoader(transaction: transaction).state(of: view.room.number, type, key, at: end)
    }
    guard let event else { throw MatrixError.notFound("The room has no such state.") }
    return event
  }

  /// The member events of a room, as of `at` where given.
  ///
  /// Spec: `GET /rooms/{roomId}/members`. Throws `M_FORBIDDEN`.
  package func members(
    of roomID: RoomID, for user: UserID, at token: TimelineToken?, where isWanted: @escaping @Sendable (Membership) -> Bool
  ) async throws -> [StoredEvent] {
    try await database.read { transaction in
      let view = try self.view(of: roomID, for: user, in: transaction)
      var position = view.end
      if let token { position = min(token.position, view.end ?? .max) }
      let events: [StoredEvent]
      if let position, position < view.room.position {
        events = try RoomLoader(transaction: transaction).state(of: view.room.number, at: position).filter {
          $0.type == .member
        }
      } else {
        events = view.room.members.values.map(\.event)
      }
      return events.filter { isWanted(Membership($0.content["membership"]) ?? .leave) }
    }
  }

  /// Who is in the room. Only for who is in it. Spec: `GET /rooms/{roomId}/joined_members`.
  package func joinedMembers(of roomID: RoomID, for user: UserID) async throws -> [StoredEvent] {
    try await database.read { transaction in
      guard let room = try self.cache.snapshot(of: roomID, in: transaction), room.isJoined(user) else {
        throw MatrixError.forbidden("You are not in this room.")
      }
      return room.members.values.filter { $0.membership == .join }.map(\.event)
    }
  }

  /// Spec: `GET /joined_rooms`.
  package func joinedRooms(of user: UserID) async throws -> [RoomID] {
    try await database.read { transaction in
      try self.memberships.rooms(of: user, in: transaction).filter { $0.value.membership == .join }.keys
        .compactMap { try self.cache.snapshot(of: $0, in: transaction)?.roomID }
    }
  }
}
