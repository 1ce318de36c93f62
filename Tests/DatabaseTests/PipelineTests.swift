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

/// Reads that are asked for before their jobs run.
@Suite(
  "Questions of a batch",
  .enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed: Scripts/install-dependencies --test"))
struct QuestionTests {
  let folder = try! Folder()
  private static let stars: StaticString = "SELECT stars FROM note WHERE author = $1"

  /// Runs `jobs` in one batch, each with the questions for the stars of `authors`, and returns what they return and how often PostgreSQL was asked.
  private func batch(
    _ database: Database, _ jobs: [(authors: [String], body: @Sendable (WriteTransaction) throws -> Int64)]
  ) async throws -> (results: [Int64], exchanges: Int) {
    let gate = Gate()
    let held = Task { try await database.write { _ in gate.pass() } }
    await gate.waitUntilEntered()
    var tasks: [Task<Int64, any Error>] = []
    for job in jobs {
      let waiting = database.statistics.waitingWrites
      let questions = { @Sendable in job.authors.map { Question(Self.stars, $0) } }
      tasks.append(Task { try await database.write(asking: questions, job.body) })
      await eventually { database.statistics.waitingWrites > waiting }
    }
    let before = database.statistics.exchanges
    gate.open()
    try await held.value
    var results: [Int64] = []
    for task in tasks { results.append(try await task.value) }
    return (results, database.statistics.exchanges - before)
  }

  private func open() async throws -> Database {
    let database = try folder.open(on: .postgreSQL)
    _ = try await database.write { transaction in
      for (index, author) in ["a", "b", "c"].enumerated() { try transaction.addNote(by: author, stars: Int64(index) + 1) }
    }
    return database
  }

  private static func stars(of author: String, _ transaction: WriteTransaction) throws -> Int64 {
    try transaction.first(stars, author) { $0.integer(0) } ?? 0
  }

  @Test func `are answered for all jobs at once`() async throws {
    let database = try await open()
    defer { database.close() }
    let (results, exchanges) = try await batch(
      database,
      ["a", "b", "c", "nobody"].map { author in
        ([author], { try Self.stars(of: author, $0) })
      })
    #expect(results == [1, 2, 3, 0])
    // One for the questions, one for the COMMIT.
    #expect(exchanges == 2)
  }

  @Test func `are answered anew after the batch wrote to what they are of`() async throws {
    let database = try await open()
    defer { database.close() }
    let (results, _) = try await batch(
      database,
      [
        (["a"], { try Self.stars(of: "a", $0) }),
        (
          [],
          { transaction in
            try transaction.execute("UPDATE note SET stars = 9 WHERE author = $1", "a")
            return 0
          }
        ), (["a", "b"], { try Self.stars(of: "a", $0) * 10 + Self.stars(of: "b", $0) }),
        (
          ["new"],
          { transaction in
            let before = try Self.stars(of: "new", transaction)
            try transaction.execute(
              "INSERT INTO note(author, position, stars) VALUES ($1, $2, 5)", "new", transaction.nextPosition())
            return before
          }
        ), (["new"], { try Self.stars(of: "new", $0) })
      ])
    #expect(results == [1, 0, 92, 0, 5])
  }

  @Test func `stay answered while the batch writes other rows by the same key`() async throws {
    let database = try await open()
    defer { database.close() }
    let (results, exchanges) = try await batch(
      database,
      (0..<20).map { number in
        (
          ["new \(number)"],
          { transaction in
            let before = try Self.stars(of: "new \(number)", transaction)
            try transaction.execute(
              "INSERT INTO note(author, position, stars) VALUES ($1, $2, 5)", "new \(number)", transaction.nextPosition())
            return before
          }
        )
      })
    #expect(results == [Int64](repeating: 0, count: 20))
    #expect(exchanges == 2)
  }

  @Test func `that are wrong, double or never read change nothing`() async throws {
    let database = try await open()
    defer { database.close() }
    let (results, _) = try await batch(
      database,
      [
        (["a", "a", "b", "not storable \0"], { try Self.stars(of: "a", $0) + Self.stars(of: "a", $0) }),
        (["a"], { try $0.addNote(by: "d") }), ([], { try Self.stars(of: "c", $0) })
      ])
    #expect(results == [2, 4, 3])
  }

  @Test(
    arguments: [
      ("SELECT a FROM t WHERE b = $1 AND c = $2", "t", ["b", "c"]), ("SELECT a FROM t WHERE b = $2 AND c = $1", "t", nil),
      ("SELECT a FROM t WHERE b = $1 AND c > $2", "t", nil), ("SELECT a FROM t", "t", nil),
      ("SELECT a FROM t WHERE b = $1 ORDER BY a", "t", nil), ("SELECT a FROM t JOIN u ON t.a = u.a WHERE b = $1", nil, nil),
      ("SELECT a FROM t, u WHERE b = $1", nil, nil), ("SELECT a FROM t WHERE b = (SELECT 1 FROM u)", nil, nil)
    ] as [(String, String?, [String]?)])
  func `tell what they read by their text`(sql: String, table: String?, key: [String]?) {
    let reading = PostgreSQLText.reading(sql)
    #expect(reading?.table == table)
    #expect(reading?.key == key)
  }

  @Test(
    arguments: [
      ("INSERT INTO t(a, b) VALUES ($1, $2)", "t", ["a", "b"]),
      ("INSERT INTO t(a, b, c) VALUES ($1, $2, '') ON CONFLICT DO NOTHING", "t", ["a", "b"]),
      ("INSERT INTO t(a, b) SELECT $1, $2 WHERE $3 = 1", "t", ["a", "b"]), ("INSERT INTO t(a, b) VALUES ($2, $1)", "t", []),
      ("INSERT INTO t(a, b) VALUES ($1 + 1, $2)", "t", []), ("UPDATE t SET a = $1", "t", nil),
      ("DELETE FROM t WHERE a = $1", "t", nil),
      ("WITH x AS (SELECT 1) DELETE FROM t", nil, nil)
    ] as [(String, String?, [String]?)])
  func `know what is written by the text of it`(sql: String, table: String?, columns: [String]?) {
    let writing = PostgreSQLText.writing(sql)
    #expect(writing?.table == table)
    #expect(writing?.columns == columns)
  }
}
