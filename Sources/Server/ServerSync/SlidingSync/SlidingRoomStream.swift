import MatrixModel
import RoomRules
import ServerRooms

/// Puts together what a connection has not been told of one room. Spec: MSC4186, "Room results".
struct SlidingRoomStream {
  let entry: SlidingWindow.Room
  let context: SlidingContext
  let room: RoomSnapshot

  private var config: SlidingRequest.RoomConfig { entry.config }
  private var sent: SentRoom? { context.content.rooms[room.number] }
  private var expiry: Int64 { context.sync.sources.rooms.expiry(of: room) }
  private var own: StoredEvent? { room.members[context.user]?.event }

  /// nil for a room where nothing can be new; no row and no snapshot is looked at to tell.
  init?(_ entry: SlidingWindow.Room, isNews: Bool, _ context: SlidingContext) throws {
    let isDirect = context.markers.direct.contains(entry.room.roomID)
    if let sent = context.content.rooms[entry.room.number], entry.room.position <= sent.position, !isNews,
      sent.config == entry.config, sent.isDirect == isDirect, sent.membership == entry.room.membership
    {
      return nil
    }
    guard let room = try context.sync.room(entry.room.number) else { return nil }
    self.entry = entry
    self.context = context
    self.room = room
  }

  /// About how many events telling it looks up that were not charged for when they were sent: of a room that is told whole, with
  /// a longer timeline or with other state than before, and of one with more news than are in memory.
  var eventsToLookUp: Int {
    guard entry.room.membership != .invite, entry.room.membership != .knock else { return 0 }
    guard let sent, sent.membership == entry.room.membership else { return config.timelineLimit + stateCount }
    var count = sent.config.requiredState == config.requiredState ? 0 : stateCount
    if config.timelineLimit > sent.config.timelineLimit || !room.tailCovers(after: sent.position) {
      count += config.timelineLimit
    }
    return count
  }

  /// About how many events the wanted state has.
  private var stateCount: Int {
    room.state.count + (config.requiredState.includesAllMembers ? room.members.count : 0)
  }

  /// What to tell, if anything, and what the connection has been told then.
  func changes() throws -> (told: SlidingRoom?, sent: SentRoom)? {
    guard let own, let membership = room.membership(of: context.user) else { return nil }
    switch membership {
    case .join: return try joined()
    case .invite, .knock:
      let isUnwanted = context.sync.sources.rooms.hidesInvitation(by: own.sender, from: context.account)
      guard membership == .knock || !isUnwanted else { return nil }
      return outside(membership, own)
    case .leave, .ban: return try left(membership, own)
    }
  }

  // MARK: Outside

  private func outside(_ membership: Membership, _ own: StoredEvent) -> (SlidingRoom?, SentRoom) {
    let isDirect = context.markers.direct.contains(room.roomID)
    let next = SentRoom(
      position: own.position, membership: membership, config: config, isDirect: isDirect, unread: .init())
    if let sent, sent.position >= own.position, sent.membership == membership { return (nil, next) }
    let stripped = StrippedRoom(room, for: context.user, membership)
    return (told(nil, stripped: stripped, membership, own.position, .init()), next)
  }

  private func left(_ membership: Membership, _ own: StoredEvent) throws -> (SlidingRoom?, SentRoom)? {
    let isDirect = context.markers.direct.contains(room.roomID)
    let next = SentRoom(
      position: own.position, membership: membership, config: config, isDirect: isDirect, unread: .init())
    if let sent, sent.position >= own.position { return (nil, next) }
    let view = try RoomView(room, user: context.user, in: try context.rows.transaction(), expiry: expiry)
    guard let leftAt = view.leftAt else {
      // Who was never in learns that it is over, and nothing else.
      guard sent != nil else { return nil }
      let stripped = StrippedRoom(room: room, membership: membership, events: [own])
      return (told(nil, stripped: stripped, membership, own.position, .init()), next)
    }
    let wasToldOut = sent.map { $0.position >= leftAt && ($0.membership == .leave || $0.membership == .ban) } ?? false
    let isInitial = sent?.membership != .join && !wasToldOut
    let since = isInitial ? 0 : sent?.position ?? 0
    let timeline = try timeline(from: since, to: own.position, isNew: isInitial, view)
    let inside = SlidingRoom.Inside(
      isInitial: isInitial, isExpanded: false, timeline: timeline,
      state: try state(until: leftAt, since: isInitial ? nil : since, own), liveCount: liveCount(of: timeline),
      summary: nil, tellsName: false, tellsAvatar: false)
    return (told(inside, stripped: nil, membership, own.position, .init()), next)
  }

  /// The wanted state, as it was when the user went out but for their own membership, which is as it is.
  private func state(until leftAt: Int64, since: Int64?, _ own: StoredEvent) throws -> [StoredEvent] {
    let stream = RoomStateStream(room: room, context: context.sync)
    var state =
      try since.map { try stream.changes(after: $0, upTo: leftAt) } ?? context.rows.loader().state(of: room.number, at: leftAt)
    state.removeAll { $0.type == .member && $0.stateKey == own.stateKey }
    return (state + [own]).filter { config.requiredState.matches($0) }
  }

  // MARK: Inside

  private func joined() throws -> (SlidingRoom?, SentRoom)? {
    let isInitial = sent?.membership != .join
    let since = isInitial ? 0 : sent?.position ?? 0
    let isExpanded = !isInitial && config.timelineLimit > sent?.config.timelineLimit ?? 0
    // What the snapshot holds is told, also where it is a little newer than the answer's position: it is one consistent
    // whole, and what a room was told is kept room by room.
    let end = room.position
    let isWhole = isInitial || isExpanded
    let needsView = isWhole || own?.position ?? 0 > since
    let view = needsView ? try RoomView(room, user: context.user, in: try context.rows.transaction(), expiry: expiry) : nil
    let timeline = try timeline(from: isWhole ? 0 : since, to: end, isNew: isWhole, view)

    var members = isInitial ? [:] : sent?.members ?? [:]
    let (state, memberChanged) = try state(timeline, since, isInitial: isInitial, &members)
    let unread = try context.sync.sources.unread.counts(
      of: context.user, in: room, upTo: end, context.account, context.rows
    ).total
    let isDirect = context.markers.direct.contains(room.roomID)
    let next = SentRoom(
      position: end, membership: .join, config: config, isDirect: isDirect, unread: unread, members: members)
    let isNews =
      isWhole || !timeline.events.isEmpty || timeline.isLimited || !state.isEmpty || memberChanged || unread != sent?.unread
      || isDirect != sent?.isDirect
    guard isNews else { return (nil, next) }
    let inside = SlidingRoom.Inside(
      isInitial: isInitial, isExpanded: isExpanded, timeline: timeline, state: state, liveCount: liveCount(of: timeline),
      summary: isInitial || memberChanged ? RoomSummary(of: room, for: context.user) : nil,
      tellsName: isInitial || room[.name]?.position ?? 0 > since, tellsAvatar: isInitial || room[.avatar]?.position ?? 0 > since
    )
    return (told(inside, stripped: nil, .join, try bumpStamp(), unread), next)
  }

  private func told(
    _ inside: SlidingRoom.Inside?, stripped: StrippedRoom?, _ membership: Membership, _ bumpStamp: Int64,
    _ unread: UnreadCounts.Count
  ) -> SlidingRoom {
    let isDirect = context.markers.direct.contains(room.roomID)
    let wasDirect = sent?.isDirect ?? false
    return SlidingRoom(
      room: room, membership: membership, lists: entry.lists, bumpStamp: bumpStamp, inside: inside, stripped: stripped,
      isDirect: isDirect || wasDirect != isDirect || inside?.isInitial ?? true ? isDirect : nil, unread: unread)
  }

  private func timeline(from lower: Int64, to end: Int64, isNew: Bool, _ view: RoomView?) throws -> RoomTimeline {
    try RoomTimeline(
      of: room,
      RoomTimeline.Interval(
        lower: lower, end: end, isNew: isNew, view: view, filter: EventFilter(), limit: config.timelineLimit,
        ignored: context.account.ignored, expiry: expiry, reader: context.user,
        erasures: context.sync.sources.rooms.erasures), context.rows)
  }

  private func liveCount(of timeline: RoomTimeline) -> Int {
    guard let seen = context.content.seen else { return 0 }
    return timeline.events.reduce(0) { $1.position > seen.position ? $0 + 1 : $0 }
  }

  // MARK: State

  /// The wanted state that was not told, and whether any member's state changed, wanted or not.
  private func state(
    _ timeline: RoomTimeline, _ since: Int64, isInitial: Bool, _ members: inout [UserID: Int64]
  ) throws -> (events: [StoredEvent], memberChanged: Bool) {
    let wanted = config.requiredState
    let changes =
      isInitial ? [] : try RoomStateStream(room: room, context: context.sync).changes(after: since, upTo: room.position)
    let memberChanged = changes.contains { $0.type == .member }
    var state = isInitial ? wanted.state(of: room) : changes.filter { wanted.matches($0) }
    if !isInitial, let old = sent?.config.requiredState, old != wanted {
      // What is wanted now and was not: told whenever it came.
      state += wanted.state(of: room).filter { !old.matches($0) && $0.position <= since }
    }
    if wanted.isLazy {
      var told = Set(state.compactMap { $0.type == .member ? $0.position : nil })
      for event in lazyMembers(timeline, changes) where told.insert(event.position).inserted {
        guard let key = event.stateKey else { continue }
        let user = UserID(trusted: key)
        if members[user] == event.position { continue }
        if members.count >= SentRoom.membersLimit { members = [:] }
        members[user] = event.position
        state.append(event)
      }
    }
    return (state.sorted { $0.position < $1.position }, memberChanged)
  }

  /// Spec: MSC4186, "Lazy loaded memberships".
  private func lazyMembers(_ timeline: RoomTimeline, _ changes: [StoredEvent]) -> [StoredEvent] {
    var users = Set(timeline.events.map(\.sender))
    for event in timeline.events where event.type == .member {
      if let key = event.stateKey { users.insert(UserID(trusted: key)) }
    }
    var events = users.compactMap { room.members[$0]?.event }
    if !timeline.isLimited { events += changes.filter { $0.type == .member } }
    return events.sorted { $0.position < $1.position }
  }

  // MARK: Order

  /// Events looked at for the newest in which somebody said something.
  private static let bumpScanLimit = 500

  private func bumpStamp() throws -> Int64 {
    if let event = room.tail.last(where: { $0.isActivity }) { return event.position }
    guard let oldest = room.tail.first, !room.tailCovers(after: 0) else { return room.position }
    let types = try context.rows.transaction().all(
      "SELECT position, type FROM event WHERE room = $1 AND position < $2 ORDER BY position DESC LIMIT $3", room.number,
      oldest.position, Self.bumpScanLimit
    ) { (position: $0.integer(0), type: $0.identifier(1, as: EventType.self)) }
    return types.first { StoredEvent.activityTypes.contains($0.type) }?.position ?? types.last?.position ?? oldest.position
  }
}
