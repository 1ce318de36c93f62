public import ClientCore
import JSON
public import MatrixModel

/// A handle for a timeline of a room: live, around an event, of a thread, or of the pinned events. It has items when it is open.
///
///     let timeline = room.timeline()
///     for await steps in try await timeline.changes() { view.apply(steps) }
public struct MatrixTimeline: Sendable, Hashable {
  public let room: MatrixRoom
  public let focus: TimelineKey.Focus

  public var key: TimelineKey { TimelineKey(room.id, focus) }

  /// The current state; nil if the timeline is not open.
  public var state: Timeline? { get async { await room.client.timeline(key) } }
  /// The items, the oldest first; empty if the timeline is not open.
  public var items: [TimelineItem] { get async { await state?.items ?? [] } }

  /// Opens the timeline until `close`. Loads it from the store, or else from the server.
  /// - Throws: `unknownRoom`; the server's error if it refuses the first request.
  public func open() async throws(ClientError) { try await room.client.open(key) }

  public func close() async throws(ClientError) { try await room.client.perform(.timeline(.close(key))) }

  /// Opens the timeline and returns a stream of its changes. The first is `reset` with all current items.
  public func changes() async throws(ClientError) -> AsyncStream<[TimelineChange]> {
    try await open()
    return await room.client.changes(of: key)
  }

  /// Loads older events before the first item. Does nothing at the start of the room. If a page is already loading, waits for that one.
  ///
  ///     while try await timeline.paginateBack() {}  // to the start of the room
  ///
  /// - Returns: whether there are more events.
  @discardableResult
  public func paginateBack() async throws(ClientError) -> Bool {
    try await open()
    try await room.client.paginateBack(key)
    return await state?.backState != .atStart
  }

  /// Loads older events and fills gaps, until a number of items are at the end without a gap, or all items are loaded.
  /// - Parameter isCounted: returns whether an item counts. Gaps never count.
  /// - Throws: the server's error. The items that were loaded before stay.
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

  /// Returns the number of items after the last gap, and that gap.
  private func lastPiece(_ isCounted: (TimelineItem) -> Bool) async -> (found: Int, gap: ItemID?) {
    var found = 0
    for item in await items.reversed() {
      if case .gap = item.content { return (found, item.id) }
      if isCounted(item) { found += 1 }
    }
    return (found, nil)
  }

  /// Loads newer events after the last item. Does nothing if the timeline is live. If a page is already loading, waits for that one.
  /// - Returns: whether there are more events.
  @discardableResult
  public func paginateForward() async throws(ClientError) -> Bool {
    try await open()
    try await room.client.paginateForward(key)
    return await state?.forwardState != .live
  }

  /// Loads the events that are missing in a gap.
  public func fillGap(_ item: ItemID) async throws(ClientError) {
    try await room.client.perform(.timeline(.fillGap(key, item)))
  }

  /// Loads the event to which an item replies, for `TimelineItem.quoted`.
  public func loadReply(_ item: ItemID) async throws(ClientError) {
    try await room.client.perform(.timeline(.loadReply(key, item)))
  }

  /// Reports the last item that is visible. It counts as read while the client has the user's attention.
  public func viewed(upTo item: ItemID) async throws(ClientError) {
    try await room.client.perform(.reading(.viewed(room.id, upTo: item)))
  }
}

extension MatrixRoom {
  public func timeline(_ focus: TimelineKey.Focus = .live) -> MatrixTimeline { MatrixTimeline(room: self, focus: focus) }

  /// Opens the timeline around the first event at or after a time.
  /// - Parameter milliseconds: milliseconds since 1970.
  public func timeline(at milliseconds: Int64) async throws(ClientError) -> MatrixTimeline {
    guard case .timeline(let key) = try await client.result(of: .timeline(.jumpToDate(id, milliseconds))) else {
      throw .badAnswer
    }
    return timeline(key.focus)
  }

  /// Returns a stream of the messages that arrive from now on, including the user's own. Opens the room.
  public func messages() async -> AsyncStream<TimelineItem> { await client.messages(in: id) }

  /// Returns an event as the server sent it, with unknown fields. Sends a request only the first time.
  public func source(of event: EventID) async throws(ClientError) -> EventSource {
    guard case .event(let source) = try await client.result(of: .timeline(.loadEvent(id, event))) else { throw .badAnswer }
    return source
  }

  /// Reads a room that anyone can read, without joining it.
  /// - Throws: the server's error, `M_FORBIDDEN` if not everyone can read the room.
  public func peek(limit: Int? = nil) async throws(ClientError) -> RoomPeek {
    let state = try await client.perform(.state(of: id))
    let page = try await client.perform(.messages(in: id, limit: limit))
    return RoomPeek(state: state, messages: page)
  }
}

/// A room as a user sees it who is not a member.
public struct RoomPeek: Sendable {
  public let state: [Event]
  /// The messages, the newest first. `nextBatch` continues with `Query.messages`.
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

  /// Waits until no page is loading, whichever caller requested it.
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

  /// Returns a stream of the messages that arrive in a room from now on, including the user's own. Excludes older messages that are loaded
  /// later. Opens the room.
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

/// The state of a stream of messages: what it has delivered.
private struct Heard: Sendable {
  /// The last event before the stream; nil if there was none.
  let last: EventID?
  private var events: Set<EventID> = []

  init(last: EventID?) { self.last = last }

  /// Returns whether an item is a new message. Older items, which were loaded later, are before `last`.
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
