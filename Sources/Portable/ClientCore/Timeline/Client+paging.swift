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
    if key.focus == .live, loadOlderSegments(key.room, command, items: Limits.storedPageItems, asksServer: true) { return }
    requestPage(key, PagePlace(gap: nil, edge: timeline.head), command, emptyPages: 0)
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
    changeTimeline(.live(id)) { timeline, ids in
      let outcome = timeline.prepend(records, ownUserID: user, &ids)
      itemCount = outcome.itemCount
      timeline.placeReaders(inFront: itemCount, room.state)
      if records.isEmpty { timeline.backState = timeline.head.token == nil ? .atStart : .idle }
      return outcome.changes
    }
    guard let timeline = rooms[id]?.timeline else { return }
    if itemCount > 0 { notify(.readCounts(id, 0..<timeline.remoteCount)) }
    let left = wanted.itemCount - itemCount
    let asksServer = wanted.asksServer && itemCount == 0
    if left > 0, loadOlderSegments(id, wanted.command, items: left, asksServer: asksServer) { return }
    notify(.room(id, .pagination))
    if asksServer, timeline.backState == .idle { return paginateBack(.live(id), wanted.command) }
    finish(wanted.command, .done)
  }

  mutating func fillGap(_ key: TimelineKey, _ item: ItemID, _ command: CommandID) {
    guard let timeline = timeline(key), let edge = timeline.gaps[item], let i = timeline.index(of: item) else {
      return finish(command, .done)
    }
    if case .gap(.loading) = timeline.items[i].content { return finish(command, .done) }
    changeTimeline(key) { timeline, _ in timeline.update(item) { $0.content = .gap(.loading) } }
    requestPage(key, PagePlace(gap: item, edge: edge), command, emptyPages: 0)
  }

  mutating func requestPage(_ key: TimelineKey, _ place: PagePlace, _ command: CommandID, emptyPages: Int) {
    let purpose = RequestPurpose.page(key, place, command, emptyPages: emptyPages)
    var from = ""
    if let token = place.edge.token, !token.isEmpty { from = "&from=" + PercentEncoding.encode(token) }
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

  mutating func pageAnswered(
    _ answer: Answer, _ key: TimelineKey, _ place: PagePlace, _ command: CommandID, emptyPages: Int
  ) {
    guard let user = session?.userID, let timeline = timeline(key), timeline.takesPages else {
      return finish(command, .failed(.unknownRoom))
    }
    // The timeline was dropped and loaded anew meanwhile.
    guard timeline.isOpen(place) else { return finish(command, .done) }
    guard case .success(let json) = answer, let chunk = json["chunk"], chunk.isArray else {
      pageFailed(key, gap: place.gap, answer)
      return finish(command, .failed(answer.error ?? .badAnswer))
    }
    pageArrived()
    takeMembers(json["state"], of: key.room, user)
    takePage(Page(chunk.elements, end: key.focus.pageEnd(json)), key, place, user, command, emptyPages: emptyPages)
  }

  /// The newest event first; without an end the server is at the start of the room.
  private struct Page {
    var json: [JSON] = []
    var events: [TimelineEvent] = []
    let end: ByteString?

    init(_ events: some Sequence<JSON>, end: ByteString?) {
      self.end = end
      for json in events {
        guard let event = TimelineEvent(json) else { continue }
        self.json.append(json)
        self.events.append(event)
      }
    }
  }

  private mutating func takePage(
    _ page: Page, _ key: TimelineKey, _ place: PagePlace, _ user: UserID, _ command: CommandID, emptyPages: Int
  ) {
    let id = key.room
    let state = rooms[id]?.state
    var outcome = Timeline.PageOutcome()
    changeTimeline(key) { timeline, ids in
      outcome = timeline.insertPage(page.events, gap: place.gap, end: page.end, ownUserID: user, &ids)
      if let state {
        if place.gap != nil {
          timeline.placeReaders(state)
        } else if outcome.itemCount > 0 {
          timeline.placeReaders(inFront: outcome.itemCount, state)
        }
      }
      return timeline.finishFirstPage(outcome.changes, ownUserID: user, &ids)
    }
    let edge = keep(page, outcome, key, place)
    dropEntries(deliveredBy: page.events, in: id)
    if key.focus == .live, outcome.itemCount > 0 || place.gap != nil, let count = rooms[id]?.timeline.remoteCount {
      notify(.readCounts(id, 0..<count))
    }
    if outcome.itemCount == 0, !outcome.isClosed, emptyPages < Limits.emptyPages {
      return continuePaging(key, PagePlace(gap: place.gap, edge: edge), command, emptyPages: emptyPages + 1)
    }
    if place.gap == nil { notify(.room(id, .pagination)) }
    finish(command, .done)
  }

  /// Older events that a sync brought with the newest, because the room was opened: what is new among them is a page before what is
  /// known of the room's end. The oldest first.
  mutating func takeOlder(_ events: [JSON], end: ByteString?, in id: RoomID, _ user: UserID) {
    guard let timeline = rooms[id]?.timeline, timeline.loadState == .loaded, let place = timeline.lastEdge else { return }
    let page = Page(events.reversed(), end: end)
    guard page.events.contains(where: { timeline.itemOfEvent[$0.eventID] == nil }) else { return }
    takePage(page, .live(id), place, user, 0, emptyPages: Limits.emptyPages)
  }

  /// Where one goes on behind the page. The live timeline's pages are stored.
  private mutating func keep(
    _ page: Page, _ outcome: Timeline.PageOutcome, _ key: TimelineKey, _ place: PagePlace
  ) -> SegmentEdge {
    var edge = SegmentEdge(token: page.end, position: nil, isLimited: !outcome.isClosed)
    if key.focus == .live {
      edge = storePage(
        outcome.taken.reversed().map { page.json[$0] }, at: place.edge, isLimited: !outcome.isClosed, end: page.end,
        in: key.room)
    }
    rooms[key.room]?.change(key.focus) { timeline in
      if let gap = place.gap {
        if !outcome.isClosed { timeline.gaps[gap] = edge }
      } else {
        timeline.head = edge
      }
    }
    return edge
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
  private mutating func continuePaging(_ key: TimelineKey, _ place: PagePlace, _ command: CommandID, emptyPages: Int) {
    if let gap = place.gap {
      changeTimeline(key) { timeline, _ in timeline.update(gap) { $0.content = .gap(.loading) } }
    } else {
      rooms[key.room]?.change(key.focus) { $0.backState = .loading }
    }
    requestPage(key, place, command, emptyPages: emptyPages)
  }

  private mutating func pageFailed(_ key: TimelineKey, gap: ItemID?, _ answer: Answer) {
    retryLater(gap.map { .gap(key, $0) } ?? .back(key), after: answer)
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
