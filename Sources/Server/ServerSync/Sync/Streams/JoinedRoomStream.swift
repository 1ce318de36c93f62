import JSON
import MatrixModel
import ServerAccounts
import ServerRooms

/// One room that the user is in: everything the answer says of it.
struct JoinedRoom {
  let room: RoomSnapshot
  /// Whether the user was not in it at the last answer.
  let isNew: Bool
  let timeline: RoomTimeline
  let state: [StoredEvent]
  let summary: RoomSummary?
  let ephemeral: [[UInt8]]
  let accountData: [AccountData.Entry]
  let unread: UnreadCounts
  let aggregations: Aggregations
}

/// Puts together what is new of a joined room. Spec: Client-Server API, "Syncing".
struct JoinedRoomStream {
  let room: RoomSnapshot
  let context: SyncContext
  let account: AccountSummary
  let accountData: [AccountData.Entry]

  /// nil where there is nothing to tell.
  func changes() throws -> JoinedRoom? {
    let end = context.to.position
    let ownEvent = room.members[context.user]?.event.position ?? 0
    let before = try context.from.flatMap { try context.membership(in: room, at: $0.position) }
    let isNew = before != .join
    // Who was always in the room since then may see everything since then.
    let expiry = context.sources.rooms.expiry(of: room)
    let view =
      isNew || ownEvent > context.since
      ? try RoomView(room, user: context.user, in: try context.rows.transaction(), expiry: expiry) : nil
    let lower = isNew ? try context.lastLeave(of: room) : context.since
    var timeline = try RoomTimeline(
      of: room,
      context.interval(lower: lower, end: end, isNew: isNew, view: view, expiry: expiry, ignoring: account.ignored),
      context.rows)
    if isNew && lower > 0 { timeline.limit() }

    let stream = RoomStateStream(room: room, context: context)
    let membersChanged = try isNew || stream.changesMembers(after: context.since, upTo: end)
    let state = try state(stream, timeline, isNew: isNew)
    let ephemeral = try EphemeralStream(room: room, context: context, ignored: account.ignored).changes(isNew: isNew)
    let isTold =
      isNew || context.request.isFullState || !timeline.events.isEmpty || timeline.isLimited
      || !state.isEmpty || !ephemeral.isEmpty || !accountData.isEmpty
    guard try isTold || hasReadOn() else { return nil }
    let unread = try context.sources.unread.counts(
      of: context.user, in: room, upTo: end, account, context.rows)
    return JoinedRoom(
      room: room, isNew: isNew, timeline: timeline, state: state,
      summary: membersChanged || context.request.isFullState ? RoomSummary(of: room, for: context.user) : nil,
      ephemeral: ephemeral, accountData: accountData, unread: unread,
      aggregations: try context.aggregations(of: timeline, in: room, ignoring: account.ignored))
  }

  /// Whether the user's own receipts moved, so that the counts are others.
  private func hasReadOn() throws -> Bool {
    try context.sources.receipts.changes(
      in: room.number, after: context.since, upTo: context.to.position, for: context.user, context.rows
    ).contains { $0.user == context.user }
  }

  // MARK: State

  private func state(_ stream: RoomStateStream, _ timeline: RoomTimeline, isNew: Bool) throws -> [StoredEvent] {
    let filter = context.filter.state
    guard filter.matches(room: room.roomID) else { return [] }
    let end = context.request.usesStateAfter ? context.to.position : timeline.start
    var state: [StoredEvent]
    if isNew || context.request.isFullState {
      state = try stream.all(at: end)
    } else {
      state = try stream.changes(after: context.since, upTo: end)
    }
    if filter.lazyLoadsMembers { state += try lazyMembers(stream, timeline, state, at: end, isNew: isNew) }
    return filter.isOpen ? state : state.filter { filter.matches($0) }
  }

  /// Members that the answer mentions and that the device does not know. Spec: "Lazy-loading room members".
  private func lazyMembers(
    _ stream: RoomStateStream, _ timeline: RoomTimeline, _ state: [StoredEvent], at end: Int64, isNew: Bool
  ) throws -> [StoredEvent] {
    var wanted = Set(timeline.events.map(\.sender))
    if isNew || context.request.isFullState {
      wanted.insert(context.user)
      wanted.formUnion(RoomSummary(of: room, for: context.user).heroes)
    }
    for event in state where event.type == .member {
      if let key = event.stateKey { wanted.remove(UserID(trusted: key)) }
    }
    guard !wanted.isEmpty else { return [] }
    let members = try stream.members(wanted, at: end)
    if context.filter.state.includesRedundantMembers || isNew || context.request.isFullState {
      return members
    }
    return context.delivery.untold(members, in: room.number, seen: context.since, now: context.to.position)
  }
}

extension SyncContext {
  /// A stretch of a room's timeline, held to the request's filter.
  func interval(
    lower: Int64, end: Int64, isNew: Bool, view: RoomView?, expiry: Int64, ignoring ignored: Set<UserID>
  ) -> RoomTimeline.Interval {
    RoomTimeline.Interval(
      lower: lower, end: end, isNew: isNew, view: view, filter: filter.timeline, limit: filter.timelineCount, ignored: ignored,
      expiry: expiry, reader: user, erasures: sources.rooms.erasures)
  }
}

extension RoomStateStream {
  /// Whether a member event lies between.
  func changesMembers(after start: Int64, upTo end: Int64) throws -> Bool {
    guard room.position > start else { return false }
    if room.tailCovers(after: start) {
      return room.tail.contains { $0.position > start && $0.position <= end && $0.type == .member }
    }
    return try changes(after: start, upTo: end).contains { $0.type == .member }
  }
}
