import Database
import JSON
import MatrixModel

/// An account as stored.
package struct Account: Sendable {
  package let userID: UserID
  /// Milliseconds since 1970.
  package let created: Int64
  package let standing: AccountStanding
  /// ID of the application service that owns it.
  package let appService: ByteString?
  /// A word of the administrators' (`bot`, `support`); it means nothing to the server.
  package let userType: ByteString?
  package let isDeactivated: Bool
  /// Whether what it wrote is shown as redacted to who joins later.
  package let isErased: Bool
  let passwordHash: String?

  package var hasPassword: Bool { passwordHash != nil }

  /// The user type of the account in whose name the server speaks: no administrator can give an account this type.
  package static let noticesType: ByteString = "server_notices"

  /// From `user_id, created, app_service, user_type, deactivated, erased_at, password, is_guest, is_admin, is_locked,
  /// is_suspended, valid_until, is_shadow_banned`.
  package init(_ row: Row) {
    userID = row.identifier(0)
    created = row.integer(1)
    appService = row.optionalText(2).map { ByteString($0) }
    userType = row.optionalText(3).map { ByteString($0) }
    isDeactivated = row.bool(4)
    isErased = !row.isNull(5)
    passwordHash = row.optionalText(6)
    standing = AccountStanding(row, from: 7)
  }
}

extension AccountStanding {
  /// From six columns: `is_guest`, `is_admin`, `is_locked`, `is_suspended`, `valid_until`, `is_shadow_banned`.
  init(_ row: Row, from column: Int) {
    self.init()
    isGuest = row.bool(column)
    isAdmin = row.bool(column + 1)
    isLocked = row.bool(column + 2)
    isSuspended = row.bool(column + 3)
    validUntil = row.optionalInteger(column + 4)
    isShadowBanned = row.bool(column + 5)
  }
}

/// An account to make.
package struct NewAccount: Sendable {
  package let localpart: ByteString
  package var standing = AccountStanding()
  package var appService: ByteString?
  package var userType: ByteString?
  /// nil takes the localpart.
  package var displayName: ByteString?
  package var avatarURL: ByteString?

  package init(_ localpart: ByteString) { self.localpart = localpart }
}
