public import ClientCore
import JSON
public import MatrixModel

/// What one is told of. Changes of other devices come with the syncs (`Change.pushRules`).
extension MatrixClient {
  /// The rules, ready to be tried on events; kept up to date by the syncs.
  public var pushRuleSet: PushRuleSet { core.pushRules }

  /// What the rules say to an event: the actions of the first that matches; nil where none does, and for own events.
  public func pushActions(for event: Event, in room: RoomID) -> PushActions? {
    core.pushActions(for: event, in: room)
  }

  /// Words, beside one's name, that one is told of.
  public var keywords: [ByteString] { core.pushRules.keywords }
  /// What goes beyond the rules: reactions, quiet hours. Changed by `Query.setReactionNotifications` and `Query.setQuietHours`.
  public var notificationWishes: NotificationWishes { core.notificationWishes }
  /// Whether these are quiet hours of the account: one is told of nothing.
  public var isQuiet: Bool { core.isQuiet }

  /// What holds in rooms for which nothing was set.
  public func defaultNotificationMode(of kind: NotificationRoomKind) -> NotificationMode {
    core.pushRules.defaultMode(of: kind)
  }

  /// Whether one is told of it.
  public func notifies(of subject: NotificationSubject) -> Bool { core.pushRules.notifies(of: subject) }

  /// Ends when the server has it.
  public func changeNotifications(_ change: NotificationChange) async throws(ClientError) {
    try await perform(.account(.changeNotifications(change)))
  }

  /// - Parameter mode: `mute` is as good as `mentionsAndKeywords`.
  public func setDefaultNotificationMode(
    _ mode: NotificationMode, of kind: NotificationRoomKind
  ) async throws(ClientError) {
    try await changeNotifications(.defaultMode(kind, mode))
  }

  /// - Throws: `invalidContent` for an empty one, and one of more than 255 bytes.
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
  /// What one is told of: what was set here, or the default of the room's kind.
  public var notificationMode: NotificationMode { get async { await client.core.notificationMode(of: id) } }

  /// What was set for this room; nil where the default of its kind holds.
  public var ownNotificationMode: NotificationMode? { get async { await client.pushRuleSet.mode(of: id) } }

  /// - Parameter mode: nil for the default of the room's kind.
  public func setNotificationMode(_ mode: NotificationMode?) async throws(ClientError) {
    try await client.changeNotifications(.mode(id, mode))
  }
}
