import Database
import MatrixModel

/// Tokens by which a third party learns who a user is, and nothing else.
///
/// Spec: Client-Server API, "OpenID"; Server-Server API, `GET /_matrix/federation/v1/openid/userinfo`.
package final class OpenIDTokens: Sendable {
  package static let lifetimeSeconds: Int64 = 3_600
  /// Tokens of one user at once; a further one ends the one that expires first.
  package static let countLimit = 100

  private let database: Database
  private let clock: WallClock

  init(database: Database, clock: WallClock) {
    self.database = database
    self.clock = clock
  }

  package func issue(for userID: UserID) async throws -> AccessToken {
    let token = AccessToken.random(prefix: "mlo_")
    let now = clock.now()
    try await database.write { tx in
      try tx.execute("DELETE FROM openid_token WHERE expires <= $1", now)
      try tx.execute(
        """
        DELETE FROM openid_token WHERE hash IN (
          SELECT hash FROM openid_token WHERE user_id = $1 ORDER BY expires DESC LIMIT 1000 OFFSET $2)
        """, userID, Self.countLimit - 1)
      try tx.execute(
        "INSERT INTO openid_token(hash, user_id, expires) VALUES($1, $2, $3)", token.hash.bytes, userID,
        now + Self.lifetimeSeconds * 1_000)
    }
    return token
  }

  /// Whose token it is; nil for one that is not known or has expired, and while the account cannot be used.
  package func owner(of token: AccessTokenHash) async throws -> UserID? {
    let now = clock.now()
    return try await database.read { tx in
      let userID = try tx.first(
        "SELECT user_id FROM openid_token WHERE hash = $1 AND expires > $2", token.bytes, now
      ) { $0.identifier(0, as: UserID.self) }
      guard let userID, let account = try Accounts.account(tx, userID), !account.isDeactivated else { return nil }
      do { try account.standing.requireUse(at: now) } catch { return nil }
      return userID
    }
  }
}
