import Database
import MatrixModel
import ServerCore

/// Messages that are past their lifetime: nobody reads them from that moment on, and they are deleted soon after. State stays.
extension Rooms {
  /// Milliseconds since 1970: messages of the room that are older are gone. `Int64.min` where they stay for ever.
  package func expiry(of room: RoomSnapshot) -> Int64 {
    guard let lifetime = configuration.retention.lifetime(in: room) else { return .min }
    return configuration.clock.now() - lifetime
  }

  /// Deletes the messages of all rooms that are past their lifetime, in small bites: the writer serves others in between.
  ///
  /// Call it hourly: it looks at each room. The newest event of a room stays, because the next one refers to it. Answers how
  /// many were deleted.
  @discardableResult
  package func purgeExpiredMessages() async throws -> Int {
    var purged = 0
    var last: Int64 = -1
    while true {
      let numbers = try await database.read { [last] transaction in
        try transaction.all("SELECT room FROM room WHERE room > $1 ORDER BY room LIMIT 500", last) { $0.integer(0) }
      }
      guard let newest = numbers.last else { return purged }
      for number in numbers { purged += try await purgeExpiredMessages(in: RoomNumber(number)) }
      last = newest
    }
  }

  private func purgeExpiredMessages(in number: RoomNumber) async throws -> Int {
    guard let before = try await database.read({ try self.storedExpiry(of: number, $0) }) else { return 0 }
    var purged = 0
    var place: PurgePlace? = PurgePlace(timestamp: .min, position: -1)
    while let start = place {
      let count: Int
      (place, count) = try await database.write { transaction in
        guard let stale = try self.cache.snapshot(of: number, in: transaction),
          let room = try self.cache.newest(stale.roomID, in: transaction)
        else { return (nil, 0) }
        let bite = try Self.messages(of: room, before: before, after: start, transaction)
        try self.delete(bite.map(\.position), of: room, in: transaction)
        return (bite.last, bite.count)
      }
      purged += count
    }
    if purged > 0 { try await forgetCounts(in: number) }
    return purged
  }

  private static let purgeBite = 200

  private struct PurgePlace: Sendable {
    let timestamp: Int64
    let position: Int64
  }

  /// The room's expiry, read from rows: a purge must not bring every room into memory. nil where nothing is to go.
  private func storedExpiry(of room: RoomNumber, _ transaction: ReadTransaction) throws -> Int64? {
    let hasPolicy = try transaction.first(
      "SELECT 1 FROM current_state WHERE room = $1 AND type = $2 AND state_key = ''", room, EventType.retention
    ) { _ in true }
    let rules = configuration.retention
    guard hasPolicy != nil || rules.defaultLifetime != nil || rules.longestLifetime != nil else { return nil }
    return try cache.snapshot(of: room, in: transaction).map { expiry(of: $0) }
  }

  private static func messages(
    of room: RoomSnapshot, before: Int64, after place: PurgePlace, _ transaction: ReadTransaction
  ) throws -> [PurgePlace] {
    try transaction.all(
      """
      SELECT timestamp, position FROM event
      WHERE room = $1 AND (timestamp, position) > ($2, $3) AND timestamp < $4 AND state_key IS NULL AND position < $5
      ORDER BY timestamp, position LIMIT $6
      """, room.number, place.timestamp, place.position, before, room.position, purgeBite
    ) { PurgePlace(timestamp: $0.integer(0), position: $0.integer(1)) }
  }
}
