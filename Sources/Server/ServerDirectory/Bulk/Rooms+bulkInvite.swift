import MatrixModel
import ServerRooms

extension Rooms {
  /// What became of one of many invitations; no error where the user is invited now.
  package struct InvitationResult: Sendable {
    package let user: UserID
    package let error: MatrixError?
  }

  /// Users of one request.
  package static let bulkInviteLimit = 100

  /// Invites many users in one commit: who cannot be invited keeps nobody else from it. Extension: capability `martlet.bulk`.
  ///
  /// Throws `M_FORBIDDEN` where the inviter may not invite at all, `M_TOO_LARGE` for too many users.
  package func invite(
    _ users: [UserID], to roomID: RoomID, by actor: Actor, reason: String? = nil
  ) async throws -> [InvitationResult] {
    guard users.count <= Self.bulkInviteLimit else {
      throw MatrixError.tooLarge("One request invites at most \(Self.bulkInviteLimit) users.")
    }
    for user in users { try await directory.provideUser(user) }
    return try await edit(roomID, by: actor) { editor in
      guard editor.room.isJoined(actor.userID), editor.room.powerLevels.canInvite(by: actor.userID) else {
        throw MatrixError.forbidden("You may not invite to this room.")
      }
      return try users.map { user in
        do {
          try self.requireAccount(user, in: editor.transaction)
          try self.appendMember(.invite, of: user, by: actor.userID, reason: reason, to: &editor)
          return InvitationResult(user: user, error: nil)
        } catch let error as MatrixError {
          // Refused before anything was written.
          return InvitationResult(user: user, error: error)
        }
      }
    }
  }
}
