import Database
import JSON
import MatrixModel
import RoomRules
import ServerCore

extension Rooms {
  /// Joins a room. Who is in it already changes nothing.
  ///
  /// - Parameter thirdPartySigned: the identity server's word that the user owns an address that was invited.
  ///
  /// Spec: `POST /rooms/{roomId}/join`. Throws `M_FORBIDDEN`, `M_NOT_FOUND` for a room this server does not know, and what
  /// `admit` and `redeem` throw.
  package func join(
    _ roomID: RoomID, by actor: Actor, reason: String? = nil, thirdPartySigned: JSON? = nil
  ) async throws {
    try await withKnownRoom(roomID) {
      try await self.edit(roomID, by: actor) { editor in
        if editor.room.isJoined(actor.userID) { return }
        if let thirdPartySigned { try self.redeem(thirdPartySigned, by: actor.userID, in: &editor) }
        let authoriser = try self.authoriser(ofJoinBy: actor.userID, in: editor)
        try self.appendMember(.join, of: actor.userID, by: actor.userID, reason: actor.heard(reason), to: &editor) { writer in
          if let authoriser { writer.member("join_authorised_via_users_server", authoriser) }
        }
        try self.followReplacement(actor.userID, in: editor)
      }
    }
  }

  /// Invites a user of this server. Spec: `POST /rooms/{roomId}/invite`. Throws `M_FORBIDDEN`, `M_NOT_FOUND`.
  package func invite(
    _ user: UserID, to roomID: RoomID, by actor: Actor, reason: String? = nil
  ) async throws {
    try await directory.provideUser(user)
    try await edit(roomID, by: actor) { editor in
      try self.requireAccount(user, in: editor.transaction)
      try self.appendMember(.invite, of: user, by: actor.userID, reason: reason, to: &editor)
    }
  }

  /// Leaves a room, declines an invitation or takes back a knock. Who is out already changes nothing.
  ///
  /// Spec: `POST /rooms/{roomId}/leave`. Throws `M_FORBIDDEN`.
  package func leave(_ roomID: RoomID, by actor: Actor, reason: String? = nil) async throws {
    try await edit(roomID, by: actor) { try self.appendLeave(of: actor.userID, reason: actor.heard(reason), to: &$0) }
  }

  /// The same inside a command.
  package func appendLeave(of user: UserID, reason: String?, to editor: inout RoomEditor) throws {
    if editor.room.membership(of: user) == .leave { return }
    try checkMayLeave(editor.room, user)
    try appendMember(.leave, of: user, by: user, reason: reason, to: &editor)
  }

  /// Spec: `POST /rooms/{roomId}/kick`. Throws `M_FORBIDDEN`.
  package func kick(_ user: UserID, from roomID: RoomID, by actor: Actor, reason: String? = nil) async throws {
    try await edit(roomID, by: actor) { editor in
      switch editor.room.membership(of: user) {
      case .join, .invite, .knock: break
      default: throw MatrixError.forbidden("The user is not in this room.")
      }
      try self.appendMember(.leave, of: user, by: actor.userID, reason: reason, to: &editor)
    }
  }

  /// Spec: `POST /rooms/{roomId}/ban`. Throws `M_FORBIDDEN`.
  package func ban(_ user: UserID, from roomID: RoomID, by actor: Actor, reason: String? = nil) async throws {
    try await edit(roomID, by: actor) { editor in
      if editor.room.membership(of: user) == .ban, editor.room.powerLevels.canBan(user, by: actor.userID) { return }
      try self.appendMember(.ban, of: user, by: actor.userID, reason: reason, to: &editor)
    }
  }

  /// Spec: `POST /rooms/{roomId}/unban`. Throws `M_FORBIDDEN`.
  package func unban(_ user: UserID, in roomID: RoomID, by actor: Actor, reason: String? = nil) async throws {
    try await edit(roomID, by: actor) { editor in
      guard editor.room.membership(of: user) == .ban else { throw MatrixError.forbidden("The user is not banned.") }
      try self.appendMember(.leave, of: user, by: actor.userID, reason: reason, to: &editor)
    }
  }

  /// Forgets a room that the user has left: they can no longer read its history.
  ///
  /// Spec: `POST /rooms/{roomId}/forget`. Throws `M_UNKNOWN` where the user is still in the room.
  package func forget(_ roomID: RoomID, by actor: Actor) async throws {
    try await database.write { transaction in
      guard let room = try self.cache.newest(roomID, in: transaction), let member = room.members[actor.userID] else {
        throw MatrixError.unknown(status: 400, "You were never in this room.")
      }
      guard member.membership == .leave || member.membership == .ban else {
        throw MatrixError.unknown(status: 400, "Leave the room before you forget it.")
      }
      try transaction.execute(
        "UPDATE membership SET forgotten = 1 WHERE user_id = $1 AND room = $2", actor.userID, room.number)
      var news = Note.RoomNews(number: room.number, upTo: member.event.position)
      news.members = [actor.userID]
      transaction.note(.room(news))
    }
  }

  // MARK: What other chapters ask for

  /// Shows a changed profile in every room the user is in: one member event each.
  package func updateProfile(of user: UserID) async throws {
    for roomID in try await joinedRooms(of: user) {
      try await edit(roomID) { editor in
        guard editor.room.isJoined(user) else { return }
        try self.appendMember(.join, of: user, by: user, reason: nil, to: &editor)
      }
    }
  }

  /// Takes a user whose account ends out of all rooms and invitations.
  package func leaveAll(_ user: UserID) async throws {
    let rooms = try await database.read { transaction in
      try self.memberships.rooms(of: user, in: transaction)
        .filter { $0.value.membership == .join || $0.value.membership == .invite || $0.value.membership == .knock }.keys
        .compactMap { try self.cache.snapshot(of: $0, in: transaction)?.roomID }
    }
    for roomID in rooms {
      try await edit(roomID) { editor in
        guard editor.room.membership(of: user) != .leave else { return }
        try self.appendMember(.leave, of: user, by: user, reason: nil, to: &editor)
      }
    }
  }

  /// Returns every user who shares a room with `user`.
  package func neighbours(of user: UserID, in transaction: ReadTransaction) throws -> Set<UserID> {
    var neighbours: Set<UserID> = []
    for (room, entry) in try memberships.rooms(of: user, in: transaction) where entry.membership == .join {
      neighbours.formUnion(try cache.snapshot(of: room, in: transaction)?.joinedUsers ?? [])
    }
    neighbours.remove(user)
    return neighbours
  }

  // MARK: Member events

  package func appendMember(
    _ membership: Membership, of user: UserID, by sender: UserID, reason: String?, to editor: inout RoomEditor,
    _ more: (inout JSONWriter) -> Void = { _ in }
  ) throws {
    try admit(membership, of: user, by: sender, to: editor.room, in: editor.transaction)
    let profile = membership == .join || membership == .invite ? try directory.profile(of: user, in: editor.transaction) : nil
    let content = try JSON.object { writer in
      writer.member("membership", String(describing: membership.name))
      if let name = profile?.displayName { writer.member("displayname", name) }
      if let avatar = profile?.avatarURL { writer.member("avatar_url", avatar) }
      if let reason { writer.member("reason", reason) }
      more(&writer)
    }
    try editor.append(RoomEditor.Draft(type: .member, sender: sender, stateKey: user.text, content: content))
  }

  /// The content of a member event that a client wrote itself, held to what the membership endpoints hold to: invitations are
  /// for users there are, and who vouches for a join to a restricted room is this server's to say. The rules of the room version
  /// take that name for true, because in a federation the voucher's server signs it; here every event has our signature.
  func vetted(_ content: JSON, of stateKey: ByteString, by sender: UserID, in editor: RoomEditor) throws -> JSON {
    let membership = Membership(content["membership"])
    if membership == .leave, stateKey == sender.text { try checkMayLeave(editor.room, sender) }
    if membership == .invite, let user = UserID(stateKey) { try requireAccount(user, in: editor.transaction) }
    if let membership, let user = UserID(stateKey) {
      try admit(membership, of: user, by: sender, to: editor.room, in: editor.transaction)
    }
    let joins = membership == .join && stateKey == sender.text && !editor.room.isJoined(sender)
    let authoriser = joins ? try authoriser(ofJoinBy: sender, in: editor) : nil
    return try content.replacing(["join_authorised_via_users_server"]) { writer in
      if let authoriser { writer.member("join_authorised_via_users_server", authoriser) }
    }
  }

  package func requireAccount(_ user: UserID, in transaction: ReadTransaction) throws {
    guard user.serverName == configuration.serverName else {
      throw MatrixError.forbidden("\(user) is on another server; this server does not federate yet.")
    }
    guard try directory.profile(of: user, in: transaction) != nil else {
      throw MatrixError.notFound("There is no user \(user) on this server.")
    }
  }

  /// In a restricted room, the member in whose name the server vouches for a user who meets a condition.
  ///
  /// Spec: room version 8, "Restricted rooms"; `M_UNABLE_TO_AUTHORISE_JOIN` where nobody here may invite.
  private func authoriser(ofJoinBy user: UserID, in editor: RoomEditor) throws -> UserID? {
    let room = editor.room
    guard let rule = room.version.understood(room.joinRule), rule.allowsRestrictedJoins, room.membership(of: user) != .invite
    else { return nil }
    let allowed = room[.joinRules]?.content["allow"]?.elements.contains { condition in
      guard condition["type"]?.isString("m.room_membership") ?? false, let other = RoomID(condition["room_id"]) else {
        return false
      }
      return (try? cache.newest(other, in: editor.transaction)?.isJoined(user)) ?? false
    }
    guard allowed ?? false else { throw MatrixError.forbidden("You do not meet the conditions for joining this room.") }
    let levels = room.powerLevels
    guard let authoriser = room.joinedUsers.filter({ levels.canInvite(by: $0) }).min() else {
      throw MatrixError(status: 400, .unableToAuthoriseJoin, "Nobody on this server can let you into this room.")
    }
    return authoriser
  }
}
