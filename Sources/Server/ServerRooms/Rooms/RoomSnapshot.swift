import JSON
import MatrixModel
import RoomRules
import ServerCore

/// One room as of one position: immutable, one reference to copy, enough to authorize, to send and to answer most syncs.
///
/// Its current state is complete; of the timeline it holds the newest events (`tail`), older ones are rows. All lies in one
/// object: a dozen references, counted for each of a hundred readers on two processors, were a fifth of what a delivery costs.
package struct RoomSnapshot: Sendable {
  /// An event nothing refers to yet: what the next event names in `prev_events`.
  package struct Extremity: Sendable {
    package let eventID: EventID
    package let depth: Int64
  }

  package struct Member: Sendable {
    package let membership: Membership
    package let event: StoredEvent

    package init(membership: Membership, event: StoredEvent) {
      self.membership = membership
      self.event = event
    }
  }

  private final class Storage: Sendable {
    let content: RoomContent

    init(_ content: RoomContent) { self.content = content }
  }

  /// How many of its newest events a room keeps in RAM.
  package static let tailLimit = 64

  private var storage: Storage

  /// - Parameter tail: oldest first.
  init(
    number: RoomNumber, roomID: RoomID, version: RoomVersion, state: [StoredEvent], tail: [StoredEvent],
    extremities: [Extremity]
  ) {
    storage = Storage(
      RoomContent(
        number: number, roomID: roomID, version: version, state: state, tail: tail, extremities: extremities))
  }

  package var number: RoomNumber { storage.content.number }
  /// Of a room whose ID is its create event's hash, empty until that event is built.
  package var roomID: RoomID { storage.content.roomID }
  package var version: RoomVersion { storage.content.version }
  package var extremities: [Extremity] { storage.content.extremities }
  /// Current state without the members.
  package var state: [StateMapKey: StoredEvent] { storage.content.state }
  /// `m.room.member` events by user.
  package var members: RoomMembers { storage.content.members }
  package var joinedCount: Int { storage.content.joinedCount }
  package var invitedCount: Int { storage.content.invitedCount }
  /// Newest events in stream order, from 1 to `tailLimit`.
  package var tail: [StoredEvent] { storage.content.tail }
  package var create: RoomCreate? { storage.content.create }
  package var powerLevels: PowerLevels { storage.content.powerLevels }
  package var joinRule: JoinRule? { storage.content.joinRule }
  package var historyVisibility: HistoryVisibility { storage.content.historyVisibility }
  /// Whether any event of the room relates to another, so that answers have something to look for.
  package var hasRelations: Bool { storage.content.hasRelations }

  // MARK: Questions

  /// Position of the newest event.
  package var position: Int64 { tail.last?.position ?? 0 }

  /// Whether the tail holds every event after `position`.
  package func tailCovers(after position: Int64) -> Bool {
    tail.count < Self.tailLimit || (tail.first?.position ?? .max) <= position + 1
  }

  package subscript(type: EventType, key: ByteString) -> StoredEvent? {
    storage.content[type, key]
  }

  package subscript(type: EventType) -> StoredEvent? { self[type, ""] }

  package func membership(of user: UserID) -> Membership? { members[user]?.membership }

  package func isJoined(_ user: UserID) -> Bool { members[user]?.membership == .join }

  package var joinedUsers: [UserID] { members.compactMap { $0.value.membership == .join ? $0.key : nil } }

  // MARK: Changes

  /// The room with one more event at its end.
  mutating func append(_ event: StoredEvent) { change { $0.append(event) } }

  /// Gives a room that is being created the ID that its create event's hash makes.
  mutating func take(_ roomID: RoomID) { change { $0.take(roomID) } }

  /// The room with an event that relates to another.
  mutating func noteRelation() {
    if !hasRelations { change { $0.hasRelations = true } }
  }

  /// The room with an event's redacted form in place of the event.
  mutating func replace(_ event: StoredEvent) { change { $0.replace(event) } }

  private mutating func change(_ body: (inout RoomContent) -> Void) {
    var content = storage.content
    body(&content)
    storage = Storage(content)
  }
}

extension RoomSnapshot: AuthorizationState {
  package func thirdPartyInvite(token: ByteString) -> ThirdPartyInvite? {
    self[.thirdPartyInvite, token].map { ThirdPartyInvite(sender: $0.sender, content: $0.content) }
  }
}
