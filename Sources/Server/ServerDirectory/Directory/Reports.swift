import Database
import JSON
import MatrixModel
import ServerCore
import ServerRooms

/// What users report to the server's administrators. Spec: Client-Server API, "Reporting Content".
///
/// A report of a room or of a user is taken whether there is such a one or not, with the same work: the answer tells
/// nobody what exists here. A report of an event is for who is in its room and may see it.
package final class Reports: Sendable {
  package enum Subject: Sendable, Equatable {
    case room(RoomID)
    case event(EventID, RoomID)
    case user(UserID)
  }

  package struct Report: Sendable {
    package let number: Int64
    /// Milliseconds since 1970.
    package let received: Int64
    package let reporter: UserID
    package let subject: Subject
    package let reason: String
  }

  /// Bytes of a reason.
  package static let reasonBytesLimit = 4_096
  /// Reports of one user that wait for an administrator.
  package static let reporterLimit = 1_000
  package static let listLimit = 500

  private let database: Database
  private let rooms: Rooms
  private let clock: WallClock

  package init(database: Database, rooms: Rooms, clock: WallClock) {
    self.database = database
    self.rooms = rooms
    self.clock = clock
  }

  /// Stores a report.
  ///
  /// Throws `M_NOT_FOUND` for an event that is not there, not theirs to see or in a room they are not in, `M_TOO_LARGE` for a
  /// long reason, `M_LIMIT_EXCEEDED` where too many of the user's reports wait.
  package func add(_ subject: Subject, reason: ByteString, by reporter: UserID) async throws {
    guard reason.count <= Self.reasonBytesLimit else {
      throw MatrixError.tooLarge("A reason has at most \(Self.reasonBytesLimit) bytes.")
    }
    try await database.write { transaction in
      if case .event(let eventID, let roomID) = subject { try self.require(eventID, in: roomID, reporter, transaction) }
      let waiting = try transaction.first("SELECT count(*) FROM report WHERE reporter = $1", reporter) { $0.integer(0) }
      guard waiting ?? 0 < Self.reporterLimit else {
        throw MatrixError.limitExceeded(retryAfterMilliseconds: 60 * 60 * 1_000)
      }
      try transaction.execute(
        """
        INSERT INTO report(report, received, reporter, room_id, event_id, user_id, reason)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """, transaction.nextPosition(), self.clock.now(), reporter, subject.roomID, subject.eventID, subject.userID,
        Array(reason.utf8))
    }
  }

  private func require(_ eventID: EventID, in roomID: RoomID, _ user: UserID, _ transaction: ReadTransaction) throws {
    guard let room = try rooms.cache.snapshot(of: roomID, in: transaction), room.isJoined(user),
      let event = try RoomLoader(transaction: transaction).event(eventID), event.room == room.number,
      try rooms.view(of: roomID, for: user, in: transaction).canSee(event)
    else { throw MatrixError.notFound("There is no such event in a room you are in.") }
  }

  // MARK: For administrators

  /// Newest first, from the report before `before` on; at most `limit`, which is at most `listLimit`.
  package func list(before: Int64? = nil, limit: Int) async throws -> [Report] {
    try await database.read { transaction in
      try transaction.all(
        """
        SELECT report, received, reporter, room_id, event_id, user_id, reason FROM report
        WHERE report < $1 ORDER BY report DESC LIMIT $2
        """, before ?? Int64.max, min(max(limit, 0), Self.listLimit)
      ) { Self.report($0) }
    }
  }

  /// Which reports of events to list, from where on.
  package struct Query: Sendable {
    package var reporter: UserID?
    package var roomID: RoomID?
    package var isOldestFirst = false
    package var offset: Int64 = 0
    package var limit = 100

    package init() {}
  }

  /// The page of reports of events that begins at an offset, and how many there are in all.
  package func page(_ query: Query) async throws -> (reports: [Report], total: Int64) {
    let direction: Int64 = query.isOldestFirst ? 1 : -1
    let limit = min(max(query.limit, 1), Self.listLimit)
    return try await database.read { transaction in
      let reports = try transaction.all(
        """
        SELECT report, received, reporter, room_id, event_id, user_id, reason FROM report
        WHERE event_id IS NOT NULL AND ($1 IS NULL OR reporter = $1) AND ($2 IS NULL OR room_id = $2)
        ORDER BY report * $3 LIMIT $4 OFFSET $5
        """, query.reporter, query.roomID, direction, limit, query.offset
      ) { Self.report($0) }
      let total = try transaction.first(
        """
        SELECT COUNT(*) FROM report
        WHERE event_id IS NOT NULL AND ($1 IS NULL OR reporter = $1) AND ($2 IS NULL OR room_id = $2)
        """, query.reporter, query.roomID
      ) { $0.integer(0) }
      return (reports, total ?? 0)
    }
  }

  /// Throws `M_NOT_FOUND`.
  package func report(_ number: Int64) async throws -> Report {
    let report = try await database.read { transaction in
      try transaction.first(
        "SELECT report, received, reporter, room_id, event_id, user_id, reason FROM report WHERE report = $1", number
      ) { Self.report($0) }
    }
    guard let report else { throw Self.notFound }
    return report
  }

  /// Throws `M_NOT_FOUND`.
  package func delete(_ number: Int64) async throws {
    let count = try await database.write { try $0.changes("DELETE FROM report WHERE report = $1", number) }
    guard count == 1 else { throw Self.notFound }
  }

  private static func report(_ row: Row) -> Report {
    let room = row.optionalText(3).map { RoomID(trusted: ByteString($0)) }
    let subject: Subject =
      if let event = row.optionalText(4), let room {
        .event(EventID(trusted: ByteString(event)), room)
      } else if let room {
        .room(room)
      } else {
        .user(UserID(trusted: ByteString(row.optionalText(5) ?? "")))
      }
    return Report(
      number: row.integer(0), received: row.integer(1), reporter: row.identifier(2), subject: subject,
      reason: String(decoding: row.blob(6), as: UTF8.self))
  }

  private static let notFound = MatrixError.notFound("There is no such report.")
}

extension Reports.Subject {
  package var roomID: RoomID? {
    switch self {
    case .room(let room), .event(_, let room): room
    case .user: nil
    }
  }

  package var eventID: EventID? {
    if case .event(let event, _) = self { event } else { nil }
  }

  package var userID: UserID? {
    if case .user(let user) = self { user } else { nil }
  }
}
