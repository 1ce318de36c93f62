import ClientCore
import MatrixModel

/// What has happened since the models of a `ModelFeed` last looked. The client keeps it and rings once, however much comes before
/// they look.
struct ModelMail: Sendable {
  private let bell: AsyncStream<Void>.Continuation
  /// What they show from the beginning counts as news.
  private var hasAccountNews = true
  private var hasOrderNews = true
  private var isAboutAllRooms = true
  private var rooms: [RoomID: RoomAspects] = [:]
  /// Lists that models show, by what the feed calls them.
  private var lists: [Int: RoomListMail] = [:]
  private var hasListNews = false
  /// Timelines that models show.
  private var timelines: [TimelineKey: TimelineMail] = [:]

  init(_ bell: AsyncStream<Void>.Continuation) {
    self.bell = bell
    bell.yield()
  }

  // MARK: Lists

  func list(_ key: Int) -> RoomListID? { lists[key]?.id }
  var listIDs: [RoomListID] { lists.values.map { $0.id } }

  mutating func watch(_ id: RoomListID, as key: Int) { lists[key] = RoomListMail(id) }
  mutating func unwatch(_ key: Int) { lists[key] = nil }

  // MARK: Timelines

  /// The timeline comes whole, then by steps.
  mutating func watch(_ key: TimelineKey, _ items: [TimelineItem]) {
    timelines[key] = TimelineMail(items)
    bell.yield()
  }

  mutating func unwatch(_ key: TimelineKey) { timelines[key] = nil }

  // MARK: News

  mutating func take(_ change: Change) {
    switch change {
    case .session, .connection, .profile: hasAccountNews = true
    case .roomOrder: hasOrderNews = true
    case .room(let id, let aspects):
      rooms[id, default: []].formUnion(aspects)
      // Rooms behind those that are shown count as well.
      hasListNews = true
      for key in timelines.keys where key.room == id { timelines[key]?.touch() }
    case .members(let id, let users):
      rooms[id, default: []].formUnion([.name, .typing, .preview])
      for key in timelines.keys where key.room == id { timelines[key]?.take(users) }
    case .timeline(let key, let steps):
      guard timelines[key] != nil else { return }
      timelines[key]?.take(steps)
    case .readCounts(let id, _):
      guard timelines[.live(id)] != nil else { return }
      timelines[.live(id)]?.takeReaders()
    case .roomList(let id, let steps):
      guard let key = lists.first(where: { $0.value.id == id })?.key else { return }
      lists[key]?.take(steps)
      hasListNews = true
    case .pushRules: isAboutAllRooms = true
    case .commandFinished, .sending, .storeFailed, .breadcrumbs, .spaces, .spaceCounts, .ignoredUsers, .presence, .arrived,
      .receipts, .accountData, .quietHours:
      return
    }
    bell.yield()
  }

  func close() { bell.finish() }

  /// Hands over the news, with what there is to see of them now.
  mutating func collect(_ core: Client) -> ModelBatch {
    var batch = ModelBatch()
    if hasAccountNews { batch.account = AccountLook(core) }
    if hasOrderNews { batch.order = core.roomIDs }
    if isAboutAllRooms { for id in core.roomIDs { rooms[id] = .all } }
    if hasListNews { batch.lists = lists.keys.compactMap { lists[$0]?.collect($0, core) } }
    // The others have been shown before, or are in the order.
    for id in batch.lists.flatMap({ $0.newRooms }) where !core.isInOrder(id) { rooms[id] = .all }
    for (id, aspects) in rooms {
      if let room = core.room(id) { batch.rooms.append((RoomLook(room, in: core), aspects)) }
    }
    for key in timelines.keys {
      if let news = timelines[key]?.collect(key, core) { batch.timelines.append(news) }
    }
    forgetNews()
    return batch
  }

  private mutating func forgetNews() {
    hasAccountNews = false
    hasOrderNews = false
    isAboutAllRooms = false
    hasListNews = false
    rooms = [:]
  }
}

extension Client {
  /// Whether it is among `roomIDs`.
  fileprivate func isInOrder(_ id: RoomID) -> Bool {
    let membership = room(id)?.membership
    return membership == .join || membership == .invite
  }
}
