import JSON
import MatrixModel

/// Which events a room's name and the like come from: a redaction of one of them takes it away, and no sync says so otherwise.
struct StateOrigins: Sendable {
  private static let types: [EventType] = [.name, .topic, .avatar, .canonicalAlias, .pinnedEvents, .tombstone]

  private var events: [(type: EventType, event: EventID)] = []

  /// Stripped state has no event ID.
  mutating func set(_ event: EventID?, of type: EventType) {
    guard Self.types.contains(type) else { return }
    events.removeAll { $0.type == type }
    if let event { events.append((type, event)) }
  }

  /// The type of the event, if something comes from it.
  mutating func remove(_ event: EventID) -> EventType? {
    guard let i = events.firstIndex(where: { $0.event == event }) else { return nil }
    return events.remove(at: i).type
  }

  func write(to writer: inout JSONWriter) {
    guard !events.isEmpty else { return }
    writer.key("origins")
    writer.object { writer in
      for (type, event) in events {
        writer.key(type)
        writer.write(event)
      }
    }
  }

  init() {}

  init(record: JSON) {
    for type in Self.types {
      if let event = EventID(record["origins"]?[type.text]) { events.append((type, event)) }
    }
  }
}
