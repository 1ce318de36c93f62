import JSON
import MatrixModel

/// Timelines beside the live one: around an event, of a thread, of what is pinned.
extension Client {
  mutating func openTimeline(_ key: TimelineKey, _ command: CommandID) {
    if key.focus == .live { return openRoom(key.room, command) }
    guard let room = rooms[key.room] else { return finish(command, .failed(.unknownRoom)) }
    if let known = room.timeline(key.focus), known.loadState != .failed { return finish(command, .timeline(key)) }
    var timeline = Timeline(key.focus, relations: room.timeline.$relations)
    timeline.showsThreads = showsThreadsInline
    if let user = session?.userID { timeline.show(outbox, in: key.room, ownUserID: user) }
    rooms[key.room]?.open(timeline)
    loadPeople(key.room)
    switch key.focus {
    case .live: break
    case .event(let event): requestContext(of: event, key, command)
    case .thread(let root):
      requestPage(key, PagePlace(gap: nil, edge: timeline.head), command, emptyPages: 0)
      loadSource(of: root, in: key.room, for: .threadRoot(key))
    case .pinned: openPins(key, command)
    }
  }

  mutating func closeTimeline(_ key: TimelineKey, _ command: CommandID) {
    if key.focus == .live { return closeRoom(key.room, command) }
    if rooms[key.room]?.close(key.focus) ?? false { notify(.timeline(key, [.reset([])])) }
    finish(command, .done)
  }

  /// Answers that bring events. While a batch is being stored, which works on a copy of the members, they wait.
  mutating func timelineAnswered(_ answer: Answer, _ purpose: RequestPurpose) {
    guard syncLoop.prepared == nil else { return syncLoop.deferredAnswers.append((answer, purpose)) }
    switch purpose {
    case .page(let key, let place, let command, let emptyPages):
      pageAnswered(answer, key, place, command, emptyPages: emptyPages)
    case .forwardPage(let key, let command, let emptyPages):
      forwardPageAnswered(answer, key, command, emptyPages: emptyPages)
    case .context(let key, let command): contextAnswered(answer, key, command)
    case .event(let key): eventAnswered(answer, key)
    case .date(let room, let command): dateAnswered(answer, room, command)
    default: break
    }
  }

  // MARK: Around an event

  private mutating func requestContext(of event: EventID, _ key: TimelineKey, _ command: CommandID) {
    request(
      .getEventContext, Endpoint.getEventContext.path(key.room.text, event.text),
      query: "?limit=\(Limits.contextEvents)" + Client.lazyMembersQuery, for: .context(key, command))
  }

  private mutating func contextAnswered(_ answer: Answer, _ key: TimelineKey, _ command: CommandID) {
    guard let user = session?.userID, timeline(key)?.loadState == .loading else {
      return finish(command, .failed(.unknownRoom))
    }
    guard case .success(let json) = answer, let source = json["event"], let event = TimelineEvent(source) else {
      rooms[key.room]?.change(key.focus) { $0.loadState = .failed }
      return finish(command, .failed(answer.error ?? .badAnswer))
    }
    takeMembers(json["state"], of: key.room, user)
    var events = Client.events(json["events_before"])
    events.reverse()
    events.append(event)
    events += Client.events(json["events_after"])
    let state = rooms[key.room]?.state
    changeTimeline(key) { timeline, ids in
      timeline.loadState = .loaded
      timeline.waiting = []
      // A link into a thread shows what it leads to.
      if event.threadRoot != nil { timeline.showsThreads = true }
      timeline.head.token = json.text("start")
      timeline.backState = timeline.head.token == nil ? .atStart : .idle
      timeline.tailToken = json.text("end")
      _ = timeline.append(events, ownUserID: user, &ids)
      if let state { timeline.placeReaders(state) }
      return [.reset(timeline.items)]
    }
    finish(command, .timeline(key))
  }

  private static func events(_ json: JSON?) -> [TimelineEvent] {
    guard let json, json.isArray else { return [] }
    return json.elements.compactMap { TimelineEvent($0) }
  }

  /// Opens the surroundings of the first event at or after that time.
  mutating func jumpToDate(_ time: Int64, in room: RoomID, _ command: CommandID) {
    guard rooms[room] != nil else { return finish(command, .failed(.unknownRoom)) }
    request(
      .getEventByTimestamp, Endpoint.getEventByTimestamp.path(room.text), query: "?dir=f&ts=\(max(0, time))",
      for: .date(room, command))
  }

  private mutating func dateAnswered(_ answer: Answer, _ room: RoomID, _ command: CommandID) {
    guard case .success(let json) = answer, let event = EventID(json["event_id"]), rooms[room] != nil else {
      return finish(command, .failed(answer.error ?? .badAnswer))
    }
    let key = TimelineKey(room, .event(event))
    openTimeline(key, command)
  }

  // MARK: Forward

  mutating func paginateForward(_ key: TimelineKey, _ command: CommandID) {
    guard let timeline = timeline(key), timeline.loadState == .loaded else {
      return finish(command, .failed(.unknownRoom))
    }
    switch timeline.forwardState {
    case .loading, .live: return finish(command, .done)
    case .idle, .failed: requestForwardPage(key, from: timeline.tailToken, command, emptyPages: 0)
    }
  }

  private mutating func requestForwardPage(
    _ key: TimelineKey, from token: ByteString?, _ command: CommandID, emptyPages: Int
  ) {
    // What syncs bring from now on may be behind the page.
    rooms[key.room]?.change(key.focus) { timeline in
      timeline.forwardState = .loading
      timeline.waiting = []
    }
    notify(.room(key.room, .pagination))
    var query = "?dir=f&limit=\(Limits.pageEvents)" + Client.lazyMembersQuery
    if let token { query += "&from=" + PercentEncoding.encode(token) }
    request(
      .getRoomEvents, Endpoint.getRoomEvents.path(key.room.text), query: query,
      for: .forwardPage(key, command, emptyPages: emptyPages))
  }

  private mutating func forwardPageAnswered(
    _ answer: Answer, _ key: TimelineKey, _ command: CommandID, emptyPages: Int
  ) {
    guard let user = session?.userID, timeline(key)?.forwardState == .loading else {
      return finish(command, .failed(.unknownRoom))
    }
    guard case .success(let json) = answer, let chunk = json["chunk"], chunk.isArray else {
      rooms[key.room]?.change(key.focus) { $0.forwardState = .failed }
      retryLater(.forward(key), after: answer)
      notify(.room(key.room, .pagination))
      return finish(command, .failed(answer.error ?? .badAnswer))
    }
    pageArrived()
    takeMembers(json["state"], of: key.room, user)
    let events = Client.events(chunk)
    let start = timeline(key)?.tailToken
    let end = json["end"]?.text.flatMap { chunk.count == 0 || $0 == start ? nil : $0 }
    let outbox = outbox
    let state = rooms[key.room]?.state
    var count = 0
    changeTimeline(key) { timeline, ids in
      let changes = timeline.appendPage(events, end: end, ownUserID: user, &ids)
      count = changes.count
      guard timeline.forwardState == .live else { return changes }
      if let state { timeline.placeReaders(state) }
      return changes + outbox.items(in: key.room, sender: user).flatMap { timeline.appendEcho($0) }
    }
    if count == 0, end != nil, emptyPages < Limits.emptyPages {
      return requestForwardPage(key, from: end, command, emptyPages: emptyPages + 1)
    }
    notify(.room(key.room, .pagination))
    finish(command, .done)
  }
}

extension Timeline {
  /// Newer events, the oldest first; `end` is where to go on, nil at the end of the room: from there on the timeline is live.
  mutating func appendPage(
    _ events: [TimelineEvent], end: ByteString?, ownUserID: UserID, _ ids: inout ItemIDs
  ) -> [TimelineChange] {
    var changes = append(events, ownUserID: ownUserID, &ids)
    let segments = waiting
    waiting = []
    tailToken = end
    forwardState = end == nil ? .live : .idle
    guard end == nil else { return changes }
    for segment in segments { changes += append(segment, ownUserID: ownUserID, &ids) }
    return changes
  }

  /// The first page of a thread has come: what syncs brought meanwhile follows, and at the start of the thread its root.
  mutating func finishFirstPage(
    _ changes: [TimelineChange], ownUserID: UserID, _ ids: inout ItemIDs
  ) -> [TimelineChange] {
    guard case .thread = focus else { return changes }
    var changes = changes
    if loadState == .loading {
      loadState = .loaded
      let segments = waiting
      waiting = []
      for segment in segments { changes += append(segment.events, ownUserID: ownUserID, &ids) }
    }
    return changes + insertRoot(ownUserID: ownUserID, &ids)
  }

  /// In front of everything, once nothing is missing in between.
  mutating func insertRoot(ownUserID: UserID, _ ids: inout ItemIDs) -> [TimelineChange] {
    guard let root = root?.wrappedValue, loadState == .loaded, backState == .atStart, itemOfEvent[root.eventID] == nil,
      case .item(let content, let replyTo) = root.kind
    else { return [] }
    var changes: [TimelineChange] = []
    let item = makeItem(ids.next(), root, content, replyTo)
    itemOfEvent[root.eventID] = item.id
    relations.take(root)
    place([item], at: 0, ownUserID: ownUserID, &changes)
    renewTouched(except: 0..<1, ownUserID: ownUserID, &changes)
    return changes
  }
}
