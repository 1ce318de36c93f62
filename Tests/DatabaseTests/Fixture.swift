import Glibc
import Synchronization

@testable import Database

/// A folder for one test, removed with everything in it when the test ends.
final class Folder: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/martlet-database-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw DatabaseError.unusable(path: "/tmp", reason: "mkdtemp") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    for name in ["m.db", "m.db-wal", "m.db-shm", "m.db-lock", "other", "other-lock"] { unlink(path + "/" + name) }
    rmdir(path)
  }

  var database: String { path + "/m.db" }

  func open(
    _ migrations: [Migration] = [Migration.notes], _ adjust: (inout DatabaseConfiguration) -> Void = { _ in }
  ) throws -> Database {
    var configuration = DatabaseConfiguration(path: database)
    configuration.rehearsesJobs = false
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
