import Database
import JSON
import MatrixModel
import ServerAccounts
import ServerRooms

/// Whose devices the client has to look up again, and whose it may forget.
///
/// For users with keys every room counts, encrypted or not: clients send keys and verify devices without a room, and a room may be
/// encrypted later. For the others only encrypted rooms are looked at.
///
/// Spec: Client-Server API, "Tracking the device list for a user", `device_lists` of `GET /sync`.
struct DeviceListStream {
  private(set) var changed: Set<UserID> = []
  private(set) var left: Set<UserID> = []

  var isEmpty: Bool { changed.isEmpty && left.isEmpty }

  /// - Parameters:
  ///   - rooms: joined rooms with news.
  ///   - leftRooms: rooms left since the last answer, each with the position where the user went out.
  static func changes(
    rooms: [RoomSnapshot], leftRooms: [(room: RoomSnapshot, leftAt: Int64)], _ context: SyncContext
  ) throws -> DeviceListStream {
    var stream = DeviceListStream()
    guard let from = context.from else { return stream }
    if context.hasOwnNews { try stream.addChangedKeys(context) }
    let hasKeys = context.delivery.keyCounts?.userHasKeys ?? false
    for room in rooms where hasKeys || room[.encryption] != nil {
      try stream.addMembers(of: room, since: from.position, context)
    }
    for (room, leftAt) in leftRooms where hasKeys || room[.encryption] != nil {
      stream.left.formUnion(try context.users(joinedTo: room, after: from.position, upTo: leftAt))
    }
    try stream.keepThoseOutOfView(context, hasKeys: hasKeys)
    stream.changed.subtract(stream.left)
    return stream
  }

  /// Takes those out of `left` who share a room that counts at the end of the interval. What has happened since does not count: the next
  /// answer begins with that end.
  private mutating func keepThoseOutOfView(_ context: SyncContext, hasKeys: Bool) throws {
    guard !left.isEmpty else { return }
    left.remove(context.user)
    if hasKeys {
      left = try left.filter { try !context.sharedRoomAtEnd(with: $0) }
    } else {
      let shared = try context.memberships().keys.compactMap(context.room).filter { room in
        try room[.encryption] != nil && context.wasJoinedAtEnd(context.user, to: room)
      }
      left = try left.filter { user in try !shared.contains { try context.wasJoinedAtEnd(user, to: $0) } }
    }
  }

  /// Writes `device_lists`.
  func write(to writer: inout JSONWriter) {
    writer.key("device_lists")
    writer.object { writer in
      writer.array("changed", changed.sorted()) { $1.write($0) }
      writer.array("left", left.sorted()) { $1.write($0) }
    }
  }

  private mutating func addChangedKeys(_ context: SyncContext) throws {
    let users = try DeviceLists.changed(
      context.rows.transaction(), for: context.user, after: context.since, upTo: context.to.position)
    guard !users.isEmpty else { return }
    let rooms = try context.joinedRooms()
    for user in users where user == context.user || rooms.contains(where: { $0.isJoined(user) }) {
      changed.insert(user)
    }
  }

  private mutating func addMembers(of room: RoomSnapshot, since: Int64, _ context: SyncContext) throws {
    guard room.position > since else { return }
    let changes = try RoomStateStream(room: room, context: context).changes(after: since, upTo: context.to.position)
    let isNew = try context.membership(in: room, at: since) != .join
    if isNew || changes.contains(where: { $0.type == .encryption }) {
      changed.formUnion(room.joinedUsers.filter { $0 != context.user })
      return
    }
    for event in changes where event.type == .member {
      guard let key = event.stateKey, key != context.user.text else { continue }
      let user = UserID(trusted: key)
      if room.isJoined(user) { changed.insert(user) } else { left.insert(user) }
    }
  }
}

extension SyncContext {
  /// Who was in a room at some time from `start` up to `end`, where the user went out: also those who went before. Who came later is
  /// nobody the user knew.
  fileprivate func users(joinedTo room: RoomSnapshot, after start: Int64, upTo end: Int64) throws -> [UserID] {
    var users: [UserID] = []
    for (user, member) in room.members {
      if member.event.position <= start {
        if member.membership == .join { users.append(user) }
      } else if try rows.loader().wasJoined(user, to: room.number, after: start, upTo: end) {
        users.append(user)
      }
    }
    return users
  }

  /// Whether the user was in a room together with another at the end of the interval.
  fileprivate func sharedRoomAtEnd(with other: UserID) throws -> Bool {
    let memberships = sources.rooms.memberships
    let theirs = try memberships.cachedRooms(of: other) ?? memberships.rooms(of: other, in: rows.transaction())
    return try self.memberships().contains { number, own in
      guard let their = theirs[number] else { return false }
      if max(own.position, their.position) <= to.position { return own.membership == .join && their.membership == .join }
      guard let room = try room(number) else { return false }
      return try wasJoinedAtEnd(user, to: room) && wasJoinedAtEnd(other, to: room)
    }
  }

  fileprivate func wasJoinedAtEnd(_ user: UserID, to room: RoomSnapshot) throws -> Bool {
    try membership(of: user, in: room, at: to.position) == .join
  }

  /// Every room the user is in.
  func joinedRooms() throws -> [RoomSnapshot] {
    var rooms: [RoomSnapshot] = []
    for (number, entry) in try memberships() where entry.membership == .join {
      if let room = try room(number) { rooms.append(room) }
    }
    return rooms
  }
}
