public import ClientCore
public import MatrixModel
public import Observation

/// A timeline for views: open while the model lives.
@MainActor @Observable public final class TimelineModel: Identifiable {
  public nonisolated let id: TimelineKey
  /// In the order of the server, own messages on their way last. Identities stay from the local echo to the event.
  public private(set) var items: [TimelineItem] = []
  public private(set) var loadState = Timeline.LoadState.loading
  /// Whether there is something before the first item.
  public private(set) var backState = Timeline.BackState.idle
  /// Whether there is something behind the last item.
  public private(set) var forwardState = Timeline.ForwardState.live
  /// Names and pictures of those who wrote the items or have read them.
  public private(set) var members: [UserID: TimelineMember] = [:]
  /// Who has read up to an item and no further, whoever wrote it among them, in user ID order. Of the live timeline.
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

  /// The name of who wrote the item; the user ID where it is not known.
  public func senderName(of item: TimelineItem) -> String { members[item.sender]?.name ?? item.sender.string }

  // MARK: Readers

  /// Others whose read receipts stand at the item: they have read it and nothing behind it. Not whoever wrote it.
  public func receipts(at item: TimelineItem) -> [UserID] {
    readers[item.id]?.filter { $0 != item.sender && $0 != ownUserID } ?? []
  }

  /// Others who have read the item, those who have read further among them, in user ID order. Not whoever wrote it. O(items behind it).
  public func readers(of item: TimelineItem) -> [UserID] {
    guard let index = items.lastIndex(where: { $0.id == item.id }) else { return [] }
    return items[index...].flatMap { readers[$0.id] ?? [] }.filter { $0 != item.sender && $0 != ownUserID }.sorted()
  }

  /// How many members have not read the item yet, whoever wrote it not counted; nil where nobody can tell: gaps, own messages on their
  /// way, timelines that are not live, rooms one is not in. O(items behind it).
  public func unreadMemberCount(of item: TimelineItem) -> Int? {
    guard let joinedMemberCount, id.focus == .live, item.eventID != nil, case .received = item.delivery,
      let index = items.lastIndex(where: { $0.id == item.id })
    else { return nil }
    return max(0, joinedMemberCount - items[index...].reduce(0) { $0 + (readers[$1.id]?.count ?? 0) })
  }

  // MARK: Paging

  /// Older events in front; ends when they are there. Nothing happens at the start of the room.
  public func loadEarlier() async throws(ClientError) { try await feed.client.paginateBack(id) }
  /// Newer events behind; ends when they are there. Nothing happens where it is live.
  public func loadLater() async throws(ClientError) { try await feed.client.paginateForward(id) }
  /// The gap is on the screen.
  public func fillGap(_ item: ItemID) async throws(ClientError) { try await perform(.timeline(.fillGap(id, item))) }
  /// What the item answers, for `TimelineItem.quoted`.
  public func loadReply(_ item: ItemID) async throws(ClientError) { try await perform(.timeline(.loadReply(id, item))) }

  /// The last item that is fully on the screen: it counts as read once the window has the focus.
  public func viewed(upTo item: ItemID) async throws(ClientError) { try await perform(.reading(.viewed(id.room, upTo: item))) }

  // MARK: Writing

  /// Stands in the timeline at once. In a thread's timeline it goes into the thread.
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

  /// Reacts, or takes the own reaction back.
  public func toggleReaction(_ key: String, to item: ItemID) async throws(ClientError) {
    try await perform(.sending(.toggleReaction(id.room, .item(item), key: ByteString(key))))
  }

  /// For rooms where everybody has one reaction to a message: the own one is this, whatever it was; nil takes it back. Nothing happens where it is so
  /// already.
  public func setReaction(_ key: String?, to item: ItemID) async throws(ClientError) {
    try await feed.client.setReaction(key.map { ByteString($0) }, to: item, in: id)
  }

  public func redact(_ item: ItemID, reason: String? = nil) async throws(ClientError) {
    try await perform(.sending(.redact(id.room, .item(item), reason: reason.map { ByteString($0) })))
  }

  /// A failed message once more.
  public func retry(_ item: ItemID) async throws(ClientError) { try await perform(.sending(.retry(id.room, .item(item)))) }
  /// Takes back what is not sent yet.
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
