import CSQLite
import Synchronization
import Testing

@testable import Database

private struct Refused: Error, Equatable { let name: String }

/// What happened, in order, from several threads: what jobs write down, and what the database publishes of them.
private final class Journal: CommitFollower {
  private final class Line: CommitNote {
    let kindNumber: UInt8 = 1
    let text: String

    init(_ text: String) { self.text = text }

    func reread() -> any CommitNote { self }
  }

  private let lines = Mutex<[String]>([])
  /// What stands behind each line of the database.
  private let remark: @Sendable () -> String

  init(of database: Database, remark: @escaping @Sendable () -> String = { "" }) {
    self.remark = remark
    database.follow([1], by: self)
  }

  func note(_ line: String) { lines.withLock { $0.append(line) } }
  func expect(_ name: String, of transaction: WriteTransaction) { transaction.post(Line(name)) }
  var all: [String] { lines.withLock { $0 } }

  func apply(_ note: any CommitNote, _ rows: CommittedRows) {
    if let line = note as? Line { self.note("\(line.text) published" + remark()) }
  }

  func wake(_ note: any CommitNote) {
    if let line = note as? Line { self.note("\(line.text) woke" + remark()) }
  }

  func reload(_ rows: CommittedRows) { note("reload") }
}

@Suite("Group commit")
struct GroupCommitTests {
  let folder = try! Folder()

  /// Queues `jobs` behind a held one, so that they share one batch, and returns how each ended.
  private func batch(
    _ database: Database, _ jobs: [@Sendable (WriteTransaction) throws -> Int64]
  ) async -> [Result<Int64, any Error>] {
    let gate = Gate()
    let held = Task { try await database.write { _ in gate.pass() } }
    await gate.waitUntilEntered()
    var tasks: [Task<Int64, any Error>] = []
    for job in jobs {
      let waiting = database.statistics.waitingWrites
      tasks.append(Task { try await database.write(job) })
      await eventually { database.statistics.waitingWrites > waiting }
    }
    gate.open()
    _ = await held.result
    var results: [Result<Int64, any Error>] = []
    for task in tasks { results.append(await task.result) }
    return results
  }

  @Test("What waits together is committed together", arguments: Engine.present)
  func sharesOneCommit(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    let results = await batch(database, (0..<10).map { n in { try $0.addNote(by: "\(n)") } })
    #expect(try results.map { try $0.get() } == Array(1...10))
    let statistics = database.statistics
    #expect(statistics.commits == 2)  // the held job's and the ten's
    #expect(statistics.writes == 11)
    #expect(statistics.largestBatch == 10)
    #expect(statistics.commitNanoseconds >= statistics.longestCommitNanoseconds)
    #expect(statistics.longestCommitNanoseconds > 0)
    #expect(statistics.logPages > 0 || engine == .postgreSQL)
  }

  @Test("A batch is at most as large as its limit", arguments: Engine.present)
  func batchLimit(engine: Engine) async throws {
    let database = try folder.open(on: engine) { $0.batchLimit = 4 }
    let results = await batch(database, (0..<9).map { n in { try $0.addNote(by: "\(n)") } })
    #expect(try results.map { try $0.get() } == Array(1...9))
    #expect(database.statistics.largestBatch == 4)
    #expect(database.statistics.commits == 1 + 3)
  }

  @Test("A job that is rehearsed is undone before it counts: rows, position, staging", arguments: Engine.present)
  func rehearsal(engine: Engine) async throws {
    let database = try folder.open(on: engine) { $0.rehearsesJobs = true }
    let journal = Journal(of: database)
    let results = await batch(
      database,
      [
        { transaction in
          journal.note("a runs")
          journal.expect("a", of: transaction)
          transaction.onRollback { journal.note("a undone") }
          return try transaction.addNote(by: "a")
        },
        { transaction in
          try transaction.addNote(by: "b")
          throw Refused(name: "b")
        }
      ])
    #expect(try results[0].get() == 1)
    #expect(throws: Refused(name: "b")) { try results[1].get() }
    #expect(journal.all == ["a runs", "a undone", "a runs", "a published", "a woke"])
    #expect(try await database.read { try $0.authors() } == ["a"])
  }

  @Test("A job that throws is undone alone: rows, position, staging", arguments: Engine.present)
  func failedJobIsUndoneAlone(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    let journal = Journal(of: database)
    let results = await batch(
      database,
      [
        { transaction in
          journal.expect("a", of: transaction)
          transaction.onRollback { journal.note("a undone") }
          return try transaction.addNote(by: "a")
        },
        { transaction in
          journal.expect("b", of: transaction)
          transaction.onRollback { journal.note("b undone 1") }
          transaction.onRollback { journal.note("b undone 2") }
          try transaction.addNote(by: "b")
          try transaction.addNote(by: "b2")
          throw Refused(name: "b")
        },
        { transaction in
          journal.note("c starts")
          journal.expect("c", of: transaction)
          return try transaction.addNote(by: "c")
        }
      ])
    #expect(try results[0].get() == 1)
    #expect(throws: Refused(name: "b")) { try results[1].get() }
    #expect(try results[2].get() == 2)
    #expect(journal.all == ["b undone 2", "b undone 1", "c starts", "a published", "c published", "a woke", "c woke"])
    #expect(try database.readBlocking { try $0.authors() } == ["a", "c"])
    #expect(database.committedPosition == 2)
    #expect(database.statistics.failedWrites == 1)
  }

  @Test("A job that is alone in its batch and throws is undone too, and is no failed commit", arguments: Engine.present)
  func failedJobAlone(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    let journal = Journal(of: database)
    _ = try await database.write { transaction in try transaction.addNote(by: "a") }
    let results = await batch(
      database,
      [
        { transaction in
          journal.expect("b", of: transaction)
          transaction.onRollback { journal.note("b undone") }
          try transaction.addNote(by: "b")
          throw Refused(name: "b")
        }
      ])
    #expect(throws: Refused(name: "b")) { try results[0].get() }
    #expect(journal.all == ["b undone"])
    let next = try await database.write { transaction in try transaction.addNote(by: "c") }
    #expect(next == 2)
    #expect(try database.readBlocking { try $0.authors() } == ["a", "c"])
    #expect(database.statistics.failedWrites == 1)
    #expect(database.statistics.failedCommits == 0)
  }

  @Test("A commit that fails undoes every job, tells every caller and publishes nothing")
  func failedCommit() async throws {
    let database = try folder.open()
    let journal = Journal(of: database)
    func job(_ name: String, _ alsoDo: @escaping @Sendable (WriteTransaction) -> Void = { _ in })
      -> @Sendable (WriteTransaction) throws -> Int64
    {
      { transaction in
        journal.expect(name, of: transaction)
        transaction.onRollback { journal.note("\(name) undone") }
        alsoDo(transaction)
        return try transaction.addNote(by: name)
      }
    }
    // SQLite's own switch to make COMMIT fail.
    let failing = await batch(
      database,
      [
        job("a"),
        job("b") { sqlite3_commit_hook($0.sqliteHandle, { _ in 1 }, nil) },
        { _ in throw Refused(name: "c") }
      ])
    #expect(throws: DatabaseError.self) { try failing[0].get() }
    #expect(throws: DatabaseError.self) { try failing[1].get() }
    #expect(throws: Refused(name: "c")) { try failing[2].get() }
    #expect(journal.all == ["b undone", "a undone"])
    #expect(database.committedPosition == 0)
    #expect(database.statistics.failedCommits == 1)
    #expect(try database.readBlocking { try $0.authors() } == [])

    let recovered = await batch(database, [job("d") { sqlite3_commit_hook($0.sqliteHandle, nil, nil) }])
    // The held job before it met the hook too; this one was given the first position again.
    #expect(try recovered[0].get() == 1)
    #expect(try database.readBlocking { try $0.authors() } == ["d"])
  }

  @Test("When the transaction ends by itself, no job of the batch is acknowledged", arguments: Engine.present)
  func transactionLost(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    let journal = Journal(of: database)
    let results = await batch(
      database,
      [
        { transaction in
          transaction.onRollback { journal.note("a undone") }
          return try transaction.addNote(by: "a")
        },
        { transaction in
          try transaction.connection.execute("ROLLBACK")
          throw Refused(name: "b")
        },
        { try $0.addNote(by: "c") }
      ])
    #expect(throws: DatabaseError.self) { try results[0].get() }
    #expect(throws: Refused(name: "b")) { try results[1].get() }
    #expect(throws: DatabaseError.self) { try results[2].get() }
    #expect(journal.all == ["a undone"])
    #expect(try await database.write { try $0.addNote(by: "d") } == 1)
  }

  @Test("A job that goes on after the transaction has ended writes nothing", arguments: Engine.present)
  func swallowedError(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    await #expect(throws: DatabaseError.self) {
      try await database.write { transaction in
        try transaction.connection.execute("ROLLBACK")
        #expect(throws: DatabaseError.self) { try transaction.addNote(by: "a") }
      }
    }
    #expect(try database.readBlocking { try $0.authors() } == [])
    #expect(try await database.write { try $0.addNote(by: "b") } == 1)
  }

  @Test("Publishing comes before the position moves, waking after it, callers last", arguments: Engine.present)
  func orderOfPublication(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    let journal = Journal(of: database) { " at \(database.committedPosition)" }
    func job(_ name: String) -> @Sendable (WriteTransaction) throws -> Int64 {
      { transaction in
        journal.expect(name, of: transaction)
        return try transaction.addNote(by: name)
      }
    }
    _ = await batch(database, [job("a"), job("b")])
    #expect(journal.all == ["a published at 0", "b published at 0", "a woke at 2", "b woke at 2"])
  }

  @Test("The queue takes as many as its limit, then refuses", arguments: Engine.present)
  func queueLimit(engine: Engine) async throws {
    let database = try folder.open(on: engine) { $0.writeQueueLimit = 2 }
    let gate = Gate()
    let held = Task { try await database.write { _ in gate.pass() } }
    await gate.waitUntilEntered()
    var tasks: [Task<Int64, any Error>] = []
    for name in ["a", "b"] { tasks.append(Task { try await database.write { try $0.addNote(by: name) } }) }
    await eventually { database.statistics.waitingWrites == 2 }
    await #expect(throws: DatabaseError.overloaded) { try await database.write { try $0.addNote(by: "c") } }
    gate.open()
    try await held.value
    for task in tasks { _ = try await task.value }
    #expect(try database.readBlocking { try $0.authors().sorted() } == ["a", "b"])
    #expect(try await database.write { try $0.addNote(by: "c") } == 3)
  }

  @Test("A caller cancelled before its job starts writes nothing", arguments: Engine.present)
  func cancellation(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    let gate = Gate()
    let held = Task { try await database.write { _ in gate.pass() } }
    await gate.waitUntilEntered()
    let task = Task { try await database.write { try $0.addNote(by: "a") } }
    await eventually { database.statistics.waitingWrites == 1 }
    task.cancel()
    gate.open()
    try await held.value
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try database.readBlocking { try $0.authors() } == [])
  }

  @Test("Positions have no gaps and no duplicates under 32 writers of which a third fail", arguments: Engine.present)
  func gapless(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    let positions = try await withThrowingTaskGroup(of: [Int64].self) { group in
      for writer in 0..<32 {
        group.addTask {
          var given: [Int64] = []
          for number in 0..<30 {
            do {
              given.append(
                try await database.write { transaction in
                  let position = try transaction.addNote(by: "\(writer)/\(number)")
                  if number % 3 == 0 { throw Refused(name: "every third") }
                  return position
                })
            } catch is Refused {}
          }
          return given
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(positions.sorted() == Array(1...Int64(32 * 20)))
    #expect(database.committedPosition == 640)
    let stored = try database.readBlocking {
      try $0.all("SELECT position FROM note ORDER BY position") { $0.integer(0) }
    }
    #expect(stored == Array(1...640))
  }
}
