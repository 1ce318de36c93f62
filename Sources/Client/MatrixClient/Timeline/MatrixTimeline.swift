public import ClientCore
import JSON
public import MatrixModel

/// A timeline of a room: at its end, around an event, of a thread, of what is pinned. A handle; it has items once it is open.
///
///     let timeline = room.timeline()
///     for await steps in try await timeline.changes() { view.apply(steps) }
public struct MatrixTimeline: Sendable, Hashable {
  public let room: MatrixRoom
  public let focus: TimelineKey.Focus

  public var key: TimelineKey { TimelineKey(room.id, focus) }

  /// As it is now; nil where it is not open.
  public var state: Timeline? { get async { await room.client.timeline(key) } }
  /// The oldest first; empty where it is not open.
  public var items: [TimelineItem] { get async { await state?.items ?? [] } }

  /// Has it loaded, from the store and where that does not have it from the server, and kept until `close`.
  /// - Throws: `unknownRoom`; what the server said to what it begins with.
  public func open() async throws(ClientError) { try await room.client.open(key) }

  public func close() async throws(ClientError) { try await room.client.perform(.timeline(.close(key))) }

  /// The steps from nothing to what it is and will be: first `reset` with all items there are, then what changes. Opens it.
  public func changes() async throws(ClientError) -> AsyncStream<[TimelineChange]> {
    try await open()
    return await room.client.changes(of: key)
  }

  /// Older events in front of the first item; nothing at the start of the room. Where a page is under way already, it waits for that one.
  ///
  ///     while try await timeline.paginateBack() {}  // to the start of the room
  ///
  /// - Returns: whether there is more.
  @discardableResult
  public func paginateBack() async throws(ClientError) -> Bool {
    try await open()
    try await room.client.paginateBack(key)
    return await state?.backState != .atStart
  }

  /// Pages back, and fills gaps on the way, until so many items stand in one piece at the end, or all there are.
  /// - Parameter isCounted: which of them count; gaps do not.
  /// - Throws: what the server said; what had come by then stays.
  public func loadLast(
    _ count: Int, counting isCounted: (TimelineItem) -> Bool = { _ in true }
  ) async throws(ClientError) {
    try await open()
    // A server that always has one more page ends here.
    for _ in 0..<Self.pagesLimit {
      let (found, gap) = await lastPiece(isCounted)
      if found >= count { return }
      if let gap {
        try await fillGap(gap)
      } else {
        guard try await paginateBack() else { return }
      }
    }
  }

  private static let pagesLimit = 200

  /// How many there are behind the last gap, and that gap.
  private func lastPiece(_ isCounted: (TimelineItem) -> Bool) async -> (found: Int, gap: ItemID?) {
    var found = 0
    for item in await items.reversed() {
      if case .gap = item.content { return (found, item.id) }
      if isCounted(item) { found += 1 }
    }
    return (found, nil)
  }

  /// Newer events behind the last item; nothing where it is live. Where a page is under way already, it waits for that one.
  /// - Returns: whether there is more.
  @discardableResult
  public func paginateForward() async throws(ClientError) -> Bool {
    try await open()
    try await room.client.paginateForward(key)
    return await state?.forwardState != .live
  }

  /// Brings what is missing there.
  public func fillGap(_ item: ItemID) async throws(ClientError) {
    try await room.client.perform(.timeline(.fillGap(key, item)))
  }

  /// What a reply answers, for `TimelineItem.quoted`.
  public func loadReply(_ item: ItemID) async throws(ClientError) {
    try await room.client.perform(.timeline(.loadReply(key, item)))
  }

  /// The last item that is on the screen: it is read while the client has the attention.
  public func viewed(upTo item: ItemID) async throws(ClientError) {
    try await room.client.perform(.reading(.viewed(room.id, upTo: item)))
  }
}

extension MatrixRoom {
  public func timeline(_ focus: TimelineKey.Focus = .live) -> MatrixTimeline { MatrixTimeline(room: self, focus: focus) }

  /// Opens the timeline around the first event at or after that time.
  /// - Parameter milliseconds: since 1970.
  public func timeline(at milliseconds: Int64) async throws(ClientError) -> MatrixTimeline {
    guard case .timeline(let key) = try await client.result(of: .timeline(.jumpToDate(id, milliseconds))) else {
      throw .badAnswer
    }
    return timeline(key.focus)
  }

  /// Messages that come in from now on, own ones included. Opens the room.
  public func messages() async -> AsyncStream<TimelineItem> { await client.messages(in: id) }

  /// An event as the server sent it, unknown fields and all; a second time without a request.
  public func source(of event: EventID) async throws(ClientError) -> EventSource {
    guard case .event(let source) = try await client.result(of: .timeline(.loadEvent(id, event))) else { throw .badAnswer }
    return source
  }

  /// What can be read of a room that anybody may read, without being in it.
  /// - Throws: what the server said: `M_FORBIDDEN` where not anybody may.
  public func peek(limit: Int? = nil) async throws(ClientError) -> RoomPeek {
    let state = try await client.perform(.state(of: id))
    let page = try await client.perform(.messages(in: id, limit: limit))
    return RoomPeek(state: state, messages: page)
  }
}

/// A room as somebody sees it who is not in it.
public struct RoomPeek: Sendable {
  public let state: [Event]
  /// The newest first; `nextBatch` goes on with `Query.messages`.
  public let messages: EventPage

  public var name: ByteString? { state.first { $0.type == .name }?.content["name"]?.text }
  public var topic: ByteString? { state.first { $0.type == .topic }?.content["topic"]?.text }
  public var joinedMemberCount: Int {
    state.filter { $0.type == .member && $0.content["membership"]?.isString("join") ?? false }.count
  }
}

extension MatrixClient {
  func timeline(_ key: TimelineKey) -> Timeline? { core.timeline(key) }

  func open(_ key: TimelineKey) async throws(ClientError) {
    try await perform(.timeline(.open(key)))
    guard key.focus == .live else { return }
    guard core.room(key.room) != nil else { throw .unknownRoom }
    await wait { $0.timeline(key).map { $0.loadState == .loaded } ?? true }
  }

  /// Ends when no page is under way any more, whoever has asked for it.
  func paginateBack(_ key: TimelineKey) async throws(ClientError) {
    try await perform(.timeline(.paginateBack(key)))
    await wait { $0.timeline(key)?.backState != .loading }
    if Task.isCancelled { throw .cancelled }
  }

  func paginateForward(_ key: TimelineKey) async throws(ClientError) {
    try await perform(.timeline(.paginateForward(key)))
    await wait { $0.timeline(key)?.forwardState != .loading }
    if Task.isCancelled { throw .cancelled }
  }

  func changes(of key: TimelineKey) -> AsyncStream<[TimelineChange]> {
    observe(startingWith: [.reset(core.timeline(key)?.items ?? [])]) { change, _ in
      if case .timeline(key, let steps) = change { steps } else { nil }
    }
  }

  /// Messages that come into a room from now on, own ones included; not older ones that somebody pages back to. Opens the room.
  public func messages(in room: RoomID) async -> AsyncStream<TimelineItem> {
    handle(.command(.timeline(.openRoom(room)), id: 0))
    let heard = Memory(heard(in: room))
    let messages: AsyncStream<TimelineItem> = stream { change, client in
      guard case .timeline(.live(room), let steps) = change, let timeline = client.core.timeline(.live(room)) else { return [] }
      guard heard.change({ $0 != nil }) else {
        let present = client.heard(in: room)
        heard.change { $0 = present }
        return []
      }
      return steps.flatMap { $0.newItems }.filter { item in heard.change { $0?.isNew(item, in: timeline) ?? false } }
    }
    await wait { $0.room(room).map { $0.timeline.loadState == .loaded } ?? true }
    return messages
  }

  /// nil until the timeline is loaded.
  private func heard(in room: RoomID) -> Heard? {
    guard let timeline = core.timeline(.live(room)), timeline.loadState == .loaded else { return nil }
    return Heard(last: timeline.items.last { $0.eventID != nil }?.eventID)
  }
}

/// What somebody who listens to a room has heard.
private struct Heard: Sendable {
  /// The last event that was there before; nil where there was none.
  let last: EventID?
  private var events: Set<EventID> = []

  init(last: EventID?) { self.last = last }

  /// What is paged back to stands in front of the last event that was there.
  mutating func isNew(_ item: TimelineItem, in timeline: Timeline) -> Bool {
    guard case .message = item.content, case .received = item.delivery, let event = item.eventID,
      let place = timeline.index(of: event)
    else { return false }
    if let last, let end = timeline.index(of: last), place <= end { return false }
    return events.insert(event).inserted
  }
}

extension TimelineChange {
  fileprivate var newItems: [TimelineItem] {
    switch self {
    case .inserted(_, let items): items
    case .updated(_, let item): [item]
    case .removed, .reset: []
    }
  }
}
