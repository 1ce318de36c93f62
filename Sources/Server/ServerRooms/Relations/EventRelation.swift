import JSON
import MatrixModel

/// What an event says it belongs to, and how. Spec: Client-Server API, "Forming relationships between events".
package struct EventRelation: Sendable {
  /// `rel_type`.
  let kind: ByteString
  package let parent: EventID
  /// Of an annotation; empty for other kinds.
  let key: ByteString

  /// Bytes of a `rel_type` that counts as one.
  static let kindBytesLimit = 255

  /// nil where the content has none, or none that fits the schema: such an event stands by itself.
  package init?(_ content: JSON) {
    guard let relation = content["m.relates_to"], let kind = relation["rel_type"]?.text,
      let parent = EventID(relation["event_id"]), 1...Self.kindBytesLimit ~= kind.count, !kind.utf8.contains(0)
    else { return nil }
    self.kind = kind
    self.parent = parent
    key = relation["key"]?.text ?? ""
  }

  package var isReplacement: Bool { kind == "m.replace" }
  var isReference: Bool { kind == "m.reference" }
  var isThread: Bool { kind == "m.thread" }
  var isAnnotation: Bool { kind == "m.annotation" }
}

extension StoredEvent {
  package var relation: EventRelation? { EventRelation(content) }

  /// Whether `replacement` is a valid edit of this event. Spec: "Validity of replacement events".
  package func canBeReplaced(bySender other: UserID, type otherType: EventType, stateKey: ByteString?, _ content: JSON) -> Bool
  {
    self.stateKey == nil && stateKey == nil && sender == other && type == otherType
      && !(relation?.isReplacement ?? false) && (otherType == .encrypted || content["m.new_content"]?.isObject ?? false)
  }
}
