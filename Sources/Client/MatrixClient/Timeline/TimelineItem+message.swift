public import ClientCore
import JSON
import MatrixModel

extension TimelineItem {
  /// nil for what is no message: state, gaps, what was redacted or cannot be read.
  public var message: MessageContent? { if case .message(let message) = content { message } else { nil } }

  /// The message's text as it stands in a line; of a file its caption or name. nil where it is no message.
  public var text: String? { message?.body.string }
}
