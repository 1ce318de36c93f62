import JSON
import MatrixModel

/// An answer is worked out, whichever kind of sync it belongs to.
extension Client {
  /// nil where the answer is not what the spec says.
  func prepareSync(_ json: JSON, ownUserID: UserID) -> PreparedSync? {
    switch syncLoop.position.kind {
    case .v3: prepareV3(json, ownUserID: ownUserID)
    case .sliding: slidingChapter?.prepare(self, json, ownUserID)
    }
  }

  func prepareV3(_ json: JSON, ownUserID: UserID) -> PreparedSync? {
    guard let nextBatch = json.text("next_batch") else { return nil }
    let isWhole = syncLoop.position.token == nil
    var sync = PreparedSync(position: syncLoop.position, number: syncLoop.started)
    sync.position.token = nextBatch
    if let data = json["account_data"]?["events"] {
      for event in data.elements { prepare(accountData: event, ownUserID, &sync) }
    }
    if let events = json["presence"]?["events"] { sync.presence = events.elements.compactMap { Event($0) } }
    let rooms = json["rooms"]
    for (section, membership) in [
      (rooms?["join"], Membership.join), (rooms?["invite"], .invite), (rooms?["knock"], .knock), (rooms?["leave"], .leave)
    ] {
      guard let section else { continue }
      for member in section.members {
        guard let id = RoomID(member.key), member.value.isObject else { continue }
        prepare(RoomNews(v3: member.value, id, membership, isWhole: isWhole), ownUserID, &sync)
      }
    }
    finish(&sync, isComplete: true, ownUserID)
    return sync
  }

  /// What all rooms of a sync have to be there for; and its position, in the batch with what it brought.
  func finish(_ sync: inout PreparedSync, isComplete: Bool, _ ownUserID: UserID) {
    if isComplete, !sync.position.isComplete {
      sync.position.complete()
      // A server that leaves out rooms it counts may leave out others, too.
      if sync.roomCount.map({ toldRooms(sync) >= $0 }) ?? true { prepareDepartures(&sync) }
    }
    if let direct = sync.directRooms { prepare(direct, ownUserID, &sync) }
    sync.operations.append(.put(key: StoreKey.sync, value: sync.position.record))
  }

  func prepare(accountData json: JSON, _ ownUserID: UserID, _ sync: inout PreparedSync) {
    guard let event = Event(json) else { return }
    if isReporting { sync.accountData.append(event) }
    switch event.type {
    case .ignoredUserList: sync.ignoredUsers = IgnoredUsers(content: event.content)
    case .direct: sync.directRooms = DirectRooms(content: event.content)
    case .pushRules: sync.pushRules = PushRuleSet(ofServer: event.content, for: ownUserID)
    case Breadcrumbs.type: sync.breadcrumbs = Breadcrumbs(content: event.content)
    default:
      var wishes = sync.notificationWishes ?? notificationWishes
      guard wishes.take(event.type, event.content) else { return }
      sync.notificationWishes = wishes
    }
    sync.operations.append(.put(key: StoreKey.data(event.type), value: Array(event.content.bytes)))
  }

  /// How many rooms have been told since the syncs began anew.
  private func toldRooms(_ sync: PreparedSync) -> Int {
    rooms.reduce(sync.rooms.count) { count, room in
      room.value.state.told.round == sync.position.round && !sync.contains(room.key) ? count + 1 : count
    }
  }

  /// Rooms that were known before the syncs began anew, and are not among those of the account any more.
  private func prepareDepartures(_ sync: inout PreparedSync) {
    for (id, room) in rooms where room.state.told.round != sync.position.round && !sync.contains(id) {
      guard room.membership == .join || room.membership == .invite || room.membership == .knock else { continue }
      var prepared = PreparedRoom(id: id, state: room.$state)
      prepared.enter(.leave, from: room.membership)
      prepared.appendRecords(to: &sync.operations)
      sync.append(prepared)
    }
  }

  // MARK: Rooms

  func prepare(_ news: RoomNews, _ ownUserID: UserID, _ sync: inout PreparedSync) {
    let id = news.id
    // A room that stands twice would be worked out from the same old state: the first counts.
    guard !sync.contains(id) else { return }
    let old = rooms[id]
    var room = PreparedRoom(id: id, state: old?.$state ?? Boxed(wrappedValue: RoomState(membership: news.membership)))
    if old == nil, encryptedRooms.contains(id) { room.state.isEncrypted = true }
    room.enter(news.membership, from: old?.membership)
    room.state.told.round = sync.position.round
    if let counted = sync.counted(news) { room.state.told.counted = counted }
    if let stamp = news.bumpStamp { room.state.told.bumpStamp = stamp }
    let direct = sync.directRooms ?? directRooms
    for events in news.state {
      for json in events.elements {
        if let event = Event(json) { room.apply(event, ownUserID: ownUserID) }
      }
    }
    if let timeline = news.timeline {
      let isOut = news.membership == .leave || news.membership == .ban
      let stay = isOut ? timeline.stay(of: ownUserID, wasIn: old.map { $0.membership == .join } ?? true) : Int.max
      prepare(timeline, stay: stay, isWhole: news.isWhole, ownUserID, &room, &sync)
    }
    room.prepareRest(news, ownUserID: ownUserID)
    if isReporting { room.noteReports(news) }
    let isDirectFromInvite = room.state.isDirectInvite && room.state.membership == .invite
    room.state.directUserID = direct.user(of: id) ?? (isDirectFromInvite ? room.state.inviter : nil)
    if room.state.directUserID != old?.state.directUserID { room.delta.aspects.formUnion([.settings, .avatar]) }
    room.settle(ownUserID: ownUserID, from: old)
    let verdicts = sync.verdicts ?? Verdicts(rules: sync.pushRules ?? pushRules, profileName: ownDisplayName)
    sync.verdicts = verdicts
    room.countUnread(from: old?.state, verdicts, ownUserID: ownUserID)
    room.appendRecords(to: &sync.operations)
    if room.state.isEncrypted, !encryptedRooms.contains(id) { sync.operations.append(StoreSchema.putEncrypted(id)) }
    room.dropPeople(ownUserID: ownUserID, from: old)
    sync.append(room)
  }

  /// Rooms that `m.direct` names or no longer names, beyond those of this sync.
  private func prepare(_ direct: DirectRooms, _ ownUserID: UserID, _ sync: inout PreparedSync) {
    for (id, room) in rooms where direct.user(of: id) != room.directUserID {
      if sync.contains(id) { continue }
      var prepared = PreparedRoom(id: id, state: room.$state)
      prepared.state.directUserID = direct.user(of: id)
      prepared.settle(ownUserID: ownUserID, from: room)
      prepared.delta.aspects = [.settings, .avatar]
      prepared.appendRecords(to: &sync.operations)
      sync.append(prepared)
    }
  }

  // MARK: Timelines

  /// - stay: how many events the timeline is to have; the others are state only.
  private func prepare(
    _ timeline: RoomNews.Timeline, stay: Int, isWhole: Bool, _ ownUserID: UserID, _ room: inout PreparedRoom,
    _ sync: inout PreparedSync
  ) {
    // Of one who was out already there is nothing to be missing either.
    guard stay > 0 || rooms[room.id].map({ $0.membership == .join }) ?? true else {
      for json in timeline.events.map({ Array($0.elements) }) ?? [] {
        if let event = Event(json), event.stateKey != nil { room.apply(event, ownUserID: ownUserID) }
      }
      return
    }
    let reachesBack = isWhole || timeline.isExpanded
    let known = room.place(timeline, reachesBack: reachesBack)
    if known == 0 {
      room.isLimited = timeline.isLimited || reachesBack && room.state.history.lastBlock >= 0
      // Where the server does not say from where, it is asked from the end.
      room.previousBatch = timeline.previousBatch ?? (room.isLimited ? "" : nil)
    }
    // Members came and went in what is missing.
    if room.isLimited || isWhole, room.state.hasAllMembers || room.state.storesAllMembers {
      room.state.hasAllMembers = false
      room.state.storesAllMembers = false
    }
    // What a broken store does not take must stay in memory.
    let isInMemory = isStoreBroken || rooms[room.id].map { $0.hasTimeline } ?? keptTimelines.contains(room.id)
    var parsed: [TimelineEvent] = []
    var index = 0
    var count = 0
    var taken: Set<EventID> = room.state.told.lastEvent.map { [$0] } ?? []
    let firstLive =
      timeline.liveCount.map { live in max(0, (timeline.events?.elements.reduce(0) { n, _ in n + 1 } ?? 0) - live) } ?? 0
    let segment = Segment.record(isLimited: room.isLimited, token: room.previousBatch) { writer in
      guard let events = timeline.events else { return }
      for json in events.elements {
        index += 1
        let source = Event(json)
        if index == 1, isWhole { room.oldestEventMilliseconds = source?.originServerTimestamp }
        if let source, source.stateKey != nil { room.apply(source, ownUserID: ownUserID) }
        guard index > known, index <= stay, let event = TimelineEvent(json, source), taken.insert(event.eventID).inserted else {
          continue
        }
        if let source, room.state.countsUnread { room.news.append((event, source)) }
        writer.write(json)
        count += 1
        take(event, index > firstLive ? source : nil, ownUserID, &room, &sync)
        if isInMemory { parsed.append(event) }
      }
    }
    room.liveCount = min(count, timeline.liveCount ?? count)
    if isInMemory { room.events = parsed }
    if count > 0 || room.isLimited { room.addSegment(segment, eventCount: count, to: &sync.operations) }
  }

  /// Whether it is about a call between two. It names the keys of the media: a server that says so itself in an encrypted room could listen.
  private func isOfCall(_ event: TimelineEvent, _ source: Event, in room: PreparedRoom) -> Bool {
    source.type.isOfCall && (event.wasEncrypted || !room.state.isEncrypted)
  }

  /// An event that is new here.
  /// - source: nil where it happened before the last sync.
  private func take(
    _ event: TimelineEvent, _ source: Event?, _ ownUserID: UserID, _ room: inout PreparedRoom, _ sync: inout PreparedSync
  ) {
    if case .redaction(let target) = event.kind { room.redactState(target) }
    let isHidden = event.isHidden(from: (sync.ignoredUsers ?? ignoredUsers).users)
    if !isHidden { room.note(event) }
    if let source, syncLoop.position.token != nil {
      if event.sender != ownUserID, event.isMessage { room.lastForeign = event.eventID }
      if !isHidden, isReporting || reportsCalls && isOfCall(event, source, in: room) { room.arrivals.append(source) }
    }
    room.state.told.lastEvent = event.eventID
    if event.sender == ownUserID, let entry = outbox.entry(for: event, in: room.id) {
      sync.delivered[entry] = event.eventID
      sync.operations.append(.delete(key: StoreKey.outbox(entry)))
    }
  }
}
