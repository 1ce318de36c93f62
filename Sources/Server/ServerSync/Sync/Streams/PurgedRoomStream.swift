import Database
import MatrixModel

/// Rooms the user was in that were deleted since: to a client, rooms it has left.
enum PurgedRoomStream {
  /// Empty for an initial sync, which never told of the rooms. Reads rows only where there may be news.
  static func changes(_ context: SyncContext) throws -> [RoomID] {
    guard let from = context.from, context.hasOwnNews else { return [] }
    return try context.rows.transaction().all(
      "SELECT room_id FROM purged_membership WHERE user_id = $1 AND position > $2 AND position <= $3 ORDER BY position",
      context.user, from.position, context.to.position
    ) { $0.identifier(0, as: RoomID.self) }
  }
}
