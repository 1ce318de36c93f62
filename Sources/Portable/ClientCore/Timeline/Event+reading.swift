import JSON
import MatrixModel

/// What an event says, for those who read events outside of a timeline: exports, pages of history.
extension Event {
  /// What a timeline shows of it; nil for what only says something about another event and for what nobody needs to read.
  public var item: (content: TimelineItem.Content, replyTo: EventID?)? {
    if case .item(let content, let replyTo) = kind { (content, replyTo) } else { nil }
  }

  /// Counts only where its sender is that of the event it edits. Spec: "Event replacements".
  public var edit: (of: EventID, content: MessageContent)? {
    if !isRedacted, case .edit(let target, let content) = kind { (target, content) } else { nil }
  }

  /// The newest edit, where the server sent it along. Spec: "Server-side aggregation of m.replace".
  public var bundledEdit: MessageContent? {
    guard let edit = (unsigned?["m.relations"]?["m.replace"]).flatMap({ Event($0) }), edit.sender == sender else { return nil }
    return edit.edit?.content
  }

  /// Spec: "Event annotations and reactions".
  public var reaction: (to: EventID, key: ByteString)? {
    if case .reaction(let target, let key) = kind { (target, key) } else { nil }
  }

  /// Only of redactions is more of the event needed than its content, and they say nothing here.
  private var kind: TimelineEvent.Kind { TimelineEvent.kind(of: self, content) }
}
