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

  mutating func membersAnswered(_ answer: Answer, _ id: RoomID, _ command: CommandID) {
    // The batch being stored works on a copy of the members: this answer waits, or it would be lost.
    guard syncLoop.prepared == nil else {
      syncLoop.deferredAnswers.append((answer, .members(id, command)))
      return
    }
    rooms[id]?.isLoadingMembers = false
    guard let user = session?.userID, var state = rooms[id]?.state, case .success(let json) = answer,
      let chunk = json["chunk"]
    else {
      finish(command, .failed(answer.error ?? .unknownRoom))
      return goOnEncrypting(in: id, answer)
    }
    var delta = RoomDelta()
    // The answer may be older than what the syncs have told since: that stands.
    var listed = rooms[id]?.toldMembers ?? []
    rooms[id]?.toldMembers = []
    for json in chunk.elements {
      guard let event = Event(json), event.type == .member, let member = event.stateKey.flatMap({ UserID($0) }),
        listed.insert(member).inserted
      else { continue }
      state.apply(event, &delta, ownUserID: user)
    }
    for member in Array(state.members.all) where !listed.contains(member.userID) { state.depart(member, &delta) }
    state.hasAllMembers = true
    state.storesAllMembers = state.members.count <= Limits.storedMembers
    state.settleName(for: user)
    rooms[id]?.state = state
    var operations: [StoreOperation] = []
    if state.storesAllMembers {
      for user in delta.members {
        guard let member = state.members[user] else { continue }
        operations.append(.put(key: StoreKey.member(user, in: id), value: member.record))
      }
      for user in delta.receipts { state.appendReceipts(of: user, in: id, to: &operations) }
      operations.append(.put(key: StoreKey.room(id), value: state.record(of: id)))
    }
    if !delta.shownMembers.isEmpty { notify(.members(id, delta.shownMembers)) }
    for user in delta.receipts {
      if let range = rooms[id]?.timeline.forgetReader(user) { notify(.readCounts(id, range)) }
    }
    notify(.room(id, delta.aspects.union([.memberCounts, .name])))
    finish(command, .done)
    if !operations.isEmpty { write(operations) }
    goOnEncrypting(in: id)
  }
}

extension RoomState {
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
