import JSON
import MatrixModel

/// The account's notification settings beyond its push rules. Documentation/Extensions.md
public struct NotificationWishes: Sendable, Equatable {
  /// Whether reactions to the user's own messages notify.
  public internal(set) var hasReactions = false
  /// The hours in which nothing notifies.
  public internal(set) var quietHours: QuietHours?
  /// Until when nothing notifies, in milliseconds since 1970. A time in the past means that it has ended (`Query.snoozeAll`).
  public internal(set) var snoozedUntilMilliseconds: Int64 = 0

  /// Reads account data. Returns false if it is of another type.
  mutating func take(_ type: EventType, _ content: JSON) -> Bool {
    switch type {
    case .reactionNotifications: hasReactions = content.bool("enabled") ?? false
    case .quietHours: quietHours = QuietHours(content)
    case .snooze: snoozedUntilMilliseconds = content.snoozedUntil
    default: return false
    }
    return true
  }
}
