import Database
import JSON
import MatrixModel
import ServerAccounts
import ServerRooms

/// Finds events by their text. Spec: Client-Server API, "Server Side Search".
package final class Search: Sendable {
  private let database: Database
  private let rooms: Rooms
  private let progress: SearchProgress

  package init(database: Database, rooms: Rooms, progress: SearchProgress) {
    self.database = database
    self.rooms = rooms
    self.progress = progress
  }

  /// Searches the rooms where the user is or was, without the encrypted ones. Finds everything sent before the call, also before the user
  /// joined if they may see it, except while `indexOldEvents` still has a long way to go.
  package func search(_ request: SearchRequest, for user: UserID) async throws -> SearchResults {
    try await progress.catchUp()
    return try await database.read { transaction in
      let scope = try self.scope(of: request, for: user, transaction)
      var finder = MatchFinder(
        request, scope, transaction, ignoring: try IgnoredUsers.of(user, in: transaction),
        erasures: self.rooms.erasures)
      try finder.run()
      return try SearchAnswer(
        request: request, scope: scope, transaction: transaction, erasures: self.rooms.erasures
      ).results(of: finder)
    }
  }

  /// Indexes the messages that are not in the index yet; see `SearchProgress`.
  package func indexOldEvents() async throws { try await progress.indexOldEvents() }

  /// The rooms that are searched, as the user sees them.
  private func scope(
    of request: SearchRequest, for user: UserID, _ transaction: ReadTransaction
  ) throws -> SearchScope {
    var views: [Int64: RoomView] = [:]
    for (number, entry) in try rooms.memberships.rooms(of: user, in: transaction) where !entry.isForgotten {
      guard let room = try rooms.cache.snapshot(of: number, in: transaction), room[.encryption] == nil,
        request.filter.matches(room: room.roomID)
      else { continue }
      if let group = request.start?.group, group.grouping == .room, group.value != room.roomID.text { continue }
      let view = try RoomView(room, user: user, in: transaction, expiry: rooms.expiry(of: room))
      if view.membership == .join || view.leftAt != nil { views[number.value] = view }
    }
    return SearchScope(views: views)
  }
}

/// The rooms of one search, by their numbers.
struct SearchScope {
  let views: [Int64: RoomView]

  func query(_ text: String, matchesBeginnings: Bool) -> FullTextQuery {
    FullTextQuery(
      text, in: views.count <= FullTextQuery.scopesLimit ? views.keys.sorted() : nil, matchesBeginnings: matchesBeginnings)
  }

  /// The view of a match's room, where the user may see the event at its position as it now is: with its latest edit.
  func view(of match: FullTextMatch, _ transaction: ReadTransaction) throws -> RoomView? {
    guard let view = views[match.scope] else { return nil }
    if view.seesEverything { return view }
    let sent = try transaction.first("SELECT timestamp FROM event WHERE position = $1", match.document) { $0.integer(0) }
    guard let sent, view.canSee(messageAt: match.document, sentAt: sent) else { return nil }
    let edit = try transaction.first(
      """
      SELECT position, timestamp FROM event_relation WHERE room = $1 AND parent = $2 AND kind = 'm.replace'
      ORDER BY position DESC LIMIT 1
      """, match.scope, match.document
    ) { row in view.canSee(messageAt: row.integer(0), sentAt: row.integer(1)) }
    return edit ?? true ? view : nil
  }
}
