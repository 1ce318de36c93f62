import PostgreSQLTesting
import Synchronization
import Testing

@testable import Database

@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed: Scripts/install-dependencies --test"))
struct CopyTests {
  let folder = try! Folder()
  let back = try! Folder()
  private static let migrations = [
    Migration.notes,
    Migration(
      version: 2, name: "more",
      statements: [
        "CREATE TABLE pair(left_key TEXT NOT NULL, right_key INTEGER NOT NULL, value BLOB, PRIMARY KEY (left_key, right_key)) STRICT, WITHOUT ROWID",
        "CREATE TABLE bare(id INTEGER PRIMARY KEY) STRICT",
        "CREATE TABLE done(id INTEGER PRIMARY KEY, until INTEGER NOT NULL) STRICT",
        "INSERT INTO done(id, until) VALUES (1, 0)"
      ] + FullTextIndex.statements)
  ]

  private func fill(_ folder: Folder) throws {
    let database = try folder.open(Self.migrations)
    defer { database.close() }
    try database.writeBlocking { transaction in
      try transaction.addNote(by: "é", body: [UInt8](0...255), stars: .max)
      try transaction.addNote(by: "e", body: [], stars: 0)
      try transaction.addNote(by: "Z")
      for (index, key) in ["", "a", "B", "ab", "ä", "🐦", "a b"].enumerated() {
        try transaction.execute(
          "INSERT INTO pair(left_key, right_key, value) VALUES ($1, $2, $3)", key, Int64.min + Int64(index), [UInt8(index)])
        try transaction.execute("INSERT INTO pair(left_key, right_key, value) VALUES ($1, $2, NULL)", key, index)
      }
      try transaction.addFullText("hello", document: 1, scope: 1)
      try transaction.execute("UPDATE done SET until = 3")
    }
  }

  private func copy(_ source: DatabaseConfiguration, _ target: DatabaseConfiguration) throws -> DatabaseCopy.Summary {
    try DatabaseCopy.run(from: source, to: target, migrations: Self.migrations, reset: ["UPDATE done SET until = 0"])
  }

  /// Rows of an SQLite database, as text.
  private func rows(_ folder: Folder) throws -> [String] {
    let database = try folder.open(Self.migrations)
    defer { database.close() }
    return try database.readBlocking { transaction in
      try transaction.all("SELECT position, quote(author), quote(body), quote(stars) FROM note ORDER BY position") { row in
        (0..<4).map { row.text($0) }.joined(separator: " ")
      }
        + transaction.all("SELECT quote(left_key), right_key, quote(value) FROM pair ORDER BY left_key, right_key") { row in
          (0..<3).map { row.text($0) }.joined(separator: " ")
        } + transaction.all("SELECT 'head', position FROM stream_head") { "\($0.text(0)) \($0.integer(1))" }
    }
  }

  @Test func `rows go to PostgreSQL and back without a change, and what is made of others is made anew`() async throws {
    try fill(folder)
    let server = try folder.configuration(on: .postgreSQL)
    let there = try copy(folder.configuration(), server)
    // stream_head and done among them.
    #expect(there == DatabaseCopy.Summary(tables: 5, rows: 3 + 14 + 0 + 1 + 1))
    do {
      let database = try Database(server, migrations: Self.migrations)
      defer { database.close() }
      #expect(database.committedPosition == 3)
      #expect(try await database.read { try $0.authors() } == ["é", "e", "Z"])
      #expect(try await database.read { try $0.first("SELECT until FROM done") { $0.integer(0) } } == 0)
    }
    #expect(try copy(server, back.configuration()) == there)
    #expect(try rows(back) == rows(folder))
  }

  @Test func `a server on either side is in the way, and so is a target with rows`() throws {
    try fill(folder)
    let server = try folder.configuration(on: .postgreSQL)
    do {
      let database = try folder.open(Self.migrations)
      defer { database.close() }
      #expect(throws: DatabaseError.self) { try copy(folder.configuration(), server) }
    }
    do {
      let database = try Database(server, migrations: Self.migrations)
      defer { database.close() }
      let error = #expect(throws: DatabaseError.self) { try copy(folder.configuration(), server) }
      guard case .occupied = error else { return #expect(Bool(false), "\(String(describing: error))") }
    }
    let error = #expect(throws: DatabaseError.self) { try copy(folder.configuration(), server) }
    #expect(try #require(error).description.contains("not empty"))
  }

  @Test func `text that PostgreSQL cannot store is named before anything is written`() throws {
    try fill(folder)
    do {
      let database = try folder.open(Self.migrations)
      defer { database.close() }
      try database.writeBlocking { transaction in
        try transaction.addNote(by: "bad\u{0}")
        try transaction.execute("INSERT INTO pair(left_key, right_key) VALUES (CAST($1 AS TEXT), 1)", [UInt8(0xFF)])
      }
    }
    let server = try folder.configuration(on: .postgreSQL)
    let error = #expect(throws: DatabaseError.self) { try copy(folder.configuration(), server) }
    let description = try #require(error).description
    #expect(description.contains("note.author") && description.contains("pair.left_key"))
    let connection = try Connection(server, as: .writer)
    defer { connection.close() }
    #expect(try !connection.hasTable("schema_version"))
  }

  @Test func `a copy that was stopped is no database for a server, and goes on where it was`() throws {
    try fill(folder)
    let server = try folder.configuration(on: .postgreSQL)
    let connection = try Connection(server, as: .writer)
    try connection.execute("CREATE TABLE database_copy(name TEXT PRIMARY KEY)")
    try Migrator(name: "", connection: connection).apply(Self.migrations)
    // As whole as note is, this table is not copied once more.
    try connection.execute("INSERT INTO database_copy(name) VALUES ('bare')")
    connection.close()
    let error = #expect(throws: DatabaseError.self) { _ = try Database(server, migrations: Self.migrations) }
    #expect(try #require(error).description.contains("martlet database copy"))
    #expect(try copy(folder.configuration(), server).rows == 19)
    try Database(server, migrations: Self.migrations).close()
  }
}
