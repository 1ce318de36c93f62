import Database
import JSON
import MatrixModel
import ServerCore
import Synchronization
import Telemetry

/// Runs what administrators start and do not wait for. What a stop interrupts goes on at the next start, from where it was. Of several nodes the one
/// that has the lease of all work runs them; the others leave it a note.
package final class AdministrationTasks: NoteFollower {
  /// Carries a task out or on; the answer is a JSON object, what it came to.
  typealias Work = @Sendable (AdministrationTask) async throws -> [UInt8]

  private struct State {
    var work: [AdministrationTask.Kind: Work] = [:]
    var running: [String: Task<Void, Never>] = [:]
    var isShutDown = false
    /// Begins what other nodes were asked for.
    var starter: Task<Void, Never>?
  }

  /// Tasks under way at once.
  package static let activeLimit = 100
  package static let listLimit = 100
  /// How long a task that has ended is told of.
  private static let lifetimeMilliseconds: Int64 = 30 * 24 * 60 * 60 * 1_000

  private let database: Database
  private let clock: WallClock
  private let log: Log
  private let state = Mutex(State())
  private let signal = WorkSignal()
  private static let name: ByteString = "administration"

  init(database: Database, clock: WallClock, log: Log) {
    self.database = database
    self.clock = clock
    self.log = log
    database.follow(.work, by: self)
  }

  package func wake(_ note: Note) { if note == .work(Self.name) { signal.notify() } }

  package func reload(_ rows: CommittedRows) { signal.notify() }

  /// Says how tasks of a kind are carried out. Once, when the homeserver is put together.
  func carryOut(_ kind: AdministrationTask.Kind, _ work: @escaping Work) { state.withLock { $0.work[kind] = work } }

  /// Tasks that are under way now.
  package var activeCount: Int { state.withLock { $0.running.count } }

  // MARK: Starting

  /// Starts a task; the answer is its ID. It is durable then. Throws `M_LIMIT_EXCEEDED` where too many are under way, and
  /// `M_INVALID_PARAM` where one of the same kind is under way for the same target.
  ///
  /// - Parameter total: of how many things `done` counts.
  func start(
    _ kind: AdministrationTask.Kind, of target: String, by administrator: Administrator, parameters: [UInt8],
    total: @escaping @Sendable (ReadTransaction) throws -> Int64 = { _ in 0 }
  ) async throws -> String {
    let id = RandomText.name(length: 16)
    try await database.write { [clock] tx in
      let active = try tx.first("SELECT COUNT(*) FROM administration_task WHERE state = 'active'") { $0.integer(0) } ?? 0
      guard active < Int64(Self.activeLimit) else { throw MatrixError.limitExceeded(retryAfterMilliseconds: 60_000) }
      let same = try tx.first(
        "SELECT 1 FROM administration_task WHERE kind = $1 AND target = $2 AND state = 'active'", kind.rawValue, target
      ) { _ in true }
      guard same == nil else {
        throw MatrixError.invalidParameter("The same is under way already; wait until it has ended.")
      }
      try tx.execute(
        """
        INSERT INTO administration_task(task, kind, target, actor, parameters, state, total, started)
        VALUES($1, $2, $3, $4, $5, 'active', $6, $7)
        """, id, kind.rawValue, target, administrator.name, parameters, try total(tx), clock.now())
      tx.note(.work(Self.name))
    }
    if !database.isNode { run(id, kind) }
    return id
  }

  /// Among several nodes: begins here what any of them is asked for.
  func start() {
    guard database.isNode else { return }
    let starter = Task {
      while !Task.isCancelled {
        await signal.wait()
        do { try await resume() } catch {
          if !Task.isCancelled { log.error("what administrators started stands still", ["error": .text("\(error)")]) }
        }
      }
    }
    state.withLock { $0.starter = starter }
  }

  /// Goes on with what an earlier process left.
  package func resume() async throws {
    let left = try await database.read { tx in
      try tx.all("SELECT task, kind FROM administration_task WHERE state = 'active' ORDER BY started, task") { row in
        (id: row.text(0), kind: AdministrationTask.Kind(rawValue: row.text(1)))
      }
    }
    for (id, kind) in left { if let kind { run(id, kind) } }
  }

  private func run(_ id: String, _ kind: AdministrationTask.Kind) {
    state.withLock { state in
      guard !state.isShutDown, state.running[id] == nil, let work = state.work[kind] else { return }
      state.running[id] = Task {
        await self.finish(id, work)
        self.state.withLock { _ = $0.running.removeValue(forKey: id) }
      }
    }
  }

  private func finish(_ id: String, _ work: Work) async {
    do {
      let task = try await task(id)
      do {
        try await end(id, .complete, try await work(task))
      } catch let error as MatrixError {
        try await end(id, .failed, Self.failure(error.message))
      } catch is CancellationError {
        return
      }
    } catch {
      // It stays active: the database may be well again at the next start.
      log.error("an administrator's task was interrupted", ["task": .text(id), "error": .text("\(error)")])
    }
  }

  private static func failure(_ message: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { $0.member("error", message) }
    return writer.bytes
  }

  private func end(_ id: String, _ state: AdministrationTask.State, _ result: [UInt8]) async throws {
    try await database.write { [clock] tx in
      try tx.execute(
        "UPDATE administration_task SET state = $1, result = $2, finished = $3 WHERE task = $4", state.rawValue, result,
        clock.now(), id)
    }
  }

  /// Stops what is under way; it goes on at the next start. Returns when nothing runs any more.
  func shutdown() async {
    let running = state.withLock { state in
      state.isShutDown = true
      return Array(state.running.values) + (state.starter.map { [$0] } ?? [])
    }
    for task in running { task.cancel() }
    for task in running { await task.value }
  }

  /// Returns when what is under way now has ended or was stopped.
  package func settle() async {
    for task in state.withLock({ Array($0.running.values) }) { await task.value }
  }

  // MARK: Progress

  /// Notes inside a command how far a task is.
  func advance(_ id: String, to cursor: String, done: Int64, result: [UInt8]? = nil, in tx: WriteTransaction) throws {
    try tx.execute(
      """
      UPDATE administration_task SET cursor = $1, done = done + $2, result = COALESCE($3, result) WHERE task = $4
      """, cursor, done, result, id)
  }

  /// Throws `M_NOT_FOUND`.
  package func task(_ id: String) async throws -> AdministrationTask {
    try await database.read { tx in try Self.task(id, in: tx) }
  }

  static func task(_ id: String, in tx: ReadTransaction) throws -> AdministrationTask {
    let task = try tx.first(
      """
      SELECT task, kind, target, actor, parameters, state, cursor, done, total, result, started, finished
      FROM administration_task WHERE task = $1
      """, id
    ) { try AdministrationTask($0) }
    guard let found = task, let found else { throw MatrixError.notFound("There is no such task.") }
    return found
  }

  /// Returns the tasks of a kind, optionally only those of a target, newest first.
  package func list(_ kind: AdministrationTask.Kind, of target: String? = nil) async throws -> [AdministrationTask] {
    try await database.read { tx in
      try tx.all(
        """
        SELECT task, kind, target, actor, parameters, state, cursor, done, total, result, started, finished
        FROM administration_task WHERE kind = $1 AND ($2 IS NULL OR target = $2) ORDER BY started DESC, task LIMIT $3
        """, kind.rawValue, target, Self.listLimit
      ) { try AdministrationTask($0) }.compactMap { $0 }
    }
  }

  /// Forgets tasks that ended long ago.
  package func forgetOld() async throws {
    let oldest = clock.now() - Self.lifetimeMilliseconds
    try await database.write { tx in
      try tx.execute("DELETE FROM administration_task WHERE state <> 'active' AND finished < $1", oldest)
    }
  }
}
