import JSON
import MatrixModel

/// The items of a room in the order of the server, the person's own messages on their way last.
public struct Timeline: Sendable {
  public enum BackState: UInt8, Sendable {
    /// There may be older events.
    case idle
    case loading
    /// The last page did not come; `Command.paginateBack` tries again.
    case failed
    /// The first item is the start of the room.
    case atStart
  }

  public enum LoadState: UInt8, Sendable { case unloaded, loading, loaded }

  public internal(set) var items: [TimelineItem] = []
  public internal(set) var backState = BackState.idle
  public internal(set) var loadState = LoadState.unloaded

  /// Items that the server has given; behind them are the echoes.
  var remoteCount = 0
  /// Where to page back from; nil where the server named no place.
  var headToken: ByteString?
  var gapTokens: [ItemID: ByteString] = [:]
  /// Every event taken in; those without an item of their own stand at the item before them, 0 where there is none.
  var itemOfEvent: [EventID: ItemID] = [:]
  var relations = Relations()
  /// Batches that came while the store was reading.
  var waiting: [TimelineBatch] = []
  /// The last item each member has read or written.
  var readPositions: [UserID: ItemID] = [:]

  /// O(items behind it).
  public func index(of id: ItemID) -> Int? { items.lastIndex { $0.id == id } }

  /// O(items behind it). nil where the event is not in memory or has no item.
  public func index(of event: EventID) -> Int? {
    guard let id = itemOfEvent[event], let i = index(of: id), items[i].eventID == event else { return nil }
    return i
  }

  // MARK: New events

  /// Takes events at the end, the oldest first.
  mutating func append(_ events: [TimelineEvent], ownUserID: UserID, _ ids: inout ItemIDs) -> [TimelineChange] {
    var changes: [TimelineChange] = []
    var run: [TimelineItem] = []
    for event in events where itemOfEvent[event.eventID] == nil {
      guard case .item(let content, let replyTo) = event.kind else {
        flush(&run, &changes)
        itemOfEvent[event.eventID] = remoteCount > 0 ? items[remoteCount - 1].id : 0
        relate(event, ownUserID: ownUserID, &changes)
        continue
      }
      if let echo = echoIndex(of: event) {
        let moved = run.count
        flush(&run, &changes)
        adopt(echo + moved, event, content, replyTo, ownUserID: ownUserID, &changes)
      } else {
        let item = makeItem(ids.next(), event, content, replyTo, ownUserID: ownUserID)
        itemOfEvent[event.eventID] = item.id
        run.append(item)
      }
    }
    flush(&run, &changes)
    return changes
  }

  private mutating func flush(_ run: inout [TimelineItem], _ changes: inout [TimelineChange]) {
    guard !run.isEmpty else { return }
    items.insert(contentsOf: run, at: remoteCount)
    changes.append(.inserted(at: remoteCount, run))
    remoteCount += run.count
    for item in run { hasRead(item.sender, item.id) }
    run = []
  }

  // MARK: Echoes

  mutating func appendEcho(_ item: TimelineItem) -> [TimelineChange] {
    items.append(item)
    return [.inserted(at: items.count - 1, [item])]
  }

  mutating func removeEcho(_ id: ItemID) -> [TimelineChange] {
    guard let i = index(of: id), i >= remoteCount else { return [] }
    items.remove(at: i)
    return [.removed(i..<(i + 1))]
  }

  mutating func update(_ id: ItemID, _ body: (inout TimelineItem) -> Void) -> [TimelineChange] {
    guard let i = index(of: id) else { return [] }
    body(&items[i])
    return [.updated(at: i, items[i])]
  }

  /// Nothing where the event has taken the echo's place already.
  mutating func updateEcho(_ id: ItemID, _ body: (inout TimelineItem) -> Void) -> [TimelineChange] {
    guard let i = index(of: id), i >= remoteCount else { return [] }
    body(&items[i])
    return [.updated(at: i, items[i])]
  }

  func echoIndex(of event: TimelineEvent) -> Int? {
    items[remoteCount...].firstIndex { item in
      if let id = event.transactionID, item.transactionID == id, item.sender == event.sender { return true }
      return item.eventID == event.eventID
    }
  }

  /// The echo becomes the event: same identity, the server's place.
  private mutating func adopt(
    _ echo: Int, _ event: TimelineEvent, _ content: TimelineItem.Content, _ replyTo: EventID?, ownUserID: UserID,
    _ changes: inout [TimelineChange]
  ) {
    var item = makeItem(items[echo].id, event, content, replyTo, ownUserID: ownUserID)
    item.keepBlob(of: items[echo])
    itemOfEvent[event.eventID] = item.id
    if echo == remoteCount {
      items[echo] = item
      changes.append(.updated(at: echo, item))
    } else {
      items.remove(at: echo)
      items.insert(item, at: remoteCount)
      changes.append(.removed(echo..<(echo + 1)))
      changes.append(.inserted(at: remoteCount, [item]))
    }
    remoteCount += 1
    hasRead(item.sender, item.id)
  }

  mutating func makeItem(
    _ id: ItemID, _ event: TimelineEvent, _ content: TimelineItem.Content, _ replyTo: EventID?, ownUserID: UserID
  ) -> TimelineItem {
    var item = TimelineItem(
      id: id, eventID: event.eventID, sender: event.sender, timestampMilliseconds: event.timestampMilliseconds,
      content: content,
      delivery: .received, replyTo: replyTo)
    relations.echoes.forget(id)
    if let edit = event.bundledEdit { relations.add(edit, to: event.eventID) }
    relations.decorate(&item, ownUserID: ownUserID)
    return item
  }

  // MARK: Ends

  mutating func stopLoading() {
    if backState == .loading { backState = .idle }
    for i in items.indices {
      if case .gap(.loading) = items[i].content { items[i].content = .gap(.idle) }
    }
  }

}

extension TimelineItem {
  init(gap id: ItemID) {
    self.init(
      id: id, eventID: nil, sender: UserID(trusted: ""), timestampMilliseconds: 0, content: .gap(.idle),
      delivery: .received,
      replyTo: nil)
  }

  /// The file at hand saves the view from loading what it shows already.
  mutating func keepBlob(of echo: TimelineItem) {
    guard case .message(var message) = content, case .message(let old) = echo.content else { return }
    message.attachment?.blob = old.attachment?.blob
    content = .message(message)
  }

  var isMessage: Bool {
    switch content {
    case .message, .undecryptable: true
    default: false
    }
  }
}
