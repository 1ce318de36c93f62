import Database
import JSON
import MatrixModel
import ServerAccounts

/// Coming into a room by a member's invite link. Extension: capability `martlet.invite_links`.
///
/// To every server it is an invitation by that member and a join, both within the rules of the room version.
extension Rooms {
  /// Whether the member may invite to the room now, so that their links lead into it.
  package func letsInvite(_ inviter: UserID, to room: RoomSnapshot, in transaction: ReadTransaction) throws -> Bool {
    guard room.isJoined(inviter), room.powerLevels.canInvite(by: inviter) else { return false }
    return try blocker(of: room.roomID, in: transaction) == nil
  }

  /// The invitation and the join.
  ///
  /// Throws `M_FORBIDDEN` for a banned user and one that the inviter ignores, and what `admit` throws.
  package func join(_ user: UserID, invitedBy inviter: UserID, to editor: inout RoomEditor) throws {
    let room = editor.room
    if try IgnoredUsers.of(inviter, in: editor.transaction).contains(user) {
      throw MatrixError.forbidden("You cannot join this room with this link.")
    }
    if room.membership(of: user) == .ban { throw MatrixError.forbidden("You are banned from this room.") }
    try checkServerPolicy(user: inviter, room, in: editor.transaction)
    try admit(.join, of: user, by: user, to: room, in: editor.transaction)
    if room.membership(of: user) != .invite, room.joinRule != .public {
      // Whether they take invitations is not asked: they want to come.
      let profile = try directory.profile(of: user, in: editor.transaction)
      let content = try JSON.object { writer in
        writer.member("membership", "invite")
        if let name = profile?.displayName { writer.member("displayname", name) }
        if let avatar = profile?.avatarURL { writer.member("avatar_url", avatar) }
        writer.member("martlet.invite_link", true)
      }
      try editor.append(RoomEditor.Draft(type: .member, sender: inviter, stateKey: user.text, content: content))
    }
    try appendMember(.join, of: user, by: user, reason: nil, to: &editor)
    try followReplacement(user, in: editor)
  }
}
