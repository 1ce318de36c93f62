import Database
import MatrixModel
import ServerAccounts
import ServerRooms

extension Accounts {
  /// Who sends an event that waited, as their account is now.
  ///
  /// Throws `M_FORBIDDEN` where there is no such account any more, `M_USER_LOCKED`, `M_USER_SUSPENDED` and what else would keep
  /// them from sending it by a request.
  static func sender(
    _ user: UserID, of type: EventType, at now: Int64, in transaction: ReadTransaction
  ) throws -> Rooms.Actor {
    guard let account = try account(transaction, user), !account.isDeactivated else {
      throw MatrixError.forbidden("The account of the sender is deactivated.")
    }
    try account.standing.requireUse(at: now)
    // Suspended users may redact their own events. Whether an event is their own is checked when the redaction is sent.
    if account.standing.isSuspended, type != .redaction { throw MatrixError.userSuspended() }
    return Rooms.Actor(
      userID: user, deviceID: nil, isAdministrator: account.standing.isAdmin, isSuspended: account.standing.isSuspended,
      isShadowBanned: account.standing.isShadowBanned, appService: account.appService)
  }
}
