public import ClientCore
import JSON
import MatrixModel

extension TimelineItem {
  /// The message; nil for state, gaps, and redacted or unreadable events.
  public var message: MessageContent? { if case .message(let message) = content { message } else { nil } }

  /// The text of the message; for a file, its caption or name. nil if the item is not a message.
  public var text: String? { message?.body.string }
}
