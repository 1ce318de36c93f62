import Database
import MatrixModel
import ServerCore

/// Tokens of one kind that identify a user for a limited time. A token of one kind is not valid as another.
package final class ExpiringTokens: Sendable {
  package enum Kind: Int64, Sendable {
    /// Logs a client in once: for who is logged in elsewhere or came back from a provider.
    ///
    /// Spec: Client-Server API, "Token-based" login, `POST /_matrix/client/v1/login/get_token`.
    case login = 1
    /// Tells a third party who the user is, and nothing else.
    ///
    /// Spec: Client-Server API, "OpenID"; Server-Server API, `GET /_matrix/federation/v1/openid/userinfo`.
    case openID = 2

    /// How long a token is good. Spec on `expires_in_ms` of a login token: "120000 (2 minutes) is recommended".
    package var lifetimeMilliseconds: Int64 {
      switch self {
      case .login: 120_000
      case .openID: 3_600_000
      }
    }

    /// Tokens of one user at once; a further one ends the one that expires first.
    package var countLimit: Int {
      switch self {
      case .login: 10
      case .openID: 100
      }
    }

    fileprivate var prefix: StaticString {
      switch self {
      case .login: "mll_"
      case .openID: "mlo_"
      }
    }
  }

  private let kind: Kind
  private let database: Database
  private let clock: WallClock

  init(_ kind: Kind, database: Database, clock: WallClock) {
    self.kind = kind
    self.database = database
    self.clock = clock
  }

  /// Returns a token of `userID`. The caller has authenticated the user.
  package func issue(for userID: UserID) async throws -> AccessToken {
    let token = AccessToken.random(prefix: kind.prefix)
    let now = clock.now()
    try await database.write { [kind] tx in
      try tx.execute("DELETE FROM expiring_token WHERE expires <= $1", now)
      try tx.execute(
        """
        DELETE FROM expiring_token WHERE hash IN (
          SELECT hash FROM expiring_token WHERE user_id = $1 AND kind = $2 ORDER BY expires DESC LIMIT 1000 OFFSET $3)
        """, userID, kind.rawValue, kind.countLimit - 1)
      try tx.execute(
        "INSERT INTO expiring_token(hash, kind, user_id, expires) VALUES($1, $2, $3, $4)", token.hash.bytes, kind.rawValue,
        userID, now + kind.lifetimeMilliseconds)
    }
    return token
  }

  /// Whose token it is; nil for one that is not known or has expired, and while the account cannot be used.
  package func owner(of token: AccessTokenHash) async throws -> UserID? {
    try await database.read { [self] tx in
      guard let userID = try owner(tx, of: token), let account = try Accounts.account(tx, userID), !account.isDeactivated
      else { return nil }
      do { try account.standing.requireUse(at: clock.now()) } catch { return nil }
      return userID
    }
  }

  /// Uses a token up. Throws `M_FORBIDDEN` for one that is not known, was used or has expired.
  func redeem(_ tx: WriteTransaction, _ token: AccessTokenHash) throws -> UserID {
    guard let userID = try owner(tx, of: token),
      try tx.changes("DELETE FROM expiring_token WHERE hash = $1", token.bytes) == 1
    else { throw MatrixError.forbidden("The login token is not known, was used or has expired; get a new one.") }
    return userID
  }

  /// Revokes all tokens of a user: somebody else may have one.
  func revoke(_ tx: WriteTransaction, _ userID: UserID) throws {
    try tx.execute("DELETE FROM expiring_token WHERE user_id = $1 AND kind = $2", userID, kind.rawValue)
  }

  private func owner(_ tx: ReadTransaction, of token: AccessTokenHash) throws -> UserID? {
    try tx.first(
      "SELECT user_id FROM expiring_token WHERE hash = $1 AND kind = $2 AND expires > $3", token.bytes, kind.rawValue,
      clock.now()
    ) { $0.identifier(0, as: UserID.self) }
  }
}
