import MatrixModel

extension Rooms {
  /// Asks to be let into a room. A knock that was not answered may be repeated, with another reason.
  ///
  /// Spec: `POST /knock/{roomIdOrAlias}`. Throws `M_FORBIDDEN`, `M_NOT_FOUND` for a room this server does not know.
  package func knock(on roomID: RoomID, by actor: Actor, reason: String? = nil) async throws {
    try await withKnownRoom(roomID) {
      try await self.edit(roomID, by: actor) { editor in
        guard editor.room.version.hasKnocking else {
          throw MatrixError.forbidden("Rooms of version \(editor.room.version) have no knocking.")
        }
        try self.appendMember(.knock, of: actor.userID, by: actor.userID, reason: reason, to: &editor)
      }
    }
  }

  /// Replaces the `M_FORBIDDEN` of `edit` for a room that does not exist: a user who knocks may know that it does not exist.
  func withKnownRoom(_ roomID: RoomID, _ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch let error as MatrixError where error.status == 403 {
      let exists = try await database.read { try self.cache.snapshot(of: roomID, in: $0) != nil }
      throw exists ? error : MatrixError.notFound("There is no such room on this server.")
    }
  }
}
