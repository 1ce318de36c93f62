import Database
import JSON
import MatrixModel

extension DelayedEvents {
  package enum Status: Sendable { case scheduled, finalised }

  package struct Page: Sendable {
    package let events: [DelayedEvent]
    /// Where the next page begins; nil after the last.
    package let next: String?
  }

  package static let pageLimit = 50

  /// A user's delayed events in the order of when they are or were to be sent.
  ///
  /// - Parameter token: a page's `next`. Throws `M_INVALID_PARAM` for any other text.
  package func page(of user: UserID, _ status: Status?, from token: ByteString?) async throws -> Page {
    let start = try token.map { try Self.start($0) } ?? (sendAt: .min, id: "")
    return try await database.read { transaction in
      // Each is in one of two kinds: both numbers are compared with whether it is finalised.
      let (first, last): (Int64, Int64) =
        switch status {
        case nil: (0, 1)
        case .scheduled: (0, 0)
        case .finalised: (1, 1)
        }
      let events = try transaction.all(
        """
        SELECT d.delay_id, d.user_id, d.room, r.room_id, d.type, d.state_key, d.content, d.timestamp, d.delay, d.since,
          d.send_at, d.finalised, d.event_id, d.error
        FROM delayed_event d LEFT JOIN room r ON r.room = d.room
        WHERE d.user_id = $1 AND (d.send_at, d.delay_id) > ($2, $3)
          AND (CASE WHEN d.finalised IS NULL THEN 0 ELSE 1 END) BETWEEN $4 AND $5
        ORDER BY d.send_at, d.delay_id LIMIT $6
        """, user, start.sendAt, start.id, first, last, Self.pageLimit + 1, row: DelayedEvent.init)
      guard events.count > Self.pageLimit else { return Page(events: events, next: nil) }
      let shown = Array(events.prefix(Self.pageLimit))
      return Page(events: shown, next: shown.last.map { "\($0.sendAt)_\($0.id)" })
    }
  }

  private static func start(_ token: ByteString) throws -> (sendAt: Int64, id: ByteString) {
    let parts = token.string.split(separator: "_", maxSplits: 1)
    guard parts.count == 2, let sendAt = Int64(parts[0]) else {
      throw MatrixError.invalidParameter("'from' is no token of this list.")
    }
    return (sendAt, ByteString(String(parts[1])))
  }

  /// One of a user's delayed events. Throws `M_NOT_FOUND`.
  package func event(_ id: DelayedEvent.ID, of user: UserID) async throws -> DelayedEvent {
    let event = try await database.read { try Self.event(id, in: $0) }
    guard let event, event.user == user else { throw Self.unknown() }
    return event
  }

  static func event(_ id: DelayedEvent.ID, in transaction: ReadTransaction) throws -> DelayedEvent? {
    try transaction.first(
      """
      SELECT d.delay_id, d.user_id, d.room, r.room_id, d.type, d.state_key, d.content, d.timestamp, d.delay, d.since,
        d.send_at, d.finalised, d.event_id, d.error
      FROM delayed_event d LEFT JOIN room r ON r.room = d.room
      WHERE d.delay_id = $1
      """, id, row: DelayedEvent.init)
  }

  static func unknown() -> MatrixError { .notFound("There is no delayed event with this 'delay_id'.") }
}
