import JSON
import MatrixModel

/// What the account wants to be told of beyond its push rules. Documentation/Extensions.md
public struct NotificationWishes: Sendable, Equatable {
  /// Whether reactions to the user's own messages notify.
  public internal(set) var hasReactions = false
  /// In which one is told of nothing.
  public internal(set) var quietHours: QuietHours?
  /// Until when one is told of nothing at all, in milliseconds since 1970; what is past has ended (`Query.snoozeAll`).
  public internal(set) var snoozedUntilMilliseconds: Int64 = 0

  /// Takes account data in; false where it is of another type.
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
