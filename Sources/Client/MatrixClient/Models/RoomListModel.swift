public import ClientCore
public import MatrixModel
public import Observation

/// The model of a list of rooms for views: filtered and sorted sections. They stay up to date while the model lives.
///
///     ForEach(list.sections) { section in
///       Section("\(section.id)") { ForEach(section.rooms, id: \.self) { RoomRow(list[$0]) } }
///     }
///     .searchable(text: $list.searchText)
///
/// It applies each change as steps (`RoomListChange`), so that a room that moves stays the same row.
@MainActor @Observable public final class RoomListModel {
  public struct Section: Sendable, Hashable, Identifiable {
    public let id: RoomListSection
    /// The visible rooms, in the order of the query. A long section starts with its first pages.
    public internal(set) var rooms: [RoomID] = []
    /// The number of rooms in the section, visible or not.
    public internal(set) var count = 0

    public var hasMore: Bool { count > rooms.count }
  }

  /// The sections in the order of the query, including empty ones.
  public private(set) var sections: [Section]
  /// Whether the list shows the result of the query. False until the client has returned it.
  public private(set) var isLoaded = false
  /// The query. A new value applies at once.
  public var query: RoomListQuery {
    didSet { watch.show(query) }
  }

  @ObservationIgnored private let feed: ModelFeed
  @ObservationIgnored let watch: RoomListWatch

  init(_ feed: ModelFeed, _ query: RoomListQuery, _ watch: RoomListWatch) {
    self.feed = feed
    self.query = query
    self.watch = watch
    sections = query.sections.map { Section(id: $0) }
    watch.show(query)
  }

  /// The text to search for in the names of the rooms, see `RoomListFilter.words`.
  public var searchText: String {
    get { query.filter.words.string }
    set { query.filter.words = ByteString(newValue) }
  }

  /// Returns the model of a room, and creates it if there is none.
  public subscript(id: RoomID) -> RoomModel { feed.room(id) }

  /// Returns the visible rooms of a section.
  public subscript(section: RoomListSection) -> [RoomID] { sections.first { $0.id == section }?.rooms ?? [] }

  /// All visible rooms, in the order of the sections.
  public var roomIDs: [RoomID] { sections.flatMap { $0.rooms } }

  /// Shows the next page of a section, if the query has a `pageSize`.
  public func showMore(of section: RoomListSection) async { await feed.showMore(of: section, in: watch) }

  // MARK: News

  func take(_ news: RoomListNews) {
    // Observers hear of all of it at once.
    var new = sections
    for step in news.steps { new.take(step, news.sections) }
    for i in new.indices where i < news.counts.count { new[i].count = news.counts[i] }
    if sections != new { sections = new }
    if !isLoaded { isLoaded = true }
  }
}

extension [RoomListModel.Section] {
  fileprivate mutating func take(_ step: RoomListChange, _ sections: [RoomListSection]) {
    switch step {
    case .inserted(let room, let place): insert(room, at: place)
    case .removed(let room, let place): remove(room, at: place)
    case .moved(let room, let from, let to):
      remove(room, at: from)
      insert(room, at: to)
    // Its row shows the room's own model.
    case .updated: break
    case .reset(let rooms):
      self = zip(sections, rooms).map { RoomListModel.Section(id: $0, rooms: $1) }
    }
  }

  private mutating func insert(_ room: RoomID, at place: RoomListPlace) {
    guard let i = firstIndex(where: { $0.id == place.section }) else { return }
    self[i].rooms.insert(room, at: Swift.min(place.index, self[i].rooms.count))
  }

  private mutating func remove(_ room: RoomID, at place: RoomListPlace) {
    guard let i = firstIndex(where: { $0.id == place.section }), place.index < self[i].rooms.count,
      self[i].rooms[place.index] == room
    else { return }
    self[i].rooms.remove(at: place.index)
  }
}
