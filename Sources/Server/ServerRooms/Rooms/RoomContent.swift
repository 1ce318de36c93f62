import JSON
import MatrixModel
import RoomRules
import ServerCore

/// The parts of a `RoomSnapshot`, and how an event changes them.
struct RoomContent: Sendable {
  let number: RoomNumber
  /// Of a room whose ID is its create event's hash, empty until that event is built.
  private(set) var roomID: RoomID
  let version: RoomVersion
  private(set) var extremities: [RoomSnapshot.Extremity]
  /// Current state without the members.
  private(set) var state: [StateMapKey: StoredEvent] = [:]
  /// `m.room.member` events by user.
  private(set) var members = RoomMembers()
  private(set) var joinedCount = 0
  private(set) var invitedCount = 0
  /// Newest events in stream order, from 1 to `tailLimit`.
  private(set) var tail: [StoredEvent]
  /// Whether any event of the room relates to another.
  var hasRelations = false
  // Read once from the state.
  private(set) var create: RoomCreate?
  private(set) var powerLevels = PowerLevels(creator: nil)
  private(set) var joinRule: JoinRule? = .invite
  private(set) var historyVisibility = HistoryVisibility.shared

  /// - Parameter tail: oldest first.
  init(
    number: RoomNumber, roomID: RoomID, version: RoomVersion, state: [StoredEvent], tail: [StoredEvent],
    extremities: [RoomSnapshot.Extremity]
  ) {
    self.number = number
    self.roomID = roomID
    self.version = version
    self.tail = tail
    self.extremities = extremities
    for event in state { set(event) }
  }

  subscript(type: EventType, key: ByteString) -> StoredEvent? {
    type == .member ? members[UserID(trusted: key)]?.event : state[StateMapKey(type, key)]
  }

  // MARK: Changes

  /// The room with one more event at its end.
  mutating func append(_ event: StoredEvent) {
    extremities = [RoomSnapshot.Extremity(eventID: event.eventID, depth: event.depth)]
    // Readers hold the tail there is: the new one is copied at its full size, once.
    var newest: [StoredEvent] = []
    newest.reserveCapacity(min(tail.count + 1, RoomSnapshot.tailLimit))
    newest += tail.suffix(RoomSnapshot.tailLimit - 1)
    newest.append(event)
    tail = newest
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
    members.set(RoomSnapshot.Member(membership: membership, event: event), for: user)
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
      powerLevels = create?.powerLevels(self[.powerLevels, ""]?.content) ?? powerLevels
    case .powerLevels: powerLevels = create?.powerLevels(event.content) ?? PowerLevels(event.content)
    case .joinRules: joinRule = JoinRule(event.content["join_rule"])
    case .historyVisibility: historyVisibility = HistoryVisibility(event.content["history_visibility"])
    default: break
    }
  }
}
