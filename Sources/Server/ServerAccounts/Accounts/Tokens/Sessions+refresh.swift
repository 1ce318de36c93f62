import Database
import MatrixModel

/// Exchanging tokens that expire. A device has at most three refresh tokens: the one that was exchanged last, its successor,
/// and what the successor was exchanged for; using a successor ends what came before.
///
/// Spec: Client-Server API, "Refreshing access tokens".
extension Sessions {
  /// A new access token and refresh token for an old refresh token, which stays good until one of the new ones is used. What it
  /// was exchanged for before, and nobody used, ends.
  ///
  /// Throws `M_UNKNOWN_TOKEN`, and what `AccountStanding.requireUse` throws.
  package func refresh(_ old: AccessTokenHash) async throws -> Login {
    try await database.write { [self] tx in
      let found = try tx.first(
        "SELECT user_id, device_id, next FROM refresh_token WHERE hash = $1", old.bytes
      ) { row in (row.identifier(0, as: UserID.self), row.identifier(1, as: DeviceID.self), row.optionalBlob(2)) }
      guard let (userID, deviceID, unused) = found, let account = try Accounts.account(tx, userID) else {
        throw MatrixError.unknownToken()
      }
      try account.standing.requireUse(at: clock.now())
      try retire(tx, predecessorOf: old.bytes)
      if let unused { try end(tx, refreshToken: unused) }
      let login = try insert(tx, userID, deviceID, isRefreshable: true)
      try tx.execute(
        "UPDATE refresh_token SET next = $1 WHERE hash = $2", login.refreshToken?.hash.bytes, old.bytes)
      // What is still in memory of the tokens that ended.
      forget(userID, tx)
      return login
    }
  }

  /// Notes the first use of an access token that came of an exchange: the refresh token it was exchanged for ends.
  ///
  /// - Returns: false where the token itself ended meanwhile.
  func noteFirstUse(_ token: AccessTokenHash, of userID: UserID, refresh: [UInt8]) async throws -> Bool {
    try await database.write { [self] tx in
      let isThere = try tx.first("SELECT 1 FROM access_token WHERE hash = $1", token.bytes) { _ in true }
      guard isThere != nil else { return false }
      try retire(tx, predecessorOf: refresh)
      forget(userID, tx)
      return true
    }
  }

  private func retire(_ tx: WriteTransaction, predecessorOf refresh: [UInt8]) throws {
    let predecessor = try tx.first("SELECT hash FROM refresh_token WHERE next = $1", refresh) { $0.blob(0) }
    if let predecessor { try end(tx, refreshToken: predecessor) }
  }

  private func end(_ tx: WriteTransaction, refreshToken hash: [UInt8]) throws {
    try tx.execute("DELETE FROM refresh_token WHERE hash = $1", hash)
    try tx.execute("DELETE FROM access_token WHERE refresh = $1", hash)
  }
}
