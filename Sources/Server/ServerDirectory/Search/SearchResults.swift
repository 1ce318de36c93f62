import JSON
import MatrixModel
import ServerRooms

/// The answer to a search. Spec: `POST /search`, `Result Room Events`.
package struct SearchResults: Sendable {
  package struct Result: Sendable {
    package let event: StoredEvent
    package let view: RoomView
    /// Billionths; more is closer.
    package let rank: Int64
    package internal(set) var surroundings: Surroundings?
  }

  /// What stands around a result.
  package struct Surroundings: Sendable {
    /// Newest first.
    package let before: [StoredEvent]
    /// Oldest first.
    package let after: [StoredEvent]
    package let start: TimelineToken
    package let end: TimelineToken
    /// Member events of the senders as of the result; nil where not asked for.
    package let profiles: [StoredEvent]?
  }

  /// Results that have a room or a sender in common.
  package struct Group: Sendable {
    package let grouping: SearchRequest.Grouping
    package let value: ByteString
    package internal(set) var eventIDs: [EventID]
    /// The first is that of the first result.
    package let order: Int
    package let nextBatch: ByteString?
  }

  /// About how many there are.
  package internal(set) var count = 0
  package internal(set) var highlights: [String] = []
  package internal(set) var results: [Result] = []
  package internal(set) var groups: [Group] = []
  package internal(set) var state: [(roomID: RoomID, events: [StoredEvent])] = []
  package internal(set) var nextBatch: ByteString?
  package internal(set) var aggregations = Aggregations.none
}
