import Database
import MatrixModel
import ServerAccounts

/// Answers questions of rooms about users and aliases.
package protocol RoomDirectory: Sendable {
  /// The profile of a user of this server; nil if there is no such active account.
  func profile(of user: UserID, in transaction: ReadTransaction) throws -> Profile?
  /// Whether the user is a guest of this server.
  func isGuest(_ user: UserID, in transaction: ReadTransaction) throws -> Bool
  /// Asks the application service that a missing user may belong to for the user.
  func provideUser(_ user: UserID) async throws
  /// Asks the application service that an alias may belong to for its room. Returns whether there is one now.
  func provideRoom(_ alias: RoomAlias) async throws -> Bool
  /// Throws `M_EXCLUSIVE` for an alias that only another may make or delete.
  func requireMayChange(_ alias: RoomAlias, by actor: Rooms.Actor) throws
  /// Whether the alias is in an exclusive namespace of the application service that acts.
  func isReserved(_ alias: RoomAlias, for actor: Rooms.Actor) -> Bool
}
