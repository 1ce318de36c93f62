public import ClientCore
import JSON
public import MatrixModel

/// Notification settings. Syncs bring changes from other devices (`Change.pushRules`).
extension MatrixClient {
  /// The push rules, ready to evaluate events. Syncs keep them up to date.
  public var pushRuleSet: PushRuleSet { core.pushRules }

  /// Returns the actions of the first push rule that matches an event; nil if no rule matches, and for the user's own events.
  public func pushActions(for event: Event, in room: RoomID) -> PushActions? {
    core.pushActions(for: event, in: room)
  }

  /// The keywords that notify the user, in addition to the user's name.
  public var keywords: [ByteString] { core.pushRules.keywords }
  /// Settings that push rules cannot express: reactions and quiet hours. `Query.setReactionNotifications` and `Query.setQuietHours` change them.
  public var notificationWishes: NotificationWishes { core.notificationWishes }
  /// Whether the account has quiet hours now, in which nothing notifies the user.
  public var isQuiet: Bool { core.isQuiet }

  /// Returns the mode of rooms without a mode of their own.
  public func defaultNotificationMode(of kind: NotificationRoomKind) -> NotificationMode {
    core.pushRules.defaultMode(of: kind)
  }

  /// Returns whether a subject notifies the user.
  public func notifies(of subject: NotificationSubject) -> Bool { core.pushRules.notifies(of: subject) }

  /// Changes a notification setting. Returns when the server has the change.
  public func changeNotifications(_ change: NotificationChange) async throws(ClientError) {
    try await perform(.account(.changeNotifications(change)))
  }

  /// Sets the mode of rooms without a mode of their own.
  /// - Parameter mode: `mute` has the same effect as `mentionsAndKeywords`.
  public func setDefaultNotificationMode(
    _ mode: NotificationMode, of kind: NotificationRoomKind
  ) async throws(ClientError) {
    try await changeNotifications(.defaultMode(kind, mode))
  }

  /// Adds a keyword.
  /// - Throws: `invalidContent` if the keyword is empty or longer than 255 bytes.
  public func addKeyword(_ keyword: String) async throws(ClientError) {
    try await changeNotifications(.addKeyword(ByteString(keyword)))
  }

  public func removeKeyword(_ keyword: String) async throws(ClientError) {
    try await changeNotifications(.removeKeyword(ByteString(keyword)))
  }

  public func setNotifies(_ isOn: Bool, of subject: NotificationSubject) async throws(ClientError) {
    try await changeNotifications(.subject(subject, isOn: isOn))
  }
}

extension MatrixRoom {
  /// The notification mode of the room: its own mode, or the default of its kind.
  public var notificationMode: NotificationMode { get async { await client.core.notificationMode(of: id) } }

  /// The room's own notification mode; nil if it has the default of its kind.
  public var ownNotificationMode: NotificationMode? { get async { await client.pushRuleSet.mode(of: id) } }

  /// Sets the notification mode of the room.
  /// - Parameter mode: nil for the default of the room's kind.
  public func setNotificationMode(_ mode: NotificationMode?) async throws(ClientError) {
    try await client.changeNotifications(.mode(id, mode))
  }
}
