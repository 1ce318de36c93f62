import Database
import JSON
import MatrixModel
import Telemetry

/// What administrators do with accounts. Each throws `M_NOT_FOUND` for a user that has no account here.
extension Accounts {
  /// Locks an account, or unlocks it: no request but logging out. Tokens and devices stay.
  ///
  /// Spec: Client-Server API, "Account locking".
  package func setLocked(_ userID: UserID, _ isLocked: Bool) async throws {
    try await change(userID) { tx in
      try tx.execute("UPDATE account SET is_locked = $1 WHERE user_id = $2", isLocked, userID)
    }
  }

  /// Suspends an account, or ends that: it reads, but joins, writes and invites no more.
  ///
  /// Spec: Client-Server API, "Account suspension".
  package func setSuspended(_ userID: UserID, _ isSuspended: Bool) async throws {
    try await change(userID) { tx in
      try tx.execute("UPDATE account SET is_suspended = $1 WHERE user_id = $2", isSuspended, userID)
    }
  }

  /// Makes an account an administrator's or takes that away.
  package func setAdmin(_ userID: UserID, _ isAdmin: Bool) async throws {
    try await change(userID) { tx in
      try tx.execute("UPDATE account SET is_admin = $1 WHERE user_id = $2", isAdmin, userID)
    }
  }

  /// - Parameter until: milliseconds since 1970 from which on the account cannot be used; nil for ever.
  package func setValidity(_ userID: UserID, until: Int64?) async throws {
    try await change(userID) { tx in
      try tx.execute("UPDATE account SET valid_until = $1 WHERE user_id = $2", until, userID)
    }
  }

  package func setUserType(_ userID: UserID, _ userType: ByteString?) async throws {
    try await change(userID) { tx in
      try tx.execute("UPDATE account SET user_type = $1 WHERE user_id = $2", userType, userID)
    }
  }

  /// Gives an account another password. Throws `M_WEAK_PASSWORD`, and `M_FORBIDDEN` for a deactivated one.
  package func resetPassword(_ userID: UserID, to password: Redacted<String>, loggingOut: Bool) async throws {
    _ = try await existing(userID)
    try await setPassword(password, of: userID, loggingOutAllBut: nil)
    if loggingOut { try await logOutEverywhere(userID) }
  }

  /// Throws `M_NOT_FOUND`.
  package func existing(_ userID: UserID) async throws -> Account {
    guard let account = try await account(userID) else { throw MatrixError.notFound("There is no such account.") }
    return account
  }

  private func change(_ userID: UserID, _ update: @escaping @Sendable (WriteTransaction) throws -> Int) async throws {
    try await database.write { [sessions] tx in
      guard try update(tx) == 1 else { throw MatrixError.notFound("There is no such account.") }
      sessions.forget(userID, tx)
    }
  }
}
