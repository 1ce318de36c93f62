import JSON
import MatrixModel

/// Edits, reactions and redactions that are on their way, shown on the items they change. What an item said before comes back when
/// one of them fails or is cancelled.
struct RelationEchoes: Sendable {
  enum Change: Sendable {
    case edit(MessageContent)
    case reaction(ByteString)
    /// Takes the own reaction back.
    case reactionBack(ByteString)
    case redaction
  }

  struct Echo: Sendable {
    let entry: SendID
    /// Event ID of the item, transaction ID where it has none yet.
    let target: ByteString
    let change: Change
    let delivery: Delivery

    var isFailed: Bool { if case .failed = delivery { true } else { false } }
  }

  /// In the order of sending.
  private var echoes: [Echo] = []
  /// Contents that stand under an echo.
  private var covered: [ItemID: TimelineItem.Content] = [:]

  mutating func set(_ echo: Echo) -> Echo? {
    if let i = echoes.firstIndex(where: { $0.entry == echo.entry }) {
      let old = echoes[i]
      echoes[i] = echo
      return old
    }
    echoes.append(echo)
    return nil
  }

  mutating func remove(_ entry: SendID) -> Echo? {
    echoes.firstIndex { $0.entry == entry }.map { echoes.remove(at: $0) }
  }

  /// The item is made anew.
  mutating func forget(_ item: ItemID) { covered[item] = nil }

  /// The item without them.
  mutating func uncover(_ item: inout TimelineItem) {
    if let content = covered.removeValue(forKey: item.id) { item.content = content }
    item.pendingChange = nil
  }

  /// The item with them.
  mutating func cover(_ item: inout TimelineItem, ownUserID: UserID) {
    for echo in echoes where item.eventID?.text == echo.target || item.transactionID?.text == echo.target {
      apply(echo, to: &item, ownUserID: ownUserID)
    }
  }

  private mutating func apply(_ echo: Echo, to item: inout TimelineItem, ownUserID: UserID) {
    switch echo.change {
    case .edit(var content):
      guard case .message(let shown) = item.content else { return }
      item.pendingChange = .edit(echo.delivery)
      if echo.isFailed { return }
      if covered[item.id] == nil { covered[item.id] = item.content }
      content.attachment?.blob = shown.attachment?.blob
      item.content = .message(content)
      item.isEdited = true
    case .reaction(let key): if item.takesReactions, !echo.isFailed { item.react(key, by: ownUserID) }
    case .reactionBack(let key): if !echo.isFailed { item.takeReactionBack(key, by: ownUserID) }
    case .redaction:
      item.pendingChange = .redaction(echo.delivery)
      if echo.isFailed { return }
      if covered[item.id] == nil { covered[item.id] = item.content }
      item.content = .redacted
      item.isEdited = false
      item.reactions = []
    }
  }
}

extension TimelineItem {
  fileprivate mutating func react(_ key: ByteString, by user: UserID) {
    guard let i = reactions.firstIndex(where: { $0.key == key }) else {
      reactions.append(Reaction(key: key, senders: [user], ownEventID: nil, isOwn: true, isPending: true))
      return
    }
    guard !reactions[i].isOwn else { return }
    reactions[i].senders.append(user)
    reactions[i].isOwn = true
    reactions[i].isPending = true
  }

  fileprivate mutating func takeReactionBack(_ key: ByteString, by user: UserID) {
    guard let i = reactions.firstIndex(where: { $0.key == key }), reactions[i].isOwn else { return }
    reactions[i].senders.removeAll { $0 == user }
    reactions[i].ownEventID = nil
    reactions[i].isOwn = false
    reactions[i].isPending = true
    if reactions[i].count == 0 { reactions.remove(at: i) }
  }
}

extension Timeline {
  mutating func setRelationEcho(_ echo: RelationEchoes.Echo, ownUserID: UserID) -> [TimelineChange] {
    let old = relations.echoes.set(echo)
    var changes: [TimelineChange] = []
    if let old, old.target != echo.target { changes = renew(old.target, ownUserID) }
    return changes + renew(echo.target, ownUserID)
  }

  mutating func removeRelationEcho(of entry: OutboxEntry, ownUserID: UserID) -> [TimelineChange] {
    var changes = relations.echoes.remove(entry.id).map { renew($0.target, ownUserID) } ?? []
    relations.drop(TimelineEvent.echoID(of: entry.transactionID))
    renewTouched(ownUserID: ownUserID, &changes)
    return changes
  }

  private mutating func renew(_ target: ByteString, _ ownUserID: UserID) -> [TimelineChange] {
    var changes: [TimelineChange] = []
    if let event = EventID(target) {
      relations.touch(event)
      renewTouched(ownUserID: ownUserID, &changes)
      if index(of: event) != nil { return changes }
    }
    let echo = items[remoteCount...].firstIndex { $0.eventID?.text == target || $0.transactionID?.text == target }
    guard let i = echo else { return changes }
    decorate(i, ownUserID: ownUserID)
    return changes + [.updated(at: i, items[i])]
  }

  /// Everything of the outbox in a timeline that is new.
  mutating func show(_ outbox: Outbox, in room: RoomID, ownUserID: UserID) {
    for item in outbox.items(in: room, sender: ownUserID) { _ = appendEcho(item) }
    showChanges(outbox, in: room, ownUserID: ownUserID)
  }

  /// What is on its way to items that are here.
  mutating func showChanges(_ outbox: Outbox, in room: RoomID, ownUserID: UserID) {
    for entry in outbox.entries where entry.roomID == room {
      if let echo = outbox.relationEcho(of: entry) { _ = setRelationEcho(echo, ownUserID: ownUserID) }
      if let vote = entry.vote(by: ownUserID) { _ = takeRelations(of: [vote], ownUserID: ownUserID) }
    }
  }
}
