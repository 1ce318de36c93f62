import JSON
import MatrixModel

extension PreparedRoom {
  /// The own membership is now another: what was known of the members is old.
  mutating func enter(_ membership: Membership, from old: Membership?) {
    if old == membership { return }
    delta.aspects.insert(.membership)
    state.membership = membership
    if membership == .join {
      state.hasAllMembers = false
      state.storesAllMembers = false
      state.isDirectInvite = false
    }
    if membership != .join {
      state.notificationCount = 0
      state.highlightCount = 0
      delta.aspects.insert(.unread)
    }
  }

  /// What the list shows of the last message.
  mutating func note(_ event: TimelineEvent) {
    switch event.kind {
    case .item(let content, _):
      switch content {
      case .message(let message): setPreview(event, message)
      case .redacted: setPreview(event, nil)
      case .undecryptable:
        let before = state.preview.map { $0.isUndecryptable ? $0.before : [$0] } ?? []
        setPreview(event, nil)
        state.preview?.isUndecryptable = true
        state.preview?.before = before
      case .state, .call, .verification, .custom, .unparsable, .gap: break
      }
    case .edit(let target, let message):
      guard let preview = state.preview, preview.eventID == target, preview.sender == event.sender,
        preview.content != nil, preview.editedAt <= event.timestampMilliseconds, event.wasEncrypted || !state.isEncrypted
      else { return }
      let original = preview.original ?? preview.content.map { RoomPreview.Original(kind: $0.kind, body: $0.previewText) }
      state.preview = RoomPreview(
        eventID: target, sender: preview.sender, timestampMilliseconds: preview.timestampMilliseconds, content: message,
        editedAt: event.timestampMilliseconds, edit: event.eventID, original: original)
      delta.aspects.insert(.preview)
    case .redaction(let target):
      guard let preview = state.preview else { return }
      if preview.edit == target, let original = preview.original {
        state.preview = RoomPreview(
          eventID: preview.eventID, sender: preview.sender, timestampMilliseconds: preview.timestampMilliseconds,
          content: MessageContent(kind: original.kind, body: original.body))
        delta.aspects.insert(.preview)
      }
      guard preview.eventID == target else { return }
      state.preview = RoomPreview(
        eventID: target, sender: preview.sender, timestampMilliseconds: preview.timestampMilliseconds, content: nil)
      delta.aspects.insert(.preview)
    case .reaction, .vote, .pollEnd, .position, .callSign, .liveLocationEnd, .reference, .verificationSign, .hidden: break
    }
  }

  private mutating func setPreview(_ event: TimelineEvent, _ content: MessageContent?) {
    state.preview = RoomPreview(
      eventID: event.eventID, sender: event.sender, timestampMilliseconds: event.timestampMilliseconds, content: content
    )
    state.lastActivity = max(state.lastActivity, event.timestampMilliseconds)
    delta.aspects.insert(.preview)
    senders.append(event.sender)
  }

  /// Summary, counts, ephemeral events and account data of the room.
  mutating func prepareRest(_ news: RoomNews, ownUserID: UserID) {
    if let summary = news.summary { apply(summary: summary) }
    take(joined: news.joined, invited: news.invited)
    if let heroes = news.heroes { apply(heroes: heroes) }
    if state.membership == .join, state.told.counted != .nothing, news.notifications != nil || news.highlights != nil {
      let count = UnreadCounts.Count(
        notifications: news.notifications ?? state.notificationCount, highlights: news.highlights ?? state.highlightCount)
      apply(unread: count, threads: news.threads)
    }
    for json in news.ephemeral {
      guard let event = Event(json) else { continue }
      if event.type == .typing {
        typing =
          event.content["user_ids"]?.elements.prefix(Limits.typingUsers).compactMap { UserID($0) }.filter { $0 != ownUserID }
          ?? []
      } else if event.type == .receipt {
        apply(receipts: event.content, ownUserID: ownUserID)
      }
    }
    for json in news.accountData {
      guard let event = Event(json) else { continue }
      takeMark(event)
      if event.type.text.hasPrefix("martlet.draft") { drafts.append(event) }
      guard event.type == .fullyRead, let id = EventID(event.content["event_id"]) else { continue }
      if state.fullyRead != id { delta.aspects.insert(.fullyRead) }
      state.fullyRead = id
    }
  }

  /// Finds the newest event that is stored in a timeline that may not begin where the last one ended. Returns how many events are
  /// known therefore; 0 where it is not among them.
  mutating func place(_ timeline: RoomNews.Timeline, reachesBack: Bool) -> Int {
    guard let last = state.told.lastEvent, let events = timeline.events else { return 0 }
    var known = 0
    for json in events.elements {
      known += 1
      guard json.text("event_id") == last.text else { continue }
      if known > 1, reachesBack { older = (Array(events.elements), timeline.previousBatch) }
      return known
    }
    return 0
  }

  /// Puts what the sync brought behind the other segments.
  mutating func addSegment(_ bytes: [UInt8], eventCount: Int, to operations: inout [StoreOperation]) {
    let position = SegmentPosition(block: state.history.lastBlock + 1)
    state.history.lastBlock = position.block
    state.history.events = min(state.history.events + eventCount, Int(JSON.countLimit))
    self.position = position
    operations.append(.put(key: StoreKey.segment(position, of: id), value: bytes))
  }

  func appendRecords(to operations: inout [StoreOperation]) {
    operations.append(.put(key: StoreKey.room(id), value: state.record(of: id)))
    for user in delta.members {
      guard let member = state.members[user] else { continue }
      operations.append(.put(key: StoreKey.member(user, in: id), value: member.record))
    }
    for user in delta.receipts { state.appendReceipts(of: user, in: id, to: &operations) }
  }

  /// Once all is applied: name, avatar, and whether they want members that are in the store.
  mutating func settle(ownUserID: UserID, from old: Room?) {
    state.settleName(for: ownUserID)
    guard let old else { return }
    needsPeople = state.needsPeople(after: old.state, delta)
  }

  /// Nobody stays in memory that nobody looks at. While the others are being read, what is newer than they has to stay.
  mutating func dropPeople(ownUserID: UserID, from old: Room?) {
    if let old, !state.hasPeople, !needsPeople, old.peopleLoad == nil { state.dropPeople(ownUserID: ownUserID) }
  }
}
