import JSON
import MatrixModel

extension Client {
  mutating func loadMembers(_ id: RoomID, _ command: CommandID) {
    guard let room = rooms[id] else { return finish(command, .failed(.unknownRoom)) }
    guard room.state.hasPeople else {
      rooms[id]?.waitingForPeople.append(command)
      return loadPeople(id)
    }
    guard !room.hasAllMembers, !room.isLoadingMembers else {
      finish(command, .done)
      if room.hasAllMembers { goOnEncrypting(in: id) }
      return
    }
    rooms[id]?.isLoadingMembers = true
    rooms[id]?.toldMembers = []
    request(
      .getMembersByRoom, Endpoint.getMembersByRoom.path(id.text), query: "?not_membership=leave",
      for: .members(id, command))
  }

  /// Takes the list in by slices: that of a large room would keep a page busy for longer than somebody waits for a key.
  mutating func membersAnswered(_ answer: Answer, _ id: RoomID, _ command: CommandID) {
    guard rooms[id] != nil, case .success(let json) = answer, let chunk = json["chunk"] else {
      rooms[id]?.isLoadingMembers = false
      finish(command, .failed(answer.error ?? .unknownRoom))
      return goOnEncrypting(in: id, answer)
    }
    rooms[id]?.arrivingMembers = ArrivingMembers(events: chunk.elements)
    takeMembers(id, command)
  }

  /// Takes the next slice.
  mutating func takeMembers(_ id: RoomID, _ command: CommandID) {
    // The batch being stored works on a copy of the members: what is taken now would be lost.
    guard syncLoop.prepared == nil else { return syncLoop.deferredMembers.append((id, command)) }
    guard let user = session?.userID, var arriving = rooms[id]?.arrivingMembers else {
      return finish(command, .failed(.unknownRoom))
    }
    rooms[id]?.arrivingMembers = nil
    // The answer may be older than what the syncs have told since: that stands.
    let told = rooms[id]?.toldMembers ?? []
    var delta = RoomDelta()
    let isWhole = rooms[id]?.state.take(&arriving, told, &delta, ownUserID: user) ?? true
    arriving.changed += delta.members
    arriving.receipts += delta.receipts
    arriving.aspects.formUnion(delta.aspects)
    if !delta.shownMembers.isEmpty { notify(.members(id, delta.shownMembers)) }
    for user in delta.receipts {
      if let range = rooms[id]?.timeline.forgetReader(user) { notify(.readCounts(id, range)) }
    }
    guard isWhole else {
      rooms[id]?.arrivingMembers = arriving
      _ = startTimer(0, .members(id, command))
      return
    }
    settleMembers(id, arriving, command, ownUserID: user)
  }

  /// The whole list is there.
  private mutating func settleMembers(_ id: RoomID, _ arrived: ArrivingMembers, _ command: CommandID, ownUserID: UserID) {
    rooms[id]?.isLoadingMembers = false
    rooms[id]?.toldMembers = []
    rooms[id]?.state.settleWholeList(for: ownUserID)
    guard let state = rooms[id]?.state else { return finish(command, .failed(.unknownRoom)) }
    var operations: [StoreOperation] = []
    if state.storesAllMembers {
      for user in arrived.changed {
        guard let member = state.members[user] else { continue }
        operations.append(.put(key: StoreKey.member(user, in: id), value: member.record))
      }
      for user in arrived.receipts { state.appendReceipts(of: user, in: id, to: &operations) }
      operations.append(.put(key: StoreKey.room(id), value: state.record(of: id)))
    }
    notify(.room(id, arrived.aspects.union([.memberCounts, .name])))
    finish(command, .done)
    if !operations.isEmpty { write(operations) }
    goOnEncrypting(in: id)
  }
}

/// A room's members as the server listed them, while they are taken in.
struct ArrivingMembers: Sendable {
  /// Those that are still to be read.
  var events: JSON.Elements
  var listed: Set<UserID> = []
  /// What became different so far.
  var changed: [UserID] = []
  var receipts: [UserID] = []
  var aspects: RoomAspects = []
}

extension RoomState {
  /// Reads a slice. Returns false if there are more.
  fileprivate mutating func take(
    _ arriving: inout ArrivingMembers, _ told: Set<UserID>, _ delta: inout RoomDelta, ownUserID: UserID
  ) -> Bool {
    for _ in 0..<Limits.membersAtOnce {
      guard let json = arriving.events.next() else {
        for member in Array(members.all) where !arriving.listed.contains(member.userID) && !told.contains(member.userID) {
          depart(member, &delta)
        }
        return true
      }
      guard let event = Event(json), event.type == .member, let member = event.stateKey.flatMap({ UserID($0) }),
        arriving.listed.insert(member).inserted, !told.contains(member)
      else { continue }
      apply(event, &delta, ownUserID: ownUserID)
    }
    return false
  }

  fileprivate mutating func settleWholeList(for user: UserID) {
    hasAllMembers = true
    storesAllMembers = members.count <= Limits.storedMembers
    settleName(for: user)
  }

  /// The whole list is there without that member.
  fileprivate mutating func depart(_ member: Member, _ delta: inout RoomDelta) {
    guard member.membership != .leave else { return }
    var gone = member
    gone.membership = .leave
    gone.reason = nil
    delta.aspects.insert(.members)
    delta.members.append(member.userID)
    delta.shownMembers += members.set(gone)
    receipts[member.userID] = nil
    delta.receipts.append(member.userID)
  }
}
