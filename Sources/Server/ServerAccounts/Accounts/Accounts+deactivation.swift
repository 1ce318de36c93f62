import Database
import JSON
import MatrixModel

/// The end of an account.
extension Accounts {
  /// Ends an account for good: no login, no devices, no rooms. The name stays taken.
  ///
  /// - Parameter erase: whether the profile and account data go too, and what the user wrote is shown as redacted to who was not
  ///   in the room before. Spec: `POST /_matrix/client/v3/account/deactivate`.
  package func deactivate(_ userID: UserID, erase: Bool) async throws {
    try await database.write { [self] tx in
      // The rooms are left one by one afterwards; `leaves` has a next start go on where this one was interrupted.
      try tx.execute(
        """
        UPDATE account SET password = NULL, deactivated = 1, is_admin = 0, leaves = 1, search_text = ''
        WHERE user_id = $1
        """, userID)
      try devices.remove(tx, of: userID, sessions) { _ in true }
      for observer in observers { try observer.deactivated(userID, in: tx) }
      try loginTokens.revoke(tx, userID)
      try openIDTokens.revoke(tx, userID)
      try ThirdPartyIdentifiers.deleteAll(tx, of: userID)
      if erase { try self.erase(tx, userID) }
    }
    try await leaveRooms(userID)
  }

  /// Finishes deactivations that an earlier process was interrupted in. Each failure is told to `report`; the others go on.
  package func finishDeactivations(_ report: (UserID, any Error) -> Void) async throws {
    let users = try await database.read { tx in
      try tx.all("SELECT user_id FROM account WHERE leaves = 1 ORDER BY user_id") { $0.identifier(0, as: UserID.self) }
    }
    for userID in users {
      do { try await leaveRooms(userID) } catch { report(userID, error) }
    }
  }

  private func leaveRooms(_ userID: UserID) async throws {
    for observer in observers { try await observer.finishDeactivation(of: userID) }
    try await database.write { tx in
      try tx.execute("UPDATE account SET leaves = 0 WHERE user_id = $1", userID)
    }
  }

  private func erase(_ tx: WriteTransaction, _ userID: UserID) throws {
    let position = tx.position
    try tx.execute("UPDATE account SET erased_at = $1 WHERE user_id = $2", position, userID)
    for observer in observers { try observer.erased(userID, at: position, in: tx) }
    try tx.execute("DELETE FROM profile_field WHERE user_id = $1", userID)
    try tx.execute("DELETE FROM account_data WHERE user_id = $1", userID)
    pushRules.forget(userID, in: tx)
  }
}
