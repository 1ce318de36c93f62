import Database
import MatrixModel
import ServerCore

extension Rooms {
  /// Rows that one write deletes at most: everyone else writes in between.
  static let purgeBatchRows = 500

  /// Deletes a room with everything in it. It is gone for everyone at once; its rows go in batches, also after a restart
  /// (`resumePurges`). Clients of who was still in it are told that they left.
  ///
  /// Call `shutDown` first if members should leave with a reason in the room's own timeline. Throws `M_NOT_FOUND`.
  package func purge(_ roomID: RoomID) async throws {
    let number = try await database.write { transaction in
      guard let room = try self.cache.newest(roomID, in: transaction) else {
        throw MatrixError.notFound("There is no such room on this server.")
      }
      for statement in RoomRows.atOnce { try transaction.execute(statement, room.number) }
      try transaction.execute(
        "INSERT INTO purged_room(room, room_id, purged, complete) VALUES ($1, $2, $3, 0)", room.number, roomID,
        self.configuration.clock.now())
      self.cache.remove(room, in: transaction)
      return room.number
    }
    try await deleteRows(of: number, roomID)
  }

  /// Deletes what an interrupted purge left. For the start of the server.
  package func resumePurges() async throws {
    let rooms = try await database.read { transaction in
      try transaction.all("SELECT room, room_id FROM purged_room WHERE complete = 0 ORDER BY room") {
        (RoomNumber($0.integer(0)), $0.identifier(1, as: RoomID.self))
      }
    }
    for (number, roomID) in rooms { try await deleteRows(of: number, roomID) }
  }

  /// How long clients that were away can learn of a purge with their next sync.
  static let purgeNewsMilliseconds: Int64 = 90 * 24 * 60 * 60 * 1_000

  /// Forgets who was in rooms whose purge was too long ago to be news to anybody.
  package func forgetOldPurges() async throws {
    let oldest = configuration.clock.now() - Self.purgeNewsMilliseconds
    let rooms = try await database.read { transaction in
      try transaction.all("SELECT room, room_id FROM purged_room WHERE complete = 1 AND purged < $1", oldest) {
        (RoomNumber($0.integer(0)), $0.identifier(1, as: RoomID.self))
      }
    }
    for (number, roomID) in rooms {
      var deleted = 1
      while deleted > 0 {
        deleted = try await database.write { transaction in
          try transaction.changes(
            """
            DELETE FROM purged_membership WHERE (user_id, position, room_id) IN (
              SELECT user_id, position, room_id FROM purged_membership WHERE room_id = $1 LIMIT $2)
            """, roomID, Self.purgeBatchRows)
        }
      }
      try await database.write { try $0.execute("DELETE FROM purged_room WHERE room = $1", number) }
    }
  }

  /// Whether anyone of this server could still see the room: nobody is in it, invited or knocking, and all who were have
  /// forgotten it. Such a room may be purged.
  package func isForgottenByAll(_ roomID: RoomID) async throws -> Bool {
    try await database.read { transaction in
      guard let room = try self.cache.snapshot(of: roomID, in: transaction) else { return false }
      let present = room.members.values.contains { [.join, .invite, .knock].contains($0.membership) }
      guard !present else { return false }
      // Who is out and never was in has nothing to forget.
      let remembering = try transaction.all("SELECT user_id FROM membership WHERE room = $1 AND forgotten = 0", room.number) {
        $0.identifier(0, as: UserID.self)
      }
      return try !remembering.contains { try RoomView(room, user: $0, in: transaction, expiry: .min).leftAt != nil }
    }
  }

  // MARK: Batches

  private func deleteRows(of number: RoomNumber, _ roomID: RoomID) async throws {
    while try await deleteMembers(of: number, roomID) {}
    while try await database.write({ try $0.removeFullText(scope: number.value, limit: Self.purgeBatchRows) }) > 0 {}
    for statement in RoomRows.ofRoom {
      while try await database.write({ try $0.changes(statement, number, Self.purgeBatchRows) }) > 0 {}
    }
    try await database.write { transaction in
      try transaction.execute("UPDATE purged_room SET complete = 1 WHERE room = $1", number)
    }
  }

  /// Answers whether there may be more.
  private func deleteMembers(of number: RoomNumber, _ roomID: RoomID) async throws -> Bool {
    try await database.write { transaction in
      let members = try transaction.all(
        "SELECT user_id, membership FROM membership WHERE room = $1 ORDER BY user_id LIMIT $2", number,
        Self.purgeBatchRows / 5
      ) { row in
        (user: row.identifier(0, as: UserID.self), membership: Membership(rawValue: UInt8(truncatingIfNeeded: row.integer(1))))
      }
      guard !members.isEmpty else { return false }
      let position = transaction.nextPosition()
      var news = Note.RoomNews(number: number, upTo: position)
      news.members = members.map(\.user)
      transaction.note(.room(news))
      for (user, membership) in members {
        for statement in RoomRows.ofMember { try transaction.execute(statement, user, number) }
        for statement in RoomRows.ofMemberByRoomID { try transaction.execute(statement, user, roomID) }
        guard membership == .join || membership == .invite || membership == .knock else { continue }
        try transaction.execute(
          "INSERT INTO purged_membership(user_id, position, room_id) VALUES ($1, $2, $3)", user, position, roomID)
      }
      return true
    }
  }
}
