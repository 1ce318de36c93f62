import JSON
import MatrixModel

/// What an event says, for those who read events outside of a timeline: exports, pages of history.
extension Event {
  /// nil for what is no message, for an edit, and for one whose content was removed.
  public var message: MessageContent? {
    guard type == .message || type == .sticker, stateKey == nil, !isRedacted, edited == nil,
      var message = MessageContent(content, type: type)
    else { return nil }
    if replyTo != nil { message.removeReplyFallback() }
    return message
  }

  /// The event that this one replaces the content of. Spec: "Event replacements". Counts only where the sender is the same.
  public var edited: EventID? { relation("m.replace") }

  /// What the edited event says now; nil for what is no edit.
  public var newMessage: MessageContent? {
    guard edited != nil, !isRedacted else { return nil }
    return content["m.new_content"].flatMap { MessageContent($0, type: type) }
  }

  /// The newest edit, where the server sent it along. Spec: "Server-side aggregation of m.replace".
  public var bundledEdit: Event? {
    guard let edit = (unsigned?["m.relations"]?["m.replace"]).flatMap({ Event($0) }), edit.sender == sender else { return nil }
    return edit
  }

  public var replyTo: EventID? { EventID(content["m.relates_to"]?["m.in_reply_to"]?["event_id"]) }

  /// What a reaction is to, and which. Spec: "Event annotations and reactions".
  public var reaction: (to: EventID, key: ByteString)? {
    guard type == .reaction, !isRedacted, let target = relation("m.annotation"),
      let key = content["m.relates_to"]?["key"]?.text
    else { return nil }
    return (target, key)
  }

  /// nil for what is no state, and for state that nobody needs to read.
  public var stateChange: StateChange? { stateKey == nil ? nil : StateChange(self) }

  private func relation(_ name: StaticString) -> EventID? {
    guard let relation = content["m.relates_to"], relation["rel_type"]?.isString(name) ?? false else { return nil }
    return EventID(relation["event_id"])
  }
}
