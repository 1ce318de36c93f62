import Database
import JSON
import MatrixModel
import ServerCore
import ServerRooms

/// The rooms that concern one application service, by their members.
///
/// It stands at a position and is rolled forward event by event. So an event is judged by who was in the room then, also when
/// the service was down for days.
struct AppServiceInterest: Sendable {
  private let service: AppService
  /// The service's users in each room.
  private var members: [RoomNumber: Set<UserID>] = [:]

  /// The interest as of `position`: as of now, with what came since taken back.
  init(of service: AppService, at position: Int64, _ tx: ReadTransaction) throws {
    self.service = service
    try tx.query(
      "SELECT room, user_id FROM membership WHERE membership = $1", Int64(Membership.join.rawValue)
    ) { row in
      let user = row.identifier(1, as: UserID.self)
      if service.covers(user) { members[RoomNumber(row.integer(0)), default: []].insert(user) }
    }
    let later = try tx.all(
      "SELECT position, state_key FROM event WHERE position > $1 AND type = $2 ORDER BY position DESC", position,
      EventType.member
    ) { (position: $0.integer(0), user: $0.identifier(1, as: UserID.self)) }
    for (position, user) in later where service.covers(user) {
      guard let event = try RoomLoader(transaction: tx).event(at: position) else { continue }
      set(event.replaced?.membership ?? .leave, of: user, in: event.room)
    }
  }

  private mutating func set(_ membership: Membership, of user: UserID, in room: RoomNumber) {
    if membership == .join {
      members[room, default: []].insert(user)
    } else {
      members[room]?.remove(user)
      if members[room]?.isEmpty ?? false { members[room] = nil }
    }
  }

  /// Rolls on over a member event of one of the service's users.
  mutating func pass(_ event: StoredEvent) {
    guard event.type == .member, let user = event.stateKey.map({ UserID(trusted: $0) }), service.covers(user) else { return }
    set(Membership(event.content["membership"]) ?? .leave, of: user, in: event.room)
  }

  /// Whether an event concerns the service.
  ///
  /// Spec: Application Service API, "Registration": its sender, its target, a member of the room, the room or one of its aliases.
  func includes(
    sender: UserID, target: UserID?, in room: RoomNumber, _ rooms: Rooms, _ tx: ReadTransaction
  ) throws -> Bool {
    if service.covers(sender) { return true }
    if let target, service.covers(target) { return true }
    return try includes(room, rooms, tx)
  }

  /// Whether the presence of a user concerns the service: they are its own, or in a room that concerns it.
  ///
  /// Spec: Application Service API, "Pushing ephemeral data".
  func includes(presenceOf user: UserID, _ rooms: Rooms, _ tx: ReadTransaction) throws -> Bool {
    if service.covers(user) { return true }
    return try rooms.memberships.rooms(of: user, in: tx).contains { number, entry in
      try entry.membership == .join && includes(number, rooms, tx)
    }
  }

  /// Whether one of the service's users is in a room.
  func isIn(_ room: RoomNumber) -> Bool { members[room] != nil }

  /// Whether everything in a room concerns the service.
  func includes(_ room: RoomNumber, _ rooms: Rooms, _ tx: ReadTransaction) throws -> Bool {
    if members[room] != nil { return true }
    guard service.hasNamespacesOfRooms, let room = try rooms.cache.snapshot(of: room, in: tx) else { return false }
    return try service.names(room, tx)
  }
}

extension AppService {
  /// Whether everything in a room concerns the service as of now.
  func covers(_ room: RoomSnapshot, _ tx: ReadTransaction) throws -> Bool {
    try room.isJoined(sender) || names(room, tx) || room.members.contains { $0.value.membership == .join && covers($0.key) }
  }

  /// Whether the room or one of its aliases is in the service's namespaces.
  fileprivate func names(_ room: RoomSnapshot, _ tx: ReadTransaction) throws -> Bool {
    if covers(room.roomID) { return true }
    guard hasAliasNamespaces else { return false }
    return try tx.all("SELECT alias FROM room_alias WHERE room = $1", room.number) { $0.identifier(0, as: RoomAlias.self) }
      .contains { covers($0) }
  }
}
