import Database
import JSON
import MatrixModel
import ServerAccounts
import ServerCore

/// An account as administrators see it in lists.
package struct AccountOverview: Sendable {
  package let account: Account
  package let displayName: ByteString?
  package let avatarURL: ByteString?
  /// Milliseconds since 1970, minutes behind; nil for who has no device.
  package let lastSeen: Int64?
}

extension AccountQuery {
  /// What a list is in the order of; by user ID where two are the same.
  package enum Order: Sendable {
    case userID, isGuest, isAdmin, userType, isDeactivated, displayName, avatarURL, created, lastSeen, isLocked, isShadowBanned
  }
}

extension Accounts {
  package struct OverviewPage: Sendable {
    package let accounts: [AccountOverview]
    /// All accounts that fit the query, on any page.
    package let total: Int64
  }

  /// The page of accounts that begins at an offset. Any order but the ascending one of user IDs reads all that fit.
  package func overviews(
    _ query: AccountQuery, orderedBy order: AccountQuery.Order = .userID, descending: Bool = false, offset: Int64 = 0
  ) async throws -> OverviewPage {
    let limit = min(max(query.limit, AccountQuery.limitRange.lowerBound), AccountQuery.limitRange.upperBound)
    let isInOrder = order == .userID && !descending
    let pattern = query.search.map { SearchPattern.containing($0) }
    let (guests, admins) = (query.isGuest.map { $0 ? 1 : 0 }, query.isAdmin.map { $0 ? 1 : 0 })
    let (locked, deactivated) = (query.isLocked.map { $0 ? 1 : 0 }, query.isDeactivated.map { $0 ? 1 : 0 })
    let (sqlLimit, sqlOffset): (Int64, Int64) = isInOrder ? (Int64(limit), offset) : (.max, 0)
    return try await database.read { tx in
      var found = try tx.all(
        """
        SELECT user_id, created, app_service, user_type, deactivated, erased_at, password, is_guest, is_admin, is_locked,
          is_suspended, valid_until, is_shadow_banned,
          (SELECT value FROM profile_field WHERE user_id = account.user_id AND name = 'displayname'),
          (SELECT value FROM profile_field WHERE user_id = account.user_id AND name = 'avatar_url'),
          (SELECT MAX(last_seen) FROM device WHERE user_id = account.user_id)
        FROM account
        WHERE ($1 IS NULL OR search_text LIKE $1 ESCAPE '!' OR LOWER(user_id) LIKE $1 ESCAPE '!')
          AND ($2 IS NULL OR is_guest = $2) AND ($3 IS NULL OR is_admin = $3) AND ($4 IS NULL OR is_locked = $4)
          AND ($5 IS NULL OR deactivated = $5)
        ORDER BY user_id LIMIT $6 OFFSET $7
        """, pattern, guests, admins, locked, deactivated, sqlLimit, sqlOffset, row: Self.overview)
      let total = try tx.first(
        """
        SELECT COUNT(*) FROM account
        WHERE ($1 IS NULL OR search_text LIKE $1 ESCAPE '!' OR LOWER(user_id) LIKE $1 ESCAPE '!')
          AND ($2 IS NULL OR is_guest = $2) AND ($3 IS NULL OR is_admin = $3) AND ($4 IS NULL OR is_locked = $4)
          AND ($5 IS NULL OR deactivated = $5)
        """, pattern, guests, admins, locked, deactivated
      ) { $0.integer(0) }
      if !isInOrder {
        found = Self.sorted(found, by: order, descending: descending)
        found = Array(found.dropFirst(Int(clamping: offset)).prefix(limit))
      }
      return OverviewPage(accounts: found, total: total ?? 0)
    }
  }

  /// One account. Throws `M_NOT_FOUND`.
  package func overview(_ userID: UserID) async throws -> AccountOverview {
    let summary = try await database.read { tx in
      try tx.first(
        """
        SELECT user_id, created, app_service, user_type, deactivated, erased_at, password, is_guest, is_admin, is_locked,
          is_suspended, valid_until, is_shadow_banned,
          (SELECT value FROM profile_field WHERE user_id = account.user_id AND name = 'displayname'),
          (SELECT value FROM profile_field WHERE user_id = account.user_id AND name = 'avatar_url'),
          (SELECT MAX(last_seen) FROM device WHERE user_id = account.user_id)
        FROM account WHERE user_id = $1
        """, userID, row: Self.overview)
    }
    guard let summary else { throw MatrixError.notFound("There is no such account.") }
    return summary
  }

  private static func overview(_ row: Row) -> AccountOverview {
    func text(_ column: Int) -> ByteString? { row.optionalBlob(column).flatMap { try? JSON.parse($0) }?.text }
    return AccountOverview(
      account: Account(row), displayName: text(13), avatarURL: text(14), lastSeen: row.optionalInteger(15))
  }

  private static func sorted(
    _ accounts: [AccountOverview], by order: AccountQuery.Order, descending: Bool
  ) -> [AccountOverview] {
    func number(_ summary: AccountOverview) -> Int64 {
      let standing = summary.account.standing
      switch order {
      case .isGuest: return standing.isGuest ? 1 : 0
      case .isAdmin: return standing.isAdmin ? 1 : 0
      case .isLocked: return standing.isLocked ? 1 : 0
      case .isShadowBanned: return standing.isShadowBanned ? 1 : 0
      case .isDeactivated: return summary.account.isDeactivated ? 1 : 0
      case .created: return summary.account.created
      case .lastSeen: return summary.lastSeen ?? 0
      default: return 0
      }
    }
    func text(_ summary: AccountOverview) -> ByteString {
      switch order {
      case .userID: summary.account.userID.text
      case .userType: summary.account.userType ?? ""
      case .displayName: summary.displayName ?? ""
      case .avatarURL: summary.avatarURL ?? ""
      default: ""
      }
    }
    let keyed = accounts.map { (number: number($0), text: text($0), summary: $0) }
    return keyed.sorted { left, right in
      let isSame = left.number == right.number && left.text == right.text
      if isSame { return left.summary.account.userID < right.summary.account.userID }
      return ((left.number, left.text) < (right.number, right.text)) != descending
    }.map(\.summary)
  }

  /// A login in a user's name, for an administrator to look into what the user reports: a device of its own that the user sees.
  ///
  /// - Parameter until: milliseconds since 1970 from which on the token is not good.
  package func logIn(
    as userID: UserID, named name: String, until: Int64
  ) async throws -> Login {
    guard until > configuration.clock.now() else {
      throw MatrixError.invalidParameter("'valid_until_ms' is not in the past.")
    }
    return try await database.write { [self] tx in
      let login = try logIn(tx, userID, DeviceRequest(displayName: name))
      try tx.execute(
        "UPDATE access_token SET expires = $1 WHERE hash = $2", until, login.accessToken.hash.bytes)
      return login
    }
  }
}
