import Database
import JSON
import MatrixModel
import RoomRules
import ServerAccounts
import ServerCore

/// Which sessions there are. Those of applications end when nobody has asked for them for `CallLimits.sessionDisuseMilliseconds`.
package final class CallSessions: Sendable {
  package struct Session: Sendable, Equatable {
    package let id: SessionID
    package let project: ProjectID
    /// Media goes through our router; otherwise between the peers.
    package let isRouted: Bool
    /// It is recorded whenever somebody publishes.
    package var isAlwaysRecorded = false
    /// Milliseconds since 1970.
    package let created: Int64
    /// Of a call in a room.
    package let roomID: RoomID?
  }

  private let database: Database
  private let clock: WallClock

  package init(database: Database, clock: WallClock) {
    self.database = database
    self.clock = clock
  }

  /// Asking for a session is using it.
  package func session(_ id: SessionID) async throws -> Session? {
    let now = clock.now()
    let found = try await database.read { tx in
      try tx.first(
        "SELECT session, project, is_routed, is_archived, created, room_id, used FROM call_session WHERE session = $1", id
      ) { (session: Self.session($0), used: $0.integer(6)) }
    }
    if let found, now - found.used >= CallLimits.sessionUseMilliseconds {
      try await database.write { try $0.execute("UPDATE call_session SET used = $1 WHERE session = $2", now, id) }
    }
    return found?.session
  }

  /// How many were removed.
  @discardableResult
  package func removeUnused() async throws -> Int {
    let end = clock.now() - CallLimits.sessionDisuseMilliseconds
    return try await database.write { tx in
      try tx.changes("DELETE FROM call_session WHERE room_id IS NULL AND used < $1", end)
    }
  }

  package func create(of project: ProjectID, isRouted: Bool, isAlwaysRecorded: Bool = false) async throws -> Session {
    let session = Session(
      id: .random(of: project, now: clock.now()), project: project, isRouted: isRouted, isAlwaysRecorded: isAlwaysRecorded,
      created: clock.now(), roomID: nil)
    try await database.write { try Self.insert(session, $0) }
    return session
  }

  /// The one session of a room, made when it is first asked for.
  package func session(of roomID: RoomID) async throws -> Session {
    let found = try await database.read { try Self.session(of: roomID, $0) }
    if let found { return found }
    let new = Session(
      id: .random(of: .rooms, now: clock.now()), project: .rooms, isRouted: true, created: clock.now(), roomID: roomID)
    return try await database.write { tx in
      // Somebody else may have been faster.
      if let found = try Self.session(of: roomID, tx) { return found }
      try Self.insert(new, tx)
      return new
    }
  }

  private static func session(of roomID: RoomID, _ tx: ReadTransaction) throws -> Session? {
    try tx.first(
      "SELECT session, project, is_routed, is_archived, created, room_id FROM call_session WHERE room_id = $1", roomID,
      row: session)
  }

  private static func session(_ row: Row) -> Session {
    Session(
      id: row.identifier(0), project: row.identifier(1), isRouted: row.bool(2), isAlwaysRecorded: row.bool(3),
      created: row.integer(4), roomID: row.isNull(5) ? nil : row.identifier(5))
  }

  private static func insert(_ session: Session, _ tx: WriteTransaction) throws {
    try tx.execute(
      """
      INSERT INTO call_session(session, project, is_routed, is_archived, created, used, room_id)
      VALUES ($1, $2, $3, $4, $5, $5, $6)
      """,
      session.id, session.project, session.isRouted, session.isAlwaysRecorded, session.created, session.roomID)
  }
}

extension SessionID {
  static func random(of project: ProjectID, now: Int64) -> SessionID {
    let content = "1~\(project)~~\(now)~\(RandomText.urlSafe(bytes: 18))~"
    return SessionID(trusted: ByteString(decoding: Array("1_".utf8) + UnpaddedBase64.encode(Array(content.utf8), .urlSafe)))
  }

  /// The project of the session that the name belongs to; nil if the name is not valid.
  package var project: ProjectID? {
    guard text.hasPrefix("1_"), let content = UnpaddedBase64.decode(text.utf8.dropFirst(2)) else { return nil }
    let parts = content.split(separator: UInt8(ascii: "~"), omittingEmptySubsequences: false)
    return parts.count == 6 ? ProjectID(ByteString(decoding: parts[1])) : nil
  }
}
