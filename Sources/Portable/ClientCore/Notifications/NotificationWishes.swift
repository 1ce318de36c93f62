import JSON
import MatrixModel

/// What the account wants to be told of beyond its push rules. Documentation/Extensions.md
public struct NotificationWishes: Sendable, Equatable {
  /// Whether reactions to the user's own messages notify.
  public internal(set) var hasReactions = false
  /// In which one is told of nothing.
  public internal(set) var quietHours: QuietHours?

  /// Takes account data in; false where it is of another type.
  mutating func take(_ type: EventType, _ content: JSON) -> Bool {
    switch type {
    case .reactionNotifications: hasReactions = content.bool("enabled") ?? false
    case .quietHours: quietHours = QuietHours(content)
    default: return false
    }
    return true
  }
}
