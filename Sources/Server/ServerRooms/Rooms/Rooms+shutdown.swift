import Database
import MatrixModel

extension Rooms {
  /// What `shutDown` did.
  package struct Shutdown: Sendable {
    /// Who was in the room, invited to it or knocking.
    package let removed: [UserID]
    package let aliases: [RoomAlias]
  }

  /// Takes everyone of this server out of a room, its aliases away and its name from the directory.
  ///
  /// - Parameters:
  ///   - administrator: where given, nobody of this server comes into the room again until `unblock`.
  ///   - reason: stands in the members' leave events.
  ///
  /// Works in batches; a repetition goes on where an interrupted one stopped. Throws `M_NOT_FOUND`.
  package func shutDown(
    _ roomID: RoomID, blockedBy administrator: UserID? = nil, reason: String? = nil
  ) async throws -> Shutdown {
    if let administrator { try await block(roomID, by: administrator) }
    let aliases = try await database.write { transaction in
      guard let room = try self.cache.newest(roomID, in: transaction) else {
        throw MatrixError.notFound("There is no such room on this server.")
      }
      for observer in self.observers { try observer.shutDown(room, in: transaction) }
      let aliases = try Self.aliases(of: room, transaction)
      try transaction.execute("DELETE FROM room_alias WHERE room = $1", room.number)
      return aliases
    }
    var removed: [UserID] = []
    while true {
      let batch = try await removeMembers(of: roomID, reason)
      guard !batch.isEmpty else { return Shutdown(removed: removed, aliases: aliases) }
      removed += batch
    }
  }

  /// What `shutDown` would do now. Throws `M_NOT_FOUND`.
  package func plannedShutdown(of roomID: RoomID) async throws -> Shutdown {
    try await database.read { transaction in
      guard let room = try self.cache.snapshot(of: roomID, in: transaction) else {
        throw MatrixError.notFound("There is no such room on this server.")
      }
      let aliases = try Self.aliases(of: room, transaction)
      return Shutdown(removed: self.present(in: room), aliases: aliases)
    }
  }

  private static func aliases(of room: RoomSnapshot, _ transaction: ReadTransaction) throws -> [RoomAlias] {
    try transaction.all("SELECT alias FROM room_alias WHERE room = $1 ORDER BY alias", room.number) { $0.identifier(0) }
  }

  /// Who of this server is in a room, invited to it or knocking.
  private func present(in room: RoomSnapshot) -> [UserID] {
    let members = room.members.filter { user, member in
      user.serverName == configuration.serverName && [.join, .invite, .knock].contains(member.membership)
    }
    return members.map(\.key).sorted()
  }

  private static let shutdownBatchMembers = 50

  private func removeMembers(of roomID: RoomID, _ reason: String?) async throws -> [UserID] {
    try await edit(roomID) { editor in
      let batch = Array(self.present(in: editor.room).prefix(Self.shutdownBatchMembers))
      for user in batch { try self.appendMember(.leave, of: user, by: user, reason: reason, to: &editor) }
      return batch
    }
  }

  // MARK: Blocking

  /// Lets nobody of this server into a room, whether it exists here or not. Who is in it stays.
  package func block(_ roomID: RoomID, by administrator: UserID) async throws {
    try await database.write { transaction in
      try transaction.execute(
        "INSERT INTO blocked_room(room_id, blocked_by, blocked) VALUES ($1, $2, $3) ON CONFLICT(room_id) DO NOTHING", roomID,
        administrator, self.configuration.clock.now())
    }
  }

  /// Lets people into a room again; one that is not blocked is no error.
  package func unblock(_ roomID: RoomID) async throws {
    try await database.write { try $0.execute("DELETE FROM blocked_room WHERE room_id = $1", roomID) }
  }

  /// The administrator who blocked a room; nil where nobody did.
  package func blocker(of roomID: RoomID) async throws -> UserID? {
    try await database.read { try self.blocker(of: roomID, in: $0) }
  }

  func blocker(of roomID: RoomID, in transaction: ReadTransaction) throws -> UserID? {
    try transaction.first("SELECT blocked_by FROM blocked_room WHERE room_id = $1", roomID) { $0.identifier(0) }
  }
}
