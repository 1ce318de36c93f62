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
      try tx.changes("UPDATE account SET is_locked = $1 WHERE user_id = $2", isLocked, userID)
    }
  }

  /// Suspends an account, or ends that: it reads, but joins, writes and invites no more.
  ///
  /// Spec: Client-Server API, "Account suspension".
  package func setSuspended(_ userID: UserID, _ isSuspended: Bool) async throws {
    try await change(userID) { tx in
      try tx.changes("UPDATE account SET is_suspended = $1 WHERE user_id = $2", isSuspended, userID)
    }
  }

  /// Shadow-bans an account, or ends that. Requests of the account succeed as usual, but nobody sees its messages and invites.
  package func setShadowBanned(_ userID: UserID, _ isShadowBanned: Bool) async throws {
    try await change(userID) { tx in
      try tx.changes("UPDATE account SET is_shadow_banned = $1 WHERE user_id = $2", isShadowBanned, userID)
    }
  }

  /// Makes an account an administrator's or takes that away.
  package func setAdmin(_ userID: UserID, _ isAdmin: Bool) async throws {
    try await change(userID) { tx in
      try tx.changes("UPDATE account SET is_admin = $1 WHERE user_id = $2", isAdmin, userID)
    }
  }

  /// - Parameter until: milliseconds since 1970 from which on the account cannot be used; nil for ever.
  package func setValidity(_ userID: UserID, until: Int64?) async throws {
    try await change(userID) { tx in
      try tx.changes("UPDATE account SET valid_until = $1 WHERE user_id = $2", until, userID)
    }
  }

  package func setUserType(_ userID: UserID, _ userType: ByteString?) async throws {
    try await change(userID) { tx in
      try tx.changes("UPDATE account SET user_type = $1 WHERE user_id = $2", userType, userID)
    }
  }

  /// Gives a deactivated account back, without a password, devices or rooms; an erased one stays erased. Throws `M_INVALID_PARAM`
  /// for one that is not deactivated.
  package func reactivate(_ userID: UserID) async throws {
    _ = try await existing(userID)
    try await database.write { tx in
      let name = try Profiles.profile(tx, of: userID).displayName
      let changed = try tx.changes(
        "UPDATE account SET deactivated = 0, leaves = 0, search_text = $1 WHERE user_id = $2 AND deactivated = 1",
        Profiles.searchText(userID, displayName: name), userID)
      guard changed == 1 else { throw MatrixError.invalidParameter("This account is not deactivated.") }
    }
  }

  /// The accounts at providers of single sign-on that are a user's.
  package func externalIDs(of userID: UserID) async throws -> [(provider: String, subject: String)] {
    try await database.read { tx in
      try tx.all("SELECT provider, subject FROM single_sign_on WHERE user_id = $1 ORDER BY provider, subject", userID) {
        ($0.text(0), $0.text(1))
      }
    }
  }

  /// Gives an account another password. Throws `M_WEAK_PASSWORD`, and `M_FORBIDDEN` for a deactivated one.
  package func resetPassword(_ userID: UserID, to password: Redacted<String>, loggingOut: Bool) async throws {
    guard try await existing(userID).userType != Account.noticesType else {
      throw MatrixError.forbidden("This is the user in whose name the server speaks; nobody logs in as it.")
    }
    try await setPassword(password, of: userID, loggingOutAllBut: nil)
    if loggingOut { try await logOutEverywhere(userID) }
  }

  /// Throws `M_NOT_FOUND`.
  package func existing(_ userID: UserID) async throws -> Account {
    guard let account = try await account(userID) else { throw MatrixError.notFound("There is no such account.") }
    return account
  }

  /// The account that an administrator looks at, or is about to lock or suspend by the standard's endpoints.
  ///
  /// Throws `M_INVALID_PARAM` for users of other servers, `M_NOT_FOUND` for one that is not there or was deactivated, `M_FORBIDDEN`
  /// for administrators' accounts, and for the caller's own if it `changes`. Spec: Client-Server API, "Server Administration".
  package func moderated(_ userID: UserID, by session: Session, changes: Bool = false) async throws -> Account {
    guard userID.serverName == configuration.serverName else {
      throw MatrixError.invalidParameter("This user is not of this server.")
    }
    let account = try await existing(userID)
    guard !account.isDeactivated else { throw MatrixError.notFound("This account has been deactivated.") }
    let isOwn = userID == session.userID
    guard isOwn ? !changes : !account.standing.isAdmin else {
      throw MatrixError.forbidden("Administrators cannot be locked or suspended; take their administration away first.")
    }
    return account
  }

  private func change(_ userID: UserID, _ update: @escaping @Sendable (WriteTransaction) throws -> Int) async throws {
    try await database.write { [sessions] tx in
      guard try update(tx) == 1 else { throw MatrixError.notFound("There is no such account.") }
      sessions.forget(userID, tx)
    }
  }
}
