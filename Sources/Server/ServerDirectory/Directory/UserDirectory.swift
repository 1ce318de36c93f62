import Database
import JSON
import MatrixModel
import ServerAccounts
import ServerCore

/// Finds users by name. The operator decides: it finds everyone with an account here, or only those who share a room with the
/// asking user or are in a public room, which is the least the specification asks for. People on a server of their own
/// want to find each other, so everyone is the default.
///
/// Spec: `POST /_matrix/client/v3/user_directory/search`.
package final class UserDirectory: Sendable {
  /// The users that a search finds: everyone with an account here, or the users who share a room with the asking user or could
  /// be met in a room that is open to anyone.
  package enum Scope: Sendable { case everyone, visible }

  package struct Entry: Sendable {
    package let userID: UserID
    package let profile: Profile
  }

  package struct Page: Sendable {
    package let users: [Entry]
    /// nil where there are no more.
    package let next: PageToken?
  }

  /// Results of one search.
  package static let resultsLimit = 50
  package static let resultsDefault = 10
  /// Users in a page of all.
  package static let pageLimit = 500
  package static let pageDefault = 50
  /// Bytes of a search term; longer ones find nobody.
  private static let termBytesLimit = 512

  private let database: Database
  private let scope: Scope
  private let clock: WallClock

  package init(database: Database, scope: Scope, clock: WallClock) {
    self.database = database
    self.scope = scope
    self.clock = clock
  }

  /// Users whose user ID or display name has `term` in it, without regard to case, by user ID; at most `limit`. Never `user`.
  package func search(
    _ term: ByteString, by user: UserID, limit: Int
  ) async throws -> (results: [Entry], isLimited: Bool) {
    guard !term.isEmpty, term.count <= Self.termBytesLimit else { return ([], false) }
    let limit = min(max(1, limit), Self.resultsLimit)
    let found = try await database.read { transaction in
      try self.entries(
        Search(
          pattern: SearchPattern.containing(term), user: user, leavesOut: user.text, last: "", snapshot: .max, limit: limit + 1),
        transaction)
    }
    return (Array(found.prefix(limit)), found.count > limit)
  }

  /// Ours: the users that a search with `term` finds (an empty one: all), by user ID, in pages. Those who register after the
  /// first page are in none.
  package func page(_ term: ByteString, by user: UserID, from token: PageToken?, limit: Int) async throws -> Page {
    guard term.count <= Self.termBytesLimit else { return Page(users: [], next: nil) }
    let limit = min(max(1, limit), Self.pageLimit)
    return try await database.read { transaction in
      let snapshot = token?.snapshot ?? self.clock.now()
      let found = try self.entries(
        Search(
          pattern: SearchPattern.containing(term), user: user, leavesOut: "", last: token?.last ?? "", snapshot: snapshot,
          limit: limit + 1), transaction)
      let shown = Array(found.prefix(limit))
      let last = found.count > limit ? shown.last : nil
      return Page(users: shown, next: last.map { PageToken(snapshot: snapshot, last: $0.userID.text) })
    }
  }

  private struct Search {
    let pattern: String
    let user: UserID
    /// Empty for nobody.
    let leavesOut: ByteString
    let last: ByteString
    /// Milliseconds since 1970: who registered later is not found.
    let snapshot: Int64
    let limit: Int
  }

  private func entries(_ search: Search, _ transaction: ReadTransaction) throws -> [Entry] {
    let users = try scope == .everyone ? Self.everyone(search, transaction) : Self.visible(search, transaction)
    return try users.map { Entry(userID: $0, profile: try Profiles.profile(transaction, of: $0)) }
  }

  private static func everyone(_ search: Search, _ transaction: ReadTransaction) throws -> [UserID] {
    try transaction.all(
      """
      SELECT a.user_id FROM account a
      WHERE a.user_id > $1 AND a.search_text LIKE $2 ESCAPE '!' AND a.deactivated = 0 AND a.created <= $3
        AND a.user_id <> $4
      ORDER BY a.user_id LIMIT $5
      """, search.last, search.pattern, search.snapshot, search.leavesOut, search.limit
    ) { $0.identifier(0) }
  }

  private static func visible(_ search: Search, _ transaction: ReadTransaction) throws -> [UserID] {
    try transaction.all(
      """
      SELECT a.user_id FROM account a
      WHERE a.user_id > $1 AND a.search_text LIKE $2 ESCAPE '!' AND a.deactivated = 0 AND a.created <= $3
        AND a.user_id <> $7 AND (a.user_id = $4 OR EXISTS (
          SELECT 1 FROM membership m WHERE m.user_id = a.user_id AND m.membership = $5 AND (
            EXISTS (SELECT 1 FROM open_room r WHERE r.room = m.room)
            OR EXISTS (
              SELECT 1 FROM membership own WHERE own.user_id = $4 AND own.room = m.room AND own.membership = $5))))
      ORDER BY a.user_id LIMIT $6
      """, search.last, search.pattern, search.snapshot, search.user, Int64(Membership.join.rawValue), search.limit,
      search.leavesOut
    ) { $0.identifier(0) }
  }
}
