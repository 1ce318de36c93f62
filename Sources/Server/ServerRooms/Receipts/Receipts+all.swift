import Database
import JSON
import MatrixModel
import ServerAccounts
import ServerCore

extension Receipts {
  /// Rooms of one request that marks as read.
  package static let roomsLimit = 5_000

  /// Marks rooms as read up to their newest event, all rooms of the user for nil: moves the receipt (`m.read`, or `m.read.private`)
  /// and the fully-read marker, and takes away `m.marked_unread`. Either all of it happens or nothing. Answers how many rooms changed.
  ///
  /// Ours: `martlet.read_all`. Throws `M_FORBIDDEN` where the user is not in one of them, `M_TOO_LARGE`.
  package func moveAll(_ kind: Receipt.Kind, of user: UserID, in roomIDs: [RoomID]?) async throws -> Int {
    let now = clock.now()
    return try await database.write { [self] transaction in
      var changed = 0
      for (number, roomID) in try rooms.joined(roomIDs, user, limit: Self.roomsLimit, in: transaction) {
        let before = transaction.position
        if let newest = try Self.newest(of: number, transaction) {
          try storeUnthreaded(kind, of: user, newest, at: now, in: number, transaction)
          try moveFullyRead(to: newest.eventID, at: newest.position, of: user, in: roomID, transaction)
        }
        try clearMarkedUnread(of: user, in: roomID, transaction)
        if transaction.position > before { changed += 1 }
      }
      return changed
    }
  }

  private func storeUnthreaded(
    _ kind: Receipt.Kind, of user: UserID, _ event: (position: Int64, eventID: EventID), at now: Int64, in room: RoomNumber,
    _ transaction: WriteTransaction
  ) throws {
    // Who has read on by the other kind of receipt has read it all the same.
    let read = try transaction.first(
      "SELECT MAX(event) FROM receipt WHERE room = $1 AND user_id = $2 AND thread = '' AND kind < $3", room, user,
      Receipt.Kind.delivered.rawValue
    ) { $0.integer(0) }
    if let read, read >= event.position { return }
    try store(
      Receipt(
        user: user, kind: kind, thread: "", eventID: event.eventID, event: event.position, timestamp: now, position: 0),
      in: room, transaction)
  }

  private func clearMarkedUnread(of user: UserID, in roomID: RoomID, _ transaction: WriteTransaction) throws {
    guard let content = try AccountData.content(transaction, of: .markedUnread, user, in: roomID),
      (try? JSON.parse(content))?["unread"]?.bool ?? false
    else { return }
    try accountData.store(transaction, .markedUnread, Array(#"{"unread":false}"#.utf8), of: user, in: roomID)
  }

  private static func newest(
    of room: RoomNumber, _ transaction: ReadTransaction
  ) throws -> (position: Int64, eventID: EventID)? {
    try transaction.first(
      "SELECT position, event_id FROM event WHERE room = $1 ORDER BY position DESC LIMIT 1", room
    ) { ($0.integer(0), $0.identifier(1)) }
  }
}
