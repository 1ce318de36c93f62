import JSON
import MatrixModel
import ServerAccounts
import ServerCore
import ServerRooms

/// Everything one answer tells, gathered from the streams.
struct SyncChanges {
  var joined: [JoinedRoom] = []
  var left: [LeftRoom] = []
  var purged: [RoomID] = []
  var stripped: [StrippedRoom] = []
  var accountData: [AccountData.Entry] = []
  var presence = PresenceStream()
  var toDevice: ToDeviceStream
  var deviceLists = DeviceListStream()
  /// The fragments that only servers see, by position, where the filter asks for the federation format.
  var federation: [Int64: [UInt8]] = [:]
  var keyCounts: KeyCountStream

  /// Whether a client that waits has to wait on.
  var isEmpty: Bool {
    joined.isEmpty && left.isEmpty && purged.isEmpty && stripped.isEmpty && accountData.isEmpty && presence.events.isEmpty
      && toDevice.messages.isEmpty
      && deviceLists.isEmpty && !keyCounts.hasChanged
  }

  /// Asks every stream.
  ///
  /// - Parameter roomsWithNews: rooms the user was in, with something after the interval's start.
  static func gather(
    _ context: SyncContext, _ watch: UserWatch, roomsWithNews: [RoomNumber]
  ) throws -> SyncChanges {
    // Rows first: an answer that needs them is not begun without.
    let account = try watch.account ?? AccountSummary.read(of: context.user, context.rows)
    watch.syncMemory.remember(account)
    var changes = SyncChanges(
      toDevice: try ToDeviceStream.changes(context), keyCounts: try KeyCountStream.read(context, watch))
    let accountData = try AccountDataStream.changes(context)
    changes.accountData = accountData.ofAccount
    changes.purged = try PurgedRoomStream.changes(context)
    var leftRooms: [(room: RoomSnapshot, leftAt: Int64)] = []
    for number in try rooms(of: context, roomsWithNews, accountData) {
      guard let room = try context.room(number), context.filter.rooms.matches(room: room.roomID) else { continue }
      try changes.add(room, account, accountData.ofRooms[room.roomID] ?? [], context, &leftRooms)
    }
    changes.deviceLists = try DeviceListStream.changes(
      rooms: changes.joined.map(\.room), leftRooms: leftRooms, context)
    changes.presence = try PresenceStream.changes(changes.joined, ignoring: account.ignored, context)
    if context.filter.usesFederationFormat { try changes.readFederation(context) }
    return changes
  }

  private mutating func readFederation(_ context: SyncContext) throws {
    let events = joined.flatMap { $0.timeline.events + $0.state } + left.flatMap { $0.timeline.events + $0.state }
    guard !events.isEmpty else { return }
    let transaction = try context.rows.transaction()
    for event in events {
      federation[event.position] = try transaction.first(
        "SELECT federation FROM event WHERE position = $1", event.position
      ) { $0.blob(0) }
    }
  }

  /// The rooms that may have something to tell.
  private static func rooms(
    of context: SyncContext, _ roomsWithNews: [RoomNumber], _ accountData: AccountDataStream
  ) throws -> [RoomNumber] {
    guard let from = context.from, !context.request.isFullState else {
      return try context.memberships().compactMap { number, entry in
        let isLeft = entry.membership == .leave || entry.membership == .ban
        let isNews = context.from.map { entry.position > $0.position } ?? false
        return !isLeft || isNews || context.filter.includesLeft && !entry.isForgotten ? number : nil
      }
    }
    guard context.hasOwnNews else { return roomsWithNews }
    var rooms = Set(roomsWithNews)
    for (number, entry) in try context.memberships() where entry.position > from.position { rooms.insert(number) }
    for roomID in accountData.ofRooms.keys {
      if let room = try context.sources.rooms.cache.snapshot(of: roomID, in: try context.rows.transaction()) {
        rooms.insert(room.number)
      }
    }
    return Array(rooms)
  }

  private mutating func add(
    _ room: RoomSnapshot, _ account: AccountSummary, _ accountData: [AccountData.Entry], _ context: SyncContext,
    _ leftRooms: inout [(room: RoomSnapshot, leftAt: Int64)]
  ) throws {
    let membership = try context.membership(in: room, at: context.to.position)
    switch membership {
    case .join:
      let stream = JoinedRoomStream(room: room, context: context, account: account, accountData: accountData)
      if let changes = try stream.changes() { joined.append(changes) }
    case .invite, .knock:
      guard let own = room.members[context.user]?.event, let membership,
        own.position > context.since || context.request.isFullState
      else { return }
      if membership == .invite, context.sources.rooms.hidesInvitation(by: own.sender, from: account) { return }
      stripped.append(StrippedRoom(room, for: context.user, membership))
    case .leave, .ban:
      guard let leftAt = try context.leavePosition(in: room) else { return }
      guard leftAt > context.since || !accountData.isEmpty && context.filter.includesLeft else { return }
      // Who was not in the room knew nobody's devices by it, and is not to learn by this who was.
      if leftAt > context.since, let from = context.from, try context.membership(in: room, at: from.position) == .join {
        leftRooms.append((room, leftAt))
      }
      let stream = LeftRoomStream(room: room, context: context, account: account, accountData: accountData)
      left.append(try stream.changes(leftAt: leftAt))
    case nil: return
    }
  }
}

extension SyncContext {
  /// Position of the event by which the user, who is out at the end of the interval, went out.
  func leavePosition(in room: RoomSnapshot) throws -> Int64? {
    if let own = room.members[user]?.event.position, own <= to.position { return own }
    return try rows.loader().state(of: room.number, .member, user.text, at: to.position)?.position
  }
}
