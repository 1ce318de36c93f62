import JSON
import MatrixModel

extension Query {
  /// Nobody is told of anything in the room until that time, in milliseconds since 1970, on any device; 0 ends it. The sync after it
  /// says so (`Room.snoozedUntilMilliseconds`).
  /// - Parameter user: the account's own user.
  public static func snooze(_ room: RoomID, untilMilliseconds until: Int64, of user: UserID) -> Query<Void> {
    setAccountData(.snooze, JSONWriter.object { $0.member("until", until) }, of: user, in: room)
  }

  /// The same for all rooms (`NotificationWishes.snoozedUntilMilliseconds`).
  /// - Parameter user: the account's own user.
  public static func snoozeAll(untilMilliseconds until: Int64, of user: UserID) -> Query<Void> {
    setAccountData(.snooze, JSONWriter.object { $0.member("until", until) }, of: user)
  }

  /// - Parameter user: the account's own user.
  public static func setReactionNotifications(_ isOn: Bool, of user: UserID) -> Query<Void> {
    setAccountData(.reactionNotifications, JSONWriter.object { $0.member("enabled", isOn) }, of: user)
  }

  /// - Parameters:
  ///   - hours: nil for none.
  ///   - user: the account's own user.
  public static func setQuietHours(_ hours: QuietHours?, of user: UserID) -> Query<Void> {
    let content = JSONWriter.object { writer in
      guard let hours else { return }
      writer.member("from", hours.from)
      writer.member("to", hours.until)
      writer.member("utc_offset", hours.offset)
    }
    return setAccountData(.quietHours, content, of: user)
  }
}
