import JSON
import MatrixModel

/// What of an event can be found. Spec: Client-Server API, "Search Categories", `room_events`.
enum SearchableText {
  /// The parts of events that a search may be held to.
  package enum Key: CaseIterable, Sendable {
    case body, name, topic

    var type: EventType {
      switch self {
      case .body: .message
      case .name: .name
      case .topic: .topic
      }
    }
  }

  /// The text that an event of a type is found by, nil where it has none.
  static func text(ofType type: EventType, _ content: JSON) -> String? {
    switch type {
    case .message: content["body"]?.string
    case .name: content["name"]?.string
    case .topic:
      [content["topic"]?.string, plainTopic(content)].compactMap { $0 }.reduce(nil) { text, part in
        guard let text, text != part else { return part }
        return text + "\n" + part
      }
    default: nil
    }
  }

  /// The `text/plain` representation in `m.topic`; one without a type is of that. Spec: `m.room.topic`, "Rich text topics".
  private static func plainTopic(_ content: JSON) -> String? {
    let representations = content["m.topic"]?["m.text"]?.elements.map { $0 } ?? []
    return representations.first { $0["mimetype"]?.isString("text/plain") ?? true }?["body"]?.string
  }
}
