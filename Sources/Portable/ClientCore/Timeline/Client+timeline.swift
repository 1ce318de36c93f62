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
      rooms[id]?.timeline.showsThreads = showsThreadsInline
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
      notify(.timeline(.live(id), [.reset([])]))
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
    changeTimeline(.live(id)) { timeline, ids in
      // While the store was reading there were echoes only, and only those written since.
      timeline.items = []
      for item in outbox.items(in: id, sender: user) { _ = timeline.appendEcho(item) }
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

  mutating func paginateBack(_ key: TimelineKey, _ command: CommandID) {
    guard let room = rooms[key.room], let timeline = room.timeline(key.focus), timeline.loadState == .loaded else {
      return finish(command, .failed(.unknownRoom))
    }
    // Who is only invited may not read yet.
    if room.membership == .invite || room.membership == .knock { return finish(command, .done) }
    switch timeline.backState {
    case .loading, .atStart: return finish(command, .done)
    case .idle, .failed: break
    }
    rooms[key.room]?.change(key.focus) { $0.backState = .loading }
    notify(.room(key.room, .pagination))
    requestPage(key, from: timeline.headToken, gap: nil, command, emptyPages: 0)
  }

  mutating func fillGap(_ key: TimelineKey, _ item: ItemID, _ command: CommandID) {
    guard let timeline = timeline(key), let token = timeline.gapTokens[item], let i = timeline.index(of: item) else {
      return finish(command, .done)
    }
    if case .gap(.loading) = timeline.items[i].content { return finish(command, .done) }
    changeTimeline(key) { timeline, _ in timeline.update(item) { $0.content = .gap(.loading) } }
    requestPage(key, from: token, gap: item, command, emptyPages: 0)
  }

  mutating func requestPage(
    _ key: TimelineKey, from token: ByteString?, gap: ItemID?, _ command: CommandID, emptyPages: Int
  ) {
    let purpose = RequestPurpose.page(key, gap: gap, command, emptyPages: emptyPages)
    var from = ""
    if let token, !token.isEmpty { from = "&from=" + PercentEncoding.encode(token) }
    let query = "?dir=b&limit=\(Limits.pageEvents)" + from
    if case .thread(let root) = key.focus {
      // With what was said about the replies: reactions come in no bundle.
      let path = Endpoint.getRelatingEvents.path(key.room.text, root.text)
      request(.getRelatingEvents, path, query: query + "&recurse=true", for: purpose)
    } else {
      request(
        .getRoomEvents, Endpoint.getRoomEvents.path(key.room.text), query: query + Client.lazyMembersQuery, for: purpose)
    }
  }

  static let lazyMembersQuery = "&filter=" + PercentEncoding.encode(#"{"lazy_load_members":true}"#)

  mutating func pageAnswered(_ answer: Answer, _ key: TimelineKey, gap: ItemID?, _ command: CommandID, emptyPages: Int) {
    guard let user = session?.userID, timeline(key)?.takesPages ?? false else {
      return finish(command, .failed(.unknownRoom))
    }
    let id = key.room
    guard case .success(let json) = answer, let chunk = json["chunk"], chunk.isArray else {
      pageFailed(key, gap: gap)
      return finish(command, .failed(answer.error ?? .badAnswer))
    }
    takeMembers(json["state"], of: id, user)
    let events = chunk.elements.compactMap { TimelineEvent($0) }
    let receipts = rooms[id]?.state.receipts ?? [:]
    let end = key.focus.pageEnd(json)
    var outcome = Timeline.PageOutcome()
    changeTimeline(key) { timeline, ids in
      outcome = timeline.insertPage(events, gap: gap, end: end, ownUserID: user, &ids)
      if outcome.itemCount > 0 { timeline.placeReaders(receipts) }
      return timeline.finishFirstPage(outcome.changes, ownUserID: user, &ids)
    }
    dropEntries(deliveredBy: events, in: id)
    if key.focus == .live, outcome.itemCount > 0, let count = rooms[id]?.timeline.remoteCount {
      notify(.readCounts(id, 0..<count))
    }
    if outcome.itemCount == 0, !outcome.isClosed, emptyPages < Limits.emptyPages {
      return continuePaging(key, gap: gap, end, command, emptyPages: emptyPages + 1)
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
    _ key: TimelineKey, gap: ItemID?, _ token: ByteString?, _ command: CommandID, emptyPages: Int
  ) {
    if let gap {
      changeTimeline(key) { timeline, _ in timeline.update(gap) { $0.content = .gap(.loading) } }
    } else {
      rooms[key.room]?.change(key.focus) { $0.backState = .loading }
    }
    requestPage(key, from: token, gap: gap, command, emptyPages: emptyPages)
  }

  private mutating func pageFailed(_ key: TimelineKey, gap: ItemID?) {
    if let gap {
      changeTimeline(key) { timeline, _ in timeline.update(gap) { $0.content = .gap(.failed) } }
    } else {
      rooms[key.room]?.change(key.focus) { timeline in
        timeline.backState = .failed
        if timeline.loadState == .loading { timeline.loadState = .failed }
      }
      notify(.room(key.room, .pagination))
    }
  }

  /// Members that come lazily with a page: only those not known yet, for the page's state is old.
  mutating func takeMembers(_ json: JSON?, of id: RoomID, _ user: UserID) {
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
