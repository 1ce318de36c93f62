import Database
import JSON
import MatrixModel
import ServerCore

/// The actions of administrators, with their targets and results. Never contains passwords, tokens or messages.
package final class AuditLog: Sendable {
  package struct Entry: Sendable {
    package let number: Int64
    /// Milliseconds since 1970.
    package let time: Int64
    /// A user ID, or `operator`.
    package let actor: String
    /// `user.lock`, `room.delete`, …
    package let action: String
    /// What it was done to: a user ID, room ID, media ID; empty where it is the server.
    package let target: String
    /// A JSON object.
    package let details: [UInt8]
    /// `done`, the errcode of a refusal, or nil for what was interrupted or goes on.
    package let outcome: String?
  }

  /// Which entries to list; nil takes all.
  package struct Query: Sendable {
    package var actor: String?
    /// An action or, as `user.`, the beginning of several.
    package var action: String?
    package var target: String?
    /// The last entry of the page before.
    package var before: Int64?
    package var limit = 100

    package init() {}
  }

  package static let listLimit = 500
  /// Bytes of a target; what is longer is cut off, for it is no name of anything here.
  private static let targetBytesLimit = 512

  private let database: Database
  private let clock: WallClock
  /// nil keeps entries for ever.
  private let lifetimeMilliseconds: Int64?

  init(database: Database, clock: WallClock, lifetimeMilliseconds: Int64?) {
    self.database = database
    self.clock = clock
    self.lifetimeMilliseconds = lifetimeMilliseconds
  }

  /// Does what an administrator asks for. That they asked is durable before it begins, the outcome right after its end: there is
  /// no action without its entry, and one without outcome was interrupted.
  package func record<Value>(
    _ action: String, of target: String, by administrator: Administrator, details: (inout JSONWriter) -> Void = { _ in },
    _ body: () async throws -> Value
  ) async throws -> Value {
    var writer = JSONWriter()
    writer.object { details(&$0) }
    let number = try await begin(
      action, String(decoding: target.utf8.prefix(Self.targetBytesLimit), as: UTF8.self), administrator, writer.bytes)
    do {
      let value = try await body()
      try await end(number, "done")
      return value
    } catch {
      try await end(number, (error as? MatrixError)?.code.text.string ?? "M_UNKNOWN")
      throw error
    }
  }

  private func begin(_ action: String, _ target: String, _ administrator: Administrator, _ details: [UInt8]) async throws
    -> Int64
  {
    try await database.write { [clock] tx in
      let number = tx.nextPosition()
      try tx.execute(
        "INSERT INTO audit(entry, time, actor, action, target, details) VALUES($1, $2, $3, $4, $5, $6)", number, clock.now(),
        administrator.name, action, target, details)
      return number
    }
  }

  private func end(_ number: Int64, _ outcome: String) async throws {
    try await database.write { tx in
      try tx.execute("UPDATE audit SET outcome = $1 WHERE entry = $2", outcome, number)
    }
  }

  // MARK: Reading

  /// Newest first.
  package func list(_ query: Query) async throws -> [Entry] {
    let limit = min(max(query.limit, 1), Self.listLimit)
    return try await database.read { tx in
      try tx.all(
        """
        SELECT entry, time, actor, action, target, details, outcome FROM audit
        WHERE entry < $1 AND ($2 IS NULL OR actor = $2) AND ($3 IS NULL OR SUBSTR(action, 1, LENGTH($3)) = $3)
          AND ($4 IS NULL OR target = $4)
        ORDER BY entry DESC LIMIT $5
        """, query.before ?? .max, query.actor, query.action, query.target, limit
      ) { row in
        Entry(
          number: row.integer(0), time: row.integer(1), actor: row.text(2), action: row.text(3), target: row.text(4),
          details: row.blob(5), outcome: row.optionalText(6))
      }
    }
  }

  /// Deletes what is older than the operator wants it kept.
  package func forgetOld() async throws {
    guard let lifetimeMilliseconds else { return }
    let oldest = clock.now() - lifetimeMilliseconds
    var deleted = 1
    while deleted > 0 {
      deleted = try await database.write { tx in
        try tx.changes(
          "DELETE FROM audit WHERE entry IN (SELECT entry FROM audit WHERE time < $1 ORDER BY entry LIMIT 500)", oldest)
      }
    }
  }
}
