import Database
import JSON
import MatrixModel
import ServerAccounts

/// What accounts want beyond their push rules. Extensions: `martlet.snooze`, `martlet.quiet_hours`, `martlet.reaction_notifications`.
///
/// All of it is account data, read by key when there is something to push. It says nothing of what is unread.
enum NotificationWishes {
  /// Whether nothing of the room is to be pushed to the user at this time, in milliseconds since 1970.
  static func holdBack(_ room: RoomID, from user: UserID, at now: Int64, _ tx: ReadTransaction) throws -> Bool {
    for place in [room, nil] {
      if let snooze = try data(.snooze, of: user, in: place, tx), snooze.snoozedUntil > now { return true }
    }
    return try data(.quietHours, of: user, in: nil, tx).flatMap { QuietHours($0) }?.contains(now) ?? false
  }

  /// What a reaction to a message of the user does, where their rules leave it to the rule for reactions: that is silent by
  /// itself.
  static func actions(forReactionBy rule: PushRule?, to user: UserID, _ tx: ReadTransaction) throws -> PushActions? {
    if let rule, !rule.isOfReactions { return rule.actions }
    let isWanted = try data(.reactionNotifications, of: user, in: nil, tx)?.bool("enabled") ?? false
    return isWanted ? .notifying : rule?.actions
  }

  private static func data(
    _ type: EventType, of user: UserID, in room: RoomID?, _ tx: ReadTransaction
  ) throws -> JSON? {
    try AccountData.content(tx, of: type, user, in: room).flatMap { try? JSON.parse($0) }
  }
}
