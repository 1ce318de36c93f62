import JSON
import MatrixModel
import RoomRules

/// One room as of one position: immutable, cheap to copy, enough to authorize, to send and to answer most syncs.
///
/// Its current state is complete; of the timeline it holds the newest events (`tail`), older ones are rows.
package struct RoomSnapshot: Sendable {
  /// (type, state key) of a state event.
  package struct StateKey: Hashable, Sendable {
    package let type: EventType
    package let key: ByteString

    package init(_ type: EventType, _ key: ByteString = "") {
      self.type = type
      self.key = key
    }
  }

  /// An event nothing refers to yet: what the next event names in `prev_events`.
  package struct Extremity: Sendable {
    package let eventID: EventID
    package let depth: Int64
  }

  package let number: RoomNumber
  package let roomID: RoomID
  package let version: RoomVersion
  /// Position of the newest event.
  package var position: Int64
  package var extremities: [Extremity]
  /// Current state without the members.
  package var state: [StateKey: StoredEvent]
  /// `m.room.member` events by user.
  package var members: [UserID: Member]
  package var joinedCount: Int
  package var invitedCount: Int
  /// Newest events in stream order, at most `tailLimit`; `tailStart` is the position from which on it is complete.
  package var tail: [StoredEvent]
  package var tailStart: Int64
  package var powerLevels: PowerLevels

  package static let tailLimit = 64

  package struct Member: Sendable {
    package let membership: Membership
    package let event: StoredEvent
  }
}
