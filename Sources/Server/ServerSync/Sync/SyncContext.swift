import Database
import MatrixModel
import ServerAccounts
import ServerCore
import ServerRooms

/// One attempt to answer one sync: who asks, from where to where, and what to read from. Every stream gets it: as a value it was
/// copied into each of them, a dozen references at a time.
final class SyncContext {
  let request: SyncRequest
  /// nil for an initial sync.
  let from: SyncPosition?
  /// Nothing newer is told: it belongs to the next sync.
  let to: SyncPosition
  /// Where delivery of messages to the device goes on from.
  let toDeviceFrom: Int64
  /// Whether there may be news for the user that is not a joined room's.
  let hasOwnNews: Bool
  let delivery: DeviceDelivery
  let sources: SyncSources
  let rows: SyncRows

  init(
    request: SyncRequest, from: SyncPosition?, to: SyncPosition, toDeviceFrom: Int64, hasOwnNews: Bool,
    delivery: DeviceDelivery, sources: SyncSources, rows: SyncRows
  ) {
    self.request = request
    self.from = from
    self.to = to
    self.toDeviceFrom = toDeviceFrom
    self.hasOwnNews = hasOwnNews
    self.delivery = delivery
    self.sources = sources
    self.rows = rows
  }

  var user: UserID { request.userID }
  var filter: SyncFilter { request.filter }
  /// Position of the last answer; 0 for an initial sync.
  var since: Int64 { from?.position ?? 0 }

  /// How the user stood to a room at a position. Reads rows only where the snapshot does not tell.
  func membership(in room: RoomSnapshot, at position: Int64) throws -> Membership? {
    try membership(of: user, in: room, at: position)
  }

  /// The same of another.
  func membership(of user: UserID, in room: RoomSnapshot, at position: Int64) throws -> Membership? {
    guard let member = room.members[user] else { return nil }
    if member.event.position <= position { return member.membership }
    guard room.tailCovers(after: position) else {
      let event = try rows.loader().state(of: room.number, .member, user.text, at: position)
      return event.flatMap { Membership($0.content["membership"]) }
    }
    let firstChange = room.tail.first { $0.position > position && $0.type == .member && $0.stateKey == user.text }
    return firstChange?.replaced?.membership
  }

  /// Of a user who was out of a room at the last answer and has come back since: the position up to which they had been
  /// told of it, 0 where they had not.
  func lastLeave(of room: RoomSnapshot) throws -> Int64 {
    guard let from, room.members[user]?.event.replaced != nil else { return 0 }
    let past = try rows.loader().state(of: room.number, .member, user.text, at: from.position)
    guard let past, let membership = Membership(past.content["membership"]), membership == .leave || membership == .ban,
      past.replaced?.membership == .join
    else { return 0 }
    return past.position
  }

  func room(_ number: RoomNumber) throws -> RoomSnapshot? {
    if let cached = sources.rooms.cache.cachedSnapshot(of: number) { return cached }
    return try sources.rooms.cache.snapshot(of: number, in: try rows.transaction())
  }

  func memberships() throws -> Memberships.Rooms {
    if let cached = sources.rooms.memberships.cachedRooms(of: user) { return cached }
    return try sources.rooms.memberships.rooms(of: user, in: try rows.transaction())
  }
}

extension SyncContext {
  /// Returns the aggregated relations of a timeline's events. Only a timeline with a gap needs them: a client with all events
  /// knows the relations itself. Spec: "Aggregations of child events".
  func aggregations(
    of timeline: RoomTimeline, in room: RoomSnapshot, ignoring ignored: Set<UserID>
  ) throws -> Aggregations {
    guard timeline.isLimited, room.hasRelations else { return .none }
    let transaction = try rows.transaction()
    let reader = AggregationReader(
      view: try RoomView(room, user: user, in: transaction, expiry: sources.rooms.expiry(of: room)), transaction: transaction,
      erasures: sources.rooms.erasures)
    return try reader.aggregations(of: timeline.events, ignoring: ignored)
  }
}

/// The chapters a sync reads.
package struct SyncSources: Sendable {
  package let rooms: Rooms
  package let receipts: Receipts
  package let unread: Unread
  package let pushRules: PushRules
  let presence: Presence

  package init(rooms: Rooms, receipts: Receipts, unread: Unread, pushRules: PushRules, presence: Presence) {
    self.rooms = rooms
    self.receipts = receipts
    self.unread = unread
    self.pushRules = pushRules
    self.presence = presence
  }
}
