import Database
import JSON
import MatrixModel
import ServerAccounts

extension EventType {
  /// State: `allow` is true where members who left by themselves may come back without an invitation.
  package static let rejoin: EventType = "martlet.rejoin"
}

/// Returning to a room that the user has left. Extension: capability `martlet.rejoin`.
///
/// To every server it is an invitation and a join, both within the rules of the room version: a member of this server who is in
/// the room and may invite is named as who invites. The room has agreed to that by its state.
extension Rooms {
  /// Takes a user back into a room that they left by themselves. Who is in it already changes nothing; who is invited, or could
  /// join anyway, joins.
  ///
  /// Throws `M_FORBIDDEN` where the room does not let its former members back, for who was removed or banned, and where nobody
  /// here can invite; `M_NOT_FOUND` for a room this server does not know; what `admit` throws.
  package func rejoin(_ roomID: RoomID, by actor: Actor, reason: String? = nil) async throws {
    try await withKnownRoom(roomID) {
      try await self.edit(roomID, by: actor) { editor in
        let membership = editor.room.membership(of: actor.userID)
        if membership == .join { return }
        if membership == .invite || (membership != .ban && editor.room.joinRule == .public) {
          try self.appendMember(.join, of: actor.userID, by: actor.userID, reason: actor.heard(reason), to: &editor)
        } else {
          try self.readmit(actor.userID, reason: actor.heard(reason), to: &editor)
        }
        try self.followReplacement(actor.userID, in: editor)
      }
    }
  }

  /// The invitation and the join. Throws as `rejoin` does.
  func readmit(_ user: UserID, isDirect: Bool = false, reason: String? = nil, to editor: inout RoomEditor) throws {
    let room = editor.room
    guard room[.rejoin]?.content["allow"]?.bool ?? false else {
      throw MatrixError.forbidden("This room does not let former members back without an invitation.")
    }
    guard room.leftByThemselves(user) else {
      throw MatrixError.forbidden("Only who left this room by themselves may come back without an invitation.")
    }
    try admit(.join, of: user, by: user, to: room, in: editor.transaction)
    guard let host = try host(for: user, in: editor) else {
      throw MatrixError.forbidden("Nobody on this server can let you back into this room.")
    }
    // Whether they take invitations is not asked: they want to come.
    let content = try JSON.object { writer in
      writer.member("membership", "invite")
      if isDirect { writer.member("is_direct", true) }
      writer.member("martlet.rejoin", true)
    }
    try editor.append(RoomEditor.Draft(type: .member, sender: host, stateKey: user.text, content: content))
    try appendMember(.join, of: user, by: user, reason: reason, to: &editor)
  }

  /// The first member of this server who may invite and does not ignore the user.
  private func host(for user: UserID, in editor: RoomEditor) throws -> UserID? {
    let levels = editor.room.powerLevels
    let candidates = editor.room.joinedUsers.filter {
      $0.serverName == configuration.serverName && levels.canInvite(by: $0)
    }
    return try candidates.sorted().first { try !IgnoredUsers.of($0, in: editor.transaction).contains(user) }
  }
}

extension RoomSnapshot {
  /// Whether the user was in the room and has left it without anyone's doing. Who was removed, invited again and declined, or
  /// knocked in vain, did not.
  func leftByThemselves(_ user: UserID) -> Bool {
    guard let member = members[user], member.membership == .leave, member.event.sender == user,
      let replaced = member.event.replaced, let content = try? JSON.parse(replaced.content)
    else { return false }
    return Membership(content["membership"]) == .join
  }
}
