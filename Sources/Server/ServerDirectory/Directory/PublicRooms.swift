import Database
import JSON
import MatrixModel
import ServerCore
import ServerRooms

/// The published rooms of this server. Spec: Client-Server API, "Published room directory".
///
/// Lists are rows kept in order of members: a page costs what it holds, however many rooms there are. Only a search looks at all.
package final class PublicRooms: Sendable {
  /// What `/publicRooms` asks for.
  package struct Query: Sendable {
    package enum List: Sendable {
      case main, all
      case network(ByteString)
    }

    package var list = List.main
    package var limit = PublicRooms.limitDefault
    package var since: Token?
    /// Looked for in names, topics and aliases, without regard to case.
    package var term: ByteString = ""
    /// nil for rooms of every type; nil in it stands for rooms without a type.
    package var types: [ByteString?]?

    package init() {}
  }

  /// A place in a list: behind or before a room with so many members.
  package struct Token: Sendable, Equatable {
    package let isForward: Bool
    let joined: Int64
    let room: Int64

    init(isForward: Bool, joined: Int64, room: Int64) {
      self.isForward = isForward
      self.joined = joined
      self.room = room
    }

    /// `n` or `p`, the number of members, `_`, the room's number. nil for anything else.
    package init?(_ text: ByteString) {
      guard text.hasPrefix("n") || text.hasPrefix("p") else { return nil }
      let parts = text.string.dropFirst().split(separator: "_", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, let joined = Int64(parts[0]), let room = Int64(parts[1]), joined >= 0, room >= 0 else {
        return nil
      }
      self.init(isForward: text.hasPrefix("n"), joined: joined, room: room)
    }

    package var text: String { "\(isForward ? "n" : "p")\(joined)_\(room)" }
  }

  package struct Page: Sendable {
    /// Members of each room's object, without braces and without the number of members.
    package let rooms: [(summary: [UInt8], joined: Int64)]
    package let next: Token?
    package let previous: Token?
    /// Of the whole list, whatever the filter.
    package let total: Int64
  }

  /// Rooms in an answer.
  package static let limitDefault = 50
  package static let limitMaximum = 500
  /// Bytes of a search term, and types in a filter.
  package static let termBytesLimit = 512
  package static let typesLimit = 50
  private static let batchLimit = 500

  package let database: Database
  package let rooms: Rooms

  package init(database: Database, rooms: Rooms) {
    self.database = database
    self.rooms = rooms
  }

  // MARK: Reading

  /// Spec: `GET` and `POST /publicRooms`: most members first.
  package func page(_ query: Query) async throws -> Page {
    try await database.read { transaction in
      let limit = min(max(query.limit, 1), Self.limitMaximum)
      let isForward = query.since?.isForward ?? true
      let start = query.since ?? Token(isForward: true, joined: .max, room: .max)
      var found = try Self.rows(from: start, isForward: isForward, query, limit: limit + 1, transaction)
      let hasMore = found.count > limit
      if hasMore { found.removeLast() }
      if !isForward { found.reverse() }
      var next: Token?
      var previous: Token?
      if let last = found.last, !isForward || hasMore { next = last.token(isForward: true) }
      if let first = found.first, isForward ? query.since != nil : hasMore { previous = first.token(isForward: false) }
      let total = try transaction.first(
        "SELECT count(*) FROM public_room_list WHERE list = $1", query.list.key, row: { $0.integer(0) })
      return Page(
        rooms: found.map { ($0.summary, $0.joined) }, next: next, previous: previous, total: total ?? 0)
    }
  }

  private struct Listed {
    let joined: Int64
    let room: Int64
    let type: ByteString?
    let summary: [UInt8]

    func token(isForward: Bool) -> Token { Token(isForward: isForward, joined: joined, room: room) }
  }

  private static func rows(
    from start: Token, isForward: Bool, _ query: Query, limit: Int, _ transaction: ReadTransaction
  ) throws -> [Listed] {
    let pattern = SearchPattern.containing(query.term)
    var found: [Listed] = []
    var place = start
    while found.count < limit {
      let wanted = query.types == nil ? limit : batchLimit
      let batch = try batch(from: place, isForward: isForward, query.list.key, pattern, wanted, transaction)
      for row in batch where found.count < limit {
        if let types = query.types, !types.contains(row.type) { continue }
        found.append(row)
      }
      guard batch.count == wanted, let last = batch.last else { break }
      place = last.token(isForward: isForward)
    }
    return found
  }

  private static func batch(
    from place: Token, isForward: Bool, _ list: String, _ pattern: String, _ limit: Int, _ transaction: ReadTransaction
  ) throws -> [Listed] {
    func listed(_ row: Row) -> Listed {
      Listed(
        joined: row.integer(0), room: row.integer(1), type: row.optionalText(2).map { ByteString($0) },
        summary: row.blob(3))
    }
    if isForward {
      return try transaction.all(
        """
        SELECT l.joined, l.room, p.room_type, p.summary FROM public_room_list l JOIN public_room p ON p.room = l.room
        WHERE l.list = $1 AND (l.joined, l.room) < ($2, $3) AND p.search_text LIKE $4 ESCAPE '!'
        ORDER BY l.joined DESC, l.room DESC LIMIT $5
        """, list, place.joined, place.room, pattern, limit, row: listed)
    }
    return try transaction.all(
      """
      SELECT l.joined, l.room, p.room_type, p.summary FROM public_room_list l JOIN public_room p ON p.room = l.room
      WHERE l.list = $1 AND (l.joined, l.room) > ($2, $3) AND p.search_text LIKE $4 ESCAPE '!'
      ORDER BY l.joined, l.room LIMIT $5
      """, list, place.joined, place.room, pattern, limit, row: listed)
  }

  // MARK: Publishing

  /// Spec: `GET /directory/list/room/{roomId}`. Throws `M_NOT_FOUND`.
  package func isPublished(_ roomID: RoomID) async throws -> Bool {
    try await database.read { transaction in
      guard let room = try self.rooms.cache.snapshot(of: roomID, in: transaction) else { throw Self.notFound }
      return try transaction.first(
        "SELECT 1 FROM public_room_list WHERE room = $1 AND list = $2", room.number, PublicRoomRows.main
      ) { _ in true } ?? false
    }
  }

  /// Publishes a room or takes it back: a member's right who may set the room's main address, where the server lets members.
  ///
  /// Spec: `PUT /directory/list/room/{roomId}`. Throws `M_NOT_FOUND`, `M_FORBIDDEN`.
  package func setPublished(_ isPublished: Bool, _ roomID: RoomID, by actor: Rooms.Actor) async throws {
    try await database.write { transaction in
      guard let room = try self.rooms.cache.newest(roomID, in: transaction) else { throw Self.notFound }
      if isPublished { try self.rooms.requireMayPublish(actor) }
      guard actor.isAdministrator || room.canSetAddress(actor.userID) else {
        throw MatrixError.forbidden("Publishing a room takes being in it and the power to set its main address.")
      }
      if isPublished, actor.isShadowBanned { return }
      try PublicRoomRows.set(isPublished, room, in: PublicRoomRows.main, transaction)
    }
  }

  package static let notFound = MatrixError.notFound("There is no such room on this server.")
}

extension PublicRooms.Query.List {
  fileprivate var key: String {
    switch self {
    case .main: PublicRoomRows.main
    case .all: PublicRoomRows.all
    case .network(let id): PublicRoomRows.network(id)
    }
  }
}
