import JSON
import MatrixModel

/// What events of one answer tell of the events that relate to them: `unsigned.m.relations`.
///
/// Spec: Client-Server API, "Aggregations of child events". Annotations are not aggregated, nor is anything for state events.
package struct Aggregations: Sendable {
  /// Of one event.
  package struct Entry: Sendable {
    /// The most recent valid edit.
    package internal(set) var replacement: StoredEvent?
    package internal(set) var references: [EventID] = []
    package internal(set) var thread: Thread?
  }

  /// Of a thread's root.
  package struct Thread: Sendable {
    package let latest: StoredEvent
    package let count: Int64
    package let isParticipant: Bool
  }

  /// By the position of the event.
  package var entries: [Int64: Entry] = [:]

  package static let none = Aggregations()

  package subscript(event: StoredEvent) -> Entry? { entries.isEmpty ? nil : entries[event.position] }
}

extension Aggregations.Entry {
  /// Writes the member `m.relations`.
  func write(to writer: inout JSONWriter, for reader: EventReader, roomID: RoomID?) {
    writer.key("m.relations")
    writer.object { writer in
      if let replacement {
        writer.key("m.replace")
        replacement.write(to: &writer, for: reader, roomID: roomID)
      }
      if !references.isEmpty {
        writer.key("m.reference")
        writer.object { writer in
          writer.key("chunk")
          writer.array { writer in
            for reference in references { writer.object { $0.member("event_id", reference) } }
          }
        }
      }
      guard let thread else { return }
      writer.key("m.thread")
      writer.object { writer in
        writer.key("latest_event")
        thread.latest.write(to: &writer, for: reader, roomID: roomID)
        writer.member("count", thread.count)
        writer.member("current_user_participated", thread.isParticipant)
      }
    }
  }
}
