import JSON
import MatrixModel

/// Counts what the server cannot count: unread messages in encrypted rooms, and while the user has read further than the server knows.
///
/// The events are those in the store, from the newest back to what has been read. A sync adds to the figure; what it cannot
/// tell by itself (a receipt in the middle, a redaction, other rules) has the room counted anew.
extension Client {
  mutating func recountUnread(_ id: RoomID) {
    guard rooms[id]?.unreadLoad == nil else {
      rooms[id]?.wantsRecount = true
      return
    }
    let range = StoreRange(
      prefix: StoreKey.timeline(of: id), isDescending: true, limit: Limits.countedSegments)
    let load = load(range, .unread(id))
    rooms[id]?.unreadLoad = load
  }

  mutating func unreadLoaded(_ id: RoomID, _ records: [StoreRecord]) {
    rooms[id]?.unreadLoad = nil
    guard let room = rooms[id], room.membership == .join else { return }
    if room.wantsRecount {
      rooms[id]?.wantsRecount = false
      return recountUnread(id)
    }
    let old = (room.unreadCounts, room.highlightCount)
    if room.reading.localCount != nil {
      let ahead = countUnread(id, records, ahead: room.reading.fullyRead)
      rooms[id]?.reading.localCount = ahead
    }
    if room.state.countsUnread {
      let counts = countUnread(id, records, ahead: nil)
      if counts != room.state.unread || room.state.isMiscounted {
        rooms[id]?.state.unread = counts
        rooms[id]?.state.isMiscounted = false
        if let state = rooms[id]?.state { write([.put(key: StoreKey.room(id), value: state.record(of: id))]) }
      }
    }
    if let new = rooms[id], (new.unreadCounts, new.highlightCount) != old { notify(.room(id, .unread)) }
  }

  /// From scratch. The newest record first.
  func countUnread(_ id: RoomID, _ records: [StoreRecord], ahead: EventID?) -> UnreadCounts? {
    unreadEvidence(id, records, ahead: ahead, limit: 0)?.counts
  }

  /// - Parameter limit: of what is named; everything is counted.
  func unreadEvidence(_ id: RoomID, _ records: [StoreRecord], ahead: EventID?, limit: Int) -> UnreadEvidence? {
    guard let user = session?.userID, let state = rooms[id]?.state else { return nil }
    var evidence = UnreadEvidence()
    let verdicts = Verdicts(rules: pushRules, profileName: ownDisplayName)
    var counting = UnreadCounting(state.ownReceipts, ahead: ahead, ownUserID: user)
    var roots = ThreadRoots(records)
    for record in records where !counting.isAtEnd {
      guard let events = Answer.parse(record.value)?["events"], events.isArray else { continue }
      for json in Array(events.elements).reversed() where !counting.isAtEnd {
        let source = Event(json)
        guard let event = TimelineEvent(json, source) else { continue }
        let root = roots.root(of: event)
        var rule: PushRule?
        let counts = counting.add(event, source, in: root) {
          rule = source.flatMap { verdicts.rule(for: $0, from: event.sender, in: id, state, ownUserID: user) }
          return rule?.actions
        }
        if counting.isAtEnd {
          (evidence.readUpTo, evidence.readUntilMilliseconds) = (event.eventID, event.timestampMilliseconds)
        }
        if counts, let rule, evidence.items.count < limit {
          evidence.items.append(UnreadEvidence.Item(event, in: root, by: rule))
        }
      }
    }
    evidence.counts = counting.counts
    return evidence
  }

  /// Rooms whose figure depends on the rules.
  mutating func recountAllUnread() {
    for (id, room) in rooms where room.membership == .join && (room.state.countsUnread || room.reading.localCount != nil) {
      recountUnread(id)
    }
  }

  /// After a sync is in the store.
  mutating func commitUnread(_ prepared: PreparedRoom) {
    guard let room = rooms[prepared.id] else { return }
    // What is being read may lack what this sync brought.
    let isOld = prepared.position != nil && (room.reading.localCount != nil || room.unreadLoad != nil)
    if prepared.wantsRecount || isOld && !room.reading.isPaused {
      recountUnread(prepared.id)
    } else if isOld {
      // What comes now is read as fast as it comes.
      rooms[prepared.id]?.wantsRecount = true
    }
  }
}

extension PreparedRoom {
  /// What the sync adds to the unread events of a room that counts its own; where it cannot tell, the room is counted anew.
  mutating func countUnread(from old: RoomState?, _ verdicts: Verdicts, ownUserID: UserID) {
    guard state.countsUnread, state.membership == .join else {
      state.isMiscounted = false
      return state.unread = nil
    }
    defer { if wantsRecount { state.isMiscounted = true } }
    guard let old else { return countAllUnread(verdicts, ownUserID: ownUserID) }
    guard let known = state.unread else {
      wantsRecount = true
      return
    }
    let isSameRoom =
      old.joinedCount == state.joinedCount && !delta.aspects.contains(.settings)
      && !delta.members.contains(ownUserID) && old.membership == state.membership
    if !isSameRoom || old.ownReceipts != state.ownReceipts {
      wantsRecount = true
      return
    }
    var counts = known
    for (event, source) in news {
      if case .redaction = event.kind { wantsRecount = true }
      // Which thread it belongs to is what its target says.
      if event.target != nil, event.threadRoot == nil, event.sender == ownUserID, known != UnreadCounts() {
        wantsRecount = true
      }
      guard event.sender == ownUserID else {
        if source.isRedacted { continue }
        if let actions = verdicts.actions(for: source, from: event.sender, in: id, state, ownUserID: ownUserID) {
          counts.add(actions, in: event.threadRoot)
        }
        continue
      }
      if source.isProfileChange(of: ownUserID) { continue }
      if let thread = event.threadRoot { counts.threads[thread] = nil } else { counts = UnreadCounts() }
    }
    if counts != known { delta.aspects.insert(.unread) }
    state.unread = counts
  }

  /// Of a room that is new: the store will have these events and no others.
  private mutating func countAllUnread(_ verdicts: Verdicts, ownUserID: UserID) {
    var counting = UnreadCounting(state.ownReceipts, ahead: nil, ownUserID: ownUserID)
    var roots = ThreadRoots(news)
    for (event, source) in news.reversed() where !counting.isAtEnd {
      counting.add(event, source, in: roots.root(of: event)) {
        verdicts.actions(for: source, from: event.sender, in: id, state, ownUserID: ownUserID)
      }
    }
    if counting.counts != UnreadCounts() { delta.aspects.insert(.unread) }
    state.unread = counting.counts
  }
}
