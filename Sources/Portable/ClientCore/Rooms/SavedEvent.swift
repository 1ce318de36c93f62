import JSON
import MatrixModel

/// A message that the account has saved for itself, under the tag `m.favourite` of its room. MSC2437.
public struct SavedEvent: Sendable, Equatable {
  public let event: EventID
  /// Milliseconds since 1970; 0 if the client that saved it did not say.
  public let savedAtMilliseconds: Int64

  init(_ event: EventID, at milliseconds: Int64) {
    self.event = event
    savedAtMilliseconds = milliseconds
  }

  /// The one saved last at the end.
  static func list(_ tagged: TaggedEvents) -> [SavedEvent] {
    let all = (tagged.tags[TaggedEvents.favourite] ?? []).map {
      SavedEvent($0, at: tagged.time(of: $0, tag: TaggedEvents.favourite))
    }
    return all.ordered { ($0.savedAtMilliseconds, $0.event) < ($1.savedAtMilliseconds, $1.event) }
  }

  // MARK: Record

  func write(to writer: inout JSONWriter) {
    writer.key(event.text)
    writer.write(savedAtMilliseconds)
  }

  static func list(record: JSON) -> [SavedEvent] {
    record.members.prefix(Limits.taggedEvents).compactMap { member in
      EventID(member.key).map { SavedEvent($0, at: member.value.integer ?? 0) }
    }
  }
}
