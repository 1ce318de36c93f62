import MatrixModel
import ServerAccounts
import ServerRooms

/// One room that the user has left or was banned from.
struct LeftRoom {
  let room: RoomSnapshot
  let timeline: RoomTimeline
  let state: [StoredEvent]
  let accountData: [AccountData.Entry]
  let aggregations: Aggregations
}

/// What happened in a room until the user left it.
struct LeftRoomStream {
  let room: RoomSnapshot
  let context: SyncContext
  let account: AccountSummary
  let accountData: [AccountData.Entry]

  func changes(leftAt: Int64) throws -> LeftRoom {
    let before = try context.from.flatMap { try context.membership(in: room, at: $0.position) }
    let isNew = before != .join
    let expiry = context.sources.rooms.expiry(of: room)
    let view = try RoomView(room, user: context.user, in: try context.rows.transaction(), expiry: expiry)
    // A user who was out already has been told all but what happened to their own membership. One who never was in gets no more.
    let wasOut = view.leftAt.map { $0 <= context.since } ?? true
    let lower = isNew && !wasOut ? try context.lastLeave(of: room) : context.since
    var timeline = try RoomTimeline(
      of: room,
      context.interval(lower: lower, end: leftAt, isNew: isNew, view: view, expiry: expiry, ignoring: account.ignored),
      context.rows)
    if isNew && lower > 0 && view.canRead { timeline.limit() }
    return LeftRoom(
      room: room, timeline: timeline, state: try state(timeline, view, leftAt, isNew: isNew), accountData: accountData,
      aggregations: try context.aggregations(of: timeline, in: room, ignoring: account.ignored))
  }

  private func state(_ timeline: RoomTimeline, _ view: RoomView, _ leftAt: Int64, isNew: Bool) throws -> [StoredEvent] {
    let filter = context.filter.state
    // Who declines an invitation learns nothing of the room.
    guard filter.matches(room: room.roomID), !isNew || view.canRead else { return [] }
    let end = min(context.request.usesStateAfter ? leftAt : timeline.start, view.leftAt ?? leftAt)
    let stream = RoomStateStream(room: room, context: context)
    var state =
      isNew || context.request.isFullState
      ? try stream.all(at: end) : try stream.changes(after: context.since, upTo: end)
    if filter.lazyLoadsMembers {
      let senders = Set(timeline.events.map(\.sender)).subtracting(
        state.compactMap { $0.type == .member ? UserID($0.stateKey ?? "") : nil })
      state += try stream.members(senders, at: end)
    }
    if context.request.usesStateAfter, let own = room.members[context.user]?.event, own.position > end {
      state.removeAll { $0.type == .member && $0.stateKey == own.stateKey }
      state.append(own)
    }
    return filter.isOpen ? state : state.filter { filter.matches($0) }
  }
}
