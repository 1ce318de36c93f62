import JSON
import MatrixModel

/// Members and receipts of a room come into memory when somebody looks at it or a name needs them, and leave it again.
extension Client {
  /// Reads them, unless they are here or on their way.
  mutating func loadPeople(_ id: RoomID) {
    guard let room = rooms[id] else { return }
    keptPeople.removeAll { $0 == id }
    keptPeople.append(id)
    guard !room.state.hasPeople, room.peopleLoad == nil else { return }
    let load = load(StoreRange(prefix: StoreKey.people(of: id)), .people(id))
    rooms[id]?.peopleLoad = load
  }

  mutating func peopleLoaded(_ id: RoomID, _ records: [StoreRecord]) {
    guard let user = session?.userID, var state = rooms[id]?.state else { return }
    rooms[id]?.peopleLoad = nil
    let old = state
    var members: [Member] = []
    var receipts: [ReadReceipt] = []
    var operations: [StoreOperation] = []
    let memberPrefix = StoreKey.members(of: id)
    for record in records {
      let json = Answer.parse(record.value)
      if record.key.utf8.starts(with: memberPrefix.utf8) {
        if let member = json.flatMap({ Member(record: $0) }) {
          members.append(member)
        } else {
          state.hasAllMembers = false
          state.storesAllMembers = false
          operations.append(.delete(key: record.key))
        }
      } else if let receipt = json.flatMap({ ReadReceipt(record: $0) }) {
        receipts.append(receipt)
      }
    }
    state.addPeople(members, receipts)
    state.settleName(for: user)
    rooms[id]?.state = state
    showPeople(id, members.map { $0.userID }, old)
    let record = state.record(of: id)
    if record != old.record(of: id) { operations.append(.put(key: StoreKey.room(id), value: record)) }
    if !operations.isEmpty { write(operations) }
    goOnWithPeople(id)
  }

  private mutating func showPeople(_ id: RoomID, _ users: [UserID], _ old: RoomState) {
    guard let state = rooms[id]?.state else { return }
    if !users.isEmpty { notify(.members(id, users)) }
    var aspects: RoomAspects = []
    if !state.computedName.isSame(as: old.computedName) { aspects.insert(.name) }
    if state.computedAvatar != old.computedAvatar { aspects.insert(.avatar) }
    if let sender = state.preview?.sender,
      state.members.displayName(of: sender) != old.members.displayName(of: sender)
    {
      aspects.insert(.preview)
    }
    if !aspects.isEmpty { notify(.room(id, aspects)) }
  }

  /// Resumes what waited for the members: the timeline, and commands that want the whole list.
  private mutating func goOnWithPeople(_ id: RoomID) {
    if let records = rooms[id]?.timeline.waitingRecords { timelineLoaded(id, records) }
    let commands = rooms[id]?.waitingForPeople ?? []
    rooms[id]?.waitingForPeople = []
    for command in commands { loadMembers(id, command) }
  }

  /// Those of rooms whose timeline is in memory stay, and those used last. Not while a batch is being stored, which works on
  /// copies, and never again once the store has missed something.
  mutating func dropUnusedPeople() {
    guard syncLoop.prepared == nil, !isStoreBroken, keptPeople.count > Limits.keptPeople, let user = session?.userID
    else { return }
    let idle = keptPeople.filter { id in
      guard let room = rooms[id] else { return true }
      return !keptTimelines.contains(id) && !room.isLoadingMembers && room.peopleLoad == nil
    }
    guard idle.count > Limits.keptPeople else { return }
    let dropped = idle.dropLast(Limits.keptPeople)
    var isDropped: Set<RoomID> = []
    for id in dropped {
      isDropped.insert(id)
      if rooms[id]?.state.hasPeople ?? false { rooms[id]?.state.dropPeople(ownUserID: user) }
    }
    keptPeople.removeAll { isDropped.contains($0) }
  }
}
