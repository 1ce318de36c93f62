import Database
import JSON
import MatrixModel
import ServerCore

/// Which accounts to list, and from where on.
package struct AccountQuery: Sendable {
  package static let limitRange = 1...1_000

  /// Accounts whose localpart or display name has this in it, without regard to case.
  package var search: ByteString?
  /// Only those of which this is true or false; nil takes both.
  package var isGuest: Bool?
  package var isAdmin: Bool?
  package var isLocked: Bool?
  package var isDeactivated: Bool?
  /// The last user of the page before.
  package var after: UserID?
  package var limit = 100

  package init() {}
}

extension Accounts {
  package struct Page: Sendable {
    /// By user ID.
    package let accounts: [Account]
    /// All accounts that fit the query, on any page.
    package let total: Int64
    package let isLast: Bool
  }

  /// One page of accounts; a page that begins `after` a user is the same whatever happens to the users before.
  package func list(_ query: AccountQuery) async throws -> Page {
    let limit = min(max(query.limit, AccountQuery.limitRange.lowerBound), AccountQuery.limitRange.upperBound)
    let pattern = query.search.map { SearchPattern.containing($0) }
    let (guests, admins) = (query.isGuest.map { $0 ? 1 : 0 }, query.isAdmin.map { $0 ? 1 : 0 })
    let (locked, deactivated) = (query.isLocked.map { $0 ? 1 : 0 }, query.isDeactivated.map { $0 ? 1 : 0 })
    return try await database.read { tx in
      let found = try tx.all(
        """
        SELECT user_id, created, app_service, user_type, deactivated, erased_at, password, is_guest, is_admin, is_locked,
          is_suspended, valid_until, is_shadow_banned
        FROM account
        WHERE ($1 IS NULL OR search_text LIKE $1 ESCAPE '!') AND ($2 IS NULL OR is_guest = $2)
          AND ($3 IS NULL OR is_admin = $3) AND ($4 IS NULL OR is_locked = $4) AND ($5 IS NULL OR deactivated = $5)
          AND ($6 IS NULL OR user_id > $6)
        ORDER BY user_id LIMIT $7
        """, pattern, guests, admins, locked, deactivated, query.after, limit + 1, row: Account.init)
      let total = try tx.first(
        """
        SELECT COUNT(*) FROM account
        WHERE ($1 IS NULL OR search_text LIKE $1 ESCAPE '!') AND ($2 IS NULL OR is_guest = $2)
          AND ($3 IS NULL OR is_admin = $3) AND ($4 IS NULL OR is_locked = $4) AND ($5 IS NULL OR deactivated = $5)
        """, pattern, guests, admins, locked, deactivated
      ) { $0.integer(0) }
      return Page(accounts: Array(found.prefix(limit)), total: total ?? 0, isLast: found.count <= limit)
    }
  }
}
