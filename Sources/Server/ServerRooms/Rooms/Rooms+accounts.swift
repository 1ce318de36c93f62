import Database
import MatrixModel
import ServerAccounts
import ServerCore

/// What becomes of rooms with an account.
extension Rooms: AccountObserver {
  /// Shows the new profile to others, unless the user is shadow-banned.
  package func profileChanged(of user: UserID) async throws {
    let account = try await database.read { try Accounts.account($0, user) }
    if account?.standing.isShadowBanned != true { try await updateProfile(of: user) }
  }

  package func finishDeactivation(of user: UserID) async throws { try await leaveAll(user) }

  package func erased(_ user: UserID, at position: Int64, in transaction: WriteTransaction) {
    transaction.note(.erased(user, position: position))
  }
}
