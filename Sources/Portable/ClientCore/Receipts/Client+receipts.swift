import JSON
import MatrixModel

extension Client {
  /// The number of joined members, without the sender, who have not read the item. nil if that is unknown: behind gaps, for own messages
  /// that are being sent, in rooms that the user has left. O(items behind it).
  public func unreadMemberCount(_ roomID: RoomID, itemAt index: Int) -> Int? {
    guard let room = rooms[roomID], room.membership == .join, index >= 0, index < room.timeline.remoteCount else {
      return nil
    }
    if case .gap = room.timeline.items[index].content { return nil }
    // The sender is among the readers.
    return max(0, room.joinedMemberCount - room.timeline.readerCount(at: index))
  }

  /// `unreadMemberCount` of all items of the timeline in one pass, −1 for nil. O(items).
  public func unreadMemberCounts(_ roomID: RoomID) -> [Int] {
    guard let room = rooms[roomID] else { return [] }
    var counts = [Int](repeating: -1, count: room.timeline.items.count)
    guard room.membership == .join else { return counts }
    var readers = 0
    for index in (0..<room.timeline.remoteCount).reversed() {
      readers += room.timeline.items[index].readerCount
      if case .gap = room.timeline.items[index].content { continue }
      counts[index] = max(0, room.joinedMemberCount - readers)
    }
    return counts
  }

  // MARK: Reading

  mutating func viewed(_ id: RoomID, upTo item: ItemID, _ command: CommandID) {
    defer { finish(command, .done) }
    guard rooms[id] != nil else { return }
    rooms[id]?.reading.viewed = item
    guard hasAttention else { return }
    read(id, upTo: item)
    shorten(id, at: item)
  }

  mutating func readWhatIsViewed() {
    for id in openRooms {
      if let item = rooms[id]?.reading.viewed { read(id, upTo: item) }
    }
  }

  private mutating func read(_ id: RoomID, upTo item: ItemID) {
    clearUnreadMark(id)
    guard let user = session?.userID, let room = rooms[id], room.membership == .join,
      let index = room.timeline.lastEvent(upTo: item), let event = room.timeline.items[index].eventID
    else { return }
    if let known = room.fullyRead, let old = room.timeline.position(of: known), old >= index { return }
    rooms[id]?.reading.fullyRead = event
    let unread = room.timeline.messageCount(after: index, notFrom: user)
    rooms[id]?.reading.localCount = UnreadCounts(atMost: unread)
    if unread > 0 { recountUnread(id) }
    rooms[id]?.reading.isDirty = true
    if let range = rooms[id]?.timeline.hasRead(user, room.timeline.items[index].id) { notify(.readCounts(id, range)) }
    notify(.room(id, [.unread, .fullyRead]))
    sendReceipt(id)
  }

  /// One request at a time, and a pause after each.
  private mutating func sendReceipt(_ id: RoomID) {
    guard let reading = rooms[id]?.reading, reading.isDirty, !reading.isPaused,
      let event = reading.fullyRead, sessionState == .signedIn, isOnline
    else { return }
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("m.fully_read", event)
      if sendsPublicReceipts { writer.member("m.read", event) } else { writer.member("m.read.private", event) }
    }
    let request = request(.setReadMarker, Endpoint.setReadMarker.path(id.text), body: writer.bytes, for: .receipt(id))
    rooms[id]?.reading.request = request
    rooms[id]?.reading.isDirty = false
  }

  mutating func receiptAnswered(_ answer: Answer, _ id: RoomID) {
    rooms[id]?.reading.request = nil
    var pause = Limits.receiptIntervalMilliseconds
    if answer.isTransient {
      rooms[id]?.reading.isDirty = true
      pause = min(max(answer.retryAfterMilliseconds ?? 0, 10_000), Limits.retryAfterMilliseconds)
    }
    guard rooms[id] != nil else { return }
    let timer = startTimer(pause, .receipt(id))
    rooms[id]?.reading.timer = timer
  }

  mutating func receiptTimerFired(_ id: RoomID) {
    rooms[id]?.reading.timer = nil
    sendReceipt(id)
    if let room = rooms[id], room.wantsRecount, room.unreadLoad == nil {
      rooms[id]?.wantsRecount = false
      recountUnread(id)
    }
  }

  // MARK: Commit

  /// Receipts of the sync, and what it says about the own reading. Whether the badge may be different.
  mutating func commitReading(_ prepared: PreparedRoom, ownUserID: UserID) -> Bool {
    let id = prepared.id
    guard let reading = rooms[id]?.reading else { return false }
    var changed = rooms[id]?.timeline.takeReadByWriting()
    for user in prepared.delta.receipts + prepared.delta.members {
      for range in commitReceipts(of: user, prepared) {
        changed = changed.map { min($0.lowerBound, range.lowerBound)..<max($0.upperBound, range.upperBound) } ?? range
      }
    }
    if changed != nil || prepared.delta.isDelivered { notify(.readCounts(id, changed ?? 0..<0)) }
    if prepared.delta.aspects.contains(.fullyRead), !reading.isDirty, reading.request == nil {
      rooms[id]?.reading.fullyRead = nil
    }
    guard reading.localCount != nil else { return false }
    // The server has counted with our receipt: its figure holds.
    let isConfirmed =
      prepared.delta.receipts.contains(ownUserID)
      && (prepared.state.receipts[ownUserID]?.contains { $0.event == reading.fullyRead } ?? false)
    if isConfirmed, !reading.isDirty {
      rooms[id]?.reading.localCount = nil
    } else if let timeline = rooms[id]?.timeline, let event = reading.fullyRead,
      let index = timeline.position(of: event)
    {
      rooms[id]?.reading.localCount = UnreadCounts(atMost: timeline.messageCount(after: index, notFrom: ownUserID))
    } else {
      rooms[id]?.reading.localCount = nil
    }
    return true
  }

  /// Items whose count is now different.
  private mutating func commitReceipts(of user: UserID, _ prepared: PreparedRoom) -> [Range<Int>] {
    let id = prepared.id
    if let member = prepared.state.members[user], member.membership == .leave || member.membership == .ban {
      return rooms[id]?.timeline.forgetReader(user).map { [$0] } ?? []
    }
    var changed: [Range<Int>] = []
    for receipt in prepared.state.receipts[user] ?? [] {
      guard let item = rooms[id]?.timeline.itemOfEvent[receipt.event] else { continue }
      if let range = rooms[id]?.timeline.hasRead(user, item) { changed.append(range) }
    }
    return changed
  }
}

extension Timeline {
  /// Index of the last event at or before the item.
  func lastEvent(upTo item: ItemID) -> Int? {
    guard let index = index(of: item) else { return nil }
    return items[...min(index, remoteCount - 1)].lastIndex { $0.eventID != nil }
  }

  /// Index of the item the event stands at, also for events without an item.
  func position(of event: EventID) -> Int? { itemOfEvent[event].flatMap { index(of: $0) } }

  func messageCount(after index: Int, notFrom user: UserID) -> Int {
    items[(index + 1)..<max(index + 1, remoteCount)].reduce(0) { $1.isMessage && $1.sender != user ? $0 + 1 : $0 }
  }
}
