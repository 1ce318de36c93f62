import Database
import JSON
import MatrixModel

/// Something an administrator started that goes on after the answer, and after a restart.
package struct AdministrationTask: Sendable {
  package enum Kind: String, Sendable, CaseIterable {
    case deleteRoom = "room.delete"
    case purgeHistory = "room.purge_history"
    case broadcast = "notice.broadcast"
  }

  package enum State: String, Sendable { case active, complete, failed }

  package let id: String
  package let kind: Kind
  /// A room ID; empty for a broadcast.
  package let target: String
  package let actor: String
  package let parameters: JSON
  package let state: State
  /// Where it is, in an order of its kind's.
  package let cursor: String
  package let done: Int64
  /// 0 where nobody can know before the end.
  package let total: Int64
  /// What it came to, or has so far; with `error` where it failed.
  package let result: JSON?
  /// Milliseconds since 1970.
  package let started: Int64
  package let finished: Int64?

  /// From `task, kind, target, actor, parameters, state, cursor, done, total, result, started, finished`.
  init?(_ row: Row) throws {
    guard let kind = Kind(rawValue: row.text(1)), let state = State(rawValue: row.text(5)) else { return nil }
    id = row.text(0)
    self.kind = kind
    target = row.text(2)
    actor = row.text(3)
    parameters = try JSON.parse(row.blob(4))
    self.state = state
    cursor = row.text(6)
    done = row.integer(7)
    total = row.integer(8)
    result = try row.optionalBlob(9).map { try JSON.parse($0) }
    started = row.integer(10)
    finished = row.optionalInteger(11)
  }
}
