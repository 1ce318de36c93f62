import Database
import JSON
import MatrixModel
import ServerAccounts

extension EventType {
  /// Account data: `default_action` is `block` for who wants no invitations. Spec: "Invite permission".
  static let invitePermissionConfig: EventType = "m.invite_permission_config"
}

extension MatrixError {
  /// Spec: Client-Server API, "Invite permission".
  static func inviteBlocked(_ message: String) -> MatrixError { MatrixError(status: 403, .inviteBlocked, message) }
}

extension Rooms {
  /// What speaks against someone's coming into a room besides the room's own rules: an account that has ended, an administrator's
  /// block, guests where the room has none, what the invited user or a policy list does not want.
  ///
  /// Throws `M_FORBIDDEN`, `M_GUEST_ACCESS_FORBIDDEN`, `M_INVITE_BLOCKED`, `M_USER_DEACTIVATED`.
  func admit(
    _ membership: Membership, of user: UserID, by sender: UserID, to room: RoomSnapshot, in transaction: ReadTransaction
  ) throws {
    // The server's own word reaches everyone.
    if sender == configuration.noticesUser, isNoticeRoom(room) { return }
    switch membership {
    case .leave, .ban: return
    case .join: if room.isJoined(user) { return }
    case .invite:
      // Who may not invite shall learn that, not what the other does not want.
      guard room.isJoined(sender), room.powerLevels.canInvite(by: sender) else { return }
    case .knock: break
    }
    // A request that was let in before its account ended may be carried out after that account has left its rooms.
    if membership != .invite, try directory.profile(of: user, in: transaction) == nil {
      throw MatrixError(status: 403, .userDeactivated, "This account has been deactivated.")
    }
    if try blocker(of: room.roomID, in: transaction) != nil {
      throw MatrixError.forbidden("This room is closed by an administrator of this server.")
    }
    try checkServerPolicy(user: sender, room, in: transaction)
    if membership == .invite {
      try checkInvitation(of: user, by: sender, to: room, in: transaction)
    } else {
      try checkGuest(user, room, in: transaction)
      try checkOwnPolicy(of: user, room, in: transaction)
    }
  }

  /// Spec: Client-Server API, "Guest Access", "Server behaviour".
  private func checkGuest(_ user: UserID, _ room: RoomSnapshot, in transaction: ReadTransaction) throws {
    guard !room.isOpenToGuests, try isGuest(user, in: transaction) else { return }
    throw MatrixError(status: 403, .guestAccessForbidden, "Guests cannot join this room; register an account.")
  }

  private func checkInvitation(
    of user: UserID, by sender: UserID, to room: RoomSnapshot, in transaction: ReadTransaction
  ) throws {
    if try Self.blocksInvitations(user, in: transaction) {
      throw MatrixError.inviteBlocked("\(user) does not accept invitations.")
    }
    let policy = try policyRules(of: user, in: transaction)
    guard !policy.isEmpty else { return }
    if try policy.bans(user: sender) || policy.bans(room: names(of: room, in: transaction)) {
      throw MatrixError.inviteBlocked("\(user) does not accept this invitation.")
    }
  }

  func checkServerPolicy(user: UserID, _ room: RoomSnapshot, in transaction: ReadTransaction) throws {
    let policy = try serverPolicyRules(in: transaction)
    guard !policy.isEmpty else { return }
    if policy.bans(user: user) { throw MatrixError.forbidden("A policy list of this server bans you.") }
    if policy.bans(room: try names(of: room, in: transaction)) {
      throw MatrixError.forbidden("A policy list of this server bans this room.")
    }
  }

  private func checkOwnPolicy(of user: UserID, _ room: RoomSnapshot, in transaction: ReadTransaction) throws {
    let policy = try policyRules(of: user, in: transaction)
    guard !policy.isEmpty, policy.bans(room: try names(of: room, in: transaction)) else { return }
    throw MatrixError.forbidden("A policy list you subscribe to bans this room.")
  }

  /// Whether `m.invite_permission_config` says so.
  package static func blocksInvitations(_ user: UserID, in transaction: ReadTransaction) throws -> Bool {
    guard let content = try AccountData.content(transaction, of: .invitePermissionConfig, user, in: nil) else { return false }
    return try JSON.parse(content)["default_action"]?.isString("block") ?? false
  }

  /// The room's ID and aliases: what a policy rule may name it by.
  private func names(of room: RoomSnapshot, in transaction: ReadTransaction) throws -> [ByteString] {
    try [room.roomID.text]
      + transaction.all("SELECT alias FROM room_alias WHERE room = $1", room.number) { ByteString($0.text(0)) }
  }

  func isGuest(_ user: UserID, in transaction: ReadTransaction) throws -> Bool {
    try directory.isGuest(user, in: transaction)
  }

  /// Takes guests out of a room that has none any more. Spec: "Guest Access", "Server behaviour".
  func removeGuests(from editor: inout RoomEditor) throws {
    guard !editor.room.isOpenToGuests else { return }
    for user in editor.room.joinedUsers where user.serverName == configuration.serverName {
      guard try isGuest(user, in: editor.transaction) else { continue }
      try appendMember(.leave, of: user, by: user, reason: "This room is closed to guests now.", to: &editor)
    }
  }
}

extension RoomSnapshot {
  /// Spec: `m.room.guest_access`.
  var isOpenToGuests: Bool { self[.guestAccess]?.content["guest_access"]?.isString("can_join") ?? false }
}
