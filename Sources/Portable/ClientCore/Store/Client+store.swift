import JSON
import MatrixModel

extension Client {
  mutating func startFromStore() {
    guard sessionState == .loading, pending.loads.isEmpty else { return }
    load(StoreRange(prefix: StoreKey.account), .account)
  }

  mutating func loaded(_ id: LoadID, _ records: [StoreRecord]) {
    guard let purpose = pending.loads.removeValue(forKey: id) else { return }
    loaded(id, records, for: purpose)
  }

  mutating func loaded(_ id: LoadID, _ records: [StoreRecord], for purpose: LoadPurpose) {
    switch purpose {
    case .account: restore(Restored(records))
    case .event(let key): eventLoaded(key, records)
    case .inbox: takeInbox(records)
    // A room may have been closed and opened again meanwhile.
    case .timeline(let room): if rooms[room]?.timeline.load == id { timelineLoaded(room, records) }
    case .olderSegments(let room, let wanted): olderSegmentsLoaded(room, records, wanted)
    case .unreadEvidence(let room, let command): unreadEvidenceLoaded(room, records, command)
    case .people, .oldestSegments, .unread:
      // The batch being stored works on a copy of the room.
      if syncLoop.prepared != nil { return syncLoop.deferredRecords.append((id, records, purpose)) }
      if case .people(let room) = purpose, rooms[room]?.peopleLoad == id { peopleLoaded(room, records) }
      if case .unread(let room) = purpose, rooms[room]?.unreadLoad == id { unreadLoaded(room, records) }
      if case .oldestSegments(let room, let count) = purpose { oldestSegmentsLoaded(room, keptEvents: count, records) }
    }
  }

  private mutating func restore(_ restored: Restored) {
    guard let session = restored.session else {
      // Records without a login belong to nobody.
      if !restored.operations.isEmpty { write([.deleteAll(prefix: "")]) }
      return setSessionState(.signedOut)
    }
    self.session = session
    if !restored.operations.isEmpty { write(restored.operations) }
    ownProfile = restored.profile
    encryptedRooms = restored.encryptedRooms
    directRooms = restored.directRooms
    breadcrumbs = restored.breadcrumbs
    pushRuleState.rules = restored.pushRules.map { PushRuleSet(ofServer: $0, for: session.userID) }
    notificationWishes = restored.notificationWishes
    ignoredUsers = restored.ignoredUsers
    for (id, state) in restored.rooms {
      var room = Room(id: id, state: state)
      room.state.directUserID = directRooms.user(of: id) ?? (room.state.isDirectInvite ? room.state.inviter : nil)
      room.state.settleName(for: session.userID)
      room.drafts = restored.drafts[id] ?? [:]
      storedEvents.count += room.state.history.events
      room.hidesPreview = isPreviewHidden(room)
      rooms[id] = room
    }
    drafts.orphans = restored.drafts.filter { rooms[$0.key] == nil }
    for entry in restored.outbox { outbox.restore(entry, &itemIDs) }
    outbox.finishRestore()
    roomLists.sending = Set(outbox.entries.map { $0.roomID })
    syncLoop.goOn(from: restored.position ?? SyncPosition())
    syncFilter = restored.filter
    setSessionState(.signedIn)
    sortRooms()
    takeInbox(restored.inbox)
    startSession()
    for id in rooms.keys.ordered() where rooms[id]?.state.isMiscounted ?? false { recountUnread(id) }
  }

  mutating func written(_ id: WriteID, _ isStored: Bool) {
    guard let purpose = pending.writes.removeValue(forKey: id) else { return }
    if !isStored {
      if !isStoreBroken {
        isStoreBroken = true
        notify(.storeFailed)
      }
      if case .sync = purpose { syncLoop.prepared?.keepEvents() }
    }
    switch purpose {
    case .session: refreshedSessionWritten()
    case .sync: syncWritten()
    case .outbox(let entry): outboxWritten(entry)
    case .outboxEntries(let room, let entries): outboxWritten(entries, in: room)
    case .query(let query): sendQuery(query)
    case .other: break
    }
  }

  /// Everything a sync brings comes anew; the login, messages on their way and drafts stay. What is on the screen is shown
  /// again once it is there.
  mutating func startAfresh(_ id: CommandID) {
    writeDrafts()
    stopSession()
    for (room, state) in rooms where !state.drafts.isEmpty { drafts.orphans[room] = state.drafts }
    write(StoreSchema.freshSync)
    pending.loads.removeAll { if case .inbox = $0 { false } else { true } }
    // A batch of the old syncs that is still being stored is nobody's any more.
    for write in pending.writes.keys { if case .sync? = pending.writes[write] { pending.writes[write] = .other } }
    for room in keptTimelines { notify(.timeline(.live(room), [.reset([])])) }
    // Those beside them open again once a sync has brought their room.
    for (id, room) in rooms {
      for focus in room.focuses {
        arriving.timelines.append(TimelineKey(id, focus))
        notify(.timeline(TimelineKey(id, focus), [.reset([])]))
      }
    }
    forgetSynced()
    outbox.suspend()
    finish(id, .done)
    if sessionState == .signedIn { startSession() }
  }
}
