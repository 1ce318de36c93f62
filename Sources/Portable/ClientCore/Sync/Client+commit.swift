import JSON
import MatrixModel

/// A stored sync becomes visible.
extension Client {
  mutating func commit(_ sync: PreparedSync) {
    guard let user = session?.userID else { return }
    if let direct = sync.directRooms { directRooms = direct }
    if let breadcrumbs = sync.breadcrumbs { take(breadcrumbs) }
    takePushRules(of: sync)
    if let wishes = sync.notificationWishes {
      var isAsBefore = wishes.quietHours == notificationWishes.quietHours
      isAsBefore = isAsBefore && wishes.snoozedUntilMilliseconds == notificationWishes.snoozedUntilMilliseconds
      notificationWishes = wishes
      if !isAsBefore { notify(.quietHours) }
    }
    if let ignored = sync.ignoredUsers { takeIgnoredUsers(ignored) }
    takePresence(sync.presence)
    report(accountData: sync.accountData, of: nil)
    for prepared in sync.rooms { commit(prepared, ownUserID: user) }
    settleUnreadMarks(sync)
    for id in sync.delivered.keys.ordered() {
      guard let entry = outbox[id] else { continue }
      finishDelivered(entry)
    }
    hideSkippedEchoes(sync, limitedRooms: Set(sync.rooms.filter { $0.isLimited }.map { $0.id }))
    placeRooms(sync.rooms.map { $0.id })
    dropUnusedPeople()
    dropStoredHistory(of: sync)
  }

  private mutating func commit(_ prepared: PreparedRoom, ownUserID: UserID) {
    let id = prepared.id
    let isNew = rooms[id] == nil
    var aspects = prepared.delta.aspects
    if isNew { addRoom(prepared) }
    if rooms[id]?.isLoadingMembers ?? false { rooms[id]?.toldMembers.formUnion(prepared.delta.members) }
    let oldName = rooms[id]?.state.computedName
    let pinned = rooms[id]?.state.pinned
    let removed = rooms[id]?.state.marks.removed.last
    storedEvents.count += prepared.state.history.events - (isNew ? 0 : rooms[id]?.state.history.events ?? 0)
    rooms[id]?.$state = prepared.$state
    // Nobody else has asked for those of a new room: looking for it among thousands would make a first sync slow.
    if isNew { keptPeople.append(id) } else if prepared.needsPeople || wantsPeopleForTyping(prepared) { loadPeople(id) }
    if aspects.contains(.name), let oldName, oldName.isSame(as: prepared.state.computedName) { aspects.remove(.name) }
    appendEvents(of: prepared, ownUserID: ownUserID)
    if let older = prepared.older { takeOlder(older.events, end: older.end, in: id, ownUserID) }
    if pinned != prepared.state.pinned { pinsChanged(id) }
    if commitReading(prepared, ownUserID: ownUserID) { aspects.insert(.unread) }
    if !isNew, removed != prepared.state.marks.removed.last { removalsTold(in: id) }
    commitUnread(prepared)
    if commitTyping(prepared) { aspects.insert(.typing) }
    if prepared.state.membership != .join { leaveBehind(id) } else { hasArrived(id) }
    if prepared.state.isEncrypted {
      encryptedRooms.insert(id)
      refuseClearText(in: id)
    }
    if isNew { pump(id) }
    settlePreview(id)
    takeDrafts(prepared.drafts, in: id)
    if !prepared.delta.shownMembers.isEmpty { notify(.members(id, prepared.delta.shownMembers)) }
    if !aspects.isEmpty { notify(.room(id, aspects)) }
    report(prepared)
  }

  private mutating func addRoom(_ prepared: PreparedRoom) {
    var room = Room(id: prepared.id, state: prepared.$state)
    room.drafts = drafts.orphans.removeValue(forKey: prepared.id) ?? [:]
    // Opened before the sync brought it.
    if keptTimelines.contains(prepared.id) {
      room.timeline.loadState = .loaded
      room.timeline.showsThreads = showsThreadsInline
      room.timeline.head.position = SegmentPosition(block: max(prepared.state.history.lastBlock, 0))
      if let user = session?.userID {
        room.timeline.show(outbox, in: prepared.id, ownUserID: user)
        notify(.timeline(.live(prepared.id), [.reset(room.timeline.items)]))
      }
    }
    rooms[prepared.id] = room
    roomLists.sending.insert(prepared.id)
  }

  private mutating func appendEvents(of prepared: PreparedRoom, ownUserID: UserID) {
    guard let events = prepared.events else { return }
    for event in events { forgetSource(changedBy: event, in: prepared.id) }
    // The room itself must not be held here: what two hold is copied when it changes.
    guard let position = prepared.position, let hasTimeline = rooms[prepared.id]?.hasTimeline else { return }
    let segment = Segment(
      position: position, events: events, isLimited: prepared.isLimited, token: prepared.previousBatch)
    // What a broken store does not take waits in memory until the room is opened.
    let takesAll = isStoreBroken
    guard takesAll || hasTimeline else { return }
    changeTimeline(prepared.id) { timeline, ids in
      takesAll || timeline.loadState != .unloaded ? timeline.append(segment, ownUserID: ownUserID, &ids) : []
    }
  }

  /// Who writes is shown by name.
  private func wantsPeopleForTyping(_ prepared: PreparedRoom) -> Bool {
    guard let typing = prepared.typing, !prepared.state.hasPeople else { return false }
    return typing.contains { prepared.state.members[$0] == nil }
  }

  /// Messages that no sync will bring any more, for it skipped them: they lie in a gap, which brings them when it is filled, or
  /// in the past. Their place behind newer messages would be wrong.
  ///
  /// A limited sync asked for after the server took the message has skipped it. Where it is not limited, servers whose syncs
  /// lag behind their sends get one more.
  private mutating func hideSkippedEchoes(_ sync: PreparedSync, limitedRooms: Set<RoomID>) {
    for entry in outbox.entries where sync.delivered[entry.id] == nil {
      guard case .sent(_, let afterSync) = entry.phase, rooms[entry.roomID]?.membership == .join else { continue }
      let patience = limitedRooms.contains(entry.roomID) ? 0 : 1
      guard afterSync + patience < sync.number else { continue }
      forget(entry)
      write([.delete(key: StoreKey.outbox(entry.id))])
    }
  }

  /// Nothing more to wait for in a room one has left.
  private mutating func leaveBehind(_ id: RoomID) {
    for entry in outbox.entries(in: id) where entry.isWaiting {
      switch entry.phase {
      // What is being encrypted is for people whom the user does not see any more.
      case .queued, .encrypting: fail(entry.id, .unknownRoom)
      default: break
      }
    }
  }

  // MARK: Timeline changes

  /// The only way a timeline changes in place.
  @inline(never)
  mutating func changeTimeline(_ key: TimelineKey, _ body: (inout Timeline, inout ItemIDs) -> [TimelineChange]) {
    let ignored = ignoredUsers.users
    guard let changes = rooms[key.room]?.change(key.focus, &itemIDs, now: now, ignored: ignored, body), !changes.isEmpty
    else { return }
    notify(.timeline(key, changes))
    scheduleExpiry(in: key.room)
  }

  /// All timelines of the room, the live one first.
  mutating func changeTimeline(_ id: RoomID, _ body: (inout Timeline, inout ItemIDs) -> [TimelineChange]) {
    changeTimeline(.live(id), body)
    let focuses = rooms[id]?.focuses ?? []
    for focus in focuses { changeTimeline(TimelineKey(id, focus), body) }
  }
}

extension Room {
  @inline(never)
  mutating func change(
    _ focus: TimelineKey.Focus, _ ids: inout ItemIDs, now: Int64, ignored: Set<UserID>,
    _ body: (inout Timeline, inout ItemIDs) -> [TimelineChange]
  ) -> [TimelineChange] {
    let power = state.power.levels
    let (removed, encryptedAt) = (removedEvents, state.encryptedAt)
    var changes: [TimelineChange] = []
    change(focus) { timeline in
      timeline.relations.power = power
      timeline.relations.now = now
      timeline.relations.ignored = ignored
      timeline.relations.encryptedAt = encryptedAt
      if timeline.relations.removed.count != removed.count { timeline.relations.removed = Set(removed) }
      changes = body(&timeline, &ids)
    }
    return changes
  }
}

extension RoomName {
  func isSame(as other: RoomName) -> Bool {
    switch (self, other) {
    case (.text(let a), .text(let b)): a == b
    case (.members(let a, let m), .members(let b, let n)): a == b && m == n
    case (.empty(let a), .empty(let b)): a == b
    default: false
    }
  }
}
