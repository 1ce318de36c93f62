import JSON
import MatrixModel

/// A change of `m.ignored_user_list`.
struct IgnoreChange: Sendable {
  let user: UserID
  let isIgnored: Bool
}

/// What ignored users say is not shown: neither in timelines, nor in previews, nor that they write; what they do to the room is.
/// Spec: "Ignoring Users".
extension Client {
  mutating func setIgnored(_ user: UserID, _ isIgnored: Bool, _ command: CommandID) {
    guard user != session?.userID else { return finish(command, .failed(.ownUserID)) }
    ignoreChanges.append(IgnoreChange(user: user, isIgnored: isIgnored), command)
    readIgnoredUsers()
  }

  private mutating func readIgnoredUsers() {
    guard let user = session?.userID, ignoreChanges.begin() else { return }
    request(.getAccountData, Endpoint.getAccountData.path(user.text, EventType.ignoredUserList.text), for: .readIgnoredUsers)
  }

  mutating func ignoredUsersRead(_ answer: Answer) {
    let changes = ignoreChanges.take()
    var list: IgnoredUsers
    switch answer {
    case .success(let json): list = IgnoredUsers(content: json)
    // Nobody was ever ignored.
    case .refused(let error, _) where error.status == 404: list = IgnoredUsers()
    default: return endIgnoreChange(answer.error ?? .badAnswer)
    }
    let old = list.users
    for change in changes { list.set(change.user, change.isIgnored) }
    guard list.users != old else { return endIgnoreChange(nil) }
    setAccountData(.ignoredUserList, list.content, .writeIgnoredUsers)
  }

  mutating func ignoredUsersWritten(_ answer: Answer) { endIgnoreChange(answer.error) }

  private mutating func endIgnoreChange(_ error: ClientError?) {
    for command in ignoreChanges.end() { finish(command, error.map { .failed($0) } ?? .done) }
    readIgnoredUsers()
  }

  /// A sync has brought the list.
  mutating func takeIgnoredUsers(_ new: IgnoredUsers) {
    let old = ignoredUsers.users
    ignoredUsers = new
    guard old != new.users else { return }
    notify(.ignoredUsers)
    let ignored = new.users.subtracting(old)
    let isAnyoneBack = !old.subtracting(new.users).isEmpty
    for id in rooms.keys.ordered() {
      settlePreview(id, always: true)
      hideTyping(of: ignored, in: id)
      if !ignored.isEmpty { hideEvents(of: ignored, in: id) }
      if isAnyoneBack { readTimelinesAgain(id) }
    }
  }

  /// Whether the last message is one that is not shown.
  mutating func settlePreview(_ id: RoomID, always: Bool = false) {
    guard let room = rooms[id], always || !ignoredUsers.users.isEmpty || !room.removedEvents.isEmpty || room.hidesPreview
    else { return }
    let isHidden = isPreviewHidden(room)
    guard isHidden != room.hidesPreview else { return }
    rooms[id]?.hidesPreview = isHidden
    notify(.room(id, .preview))
  }

  func isPreviewHidden(_ room: Room) -> Bool {
    guard let preview = room.state.preview else { return false }
    return ignoredUsers.contains(preview.sender) || preview.eventID.map { room.removedEvents.contains($0) } ?? false
  }

  private mutating func hideTyping(of ignored: Set<UserID>, in id: RoomID) {
    guard let typing = rooms[id]?.typing, typing.contains(where: { ignored.contains($0) }) else { return }
    rooms[id]?.typing.removeAll { ignored.contains($0) }
    notify(.room(id, .typing))
  }

  private mutating func hideEvents(of ignored: Set<UserID>, in id: RoomID) {
    guard let user = session?.userID, rooms[id]?.hasTimeline ?? false else { return }
    changeTimeline(id) { timeline, _ in
      timeline.relations.forget(ignored)
      return timeline.hide(ownUserID: user) { $0.isHiddenByIgnoring && ignored.contains($0.sender) }
    }
    readersMoved(in: id)
  }

  /// Who stood at items that are hidden now stands at those before.
  mutating func readersMoved(in id: RoomID) {
    if let count = rooms[id]?.timeline.remoteCount, count > 0 { notify(.readCounts(id, 0..<count)) }
  }

  /// Everything known of the room is shown once more: from the store, and what never was there from the server. Not where the store has
  /// missed something: then what is in memory is all there is.
  mutating func readTimelinesAgain(_ id: RoomID) {
    guard let room = rooms[id] else { return }
    for focus in room.focuses {
      let key = TimelineKey(id, focus)
      _ = rooms[id]?.close(focus)
      openTimeline(key, 0)
      notify(.timeline(key, [.reset(timeline(key)?.items ?? [])]))
    }
    // What is shown stays until the rest is there.
    if !isStoreBroken, room.timeline.loadState == .loaded { loadTimeline(id) }
  }
}

extension Timeline {
  /// Takes items out. What stood at them stands at the items before them. O(items + events).
  mutating func hide(ownUserID: UserID, _ isHidden: (TimelineItem) -> Bool) -> [TimelineChange] {
    var changes: [TimelineChange] = []
    var standsAt: [ItemID: ItemID] = [:]
    var before: ItemID = 0
    var gone: [Int] = []
    for i in 0..<remoteCount {
      if isHidden(items[i]) {
        standsAt[items[i].id] = before
        gone.append(i)
      } else {
        before = items[i].id
      }
    }
    for i in gone.reversed() {
      items.remove(at: i)
      changes.append(.removed(i..<(i + 1)))
    }
    remoteCount -= gone.count
    if !gone.isEmpty { move(standsAt) }
    renewTouched(ownUserID: ownUserID, &changes)
    for target in quoting.keys.ordered() { renewQuotes(of: target, ownUserID: ownUserID, &changes) }
    return changes
  }

  private mutating func move(_ standsAt: [ItemID: ItemID]) {
    let known = readPositions
    for (event, item) in itemOfEvent { if let other = standsAt[item] { itemOfEvent[event] = other } }
    for (user, item) in readPositions {
      if let other = standsAt[item] { readPositions[user] = other == 0 ? nil : other }
    }
    placeReaders([:]) { known[$0] != nil }
  }
}

extension Relations {
  func hides(_ item: TimelineItem) -> Bool {
    ignored.contains(item.sender) && item.isHiddenByIgnoring || item.eventID.map { removed.contains($0) } ?? false
  }
}

extension TimelineItem {
  /// State changes are shown even if an ignored user made them.
  var isHiddenByIgnoring: Bool {
    switch content {
    case .state, .gap: false
    case .message, .redacted, .call, .verification, .undecryptable, .custom, .unparsable: true
    }
  }
}

extension TimelineEvent {
  /// What an ignored user said, of which nothing is shown.
  func isHidden(from ignored: Set<UserID>) -> Bool {
    guard !ignored.isEmpty, ignored.contains(sender) else { return false }
    if case .item(.state, _) = kind { return false }
    if case .redaction = kind { return false }
    return true
  }
}
