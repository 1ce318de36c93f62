import Glibc
import PostgreSQLTesting
import Synchronization
import Testing

@testable import Database

/// What a test runs on.
enum Engine: String, CaseIterable, CustomTestStringConvertible {
  case sqlite = "SQLite"
  case postgreSQL = "PostgreSQL"

  /// Those that this machine has.
  static let present = allCases.filter { $0 == .sqlite || PostgreSQLServer.isInstalled }

  var testDescription: String { rawValue }
}

/// A folder for one test, and a database of the server; removed with everything in them when the test ends.
final class Folder: Sendable {
  let path: String
  private let serverDatabase = Mutex<String?>(nil)

  init() throws {
    var template = Array("/tmp/martlet-database-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw DatabaseError.unusable(path: "/tmp", reason: "mkdtemp") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    for name in ["m.db", "m.db-wal", "m.db-shm", "m.db-lock", "other", "other-lock"] { unlink(path + "/" + name) }
    rmdir(path)
    if let name = serverDatabase.withLock({ $0 }), let server = try? PostgreSQLServer.shared() { server.drop(name) }
  }

  var database: String { path + "/m.db" }

  /// The database of the server, made when it is first asked for.
  func serverURL(_ options: String? = nil) throws -> String {
    let server = try PostgreSQLServer.shared()
    let name = try serverDatabase.withLock { name in
      let made = try name ?? (options.map { try server.makeDatabase($0) } ?? server.makeDatabase())
      name = made
      return made
    }
    return server.url(of: name)
  }

  func configuration(on engine: Engine = .sqlite) throws -> DatabaseConfiguration {
    var configuration =
      switch engine {
      case .sqlite: DatabaseConfiguration(path: database)
      case .postgreSQL: DatabaseConfiguration(server: try #require(PostgreSQLAddress(serverURL())))
      }
    configuration.rehearsesJobs = false
    return configuration
  }

  func open(
    on engine: Engine = .sqlite, _ migrations: [Migration] = [Migration.notes],
    _ adjust: (inout DatabaseConfiguration) -> Void = { _ in }
  ) throws -> Database {
    var configuration = try configuration(on: engine)
    adjust(&configuration)
    return try Database(configuration, migrations: migrations)
  }
}

extension Migration {
  static let notes = Migration(
    version: 1, name: "notes",
    statements: [
      """
      CREATE TABLE note(position INTEGER PRIMARY KEY, author TEXT NOT NULL, body BLOB, stars INTEGER,
        CHECK (stars IS NULL OR stars >= 0)) STRICT
      """,
      "CREATE UNIQUE INDEX note_author ON note(author)"
    ])
}

extension WriteTransaction {
  /// A note by `author` at the next position.
  @discardableResult
  func addNote(by author: String, body: [UInt8]? = nil, stars: Int64? = nil) throws -> Int64 {
    let position = nextPosition()
    try execute(
      "INSERT INTO note(position, author, body, stars) VALUES ($1, $2, $3, $4)", position, author, body, stars)
    return position
  }
}

extension ReadTransaction {
  /// SQLite's own handle.
  var sqliteHandle: OpaquePointer? { if case .sqlite(let connection) = connection { connection.handle } else { nil } }

  func authors() throws -> [String] { try all("SELECT author FROM note ORDER BY position") { $0.text(0) } }
}

/// Holds a database thread inside a job until the test lets it go, so that a test decides what shares a batch.
final class Gate: Sendable {
  private let entered = Atomic<Bool>(false)
  private let released = BoundedQueue<Bool>(limit: 1)

  /// Called inside the job.
  func pass() {
    entered.store(true, ordering: .releasing)
    var ignored: [Bool] = []
    _ = released.take(upTo: 1, into: &ignored)
  }

  /// Returns once the job is inside. Suspends, never blocks: the job's task may need this very thread.
  func waitUntilEntered() async { await eventually { entered.load(ordering: .acquiring) } }

  func open() { released.close() }
}

/// Waits for a condition that other threads bring about, giving them the processor meanwhile.
func eventually(_ condition: () -> Bool) async {
  while !condition() { await Task.yield() }
}
