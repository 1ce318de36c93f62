import JSON
import MatrixModel
import RoomRules

/// One room as of one position: immutable, cheap to copy, enough to authorize, to send and to answer most syncs.
///
/// Its current state is complete; of the timeline it holds the newest events (`tail`), older ones are rows.
package struct RoomSnapshot: Sendable {
  /// An event nothing refers to yet: what the next event names in `prev_events`.
  package struct Extremity: Sendable {
    package let eventID: EventID
    package let depth: Int64
  }

  package struct Member: Sendable {
    package let membership: Membership
    package let event: StoredEvent
  }

  package let number: RoomNumber
  /// Of a room whose ID is its create event's hash, empty until that event is built.
  package private(set) var roomID: RoomID
  package let version: RoomVersion
  package private(set) var extremities: [Extremity]
  /// Current state without the members.
  package private(set) var state: [StateMapKey: StoredEvent] = [:]
  /// `m.room.member` events by user.
  package private(set) var members: [UserID: Member] = [:]
  package private(set) var joinedCount = 0
  package private(set) var invitedCount = 0
  /// Newest events in stream order, from 1 to `tailLimit`.
  package private(set) var tail: [StoredEvent]
  // Read once from the state.
  package private(set) var create: RoomCreate?
  package private(set) var powerLevels = PowerLevels(creator: nil)
  package private(set) var joinRule: JoinRule? = .invite
  package private(set) var historyVisibility = HistoryVisibility.shared

  /// How many of its newest events a room keeps in RAM.
  package static let tailLimit = 64

  /// - Parameter tail: oldest first.
  init(
    number: RoomNumber, roomID: RoomID, version: RoomVersion, state: [StoredEvent], tail: [StoredEvent],
    extremities: [Extremity]
  ) {
    self.number = number
    self.roomID = roomID
    self.version = version
    self.tail = tail
    self.extremities = extremities
    for event in state { set(event) }
  }

  // MARK: Questions

  /// Position of the newest event.
  package var position: Int64 { tail.last?.position ?? 0 }

  /// Whether the tail holds every event after `position`.
  package func tailCovers(after position: Int64) -> Bool {
    tail.count < Self.tailLimit || (tail.first?.position ?? .max) <= position + 1
  }

  package subscript(type: EventType, key: ByteString) -> StoredEvent? {
    type == .member ? members[UserID(trusted: key)]?.event : state[StateMapKey(type, key)]
  }

  package subscript(type: EventType) -> StoredEvent? { self[type, ""] }

  package func membership(of user: UserID) -> Membership? { members[user]?.membership }

  package func isJoined(_ user: UserID) -> Bool { members[user]?.membership == .join }

  package var joinedUsers: [UserID] { members.compactMap { $1.membership == .join ? $0 : nil } }

  // MARK: Changes

  /// The room with one more event at its end.
  mutating func append(_ event: StoredEvent) {
    extremities = [Extremity(eventID: event.eventID, depth: event.depth)]
    if tail.count >= Self.tailLimit { tail.removeFirst(tail.count - Self.tailLimit + 1) }
    tail.append(event)
    if event.stateKey != nil { set(event) }
  }

  /// Gives a room that is being created the ID that its create event's hash makes.
  mutating func take(_ roomID: RoomID) { self.roomID = roomID }

  /// The room with an event's redacted form in place of the event.
  mutating func replace(_ event: StoredEvent) {
    if let index = tail.firstIndex(where: { $0.position == event.position }) { tail[index] = event }
    guard let key = event.stateKey, self[event.type, key]?.position == event.position else { return }
    set(event)
  }

  private mutating func set(_ event: StoredEvent) {
    guard let key = event.stateKey else { return }
    guard event.type == .member else {
      state[StateMapKey(event.type, key)] = event
      if key.isEmpty { read(event) }
      return
    }
    let user = UserID(trusted: key)
    count(members[user]?.membership, by: -1)
    let membership = Membership(event.content["membership"]) ?? .leave
    members[user] = Member(membership: membership, event: event)
    count(membership, by: 1)
  }

  private mutating func count(_ membership: Membership?, by difference: Int) {
    switch membership {
    case .join: joinedCount += difference
    case .invite: invitedCount += difference
    default: break
    }
  }

  private mutating func read(_ event: StoredEvent) {
    switch event.type {
    case .create:
      create = RoomCreate(
        eventID: event.eventID, roomID: roomID, sender: event.sender, content: event.content, version: version)
      powerLevels = create?.powerLevels(self[.powerLevels]?.content) ?? powerLevels
    case .powerLevels: powerLevels = create?.powerLevels(event.content) ?? PowerLevels(event.content)
    case .joinRules: joinRule = JoinRule(event.content["join_rule"])
    case .historyVisibility: historyVisibility = HistoryVisibility(event.content["history_visibility"])
    default: break
    }
  }
}

extension RoomSnapshot: AuthorizationState {
  package func thirdPartyInvite(token: ByteString) -> ThirdPartyInvite? {
    self[.thirdPartyInvite, token].map { ThirdPartyInvite(sender: $0.sender, content: $0.content) }
  }
}
