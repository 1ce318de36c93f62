import JSON
import MatrixModel

/// An event of a type that the library does not know, such as one of the application's own.
public struct CustomEvent: Sendable {
  public let type: EventType
  /// Its plain text: `m.text` or `body` of the content; nil where it has none.
  public let text: ByteString?
  /// The content as JSON, an object; empty where it is longer than 60,000 bytes.
  public let content: [UInt8]

  /// Of which nothing is told.
  package init(type: EventType) {
    self.type = type
    text = nil
    content = []
  }

  package init(_ event: Event) {
    type = event.type
    text = event.content.plainText
    // A copy: what it is cut out of is as long as an answer.
    content = event.content.bytes.count <= ContentLimits.contentBytes ? Array(event.content.bytes) : []
  }
}
