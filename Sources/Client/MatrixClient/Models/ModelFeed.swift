import ClientCore
import MatrixModel

/// Brings the news of a client to its models, in one hop to the main actor for all that has come together. Lives as long as one
/// of the models does; holds none of them.
@MainActor final class ModelFeed {
  let client: MatrixClient
  private var task: Task<Void, Never>?
  private weak var clientModel: ClientModel?
  private var lists: [Int: Weak<RoomListModel>] = [:]
  private var lastList = 0
  private var rooms: [RoomID: Weak<RoomModel>] = [:]
  private var timelines: [TimelineKey: Weak<TimelineModel>] = [:]
  /// Of every room that is in the order or a list, or has a model.
  private(set) var looks: [RoomID: RoomLook] = [:]
  private(set) var order: [RoomID] = []
  private var timelineModelsLimit = 16
  private var roomModelsLimit = 64
  /// Hops so far.
  private(set) var batchCount = 0

  private struct Weak<Model: AnyObject> {
    weak var model: Model?
  }

  init(_ client: MatrixClient) {
    self.client = client
    task = Task { [weak self, client] in
      let (id, bell) = await client.attachModels()
      self?.begin(id)
      for await _ in bell {
        guard let batch = await client.collectNews(for: id), let self else { break }
        apply(batch)
      }
      await client.detachModels(id)
    }
  }

  deinit { task?.cancel() }

  /// Of the mail at the client; nil until it is there.
  private var id: Int?

  // MARK: Models

  func attach(_ model: ClientModel) { clientModel = model }

  func roomList(_ query: RoomListQuery) -> RoomListModel {
    lists = lists.filter { $0.value.model != nil }
    lastList += 1
    let model = RoomListModel(self, query, RoomListWatch(lastList))
    lists[lastList] = Weak(model: model)
    if let id { model.watch.begin(id, client) }
    return model
  }

  func showMore(of section: RoomListSection, in list: RoomListWatch) async {
    if let id { await client.grow(section, ofList: list.key, for: id) }
  }

  func room(_ id: RoomID) -> RoomModel {
    if let model = rooms[id]?.model { return model }
    if rooms.count >= roomModelsLimit {
      rooms = rooms.filter { $0.value.model != nil }
      roomModelsLimit = max(64, rooms.count * 2)
    }
    let model = RoomModel(self, id, looks[id])
    rooms[id] = Weak(model: model)
    return model
  }

  func timeline(_ key: TimelineKey) -> TimelineModel {
    if let model = timelines[key]?.model { return model }
    if timelines.count >= timelineModelsLimit {
      timelines = timelines.filter { $0.value.model != nil }
      timelineModelsLimit = max(16, timelines.count * 2)
    }
    let model = TimelineModel(self, key)
    timelines[key] = Weak(model: model)
    if let id { TimelineWatch.begin(key, model.watch, id, client) }
    return model
  }

  /// The client listens: to those that were asked for before as well.
  private func begin(_ id: Int) {
    self.id = id
    for weak in lists.values { weak.model?.watch.begin(id, client) }
    for (key, weak) in timelines {
      if let model = weak.model { TimelineWatch.begin(key, model.watch, id, client) }
    }
  }

  // MARK: News

  private func apply(_ batch: ModelBatch) {
    batchCount += 1
    if let account = batch.account { clientModel?.take(account) }
    for (look, aspects) in batch.rooms {
      looks[look.id] = look
      rooms[look.id]?.model?.take(look, aspects)
    }
    for news in batch.lists { lists[news.key]?.model?.take(news) }
    if let new = batch.order {
      order = new
      forgetLooks()
    }
    for news in batch.timelines { timelines[news.key]?.model?.take(news) }
    if batch.order != nil || !batch.rooms.isEmpty { clientModel?.takeCounts(counts) }
  }

  /// Of rooms that nobody shows any more.
  private func forgetLooks() {
    let listed = lists.values.reduce(into: Set(order)) { $0.formUnion($1.model?.roomIDs ?? []) }
    looks = looks.filter { listed.contains($0.key) || rooms[$0.key]?.model != nil }
  }

  /// Of all rooms in the order.
  var counts: (notifications: Int, highlights: Int) {
    order.reduce(into: (0, 0)) { sum, id in
      sum.0 += looks[id]?.notificationCount ?? 0
      sum.1 += looks[id]?.highlightCount ?? 0
    }
  }
}

/// Keeps a timeline open for a model. It closes when the model goes, unless it was open before.
final class TimelineWatch: Sendable {
  static func begin(_ key: TimelineKey, _ watch: TimelineWatch, _ feed: Int, _ client: MatrixClient) {
    // The watch is not held while the client works: the model may go at any time.
    Task { [weak watch] in
      guard watch != nil else { return }
      await client.watch(key, for: feed)
      if watch == nil { await client.unwatch(key) }
    }
  }

  private let key: TimelineKey
  private let client: MatrixClient

  init(_ key: TimelineKey, _ client: MatrixClient) {
    self.key = key
    self.client = client
  }

  deinit { Task { [key, client] in await client.unwatch(key) } }
}
