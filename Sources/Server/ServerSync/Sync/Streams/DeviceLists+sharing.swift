import Database
import MatrixModel
import ServerAccounts
import ServerCore
import ServerRooms

/// Who comes into view and goes out of it: the same stream as seen by one user.
extension DeviceLists {
  /// What a user's client has to know about the device lists of others.
  package struct Changes: Sendable {
    /// Users who share a room now and whose devices changed, or who did not share one before, by user ID.
    package let changed: [UserID]
    /// Users who shared a room before and share none now, by user ID.
    package let left: [UserID]
  }

  /// What changed for `userID` in the interval. Spec: `GET /_matrix/client/v3/keys/changes`.
  package func changes(for userID: UserID, after start: Int64, upTo end: Int64) async throws -> Changes {
    try await database.read { tx in try Self.changes(tx, for: userID, after: start, upTo: end) }
  }

  /// What changed for `userID` after `start`, up to and with `end`.
  ///
  /// A user may be listed whose membership was only written anew, as with a new display name: telling too much costs a
  /// query, telling too little leaves a device without keys.
  package static func changes(_ tx: ReadTransaction, for userID: UserID, after start: Int64, upTo end: Int64) throws
    -> Changes
  {
    let sharing = try sharingRooms(tx, with: userID)
    var changed = Set(try changed(tx, for: userID, after: start, upTo: end))
    var left: Set<UserID> = []
    let join = Int(Membership.join.rawValue)
    // Others who moved in rooms the user is in.
    try tx.query(
      """
      SELECT other.user_id, other.membership FROM membership mine
      JOIN membership other ON other.room = mine.room AND other.position > $3 AND other.position <= $4
      WHERE mine.user_id = $1 AND mine.membership = $2 AND other.user_id <> $1
      """, userID, join, start, end
    ) { row in
      if row.integer(1) == Int64(join) { changed.insert(row.identifier(0)) } else { left.insert(row.identifier(0)) }
    }
    // Everyone in rooms the user moved into or out of. Who was only invited there, or knocked, is not told who is in.
    let moves = try tx.all(
      "SELECT room, membership FROM membership WHERE user_id = $1 AND position > $2 AND position <= $3", userID, start, end
    ) { row in (room: RoomNumber(row.integer(0)), isJoin: row.integer(1) == Int64(join)) }
    let loader = RoomLoader(transaction: tx)
    for move in moves {
      let others = try tx.all(
        "SELECT user_id, membership, position FROM membership WHERE room = $1 AND user_id <> $2", move.room, userID
      ) { row in (user: row.identifier(0, as: UserID.self), isJoin: row.integer(1) == Int64(join), position: row.integer(2)) }
      if move.isJoin {
        changed.formUnion(others.filter { $0.isJoin }.map { $0.user })
      } else if let until = try endOfStay(in: move.room, userID, loader), until > start {
        for other in others {
          let wasIn =
            try other.position <= start
            ? other.isJoin : loader.wasJoined(other.user, to: move.room, after: start, upTo: until)
          if wasIn { left.insert(other.user) }
        }
      }
    }
    return Changes(changed: changed.intersection(sharing).sorted(), left: left.subtracting(sharing).sorted())
  }

  /// Where the user, who is not in the room now, last went out of it; nil where they were never in.
  private static func endOfStay(in room: RoomNumber, _ userID: UserID, _ loader: RoomLoader) throws -> Int64? {
    let history = try loader.history(of: room, .member, userID.text)
    let stay = history.lastIndex { Membership($0.event.content["membership"]) == .join }
    return stay.flatMap { history[($0 + 1)...].first?.position }
  }
}

extension RoomLoader {
  /// Whether the user was in the room at some time from `start` up to `end`.
  func wasJoined(_ user: UserID, to room: RoomNumber, after start: Int64, upTo end: Int64) throws -> Bool {
    let history = try history(of: room, .member, user.text)
    return history.indices.contains { place in
      let isStay = Membership(history[place].event.content["membership"]) == .join && history[place].position <= end
      return isStay && (place + 1 == history.count || history[place + 1].position > start)
    }
  }
}
