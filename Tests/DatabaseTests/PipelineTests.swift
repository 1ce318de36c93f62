import PostgreSQLTesting
import Synchronization
import Testing

@testable import Database

/// Statements that are sent without awaiting their answers. Both engines answer the callers alike.
@Suite("Pipelined writes")
struct PipelineTests {
  private struct Refused: Error {}
  typealias WriteBody = @Sendable (WriteTransaction) throws -> Int64

  let folder = try! Folder()

  /// Runs `jobs` in one batch, and returns how each ended.
  private func batch(_ database: Database, _ jobs: [WriteBody]) async -> [Result<Int64, any Error>] {
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

  private func isUnique(_ result: Result<Int64, any Error>) -> Bool {
    guard case .failure(DatabaseError.constraint(.unique, _)) = result else { return false }
    return true
  }

  @Test(arguments: Engine.present)
  func `a job whose statement breaks a rule gets its error, and the others of its batch their answers`(engine: Engine)
    async throws
  {
    let database = try folder.open(on: engine)
    defer { database.close() }
    _ = try await database.write { try $0.addNote(by: "there") }
    let results = await batch(
      database,
      [
        { try $0.addNote(by: "a") }, { try $0.addNote(by: "there") }, { try $0.addNote(by: "b") },
        { transaction in
          try transaction.addNote(by: "never")
          throw Refused()
        }, { try $0.addNote(by: "c") }
      ])
    #expect(isUnique(results[1]))
    #expect(throws: Refused.self) { try results[3].get() }
    #expect(try [0, 2, 4].map { try results[$0].get() } == [2, 3, 4])
    #expect(try await database.read { try $0.authors() } == ["there", "a", "b", "c"])
    #expect(database.committedPosition == 4)
    #expect(database.statistics.splitBatches == (engine == .sqlite ? 0 : 1))
  }

  @Test(arguments: Engine.present)
  func `a job that reads behind a statement that breaks a rule sees the error itself`(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    defer { database.close() }
    _ = try await database.write { try $0.addNote(by: "there") }
    let seen = Mutex(0)
    let results = await batch(
      database,
      [
        { try $0.addNote(by: "a") },
        { transaction in
          do {
            try transaction.addNote(by: "there")
            return Int64(try transaction.authors().count)
          } catch DatabaseError.constraint(.unique, let message) {
            seen.withLock { $0 += 1 }
            throw DatabaseError.constraint(.unique, message: message)
          }
        }, { Int64(try $0.authors().count) }
      ])
    #expect(isUnique(results[1]))
    #expect(try results[2].get() == 2)
    #expect(seen.withLock { $0 } == 1)
    // It had a savepoint, as it read after it wrote: the batch goes on.
    #expect(database.statistics.splitBatches == 0)
  }

  @Test(arguments: Engine.present)
  func `an innocent job that meets another's error runs again and gets its own answer`(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    defer { database.close() }
    _ = try await database.write { try $0.addNote(by: "there") }
    let results = await batch(
      database,
      [
        { try $0.addNote(by: "there") }, { Int64(try $0.authors().count) },
        { transaction in
          // Even one that looks away from errors.
          _ = try? transaction.authors()
          return try transaction.addNote(by: "b")
        }
      ])
    #expect(isUnique(results[0]))
    #expect(try results[1].get() == 1)
    #expect(try results[2].get() == 2)
    #expect(try await database.read { try $0.authors() } == ["there", "b"])
  }

  @Test(arguments: Engine.present)
  func `a job that throws after it wrote and read is undone alone`(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    defer { database.close() }
    let results = await batch(
      database,
      [
        { try $0.addNote(by: "a") },
        { transaction in
          try transaction.addNote(by: "b")
          #expect(try transaction.authors() == ["a", "b"])
          try transaction.addNote(by: "b2")
          throw Refused()
        },
        { transaction in
          #expect(try transaction.authors() == ["a"])
          return try transaction.addNote(by: "c")
        }
      ])
    #expect(try [0, 2].map { try results[$0].get() } == [1, 2])
    #expect(try await database.read { try $0.authors() } == ["a", "c"])
  }

  @Test(arguments: Engine.present)
  func `a job alone whose last statement breaks a rule gets that error, and nothing of it stays`(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    defer { database.close() }
    _ = try await database.write { try $0.addNote(by: "there") }
    let error = await #expect(throws: DatabaseError.self) {
      try await database.write { transaction in
        try transaction.addNote(by: "a")
        try transaction.addNote(by: "there")
      }
    }
    guard case .constraint(.unique, _) = error else { return #expect(Bool(false), "\(String(describing: error))") }
    #expect(try await database.write { try $0.addNote(by: "b") } == 2)
    #expect(try await database.read { try $0.authors() } == ["there", "b"])
  }

  @Test(arguments: Engine.present)
  func `a batch of more than a hundred jobs that read after they wrote is several commits`(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    defer { database.close() }
    let results = await batch(
      database,
      (0..<120).map { number in
        { transaction in
          let position = try transaction.addNote(by: "\(number)")
          return try transaction.first("SELECT COUNT(*) FROM note") { $0.integer(0) } == position ? position : 0
        }
      })
    #expect(try results.map { try $0.get() } == Array(1...120))
    #expect(database.statistics.commits == 1 + (engine == .sqlite ? 1 : 3))
  }

  @Test(arguments: Engine.present)
  func `a job may write thousands of rows, and megabytes`(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    defer { database.close() }
    let body = [UInt8](repeating: 7, count: 200_000)
    _ = try await database.write { transaction in
      for number in 0..<3_000 { try transaction.addNote(by: "\(number)") }
      for number in 0..<20 { try transaction.addNote(by: "large \(number)", body: body) }
    }
    #expect(
      try await database.read {
        try $0.first("SELECT COUNT(*), MAX(LENGTH(body)) FROM note") { [$0.integer(0), $0.integer(1)] }
      } == [3_020, 200_000])
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `PostgreSQL hears of a job once if it only writes, and once more for each time it reads`() async throws {
    let database = try folder.open(on: .postgreSQL)
    defer { database.close() }
    func exchanges(_ body: @escaping WriteBody) async throws -> Int {
      let before = database.statistics.exchanges
      _ = try await database.write(body)
      return database.statistics.exchanges - before
    }
    _ = try await database.write { try $0.addNote(by: "first") }
    #expect(
      try await exchanges { transaction in
        for author in ["a", "b", "c"] { try transaction.addNote(by: author) }
        return 0
      } == 1)
    #expect(
      try await exchanges { transaction in
        _ = try transaction.authors()
        return try transaction.addNote(by: "d")
      } == 2)
    #expect(try await exchanges { _ in 0 } == 0)
    let before = database.statistics.exchanges
    _ = await batch(database, (0..<16).map { number in { try $0.addNote(by: "\(number)") } })
    #expect(database.statistics.exchanges - before == 1)
  }
}
