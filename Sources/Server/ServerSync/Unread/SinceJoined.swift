import Database
import JSON
import MatrixModel
import ServerRooms

extension Rooms {
  /// Messages that are counted at most.
  private static let countedMessagesLimit = 100_000
  /// Events that are looked at for it, the newest: each costs a row, messages or not.
  package static let sinceJoinedEventsLimit = 200_000

  /// Returns the number of messages in a room since the user last joined, without removed ones and edits.
  /// `martlet.since_joined`. Throws `M_FORBIDDEN` if the user is not in the room. O(events since then), up to `eventsLimit`.
  package func messagesSinceJoined(
    _ roomID: RoomID, by user: UserID, among eventsLimit: Int = Rooms.sinceJoinedEventsLimit
  ) async throws -> Int64 {
    try await database.read { [cache] transaction in
      guard let room = try cache.snapshot(of: roomID, in: transaction), room.isJoined(user),
        let member = room.members[user]
      else { throw MatrixError.forbidden("You are not in this room.") }
      return try transaction.first(
        """
        SELECT COUNT(*) FROM (
          SELECT e.position FROM (
            SELECT position, type, state_key, redacted_by FROM event WHERE room = $1 AND position > $2
              ORDER BY position DESC LIMIT $3) AS e
          WHERE e.state_key IS NULL AND e.redacted_by IS NULL
            AND e.type IN (
              'm.room.message', 'm.room.encrypted', 'm.sticker', 'm.poll.start', 'org.matrix.msc3381.poll.start')
            AND NOT EXISTS (SELECT 1 FROM event_relation r WHERE r.position = e.position AND r.kind = 'm.replace')
          LIMIT $4) AS said
        """, room.number, try room.join(of: member.event, transaction), eventsLimit, Self.countedMessagesLimit
      ) { $0.integer(0) } ?? 0
    }
  }
}

extension RoomSnapshot {
  /// Where somebody came into the room; `member` is their newest member event, which may only have changed their name.
  package func join(of member: StoredEvent, _ transaction: ReadTransaction) throws -> Int64 {
    if member.isJoining { return member.position }
    var start: Int64 = 0
    var wasIn = false
    for entry in try RoomLoader(transaction: transaction).history(of: number, .member, member.stateKey ?? "") {
      let isIn = Membership(entry.event.content["membership"]) == .join
      if isIn, !wasIn { start = entry.position }
      wasIn = isIn
    }
    return start
  }
}
