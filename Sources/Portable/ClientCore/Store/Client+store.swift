import JSON
import MatrixModel

extension Client {
  mutating func startFromStore() {
    guard sessionState == .loading, pending.loads.isEmpty else { return }
    load(StoreKey.account, .account)
  }

  mutating func loaded(_ id: LoadID, _ records: [StoreRecord]) {
    guard let purpose = pending.loads.removeValue(forKey: id) else { return }
    switch purpose {
    case .account: restore(Restored(records))
    case .timeline(let room): timelineLoaded(room, records)
    case .event(let key): eventLoaded(key, records)
    }
  }

  private mutating func restore(_ restored: Restored) {
    guard let session = restored.session else {
      // Records without a login belong to nobody.
      if restored.isCorrupt { write([.deleteAll(prefix: "")]) }
      return setSessionState(.signedOut)
    }
    self.session = session
    if restored.isCorrupt {
      write(
        StoreKey.synced.map { .deleteAll(prefix: $0) } + [.put(key: StoreKey.schema, value: StoreKey.schemaVersion)])
    }
    if !restored.lost.isEmpty { write(restored.lost.map { .delete(key: $0) }) }
    directRooms = restored.directRooms
    for (id, state) in restored.rooms {
      var room = Room(id: id, state: state)
      room.state.directUserID = directRooms.user(of: id) ?? (state.isDirectInvite ? state.inviter : nil)
      room.state.computeName(for: session.userID)
      room.drafts = restored.drafts[id] ?? [:]
      rooms[id] = room
    }
    orphanDrafts = restored.drafts.filter { rooms[$0.key] == nil }
    for entry in restored.outbox { outbox.restore(entry, &itemIDs) }
    outbox.finishRestore()
    syncLoop.token = restored.syncToken
    setSessionState(.signedIn)
    sortRooms()
    startSession()
  }

  mutating func written(_ id: WriteID, _ isStored: Bool) {
    guard let purpose = pending.writes.removeValue(forKey: id) else { return }
    if !isStored, !isStoreBroken {
      isStoreBroken = true
      notify(.storeFailed)
    }
    switch purpose {
    case .session: refreshedSessionWritten()
    case .sync: syncWritten()
    case .outbox(let entry): outboxWritten(entry)
    case .outboxEntries(let room, let entries): outboxWritten(entries, in: room)
    case .other: break
    }
  }
}
