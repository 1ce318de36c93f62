import Database
import MatrixModel
import ServerRooms

extension Rooms {
  /// The visible event nearest to a time on one side of it: at or after it forward, at or before it backward.
  ///
  /// A look into an index, whatever the length of the room's history. Where more than `timestampScanLimit` events in a row
  /// are hidden from the user, it goes on where what they may see begins or ends.
  /// Spec: `GET /rooms/{roomId}/timestamp_to_event`. Throws `M_FORBIDDEN`, `M_NOT_FOUND`.
  package func event(
    nearest timestamp: Int64, _ direction: Direction, in roomID: RoomID, for user: UserID
  ) async throws -> StoredEvent {
    let found = try await database.read { transaction -> StoredEvent? in
      let view = try self.view(of: roomID, for: user, in: transaction)
      let search = TimestampSearch(view: view, direction: direction, transaction: transaction)
      return try search.nearest(to: timestamp)
    }
    guard let found else {
      throw MatrixError.notFound(
        "There is no event \(direction == .forward ? "at or after" : "at or before") that time which you may see.")
    }
    return found
  }

  /// Hidden events in a row that are looked at one by one.
  static let timestampScanLimit = 1_000
}

private struct TimestampSearch {
  let view: RoomView
  let direction: Rooms.Direction
  let transaction: ReadTransaction

  private static let batchLimit = 100

  private struct Place {
    let timestamp: Int64
    let position: Int64
  }

  func nearest(to timestamp: Int64) throws -> StoredEvent? {
    let start = Place(timestamp: timestamp, position: direction == .forward ? -1 : .max)
    let (found, reached) = try scan(from: start)
    guard found == nil, let reached else { return found }
    // Hidden by their age or by what the user was at the time: on to where either ends.
    if direction == .forward, reached.timestamp < view.expiry {
      let (found, reached) = try scan(from: Place(timestamp: view.expiry, position: -1))
      guard found == nil, let reached else { return found }
      return try beyondHidden(from: reached)
    }
    return try beyondHidden(from: reached)
  }

  /// The first visible event by time, or the place where it gave up.
  private func scan(from start: Place) throws -> (StoredEvent?, reached: Place?) {
    var place = start
    var scanned = 0
    while scanned < Rooms.timestampScanLimit {
      let batch = try places(from: place)
      for candidate in batch {
        guard let event = try RoomLoader(transaction: transaction).event(at: candidate.position) else { continue }
        if view.canSee(event) { return (event, nil) }
      }
      guard batch.count == Self.batchLimit, let last = batch.last else { return (nil, nil) }
      place = last
      scanned += batch.count
    }
    return (nil, place)
  }

  private func places(from place: Place) throws -> [Place] {
    func made(_ row: Row) -> Place { Place(timestamp: row.integer(0), position: row.integer(1)) }
    if direction == .forward {
      return try transaction.all(
        """
        SELECT timestamp, position FROM event WHERE room = $1 AND (timestamp, position) > ($2, $3)
        ORDER BY timestamp, position LIMIT $4
        """, view.room.number, place.timestamp, place.position, Self.batchLimit, row: made)
    }
    return try transaction.all(
      """
      SELECT timestamp, position FROM event WHERE room = $1 AND (timestamp, position) < ($2, $3)
      ORDER BY timestamp DESC, position DESC LIMIT $4
      """, view.room.number, place.timestamp, place.position, Self.batchLimit, row: made)
  }

  /// What a user may see begins and ends where their membership or the room's visibility changes.
  private func beyondHidden(from place: Place) throws -> StoredEvent? {
    let loader = RoomLoader(transaction: transaction)
    let changes = view.changes.sorted()
    if direction == .forward {
      for change in changes where change > place.position {
        let events = try loader.events(in: view.room.number, after: change - 1, limit: 2)
        if let event = events.first(where: view.canSee) { return event }
      }
    } else {
      for change in changes.reversed() where change < place.position {
        let events = try loader.events(in: view.room.number, before: change + 1, limit: 2)
        if let event = events.first(where: view.canSee) { return event }
      }
    }
    return nil
  }
}
