import Database
import MatrixModel

/// What rooms ask of chapters that are built on them.
package struct RoomHooks: Sendable {
  /// Whether the user is a guest of this server.
  package var isGuest: @Sendable (UserID, ReadTransaction) throws -> Bool = { _, _ in false }
  /// A user has joined the room that replaces another of theirs: what they have set for the old one follows.
  /// Runs inside the join's transaction.
  package var joinedReplacement: @Sendable (_ user: UserID, _ old: RoomID, _ new: RoomID, WriteTransaction) throws -> Void = {
    _, _, _, _ in
  }
  /// Has the application service that a user may belong to make them.
  package var provideUser: @Sendable (UserID) async throws -> Void = { _ in }
  /// Has the application service that an alias may belong to make its room; whether there is one now.
  package var provideRoom: @Sendable (RoomAlias) async throws -> Bool = { _ in false }
  /// Throws `M_EXCLUSIVE` for an alias that only another may make or delete.
  package var requireMayChange: @Sendable (RoomAlias, Rooms.Actor) throws -> Void = { _, _ in }
  /// Called inside the commit of each event; what one of them throws undoes the command.
  package var appended: [@Sendable (StoredEvent, RoomID, WriteTransaction) throws -> Void] = []
}
