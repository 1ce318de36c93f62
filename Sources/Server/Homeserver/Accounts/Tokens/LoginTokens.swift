import Database
import MatrixModel

/// Tokens that log a client in once, within two minutes: for who is logged in elsewhere or came back from a provider.
///
/// Spec: Client-Server API, "Token-based" login, `POST /_matrix/client/v1/login/get_token`.
package final class LoginTokens: Sendable {
  /// How long a token is good. Spec: `expires_in_ms`, "120000 (2 minutes) is recommended".
  package static let lifetimeMilliseconds: Int64 = 120_000
  /// Tokens of one user at once; a further one ends the one that expires first.
  package static let countLimit = 10

  private let database: Database
  private let clock: WallClock

  init(database: Database, clock: WallClock) {
    self.database = database
    self.clock = clock
  }

  /// A token that logs `userID` in. Whoever asks has made sure of who the user is.
  package func issue(for userID: UserID) async throws -> AccessToken {
    let token = AccessToken.random(prefix: "mll_")
    let now = clock.now()
    try await database.write { tx in
      try tx.execute("DELETE FROM login_token WHERE expires <= $1", now)
      try tx.execute(
        """
        DELETE FROM login_token WHERE hash IN (
          SELECT hash FROM login_token WHERE user_id = $1 ORDER BY expires DESC LIMIT 1000 OFFSET $2)
        """, userID, Self.countLimit - 1)
      try tx.execute(
        "INSERT INTO login_token(hash, user_id, expires) VALUES($1, $2, $3)", token.hash.bytes, userID,
        now + Self.lifetimeMilliseconds)
    }
    return token
  }

  /// Ends all of a user's: whoever got one may not be the user.
  func revoke(_ tx: WriteTransaction, _ userID: UserID) throws {
    try tx.execute("DELETE FROM login_token WHERE user_id = $1", userID)
  }

  /// Uses a token up. Throws `M_FORBIDDEN` for one that is not known, was used or has expired.
  func redeem(_ tx: WriteTransaction, _ token: AccessTokenHash) throws -> UserID {
    let userID = try tx.first(
      "SELECT user_id FROM login_token WHERE hash = $1 AND expires > $2", token.bytes, clock.now()
    ) { $0.identifier(0, as: UserID.self) }
    guard let userID, try tx.execute("DELETE FROM login_token WHERE hash = $1", token.bytes) == 1 else {
      throw MatrixError.forbidden("The login token is not known, was used or has expired; get a new one.")
    }
    return userID
  }
}
