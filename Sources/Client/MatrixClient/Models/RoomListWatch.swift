import ClientCore
import MatrixModel

/// Keeps a list open for a model, with the query that the model had last. It closes when the model goes.
final class RoomListWatch: Sendable {
  /// What the feed calls the list.
  let key: Int
  private let queries: AsyncStream<RoomListQuery>
  private let continuation: AsyncStream<RoomListQuery>.Continuation

  init(_ key: Int) {
    self.key = key
    // Of what was asked for before the client came to it the last one counts.
    (queries, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  deinit { continuation.finish() }

  func show(_ query: RoomListQuery) { continuation.yield(query) }

  /// Once; `feed` is that of the mail at the client.
  func begin(_ feed: Int, _ client: MatrixClient) {
    Task { [key, queries] in
      for await query in queries { await client.show(query, inList: key, for: feed) }
      await client.closeList(key, for: feed)
    }
  }
}

/// What has happened in a list that a model shows.
struct RoomListMail: Sendable {
  let id: RoomListID
  /// All of one query.
  private var steps: [RoomListChange] = []

  /// Steps that are kept; beyond them the list comes whole.
  static let stepsLimit = 200

  init(_ id: RoomListID) { self.id = id }

  mutating func take(_ new: [RoomListChange]) {
    if case .reset? = new.first { steps = new } else { steps += new }
  }

  mutating func collect(_ key: Int, _ core: Client) -> RoomListNews? {
    defer { steps = [] }
    guard let list = core.roomList(id) else { return nil }
    if steps.count > Self.stepsLimit { steps = [.reset(list.rooms)] }
    let sections = list.query.sections
    return RoomListNews(key: key, sections: sections, steps: steps, counts: sections.map { list.count(of: $0) })
  }
}

struct RoomListNews: Sendable {
  let key: Int
  let sections: [RoomListSection]
  let steps: [RoomListChange]
  /// Of the sections.
  let counts: [Int]

  /// Rooms that may be shown now and were not.
  var newRooms: [RoomID] {
    steps.flatMap { step in
      switch step {
      case .inserted(let room, _): [room]
      case .reset(let rooms): rooms.flatMap { $0 }
      case .removed, .moved, .updated: [] as [RoomID]
      }
    }
  }
}
