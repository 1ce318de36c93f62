import JSON
import MatrixModel

/// The items of a room in the order of the server, the person's own messages on their way last.
public struct Timeline: Sendable {
  public enum BackState: UInt8, Sendable {
    /// There may be older events.
    case idle
    case loading
    /// The last page did not come; `TimelineCommand.paginateBack` tries again.
    case failed
    /// The first item is the start of the room.
    case atStart
  }

  public enum LoadState: UInt8, Sendable {
    case unloaded, loading, loaded
    /// The server did not give what it begins with; opening it again tries again.
    case failed
  }

  public enum ForwardState: UInt8, Sendable {
    /// There are newer events.
    case idle
    case loading
    /// The last page did not come; `TimelineCommand.paginateForward` tries again.
    case failed
    /// News come at the end.
    case live
  }

  public internal(set) var items: [TimelineItem] = []
  public internal(set) var backState = BackState.idle
  public internal(set) var forwardState = ForwardState.live
  public internal(set) var loadState = LoadState.unloaded

  let focus: TimelineKey.Focus
  /// Whether what is said in threads stands here too.
  var showsThreads = false
  /// Items that the server has given; behind them are the echoes.
  var remoteCount = 0
  /// What is in front of the first item, and in each gap.
  var head = SegmentEdge()
  var gaps: [ItemID: SegmentEdge] = [:]
  /// Where to page forward from, in a timeline that is not live.
  var tailToken: ByteString?
  /// The segment that was read last; what the store has before it is not in memory. nil where there is nothing.
  var storedBefore: SegmentPosition?
  /// The item of each known event. An event without an own item belongs to the item before it, or to 0 if there is no such item.
  var itemOfEvent: [EventID: ItemID] = [:]
  @Boxed var relations = Relations()
  /// Which items events had before the timeline was read anew: they have them again.
  var formerItems: [EventID: ItemID] = [:]
  /// Items by the event that they answer, and such events as are not among the items.
  var quoting: [EventID: [ItemID]] = [:]
  var quotedElsewhere: [EventID: QuoteSource] = [:]
  /// Of a thread: waits for the beginning of the thread.
  var root: Boxed<TimelineEvent>?
  /// Events in front without an item of their own, whose place is the next item that comes in front.
  var unplacedEvents: [EventID] = []
  /// Segments that came while the store was reading.
  var waiting: [Segment] = []
  /// What is under way while `loadState` is `loading`.
  var load: LoadID?
  /// Segments the store has read, waiting for the members.
  var waitingRecords: [StoreRecord]?
  /// The last item each member has read or written.
  var readPositions: [UserID: ItemID] = [:]
  var readers: [ItemID: Set<UserID>] = [:]
  /// Items that somebody has read by writing after them, and that nobody has been told of yet.
  private var readByWriting: Range<Int>?

  init(_ focus: TimelineKey.Focus = .live) {
    self.focus = focus
    if case .event = focus { forwardState = .idle }
  }

  /// Edits, reactions, votes and the like of all timelines of a room are known to those that are opened later.
  init(_ focus: TimelineKey.Focus, relations: Boxed<Relations>) {
    self.init(focus)
    $relations = relations
    loadState = .loading
  }

  /// With everything known about the item's event.
  mutating func decorate(_ index: Int, ownUserID: UserID) {
    _relations.wrappedValue.decorate(&items[index], ownUserID: ownUserID)
  }

  /// O(items behind it).
  public func index(of id: ItemID) -> Int? { items.lastIndex { $0.id == id } }

  /// O(items behind it). nil where the event is not in memory or has no item.
  public func index(of event: EventID) -> Int? {
    guard let id = itemOfEvent[event], let i = index(of: id), items[i].eventID == event else { return nil }
    return i
  }

  /// O(items behind it). nil where it is not in memory.
  public func item(_ id: ItemID) -> TimelineItem? { index(of: id).map { items[$0] } }

  /// The item at which the event stands: its own, or for events without one the item before. O(1).
  public func item(at event: EventID) -> ItemID? { itemOfEvent[event].flatMap { $0 == 0 ? nil : $0 } }

  // MARK: New events

  /// Takes events at the end, the oldest first.
  mutating func append(_ events: [TimelineEvent], ownUserID: UserID, _ ids: inout ItemIDs) -> [TimelineChange] {
    var changes: [TimelineChange] = []
    var run: [TimelineItem] = []
    let first = remoteCount
    // All of what they say of each other first: then each item is made once.
    for event in events { relations.take(event) }
    for event in events where itemOfEvent[event.eventID] == nil {
      guard case .item(let content, let replyTo) = event.kind, accepts(event) else {
        note(event, before: run.last)
        continue
      }
      if let echo = echoIndex(of: event) {
        let moved = run.count
        flush(&run, ownUserID: ownUserID, &changes)
        adopt(echo + moved, event, content, replyTo, ownUserID: ownUserID, &changes)
      } else {
        let item = makeItem(ids.next(), event, content, replyTo)
        itemOfEvent[event.eventID] = item.id
        run.append(item)
      }
    }
    flush(&run, ownUserID: ownUserID, &changes)
    renewTouched(except: first..<remoteCount, ownUserID: ownUserID, &changes)
    return changes
  }

  /// Whether the event's item belongs here.
  func accepts(_ event: TimelineEvent) -> Bool {
    !event.isHidden(from: relations.ignored) && !relations.removed.contains(event.eventID)
      && accepts(event.eventID, threadRoot: event.threadRoot)
  }

  private func accepts(_ event: EventID?, threadRoot: EventID?) -> Bool {
    switch focus {
    case .live, .event: showsThreads || threadRoot == nil
    case .thread(let root): threadRoot == root || event == root
    case .pinned: false
    }
  }

  /// An event without an item here stands at the item before it, so that receipts find it.
  private mutating func note(_ event: TimelineEvent, before: TimelineItem?) {
    switch focus {
    case .live, .event: itemOfEvent[event.eventID] = before?.id ?? (remoteCount > 0 ? items[remoteCount - 1].id : 0)
    case .thread, .pinned: break
    }
  }

  private mutating func flush(_ run: inout [TimelineItem], ownUserID: UserID, _ changes: inout [TimelineChange]) {
    guard !run.isEmpty else { return }
    place(run, at: remoteCount, ownUserID: ownUserID, &changes)
    for item in run { hasWritten(item) }
    run = []
  }

  private mutating func hasWritten(_ item: TimelineItem) {
    guard let read = hasRead(item.sender, item.id) else { return }
    readByWriting = readByWriting.map { min($0.lowerBound, read.lowerBound)..<max($0.upperBound, read.upperBound) } ?? read
  }

  /// Items whose counts are different because somebody has written, since the last call.
  mutating func takeReadByWriting() -> Range<Int>? {
    defer { readByWriting = nil }
    return readByWriting
  }

  // MARK: Echoes

  /// Appends a local echo. Does nothing if the timeline has not reached its end or the echo belongs to another thread.
  mutating func appendEcho(_ item: TimelineItem) -> [TimelineChange] {
    guard forwardState == .live, accepts(nil, threadRoot: item.threadRoot) else { return [] }
    items.append(item)
    link(items.count - 1, ownUserID: item.sender)
    return [.inserted(at: items.count - 1, [items[items.count - 1]])]
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
    relations.echoes.forget(items[echo].id)
    var item = makeItem(items[echo].id, event, content, replyTo)
    item.keepBlob(of: items[echo])
    itemOfEvent[event.eventID] = item.id
    if echo == remoteCount {
      relations.decorate(&item, ownUserID: ownUserID)
      items[echo] = item
      link(echo, ownUserID: ownUserID)
      remoteCount += 1
      changes.append(.updated(at: echo, items[echo]))
      renewQuotes(of: event.eventID, ownUserID: ownUserID, &changes)
    } else {
      items.remove(at: echo)
      changes.append(.removed(echo..<(echo + 1)))
      place([item], at: remoteCount, ownUserID: ownUserID, &changes)
    }
    hasWritten(item)
  }

  /// The item as its event alone has it.
  func makeItem(
    _ id: ItemID, _ event: TimelineEvent, _ content: TimelineItem.Content, _ replyTo: EventID?
  ) -> TimelineItem {
    var item = TimelineItem(
      id: id, eventID: event.eventID, sender: event.sender, timestampMilliseconds: event.timestampMilliseconds,
      content: content,
      delivery: .received, replyTo: replyTo)
    item.threadRoot = event.threadRoot
    (item.eventTrust, item.wasEncrypted, item.keyGiver) = (event.trust, event.wasEncrypted, event.keyGiver)
    if !event.wasEncrypted, content.wouldBeEncrypted, relations.isAfterEncryption(event) { item.eventTrust = .unencrypted }
    item.trust = item.eventTrust
    return item
  }

  // MARK: Ends

  /// All that the server has given goes; what comes again keeps its identity.
  mutating func letGo() {
    for item in items[..<remoteCount] {
      if let event = item.eventID { formerItems[event] = item.id }
    }
    items = []
    remoteCount = 0
  }

  /// Whether it reaches the newest event, and nothing is being read or asked for.
  var isAtRest: Bool {
    guard loadState == .loaded, forwardState == .live, backState != .loading else { return false }
    for gap in gaps.keys {
      if case .gap(.loading) = item(gap)?.content { return false }
    }
    return true
  }

  mutating func stopLoading() {
    if backState == .loading { backState = .idle }
    if forwardState == .loading { forwardState = .idle }
    if loadState == .loading, focus != .live { loadState = .failed }
    for i in items.indices {
      if case .gap(.loading) = items[i].content { items[i].content = .gap(.idle) }
    }
  }

}

extension TimelineItem.Content {
  /// Whether it is a message that clients encrypt in encrypted rooms. Live locations are state.
  fileprivate var wouldBeEncrypted: Bool {
    if case .message(let message) = self { message.kind != .liveLocation } else { false }
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
