import Database
import MatrixModel
import ServerCore

extension Rooms {
  /// Up to where a history is deleted; the event or moment itself stays.
  package enum HistoryEnd: Sendable {
    case position(Int64)
    case event(EventID)
    /// Milliseconds since 1970.
    case timestamp(Int64)
  }

  /// Deletes what was sent to a room before `end`, and answers how many events that were.
  ///
  /// State stays: later events are authorized by it, and it says who may see what. The newest event stays too. Works in
  /// batches and may be repeated after an interruption. Throws `M_NOT_FOUND`.
  @discardableResult
  package func purgeHistory(of roomID: RoomID, before end: HistoryEnd) async throws -> Int {
    let (number, position) = try await place(of: end, in: roomID)
    var cursor: Int64 = 0
    var deleted = 0
    while let batch = try await deleteEvents(of: roomID, number, after: cursor, before: position) {
      cursor = batch.last
      deleted += batch.count
    }
    if deleted > 0 { try await forgetCounts(in: number) }
    return deleted
  }

  /// The position of an end. Throws `M_NOT_FOUND`.
  package func position(of end: HistoryEnd, in roomID: RoomID) async throws -> Int64 {
    try await place(of: end, in: roomID).position
  }

  private func place(of end: HistoryEnd, in roomID: RoomID) async throws -> (room: RoomNumber, position: Int64) {
    try await database.read { transaction in
      guard let room = try self.cache.snapshot(of: roomID, in: transaction) else {
        throw MatrixError.notFound("There is no such room on this server.")
      }
      return (room.number, min(try Self.position(of: end, in: room, transaction), room.position))
    }
  }

  private static func position(of end: HistoryEnd, in room: RoomSnapshot, _ transaction: ReadTransaction) throws -> Int64 {
    switch end {
    case .position(let position): return position
    case .event(let eventID):
      guard let event = try RoomLoader(transaction: transaction).event(eventID), event.room == room.number else {
        throw MatrixError.notFound("There is no such event in this room.")
      }
      return event.position
    case .timestamp(let timestamp):
      let newest = try transaction.first(
        "SELECT MAX(position) FROM event WHERE room = $1 AND timestamp < $2", room.number, timestamp
      ) { $0.optionalInteger(0) }
      return (newest.flatMap { $0 } ?? 0) + 1
    }
  }

  /// nil where there is no more to delete.
  private func deleteEvents(
    of roomID: RoomID, _ number: RoomNumber, after cursor: Int64, before end: Int64
  ) async throws -> (last: Int64, count: Int)? {
    try await database.write { transaction in
      guard let room = try self.cache.newest(roomID, in: transaction) else { return nil }
      let positions = try transaction.all(
        """
        SELECT position FROM event WHERE room = $1 AND position > $2 AND position < $3 AND state_key IS NULL
        ORDER BY position LIMIT $4
        """, number, cursor, end, Self.purgeBatchRows / 5
      ) { $0.integer(0) }
      guard let last = positions.last else { return nil }
      try self.delete(positions, of: room, in: transaction)
      return (last, positions.count)
    }
  }

  /// Deletes events that are no state, and what goes with each, from the rows and from the room's snapshot.
  func delete(_ positions: [Int64], of room: RoomSnapshot, in transaction: WriteTransaction) throws {
    for position in positions {
      try transaction.removeFullText(document: position)
      for statement in RoomRows.ofEvent { try transaction.execute(statement, position) }
    }
    guard let oldest = room.tail.first, let last = positions.max(), last >= oldest.position,
      let reduced = try RoomLoader(transaction: transaction).snapshot(of: room.number)
    else { return }
    cache.stage(reduced, [], in: transaction)
    var news = Note.RoomNews(number: room.number, upTo: reduced.position)
    news.reload = true
    transaction.note(.room(news))
  }

  /// Has the unread messages of everyone in a room counted anew.
  func forgetCounts(in number: RoomNumber) async throws {
    let users = try await database.read { transaction in
      try transaction.all("SELECT user_id FROM membership WHERE room = $1", number) { $0.identifier(0, as: UserID.self) }
    }
    var rest = users[...]
    while !rest.isEmpty {
      let batch = rest.prefix(Self.purgeBatchRows)
      rest = rest.dropFirst(batch.count)
      try await database.write { transaction in
        for user in batch { try transaction.execute(RoomRows.unreadCheckpoint, user, number) }
      }
    }
  }
}
