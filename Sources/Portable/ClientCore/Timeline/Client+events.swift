import JSON
import MatrixModel

/// Single events by their ID: from memory, from the store, from the server.
extension Client {
  mutating func loadEvent(_ event: EventID, in room: RoomID, _ command: CommandID) {
    loadSource(of: event, in: room, for: .command(command))
  }

  mutating func loadSource(of event: EventID, in room: RoomID, for purpose: EventSources.Purpose) {
    let key = EventSources.Key(room: room, event: event)
    if let bytes = eventSources[key] { return deliver(.success(EventSource(bytes: bytes)), key, to: purpose) }
    if eventSources.waiting[key] != nil {
      eventSources.waiting[key]?.append(purpose)
      return
    }
    eventSources.waiting[key] = [purpose]
    // What is in memory the store has too, most likely.
    if rooms[room]?.timeline.itemOfEvent[event] != nil {
      load(StoreRange(prefix: StoreKey.timeline(of: room)), .event(key))
    } else {
      requestEvent(key)
    }
  }

  private mutating func requestEvent(_ key: EventSources.Key) {
    request(.getOneRoomEvent, Endpoint.getOneRoomEvent.path(key.room.text, key.event.text), for: .event(key))
  }

  /// Nobody answers any more.
  mutating func endEventLoads(with error: ClientError) {
    let waiting = eventSources.waiting
    eventSources.waiting = [:]
    for purpose in waiting.values.joined() {
      switch purpose {
      case .command(let id), .quote(_, let id): finish(id, .failed(error))
      case .threadRoot, .pin: break
      }
    }
  }

  mutating func eventLoaded(_ key: EventSources.Key, _ records: [StoreRecord]) {
    guard eventSources.waiting[key] != nil else { return }
    for record in records.reversed() {
      guard let events = Answer.parse(record.value)?["events"], events.isArray else { continue }
      for event in events.elements where event.text("event_id") == key.event.text {
        return arrived(.success(EventSource(bytes: Array(event.bytes))), key)
      }
    }
    requestEvent(key)
  }

  mutating func eventAnswered(_ answer: Answer, _ key: EventSources.Key) {
    guard case .success(let json) = answer, TimelineEvent(json)?.eventID == key.event else {
      return arrived(.failure(answer.error ?? .badAnswer), key)
    }
    arrived(.success(EventSource(bytes: Array(json.bytes))), key)
  }

  @inline(never)
  private mutating func arrived(_ result: Result<EventSource, ClientError>, _ key: EventSources.Key) {
    let waiting = eventSources.waiting.removeValue(forKey: key) ?? []
    if case .success(let source) = result { eventSources.keep(source.bytes, key) }
    for purpose in waiting { deliver(result, key, to: purpose) }
  }

  private mutating func deliver(
    _ result: Result<EventSource, ClientError>, _ key: EventSources.Key, to purpose: EventSources.Purpose
  ) {
    var event: TimelineEvent?
    if case .success(let source) = result { event = source.json.flatMap { TimelineEvent($0) } }
    switch purpose {
    case .command(let command):
      switch result {
      case .success(let source): finish(command, .event(source))
      case .failure(let error): finish(command, .failed(error))
      }
    case .quote(let room, let command):
      take(quoted: event, key.event, in: room)
      if case .failure(let error) = result { finish(command, .failed(error)) } else { finish(command, .done) }
    case .threadRoot(let timeline): take(root: event, of: timeline)
    case .pin(let timeline): take(pin: event, key.event, of: timeline)
    }
  }

  /// An edit or a redaction makes what is kept of its event untrue.
  mutating func forgetSource(changedBy event: TimelineEvent, in room: RoomID) {
    switch event.kind {
    case .edit(let target, _), .redaction(let target): eventSources.forget(EventSources.Key(room: room, event: target))
    default: break
    }
  }

  // MARK: Replies

  mutating func loadReply(_ item: ItemID, in key: TimelineKey, _ command: CommandID) {
    guard let user = session?.userID, let target = timeline(key)?.item(item)?.replyTo else {
      return finish(command, .done)
    }
    if case .event? = timeline(key)?.item(item)?.quoted { return finish(command, .done) }
    changeTimeline(key) { timeline, _ in timeline.setQuote(.loading, of: target, ownUserID: user) }
    loadSource(of: target, in: key.room, for: .quote(key.room, command))
  }

  private mutating func take(quoted event: TimelineEvent?, _ id: EventID, in room: RoomID) {
    guard let user = session?.userID else { return }
    changeTimeline(room) { timeline, _ in
      guard let event, case .item(let content, let replyTo) = event.kind else {
        return timeline.setQuote(.unavailable, of: id, ownUserID: user)
      }
      timeline.relations.take(event)
      let item = timeline.makeItem(0, event, content, replyTo)
      return timeline.setQuote(.item(item), of: id, ownUserID: user)
    }
  }

  // MARK: Threads

  private mutating func take(root event: TimelineEvent?, of key: TimelineKey) {
    guard let event, let user = session?.userID else { return }
    changeTimeline(key) { timeline, ids in
      timeline.root = Boxed(wrappedValue: event)
      return timeline.insertRoot(ownUserID: user, &ids)
    }
  }

  // MARK: Pins

  mutating func openPins(_ key: TimelineKey, _ command: CommandID) {
    rooms[key.room]?.change(.pinned) { timeline in
      timeline.loadState = .loaded
      timeline.backState = .atStart
    }
    notify(.timeline(key, [.reset([])]))
    pinsChanged(key.room)
    finish(command, .done)
  }

  /// What is pinned no more goes, the rest comes when it is loaded.
  mutating func pinsChanged(_ room: RoomID) {
    guard let pinned = rooms[room]?.state.pinned, rooms[room]?.timeline(.pinned) != nil else { return }
    let key = TimelineKey(room, .pinned)
    let wanted = Set(pinned)
    changeTimeline(key) { timeline, _ in timeline.keepPins(wanted) }
    for event in pinned where timeline(key)?.itemOfEvent[event] == nil {
      loadSource(of: event, in: room, for: .pin(key))
    }
  }

  private mutating func take(pin event: TimelineEvent?, _ id: EventID, of key: TimelineKey) {
    guard let event, let user = session?.userID, let pinned = rooms[key.room]?.state.pinned, pinned.contains(id) else {
      return
    }
    changeTimeline(key) { timeline, ids in timeline.insert(pin: event, pinned, ownUserID: user, &ids) }
  }

  // MARK: Live locations

  /// The next live location that expires in memory tells its timelines.
  mutating func scheduleExpiry(in room: RoomID) {
    guard let next = rooms[room]?.nextExpiry, expiryTimer.map({ next < $0.at }) ?? true else { return }
    var old = expiryTimer?.timer
    cancelTimer(&old)
    expiryTimer = (startTimer(max(0, next - now), .liveLocations), next)
  }

  mutating func liveLocationsExpired() {
    expiryTimer = nil
    guard let user = session?.userID else { return }
    var due: [RoomID] = []
    for (id, room) in rooms where room.nextExpiry != nil { due.append(id) }
    for id in due {
      changeTimeline(id) { timeline, _ in
        timeline.relations.expire()
        return timeline.takeRelations(of: [], ownUserID: user)
      }
    }
  }
}

extension Timeline {
  mutating func keepPins(_ pinned: Set<EventID>) -> [TimelineChange] {
    var changes: [TimelineChange] = []
    for i in items.indices.reversed() {
      guard let event = items[i].eventID, !pinned.contains(event) else { continue }
      itemOfEvent[event] = nil
      items.remove(at: i)
      remoteCount -= 1
      changes.append(.removed(i..<(i + 1)))
    }
    return changes
  }

  mutating func insert(
    pin event: TimelineEvent, _ pinned: [EventID], ownUserID: UserID, _ ids: inout ItemIDs
  ) -> [TimelineChange] {
    guard itemOfEvent[event.eventID] == nil, case .item(let content, let replyTo) = event.kind else { return [] }
    relations.take(event)
    let item = makeItem(ids.next(), event, content, replyTo)
    itemOfEvent[event.eventID] = item.id
    // Behind those that were pinned before it.
    let before = Set(pinned.prefix { $0 != event.eventID })
    let place = items.lastIndex { $0.eventID.map { before.contains($0) } ?? false }.map { $0 + 1 } ?? 0
    var changes: [TimelineChange] = []
    self.place([item], at: place, ownUserID: ownUserID, &changes)
    renewTouched(except: place..<(place + 1), ownUserID: ownUserID, &changes)
    return changes
  }
}
