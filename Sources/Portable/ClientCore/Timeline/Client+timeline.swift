import JSON
import MatrixModel

extension Client {
  // MARK: Opening

  /// A room the syncs have not brought yet (just made or joined) opens as soon as they do.
  mutating func openRoom(_ id: RoomID, _ command: CommandID) {
    if !openRooms.contains(id) { openRooms.append(id) }
    keptTimelines.removeAll { $0 == id }
    keptTimelines.append(id)
    dropOldTimelines()
    if let room = rooms[id], room.timeline.loadState == .unloaded {
      rooms[id]?.timeline.loadState = .loading
      load(StoreKey.timeline(of: id), .timeline(id))
    }
    finish(command, .done)
  }

  mutating func closeRoom(_ id: RoomID, _ command: CommandID) {
    openRooms.removeAll { $0 == id }
    rooms[id]?.reading.viewed = nil
    if dirtyDrafts.contains(where: { $0.room == id }) { writeDrafts() }
    stopTyping(id)
    dropOldTimelines()
    finish(command, .done)
  }

  /// Of the rooms not on the screen the last few stay, and only while they are short.
  private mutating func dropOldTimelines() {
    let closed = keptTimelines.filter { !openRooms.contains($0) }
    for (i, id) in closed.enumerated() {
      let isLong = (rooms[id]?.timeline.items.count ?? 0) > Limits.keptItems
      guard isLong || i < closed.count - Limits.keptTimelines else { continue }
      keptTimelines.removeAll { $0 == id }
      rooms[id]?.timeline = Timeline()
      notify(.timeline(id, [.reset([])]))
    }
  }

  mutating func timelineLoaded(_ id: RoomID, _ records: [StoreRecord]) {
    guard let user = session?.userID, rooms[id]?.timeline.loadState == .loading else { return }
    var batches: [TimelineBatch] = []
    for record in records {
      // A segment that cannot be read: what stands before it is as good as gone, the token behind it leads there.
      guard let json = Answer.parse(record.value), let batch = TimelineBatch(record: json) else {
        batches = []
        continue
      }
      batches.append(batch)
    }
    let receipts = rooms[id]?.state.receipts ?? [:]
    let outbox = outbox
    changeTimeline(id) { timeline, ids in
      // While the store was reading there were echoes only, and only those written since.
      timeline.items = outbox.items(in: id, sender: user)
      timeline.load(batches, ownUserID: user, &ids)
      timeline.showChanges(outbox, in: id, ownUserID: user)
      timeline.placeReaders(receipts)
      return [.reset(timeline.items)]
    }
    forgetDeliveredEchoes(in: id)
    notify(.room(id, .pagination))
    if hasAttention { readWhatIsViewed() }
  }

  /// Entries that `load` found to be here already.
  private mutating func forgetDeliveredEchoes(in id: RoomID) {
    for entry in outbox.entries(in: id) {
      guard case .sent(let event, _) = entry.phase, let timeline = rooms[id]?.timeline,
        let item = timeline.itemOfEvent[event], item != entry.itemID
      else { continue }
      forget(entry)
      write([.delete(key: StoreKey.outbox(entry.id))])
    }
  }

  // MARK: Pages

  mutating func paginateBack(_ id: RoomID, _ command: CommandID) {
    guard let room = rooms[id], room.timeline.loadState == .loaded else {
      return finish(command, .failed(.unknownRoom))
    }
    // Who is only invited may not read yet.
    if room.membership == .invite || room.membership == .knock { return finish(command, .done) }
    switch room.timeline.backState {
    case .loading, .atStart: return finish(command, .done)
    case .idle, .failed: break
    }
    rooms[id]?.timeline.backState = .loading
    notify(.room(id, .pagination))
    requestPage(id, from: room.timeline.headToken, gap: nil, command, emptyPages: 0)
  }

  mutating func fillGap(_ id: RoomID, _ item: ItemID, _ command: CommandID) {
    guard let timeline = rooms[id]?.timeline, let token = timeline.gapTokens[item], let i = timeline.index(of: item)
    else {
      return finish(command, .done)
    }
    if case .gap(.loading) = timeline.items[i].content { return finish(command, .done) }
    changeTimeline(id) { timeline, _ in timeline.update(item) { $0.content = .gap(.loading) } }
    requestPage(id, from: token, gap: item, command, emptyPages: 0)
  }

  private mutating func requestPage(
    _ id: RoomID, from token: ByteString?, gap: ItemID?, _ command: CommandID, emptyPages: Int
  ) {
    var query = "?dir=b&limit=\(Limits.pageEvents)&filter=" + PercentEncoding.encode(#"{"lazy_load_members":true}"#)
    if let token { query += "&from=" + PercentEncoding.encode(token) }
    request(
      .getRoomEvents, Endpoint.getRoomEvents.path(id.text), query: query,
      for: .page(id, gap: gap, command, emptyPages: emptyPages))
  }

  mutating func pageAnswered(_ answer: Answer, _ id: RoomID, gap: ItemID?, _ command: CommandID, emptyPages: Int) {
    // The batch being stored works on a copy of the members, and a page may bring members.
    guard syncLoop.prepared == nil else {
      syncLoop.deferredAnswers.append((answer, .page(id, gap: gap, command, emptyPages: emptyPages)))
      return
    }
    guard let user = session?.userID, rooms[id]?.timeline.loadState == .loaded else {
      return finish(command, .failed(.unknownRoom))
    }
    guard case .success(let json) = answer, let chunk = json["chunk"], chunk.isArray else {
      pageFailed(id, gap: gap)
      return finish(command, .failed(answer.error ?? .badAnswer))
    }
    takeMembers(json["state"], of: id, user)
    let events = chunk.elements.compactMap { TimelineEvent($0) }
    let receipts = rooms[id]?.state.receipts ?? [:]
    // Without an end the server is at the start of the room.
    let end = json["end"]?.text
    var outcome = Timeline.PageOutcome()
    changeTimeline(id) { timeline, ids in
      outcome = timeline.insertPage(events, gap: gap, end: end, ownUserID: user, &ids)
      if outcome.itemCount > 0 { timeline.placeReaders(receipts) }
      return outcome.changes
    }
    dropEntries(deliveredBy: events, in: id)
    if outcome.itemCount > 0, let count = rooms[id]?.timeline.remoteCount { notify(.readCounts(id, 0..<count)) }
    if outcome.itemCount == 0, !outcome.isClosed, emptyPages < Limits.emptyPages {
      return continuePaging(id, gap: gap, end, command, emptyPages: emptyPages + 1)
    }
    if gap == nil { notify(.room(id, .pagination)) }
    finish(command, .done)
  }

  /// Messages whose event a limited sync left out: the page has brought them.
  private mutating func dropEntries(deliveredBy events: [TimelineEvent], in id: RoomID) {
    for event in events {
      guard let entry = outbox.entry(for: event, in: id) else { continue }
      let operations = noteDelivered([entry: event.eventID])
      if let entry = outbox[entry] { finishDelivered(entry) }
      store([], in: id, also: operations + [.delete(key: StoreKey.outbox(entry))])
    }
    pump(id)
  }

  /// A page with nothing to show: nobody would know why nothing happened.
  private mutating func continuePaging(
    _ id: RoomID, gap: ItemID?, _ token: ByteString?, _ command: CommandID, emptyPages: Int
  ) {
    if let gap {
      changeTimeline(id) { timeline, _ in timeline.update(gap) { $0.content = .gap(.loading) } }
    } else {
      rooms[id]?.timeline.backState = .loading
    }
    requestPage(id, from: token, gap: gap, command, emptyPages: emptyPages)
  }

  private mutating func pageFailed(_ id: RoomID, gap: ItemID?) {
    if let gap {
      changeTimeline(id) { timeline, _ in timeline.update(gap) { $0.content = .gap(.failed) } }
    } else {
      rooms[id]?.timeline.backState = .failed
      notify(.room(id, .pagination))
    }
  }

  /// Members that come lazily with a page: only those not known yet, for the page's state is old.
  private mutating func takeMembers(_ json: JSON?, of id: RoomID, _ user: UserID) {
    guard let json, var state = rooms[id]?.state else { return }
    var delta = RoomDelta()
    for json in json.elements {
      guard let event = Event(json), event.type == .member, let key = event.stateKey, let member = UserID(key),
        state.members[member] == nil
      else { continue }
      state.apply(event, &delta, ownUserID: user)
    }
    guard !delta.members.isEmpty else { return }
    rooms[id]?.state = state
    notify(.members(id, delta.shownMembers))
    write(
      delta.members.compactMap { user in
        state.members[user].map { .put(key: StoreKey.member(user, in: id), value: $0.record(in: id)) }
      })
  }
}
