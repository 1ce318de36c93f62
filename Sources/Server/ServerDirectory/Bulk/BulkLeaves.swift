import Database
import JSON
import MatrixModel
import ServerCore
import ServerRooms
import Synchronization
import Telemetry

/// Leaving many rooms by one request. Extension: capability `martlet.bulk`.
///
/// Each room is left in a commit of its own that also notes it as done: a job that a stop interrupts goes on with the next
/// start, and leaves no room twice. Of several nodes the one that has the lease of all work carries jobs out; the others leave it a note.
package final class BulkLeaves: NoteFollower {
  /// Names a job to the user who began it.
  package typealias ID = TransactionID

  /// How far a job is.
  package struct Progress: Sendable {
    package let id: ID
    package let total: Int
    /// Rooms that were left or could not be.
    package let done: Int
    package let isFinished: Bool
    /// Rooms that could not be left, with the standard error response as JSON.
    package let errors: [(roomID: RoomID, error: [UInt8])]
  }

  /// Rooms of one request.
  package static let roomsLimit = 5_000
  /// Up to so many rooms are left before the request is answered.
  package static let immediateLimit = 20
  /// Jobs of one user that go on.
  package static let runningLimit = 4
  /// For how long a finished job can be looked up.
  package static let lifetimeMilliseconds: Int64 = 24 * 60 * 60 * 1_000
  /// How long a request waits for another node, if it is for few rooms. Then it is answered with how far the job is.
  private static let patience = Duration.seconds(10)
  private static let name: ByteString = "bulk"

  private struct State {
    var running: [ID: Task<Void, Never>] = [:]
    var isStopped = false
    /// Requests that wait for the end of a job at another node.
    var waiting: [ID: ParkedSync] = [:]
  }

  private let state = Mutex(State())
  private let database: Database
  private let rooms: Rooms
  private let clock: WallClock
  private let log: Log
  /// There is a job.
  private let signal = WorkSignal()

  package init(database: Database, rooms: Rooms, clock: WallClock, log: Log) {
    self.database = database
    self.rooms = rooms
    self.clock = clock
    self.log = log
    database.follow(.work, by: self)
  }

  package func wake(_ note: Note) {
    guard case .work(let name) = note else { return }
    if name == Self.name { signal.notify() }
    state.withLock { $0.waiting[ID(trusted: name)] }?.finish()
  }

  package func reload(_ rows: CommittedRows) { signal.notify() }

  // MARK: Asking

  /// Leaves rooms; for nil all that the user is in, invited to or knocking at. Of few rooms the answer is the end, of many the
  /// beginning.
  ///
  /// Throws `M_TOO_LARGE` for too many rooms, `M_LIMIT_EXCEEDED` while other jobs of the user go on.
  package func leave(_ roomIDs: [RoomID]?, of user: UserID, reason: String?) async throws -> Progress {
    if let roomIDs, roomIDs.count > Self.roomsLimit {
      throw MatrixError.tooLarge("One request names at most \(Self.roomsLimit) rooms.")
    }
    let id = ID(trusted: ByteString(RandomText.urlSafe(bytes: 18)))
    let count = try await database.write { [self] transaction in
      let running = try transaction.first(
        "SELECT COUNT(*) FROM bulk_job WHERE user_id = $1 AND finished IS NULL", user
      ) { $0.integer(0) }
      guard (running ?? 0) < Int64(Self.runningLimit) else {
        throw MatrixError.limitExceeded(retryAfterMilliseconds: 1_000)
      }
      let roomIDs = try roomIDs ?? present(user, transaction)
      try transaction.execute(
        "INSERT INTO bulk_job(job_id, user_id, reason, created) VALUES ($1, $2, $3, $4)", id, user,
        reason.map { Array($0.utf8) }, clock.now())
      var known: Set<RoomID> = []
      for roomID in roomIDs where known.insert(roomID).inserted {
        try transaction.execute(
          "INSERT INTO bulk_item(job_id, item, room_id) VALUES ($1, $2, $3)", id, known.count, roomID)
      }
      transaction.note(.work(Self.name))
      return known.count
    }
    if database.isNode {
      if count <= Self.immediateLimit { try await waitForEnd(of: id, user) }
    } else {
      let task = begin(id)
      if count <= Self.immediateLimit { await task?.value }
    }
    return try await progress(of: id, user)
  }

  /// Of a job that this node or another carries out; no longer than `patience`.
  private func waitForEnd(of id: ID, _ user: UserID) async throws {
    let request = ParkedSync()
    state.withLock { $0.waiting[id] = request }
    defer { state.withLock { $0.waiting[id] = nil } }
    // From here on its end cannot be missed.
    if try await progress(of: id, user).isFinished { return }
    let timer = Notifier.loop?.schedule(after: Self.patience) { request.finish() }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { request.park($0) }
    } onCancel: {
      request.finish()
    }
    timer?.cancel()
  }

  /// Rooms that a user's list shows. The newest first: they are what the user sees vanish.
  private func present(_ user: UserID, _ transaction: WriteTransaction) throws -> [RoomID] {
    let own = try rooms.memberships.rooms(of: user, in: transaction)
      .filter { [.join, .invite, .knock].contains($0.value.membership) }
    return try own.sorted { $0.value.position > $1.value.position }.compactMap { number, _ in
      try transaction.first("SELECT room_id FROM room WHERE room = $1", number) { $0.identifier(0) }
    }
  }

  /// How far a job of the user is. Throws `M_NOT_FOUND`.
  package func progress(of id: ID, _ user: UserID) async throws -> Progress {
    try await database.read { transaction in
      let finished = try transaction.first(
        "SELECT finished FROM bulk_job WHERE job_id = $1 AND user_id = $2", id, user
      ) { !$0.isNull(0) }
      guard let finished else { throw MatrixError.notFound("There is no such job, or it was finished long ago.") }
      let counts = try transaction.first(
        "SELECT COUNT(*), CAST(SUM(CASE WHEN state = 0 THEN 0 ELSE 1 END) AS BIGINT) FROM bulk_item WHERE job_id = $1", id
      ) { (total: Int($0.integer(0)), done: Int($0.integer(1))) }
      let errors = try transaction.all(
        "SELECT room_id, error FROM bulk_item WHERE job_id = $1 AND state = 2 ORDER BY item", id
      ) { (roomID: $0.identifier(0, as: RoomID.self), error: $0.blob(1)) }
      return Progress(
        id: id, total: counts?.total ?? 0, done: counts?.done ?? 0, isFinished: finished, errors: errors)
    }
  }

  // MARK: Working

  /// Goes on with the jobs that an earlier process began, and then with those that any node is asked for.
  package func start() {
    let task = Task { [self] in
      await beginAll()
      while database.isNode, !Task.isCancelled {
        await signal.wait()
        await beginAll()
      }
    }
    state.withLock { $0.running[Self.starter] = task }
  }

  private func beginAll() async {
    do {
      let jobs = try await database.read { transaction in
        try transaction.all("SELECT job_id FROM bulk_job WHERE finished IS NULL ORDER BY created, job_id") {
          $0.identifier(0, as: ID.self)
        }
      }
      for id in jobs { begin(id) }
    } catch {
      if !Task.isCancelled { log.error("bulk jobs stand still", ["error": .text("\(error)")]) }
    }
  }

  /// Stands among the running jobs for who looks for them.
  private static let starter = ID(trusted: "")

  /// Lets the room under way be left, and no more.
  package func stop() async {
    let tasks = state.withLock { state in
      state.isStopped = true
      return Array(state.running.values)
    }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }

  /// nil once the server stops. A job that runs already is not begun twice.
  @discardableResult
  private func begin(_ id: ID) -> Task<Void, Never>? {
    state.withLock { state in
      if state.isStopped { return nil }
      if let running = state.running[id] { return running }
      let task = Task { [self] in
        await run(id)
        self.state.withLock { $0.running[id] = nil }
      }
      state.running[id] = task
      return task
    }
  }

  private func run(_ id: ID) async {
    while !Task.isCancelled {
      do {
        guard try await leaveNext(of: id) else { return }
      } catch {
        if Task.isCancelled { return }
        log.error("a bulk job stands still", ["job": .text(id.string), "error": .text("\(error)")])
        try? await Task.sleep(for: .seconds(1))
      }
    }
  }

  private struct Item: Sendable {
    let number: Int64
    let roomID: RoomID
    let user: UserID
    let reason: String?
  }

  /// Answers whether there was one. After the last the job is finished.
  private func leaveNext(of id: ID) async throws -> Bool {
    let item = try await database.read { transaction in
      try transaction.first(
        """
        SELECT i.item, i.room_id, j.user_id, j.reason FROM bulk_item i JOIN bulk_job j ON j.job_id = i.job_id
        WHERE i.job_id = $1 AND i.state = 0 ORDER BY i.item LIMIT 1
        """, id
      ) { Item(number: $0.integer(0), roomID: $0.identifier(1), user: $0.identifier(2), reason: $0.optionalText(3)) }
    }
    guard let item else {
      try await database.write { [clock] transaction in
        try transaction.execute("UPDATE bulk_job SET finished = $1 WHERE job_id = $2", clock.now(), id)
        transaction.note(.work(id.text))
      }
      return false
    }
    do {
      try await rooms.edit(item.roomID) { [rooms] editor in
        try rooms.appendLeave(of: item.user, reason: item.reason, to: &editor)
        try Self.note(item, of: id, error: nil, editor.transaction)
      }
    } catch let error as MatrixError {
      try await database.write { try Self.note(item, of: id, error: error.bytes, $0) }
    }
    return true
  }

  private static func note(_ item: Item, of id: ID, error: [UInt8]?, _ transaction: WriteTransaction) throws {
    try transaction.execute(
      "UPDATE bulk_item SET state = $1, error = $2 WHERE job_id = $3 AND item = $4", error == nil ? 1 : 2, error, id,
      item.number)
  }

  /// Forgets jobs that were finished long ago. Hourly.
  package func forgetFinished() async throws {
    let oldest = clock.now() - Self.lifetimeMilliseconds
    let old = try await database.read { transaction in
      try transaction.all("SELECT job_id FROM bulk_job WHERE finished < $1", oldest) { $0.identifier(0, as: ID.self) }
    }
    for id in old {
      try await database.write { transaction in
        try transaction.execute("DELETE FROM bulk_item WHERE job_id = $1", id)
        try transaction.execute("DELETE FROM bulk_job WHERE job_id = $1", id)
      }
    }
  }
}
