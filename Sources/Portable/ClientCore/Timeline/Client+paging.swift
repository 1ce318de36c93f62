import JSON
import MatrixModel

/// What is read in front of the first item.
struct OlderSegments: Sendable {
  /// The first segment in memory.
  let before: SegmentPosition
  /// How many items are wanted, if there are so many.
  let itemCount: Int
  /// Whether the server is asked where the store has none.
  let asksServer: Bool
  let command: CommandID
}

/// Older events: from the store as far as it goes, then from the server.
extension Client {
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
    if !loadOlderSegments(id, command, items: Limits.storedPageItems, asksServer: true) {
      requestPage(id, PagePlace(gap: nil, edge: room.timeline.head), command, emptyPages: 0)
    }
  }

  /// False where the store has none.
  @discardableResult
  mutating func loadOlderSegments(_ id: RoomID, _ command: CommandID, items: Int, asksServer: Bool) -> Bool {
    guard let position = rooms[id]?.timeline.storedBefore else { return false }
    rooms[id]?.timeline.backState = .loading
    load(
      StoreRange(
        prefix: StoreKey.timeline(of: id), before: StoreKey.segment(position, of: id), isDescending: true,
        limit: Limits.loadedSegments),
      .olderSegments(
        id, OlderSegments(before: position, itemCount: items, asksServer: asksServer, command: command)))
    return true
  }

  mutating func olderSegmentsLoaded(_ id: RoomID, _ records: [StoreRecord], _ wanted: OlderSegments) {
    // Unless the timeline was dropped and loaded anew meanwhile.
    guard let user = session?.userID, let room = rooms[id], room.timeline.storedBefore == wanted.before else {
      return finish(wanted.command, .done)
    }
    var itemCount = 0
    changeTimeline(id) { timeline, ids in
      let outcome = timeline.prepend(records, ownUserID: user, &ids)
      itemCount = outcome.itemCount
      if itemCount > 0 { timeline.placeReaders(room.state.receipts) }
      if records.isEmpty { timeline.backState = timeline.head.token == nil ? .atStart : .idle }
      return outcome.changes
    }
    guard let timeline = rooms[id]?.timeline else { return }
    if itemCount > 0 { notify(.readCounts(id, 0..<timeline.remoteCount)) }
    let left = wanted.itemCount - itemCount
    let asksServer = wanted.asksServer && itemCount == 0
    if left > 0, loadOlderSegments(id, wanted.command, items: left, asksServer: asksServer) { return }
    notify(.room(id, .pagination))
    if asksServer, timeline.backState == .idle { return paginateBack(id, wanted.command) }
    finish(wanted.command, .done)
  }

  mutating func fillGap(_ id: RoomID, _ item: ItemID, _ command: CommandID) {
    guard let timeline = rooms[id]?.timeline, let edge = timeline.gaps[item], let i = timeline.index(of: item)
    else {
      return finish(command, .done)
    }
    if case .gap(.loading) = timeline.items[i].content { return finish(command, .done) }
    changeTimeline(id) { timeline, _ in timeline.update(item) { $0.content = .gap(.loading) } }
    requestPage(id, PagePlace(gap: item, edge: edge), command, emptyPages: 0)
  }

  private mutating func requestPage(_ id: RoomID, _ place: PagePlace, _ command: CommandID, emptyPages: Int) {
    var query = "?dir=b&limit=\(Limits.pageEvents)&filter=" + PercentEncoding.encode(#"{"lazy_load_members":true}"#)
    if let token = place.edge.token { query += "&from=" + PercentEncoding.encode(token) }
    request(
      .getRoomEvents, Endpoint.getRoomEvents.path(id.text), query: query,
      for: .page(id, place, command, emptyPages: emptyPages))
  }

  mutating func pageAnswered(
    _ answer: Answer, _ id: RoomID, _ place: PagePlace, _ command: CommandID, emptyPages: Int
  ) {
    // The batch being stored works on a copy of the room, and a page brings members and segments.
    guard syncLoop.prepared == nil else {
      syncLoop.deferredAnswers.append((answer, .page(id, place, command, emptyPages: emptyPages)))
      return
    }
    guard let user = session?.userID, let timeline = rooms[id]?.timeline, timeline.loadState == .loaded else {
      return finish(command, .failed(.unknownRoom))
    }
    // The timeline was dropped and loaded anew meanwhile.
    guard timeline.isOpen(place) else { return finish(command, .done) }
    guard case .success(let json) = answer, let chunk = json["chunk"], chunk.isArray else {
      pageFailed(id, gap: place.gap)
      return finish(command, .failed(answer.error ?? .badAnswer))
    }
    takeMembers(json["state"], of: id, user)
    takePage(Page(chunk: chunk, end: json["end"]?.text), id, place, user, command, emptyPages: emptyPages)
  }

  /// The newest event first; without an end the server is at the start of the room.
  private struct Page {
    var json: [JSON] = []
    var events: [TimelineEvent] = []
    let end: ByteString?

    init(chunk: JSON, end: ByteString?) {
      self.end = end
      for json in chunk.elements {
        guard let event = TimelineEvent(json) else { continue }
        self.json.append(json)
        events.append(event)
      }
    }
  }

  private mutating func takePage(
    _ page: Page, _ id: RoomID, _ place: PagePlace, _ user: UserID, _ command: CommandID, emptyPages: Int
  ) {
    let receipts = rooms[id]?.state.receipts ?? [:]
    var outcome = Timeline.PageOutcome()
    changeTimeline(id) { timeline, ids in
      outcome = timeline.insertPage(page.events, gap: place.gap, end: page.end, ownUserID: user, &ids)
      if outcome.itemCount > 0 { timeline.placeReaders(receipts) }
      return outcome.changes
    }
    let edge = storePage(
      outcome.taken.reversed().map { page.json[$0] }, at: place.edge, isLimited: !outcome.isClosed, end: page.end, in: id)
    if let gap = place.gap {
      if !outcome.isClosed { rooms[id]?.timeline.gaps[gap] = edge }
    } else {
      rooms[id]?.timeline.head = edge
    }
    dropEntries(deliveredBy: page.events, in: id)
    if outcome.itemCount > 0, let count = rooms[id]?.timeline.remoteCount { notify(.readCounts(id, 0..<count)) }
    if outcome.itemCount == 0, !outcome.isClosed, emptyPages < Limits.emptyPages {
      return continuePaging(id, PagePlace(gap: place.gap, edge: edge), command, emptyPages: emptyPages + 1)
    }
    if place.gap == nil { notify(.room(id, .pagination)) }
    finish(command, .done)
  }

  /// Messages whose event a limited sync left out: the page has brought them.
  private mutating func dropEntries(deliveredBy events: [TimelineEvent], in id: RoomID) {
    for event in events {
      guard let entry = outbox.entry(for: event, in: id).flatMap({ outbox[$0] }) else { continue }
      if case .sending(let request) = entry.phase { pending.requests[request] = nil }
      drop(entry)
      changeTimeline(id) { timeline, _ in timeline.removeEcho(entry.itemID) }
      write([.delete(key: StoreKey.outbox(entry.id))])
    }
    pump(id)
  }

  /// A page with nothing to show: nobody would know why nothing happened.
  private mutating func continuePaging(_ id: RoomID, _ place: PagePlace, _ command: CommandID, emptyPages: Int) {
    if let gap = place.gap {
      changeTimeline(id) { timeline, _ in timeline.update(gap) { $0.content = .gap(.loading) } }
    } else {
      rooms[id]?.timeline.backState = .loading
    }
    requestPage(id, place, command, emptyPages: emptyPages)
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
    guard let json, var state = rooms[id]?.state, state.hasPeople else { return }
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
        state.members[user].map { .put(key: StoreKey.member(user, in: id), value: $0.record) }
      })
  }
}
