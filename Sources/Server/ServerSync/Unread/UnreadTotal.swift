import Database
import JSON
import MatrixModel
import ServerRooms

/// What a user has not read, all rooms taken together. Ours: `martlet.unread`.
package struct UnreadTotal: Sendable {
  package struct Room: Sendable {
    package let roomID: RoomID
    package let count: UnreadCounts.Count
    /// Whether the user marked it as unread themselves.
    package let isMarkedUnread: Bool
  }

  package private(set) var count = UnreadCounts.Count()
  /// Rooms with something unread, or marked so.
  package private(set) var rooms: [Room] = []

  fileprivate mutating func add(_ room: Room) {
    guard !room.count.isZero || room.isMarkedUnread else { return }
    count.notifications += room.count.notifications
    count.highlights += room.count.highlights
    rooms.append(room)
  }
}

extension SyncEngine {
  /// Counts as sync does; what was counted for a sync is not counted again. O(joined rooms).
  package func unreadTotal(of user: UserID) async throws -> UnreadTotal {
    let end = database.committedPosition
    return try await database.read { [sources] transaction in
      let rows = SyncRows(transaction, completeUpTo: end)
      let account = try AccountSummary.read(of: user, transaction, readAt: end)
      let marked = try Self.markedUnread(by: user, transaction)
      var total = UnreadTotal()
      for (number, entry) in try sources.rooms.memberships.rooms(of: user, in: transaction) where entry.membership == .join {
        guard let room = try sources.rooms.cache.snapshot(of: number, in: transaction) else { continue }
        let counts = try sources.unread.counts(of: user, in: room, upTo: max(end, room.position), account, rows)
        total.add(
          UnreadTotal.Room(roomID: room.roomID, count: counts.total, isMarkedUnread: marked.contains(room.roomID)))
      }
      return total
    }
  }

  private static func markedUnread(by user: UserID, _ transaction: ReadTransaction) throws -> Set<RoomID> {
    var rooms: Set<RoomID> = []
    try transaction.query(
      "SELECT room_id, content FROM account_data WHERE user_id = $1 AND type = $2", user, EventType.markedUnread
    ) { row in
      if (try? JSON.parse(row.blob(1)))?["unread"]?.bool ?? false { rooms.insert(row.identifier(0)) }
    }
    return rooms
  }
}
