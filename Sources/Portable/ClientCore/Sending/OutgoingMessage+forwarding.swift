import JSON
import MatrixModel

extension OutgoingMessage {
  /// Returns a text message as a new one that answers nobody and notifies nobody by name. nil for messages with files, places or polls: those
  /// are forwarded from their event.
  ///
  /// - Parameter origin: who wrote it; of a message that was forwarded before, what that one says is kept.
  public static func forwarding(_ message: MessageContent, from origin: MessageContent.Origin? = nil) -> OutgoingMessage? {
    let type: ByteString
    switch message.kind {
    case .text: type = "m.text"
    case .emote: type = "m.emote"
    case .notice: type = "m.notice"
    default: return nil
    }
    var writer = JSONWriter(capacity: message.body.count + 128)
    writer.object { writer in
      writer.member("msgtype", type)
      writer.member("body", message.body)
      if let html = message.formattedBody {
        writer.member("format", "org.matrix.custom.html")
        writer.member("formatted_body", html)
      }
      writer.member("m.mentions", raw: Array("{}".utf8))
      (message.origin ?? origin)?.writeMember(to: &writer)
    }
    return .custom(.message, content: writer.bytes)
  }

  /// Returns an event's message as a new one. Its file stays where it is: nothing is uploaded again. nil for events that are not messages.
  ///
  /// - Parameter origin: as for texts.
  public static func forwarding(_ event: JSON, from origin: MessageContent.Origin? = nil) -> OutgoingMessage? {
    guard let type = event.text("type").flatMap({ EventType($0) }), event["state_key"] == nil, let content = event["content"],
      content.isObject, type != .encrypted, type != .redaction, type != .reaction
    else { return nil }
    let known = MessageContent.Origin(content["martlet.forwarded"]) ?? origin
    let copy = try? content.replacing(["m.relates_to", "m.mentions", "m.new_content", "martlet.silent", "martlet.forwarded"]) {
      $0.member("m.mentions", raw: Array("{}".utf8))
      known?.writeMember(to: &$0)
    }
    return copy.map { .custom(type, content: Array($0.bytes)) }
  }
}
