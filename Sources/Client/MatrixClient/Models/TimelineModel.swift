public import ClientCore
public import MatrixModel
public import Observation

/// The model of a timeline for views. The timeline is open while the model lives.
@MainActor @Observable public final class TimelineModel: Identifiable {
  public nonisolated let id: TimelineKey
  /// The items in the order of the server, with unsent messages last. An item keeps its ID from the local echo to the event.
  public private(set) var items: [TimelineItem] = []
  public private(set) var loadState = Timeline.LoadState.loading
  /// Whether there are events before the first item.
  public private(set) var backState = Timeline.BackState.idle
  /// Whether there are events after the last item.
  public private(set) var forwardState = Timeline.ForwardState.live
  /// The names and avatars of the users who sent or have read the items.
  public private(set) var members: [UserID: TimelineMember] = [:]
  /// The users whose last read item this is, including its sender, in the order of their user IDs. Only for the live timeline.
  public private(set) var readers: [ItemID: [UserID]] = [:]
  private var joinedMemberCount: Int?
  private var ownUserID: UserID?

  @ObservationIgnored private let feed: ModelFeed
  @ObservationIgnored let watch: TimelineWatch

  init(_ feed: ModelFeed, _ key: TimelineKey) {
    self.feed = feed
    id = key
    watch = TimelineWatch(key, feed.client)
  }

  public nonisolated var room: MatrixRoom { MatrixRoom(client: feed.client, id: id.room) }

  /// Returns the name of the item's sender, or the user ID if the name is unknown.
  public func senderName(of item: TimelineItem) -> String { members[item.sender]?.name ?? item.sender.string }

  // MARK: Readers

  /// Returns the other users whose read receipt is at the item, without its sender. They have read nothing after it.
  public func receipts(at item: TimelineItem) -> [UserID] {
    readers[item.id]?.filter { $0 != item.sender && $0 != ownUserID } ?? []
  }

  /// Returns the other users who have read the item or a later one, without its sender, in the order of their user IDs. O(items after it).
  public func readers(of item: TimelineItem) -> [UserID] {
    guard let index = items.lastIndex(where: { $0.id == item.id }) else { return [] }
    return items[index...].flatMap { readers[$0.id] ?? [] }.filter { $0 != item.sender && $0 != ownUserID }.sorted()
  }

  /// Returns the number of members who have not read the item, without its sender. Returns nil for gaps and unsent messages, in timelines that
  /// are not live, and if the user is not in the room. O(items after it).
  public func unreadMemberCount(of item: TimelineItem) -> Int? {
    guard let joinedMemberCount, id.focus == .live, item.eventID != nil, case .received = item.delivery,
      let index = items.lastIndex(where: { $0.id == item.id })
    else { return nil }
    return max(0, joinedMemberCount - items[index...].reduce(0) { $0 + (readers[$1.id]?.count ?? 0) })
  }

  // MARK: Paging

  /// Loads older events. Returns when they are in `items`. Does nothing at the start of the room.
  public func loadEarlier() async throws(ClientError) { try await feed.client.paginateBack(id) }
  /// Loads newer events. Returns when they are in `items`. Does nothing if the timeline is live.
  public func loadLater() async throws(ClientError) { try await feed.client.paginateForward(id) }
  /// Fills a gap. Call it when the gap is visible.
  public func fillGap(_ item: ItemID) async throws(ClientError) { try await perform(.timeline(.fillGap(id, item))) }
  /// Loads the event to which the item replies, for `TimelineItem.quoted`.
  public func loadReply(_ item: ItemID) async throws(ClientError) { try await perform(.timeline(.loadReply(id, item))) }

  /// Reports the last item that is fully visible. It counts as read when the window has the focus.
  public func viewed(upTo item: ItemID) async throws(ClientError) { try await perform(.reading(.viewed(id.room, upTo: item))) }

  // MARK: Writing

  /// Sends a text. It is in the timeline at once. In a thread's timeline, it goes into the thread.
  public func send(_ text: String) async throws(ClientError) { try await send(.text(ByteString(text))) }

  public func send(_ message: OutgoingMessage) async throws(ClientError) {
    var message = message
    if case .thread(let root) = id.focus, message.threadRoot == nil {
      message = message.inThread(.event(root), latest: items.last { $0.eventID != nil }?.eventID)
    }
    try await perform(.sending(.send(id.room, message)))
  }

  public func edit(_ item: ItemID, _ text: String) async throws(ClientError) {
    try await perform(.sending(.edit(id.room, .item(item), FormattedText(ByteString(text)))))
  }

  /// Adds the user's reaction, or removes it.
  public func toggleReaction(_ key: String, to item: ItemID) async throws(ClientError) {
    try await perform(.sending(.toggleReaction(id.room, .item(item), key: ByteString(key))))
  }

  /// Replaces the user's reaction, for rooms in which each user has at most one reaction to a message. nil removes it. Does nothing if the
  /// reaction is already the same.
  public func setReaction(_ key: String?, to item: ItemID) async throws(ClientError) {
    try await feed.client.setReaction(key.map { ByteString($0) }, to: item, in: id)
  }

  public func redact(_ item: ItemID, reason: String? = nil) async throws(ClientError) {
    try await perform(.sending(.redact(id.room, .item(item), reason: reason.map { ByteString($0) })))
  }

  /// Retries a failed message.
  public func retry(_ item: ItemID) async throws(ClientError) { try await perform(.sending(.retry(id.room, .item(item)))) }
  /// Cancels a message that is not sent yet.
  public func cancel(_ item: ItemID) async throws(ClientError) { try await perform(.sending(.cancel(id.room, .item(item)))) }

  private func perform(_ command: Command) async throws(ClientError) { try await feed.client.perform(command) }

  // MARK: News

  func take(_ news: TimelineNews) {
    let new = news.members.filter { members[$0.key] != $0.value }
    if !new.isEmpty { members.merge(new) { $1 } }
    if let all = news.readers, readers != all { readers = all }
    if joinedMemberCount != news.look.joinedMemberCount { joinedMemberCount = news.look.joinedMemberCount }
    if ownUserID != news.look.ownUserID { ownUserID = news.look.ownUserID }
    if !news.steps.isEmpty { take(news.steps) }
    if loadState != news.look.loadState { loadState = news.look.loadState }
    if backState != news.look.backState { backState = news.look.backState }
    if forwardState != news.look.forwardState { forwardState = news.look.forwardState }
  }

  private func take(_ steps: [TimelineChange]) {
    // Observers hear of all of them at once.
    var items = items
    for step in steps {
      switch step {
      case .inserted(let index, let new): items.insert(contentsOf: new, at: min(index, items.count))
      case .updated(let index, let item): if items.indices.contains(index) { items[index] = item }
      case .removed(let range): items.removeSubrange(range.clamped(to: 0..<items.count))
      case .reset(let new): items = new
      }
    }
    self.items = items
  }
}

extension TimelineItem: Identifiable {}
