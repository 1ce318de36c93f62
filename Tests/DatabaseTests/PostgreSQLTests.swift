import CPostgreSQL
import Glibc
import PostgreSQLTesting
import Synchronization
import Testing

@testable import Database

@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed: Scripts/install-dependencies --test"))
struct PostgreSQLTests {
  let folder = try! Folder()

  private func address(_ url: String, password: String? = nil) throws -> PostgreSQLAddress {
    try #require(PostgreSQLAddress(url, password: password))
  }

  private func open(_ url: String) throws -> Database {
    try Database(DatabaseConfiguration(server: address(url)), migrations: [.notes])
  }

  /// Ends all connections to the test's database, as a server does that stops.
  private func cutConnections(where condition: String = "true") throws {
    try PostgreSQLServer.shared().run(
      """
      SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE pid <> pg_backend_pid() AND datname = current_database() AND \(condition)
      """, in: name())
  }

  private func name() throws -> String {
    String(try folder.serverURL().drop { $0 != "@" }.dropFirst(2).prefix { $0 != "?" })
  }

  // MARK: Addresses

  @Test(
    arguments: [
      ("postgres://ann:secret@db.example:5433/chat", "postgres://db.example:5433/chat"),
      ("postgresql://db1,db2:6000/chat?sslmode=require", "postgres://db1,db2:,6000/chat"),
      ("postgres:///chat?host=/run/postgresql&user=ann", "postgres:///run/postgresql/chat")
    ])
  func `an address shows neither user nor password`(url: String, shown: String) throws {
    #expect(try address(url, password: "other").description == shown)
    #expect(try address(url, password: "other").parameters["password"] == "other")
  }

  @Test(arguments: [
    "", "sqlite:a", "host=a password=b", "postgres://[", "postgres://a:%00secret@b/c", "postgres://a/b?nothing=c"
  ])
  func `what is no URL is refused without a word of it`(url: String) {
    #expect(PostgreSQLAddress(url) == nil)
  }

  // MARK: Opening

  @Test func `a server that cannot be reached is named with the reason, and without the password`() throws {
    let error = #expect(throws: DatabaseError.self) { _ = try open("postgres://ann:secret@127.0.0.1:1/chat") }
    let description = try #require(error).description
    #expect(description.contains("postgres://127.0.0.1:1/chat") && description.contains("refused"))
    #expect(!description.contains("secret"))
    #expect(try #require(error).isTransient)
  }

  @Test func `a database with another collation or encoding is refused with the command that makes a right one`() throws {
    let url = try folder.serverURL("TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    let error = #expect(throws: DatabaseError.self) { _ = try open(url) }
    let description = try #require(error).description
    #expect(description.contains("LATIN1") && description.contains("createdb"))
  }

  @Test func `a second server is refused and told who has the database, until the first is closed`() throws {
    let first = try folder.open(on: .postgreSQL)
    let error = #expect(throws: DatabaseError.self) { _ = try folder.open(on: .postgreSQL) }
    #expect(try #require(error).description.contains("process \(getpid())"))
    first.close()
    try folder.open(on: .postgreSQL).close()
  }

  @Test func `definitions are translated, and text that looks like one is not`() {
    #expect(
      PostgreSQLSchema.translate(
        "CREATE TABLE a(b INTEGER PRIMARY KEY, c TEXT NOT NULL DEFAULT 'TEXT', d BLOB, BLOBS INTEGER) STRICT, WITHOUT ROWID")
        == #"CREATE TABLE a(b BIGINT PRIMARY KEY, c TEXT COLLATE "C" NOT NULL DEFAULT 'TEXT', d BYTEA, BLOBS BIGINT)"#)
    #expect(PostgreSQLSchema.translate("ALTER TABLE a ADD COLUMN b BLOB") == "ALTER TABLE a ADD COLUMN b BYTEA")
    #expect(PostgreSQLSchema.translate("UPDATE a SET b = 'STRICT'") == "UPDATE a SET b = 'STRICT'")
  }

  // MARK: Values

  @Test(arguments: [Array("a\u{0}b".utf8), [0xFF, 0x61], [0xC3]] as [[UInt8]])
  func `text that PostgreSQL cannot store fails its own job alone`(text: [UInt8]) async throws {
    let database = try folder.open(on: .postgreSQL)
    defer { database.close() }
    try await database.write { transaction in
      try transaction.addNote(by: "a")
      let error = #expect(throws: DatabaseError.self) {
        try transaction.first("SELECT 1 FROM note WHERE author = $1", TextBytes(text)) { _ in }
      }
      guard case .constraint(.dataType, _) = error else { return #expect(Bool(false), "\(String(describing: error))") }
      // The server was not asked, so that the transaction goes on.
      try transaction.addNote(by: "b")
    }
    #expect(try await database.read { try $0.authors() } == ["a", "b"])
  }

  @Test func `one literal may be run with values of several types`() throws {
    let database = try folder.open(on: .postgreSQL)
    defer { database.close() }
    func type<Value: SQLParameter & Sendable>(_ value: Value) throws -> String? {
      try database.readBlocking { try $0.first("SELECT pg_typeof($1)::text", value) { $0.text(0) } }
    }
    for _ in 1...2 {
      #expect(try type(1) == "bigint")
      #expect(try type("a") == "text")
      #expect(try type([UInt8(1)]) == "bytea")
      #expect(try type(nil as Int64?) == "bigint")
    }
  }

  @Test func `integers of all widths and truth values are read as integers`() throws {
    let database = try folder.open(on: .postgreSQL)
    defer { database.close() }
    let row = try database.readBlocking { transaction in
      try transaction.first(
        "SELECT 1::smallint, -2::integer, 9007199254740993::bigint, EXISTS (SELECT 1), count(*), NULL::bigint FROM note"
      ) { row in (0..<6).map { row.integer($0) } }
    }
    #expect(row == [1, -2, 9_007_199_254_740_993, 1, 0, 0])
  }

  // MARK: Lost connections

  @Test func `readers and the writer connect again after the server has ended their connections`() async throws {
    let database = try folder.open(on: .postgreSQL)
    defer { database.close() }
    try await database.write { _ = try $0.addNote(by: "a") }
    try cutConnections()
    // The first to notice fails, and may be asked again.
    for _ in 0..<20 {
      do {
        try await database.write { _ = try $0.addNote(by: "b") }
        break
      } catch DatabaseError.unavailable {}
    }
    for _ in 0..<20 { _ = try? await database.read { try $0.authors() } }
    #expect(try await database.read { try $0.authors() } == ["a", "b"])
    #expect(database.committedPosition == 2)
  }

  @Test func `a connection that is lost in the middle of a batch takes all of it`() async throws {
    let database = try folder.open(on: .postgreSQL)
    defer { database.close() }
    await #expect(throws: DatabaseError.self) {
      try await database.write { transaction in
        try transaction.addNote(by: "a")
        try cutConnections()
        try transaction.addNote(by: "b")
      }
    }
    #expect(try await database.write { try $0.addNote(by: "c") } == 1)
    #expect(try await database.read { try $0.authors() } == ["c"])
  }

  @Test(arguments: [true, false])
  func `a commit without an answer is acknowledged if it is durable, and undone if not`(isDurable: Bool) async throws {
    let database = try folder.open(on: .postgreSQL)
    defer { database.close() }
    let name = try name()
    let answer = Task {
      try await database.write { transaction in
        let position = try transaction.addNote(by: "a")
        guard case .postgreSQL(let connection) = transaction.connection else { return position }
        // What a cut behind or before the COMMIT leaves: a committed transaction or none, and no answer.
        if isDurable {
          _ = try connection.execute("UPDATE stream_head SET position = 1, batch = batch + 1 WHERE id = 1; COMMIT")
        }
        try PostgreSQLServer.shared().run(
          "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = '\(name)'")
        return position
      }
    }
    if isDurable {
      #expect(try await answer.value == 1)
    } else {
      await #expect(throws: DatabaseError.self) { try await answer.value }
    }
    #expect(try await database.write { try $0.addNote(by: "b") } == (isDurable ? 2 : 1))
    #expect(database.committedPosition == (isDurable ? 2 : 1))
    #expect(try await database.read { try $0.authors() } == (isDurable ? ["a", "b"] : ["b"]))
    #expect(database.statistics.unansweredKept == (isDurable ? 1 : 0))
    #expect(database.statistics.unansweredUndone == (isDurable ? 0 : 1))
  }

  @Test func `a server that ended an idle connection is not noticed by those who write`() async throws {
    let database = try folder.open(on: .postgreSQL)
    defer { database.close() }
    for author in ["a", "b", "c"] {
      _ = try await database.write { try $0.addNote(by: author) }
      try cutConnections()
    }
    #expect(try await database.read { try $0.authors() } == ["a", "b", "c"])
  }

  @Test func `a URL with several hosts is used while one of them answers`() throws {
    let url = try folder.serverURL()
    let several = url.replacing("host=", with: "host=127.0.0.1,").replacing("&port=", with: "&")
    try open(several + (several.contains("port=") ? "" : "&port=1,5432")).close()
  }

  // MARK: A database in another state

  /// What a follower is told.
  private final class Memory: CommitFollower {
    let reloads = Atomic<Int>(0)
    func apply(_ note: any CommitNote, _ rows: CommittedRows) {}
    func wake(_ note: any CommitNote) {}
    func reload(_ rows: CommittedRows) throws { reloads.wrappingAdd(1, ordering: .relaxed) }
  }

  @Test func `a database that somebody else has written to is followed, and gives out no position twice`() async throws {
    let incidents = Mutex<[DatabaseIncident]>([])
    let database = try folder.open(on: .postgreSQL) { $0.report = { incident in incidents.withLock { $0.append(incident) } } }
    defer { database.close() }
    let memory = Memory()
    database.follow([1], by: memory)
    _ = try await database.write { try $0.addNote(by: "a") }
    try PostgreSQLServer.shared().run("UPDATE stream_head SET position = 9, batch = batch + 1", in: name())
    #expect(try await database.write { try $0.addNote(by: "b") } == 10)
    #expect(database.committedPosition == 10)
    #expect(memory.reloads.load(ordering: .relaxed) == 1)
    #expect(incidents.withLock { $0 } == [.changedFromOutside(position: 9)])
  }

  @Test func `a database that went back jumps over all positions that were given out`() async throws {
    let incidents = Mutex<[DatabaseIncident]>([])
    let database = try folder.open(on: .postgreSQL) { $0.report = { incident in incidents.withLock { $0.append(incident) } } }
    defer { database.close() }
    let memory = Memory()
    database.follow([1], by: memory)
    for author in ["a", "b", "c"] { _ = try await database.write { try $0.addNote(by: author) } }
    // As a restored backup, or a standby that lacked the last two commits.
    try PostgreSQLServer.shared().run(
      "DELETE FROM note WHERE position > 1; UPDATE stream_head SET position = 1, batch = batch - 2", in: name())
    #expect(try await database.write { try $0.addNote(by: "d") } == 1_000_004)
    #expect(database.committedPosition == 1_000_004)
    #expect(try await database.read { try $0.authors() } == ["a", "d"])
    #expect(memory.reloads.load(ordering: .relaxed) == 1)
    #expect(incidents.withLock { $0 } == [.wentBack(lostCommits: 2, position: 1_000_003)])
    #expect(try PostgreSQLServer.shared().run("SELECT epoch FROM stream_head", in: name()) == ["1"])
  }

  // MARK: Limits

  @Test func `a head that somebody holds for longer than five seconds refuses the whole batch, and the next one goes on`()
    async throws
  {
    // Five seconds are the limit itself.
    let database = try folder.open(on: .postgreSQL)
    defer { database.close() }
    _ = try await database.write { try $0.addNote(by: "a") }
    let name = try name()
    let holder = WorkerThread {
      _ = try? PostgreSQLServer.shared().run("BEGIN; SELECT 1 FROM stream_head FOR UPDATE; SELECT pg_sleep(60)", in: name)
    }
    defer { holder.join() }
    let isHeld =
      "SELECT 1 FROM pg_stat_activity WHERE datname = '\(name)' AND query LIKE '%pg_sleep%' AND wait_event = 'PgSleep'"
    while try PostgreSQLServer.shared().run(isHeld).isEmpty { usleep(10_000) }
    await withTaskGroup(of: Bool.self) { group in
      for author in ["b", "c", "d"] {
        group.addTask {
          do { _ = try await database.write { try $0.addNote(by: author) } } catch DatabaseError.busy { return true } catch {}
          return false
        }
      }
      for await isRefused in group { #expect(isRefused) }
    }
    try PostgreSQLServer.shared().run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%pg_sleep(60)%' AND datname = '\(name)'"
    )
    #expect(try await database.write { try $0.addNote(by: "e") } == 2)
    #expect(try await database.read { try $0.authors() } == ["a", "e"])
  }

  @Test func `a job that stops in the middle of a batch loses the head's row after two seconds`() async throws {
    // Two seconds are the limit itself.
    let database = try folder.open(on: .postgreSQL)
    defer { database.close() }
    let name = try name()
    await #expect(throws: DatabaseError.self) {
      try await database.write { transaction in
        try transaction.addNote(by: "a")
        _ = try transaction.authors()
        while try PostgreSQLServer.shared().run(
          "SELECT 1 FROM pg_stat_activity WHERE datname = '\(name)' AND state = 'idle in transaction'"
        ).count > 0 { usleep(50_000) }
        _ = try transaction.authors()
      }
    }
    #expect(try await database.write { try $0.addNote(by: "b") } == 1)
    #expect(try await database.read { try $0.authors() } == ["b"])
  }
}

@Suite("Letters without case and accents")
struct WordFoldingTests {
  let folder = try! Folder()

  /// FTS5 knows letters of Unicode 6.1: younger ones have their case there.
  private static let younger: [ClosedRange<UInt32>] = [
    0x37F...0x37F, 0x528...0x52F, 0x13A0...0x13F5, 0x1C80...0x1CBF, 0x2C2F...0x2C2F, 0xA660...0xA7FF, 0x10400...0x1FFFF
  ]

  @Test func `are those of FTS5`() throws {
    let database = try folder.open([Migration(version: 1, name: "text", statements: FullTextIndex.statements)])
    defer { database.close() }
    let letters = (UInt32(0x80)...0xFFFF).compactMap(Unicode.Scalar.init).filter { scalar in
      scalar.properties.isAlphabetic && !Self.younger.contains { $0.contains(scalar.value) }
        && [.uppercaseLetter, .lowercaseLetter, .titlecaseLetter].contains(scalar.properties.generalCategory)
    }
    let terms = try database.writeBlocking { transaction in
      try transaction.execute("CREATE VIRTUAL TABLE temp.term USING fts5vocab(main, full_text, instance)")
      for letter in letters { try transaction.addFullText("x\(letter)x", document: Int64(letter.value), scope: 1) }
      return try transaction.all("SELECT doc, term FROM temp.term WHERE col = 'body'") { ($0.integer(0), $0.text(1)) }
    }
    #expect(terms.count == letters.count)
    let different = terms.filter { code, term in
      let letter = Unicode.Scalar(UInt32(code)).map(String.init) ?? ""
      return Array(WordFolding.folded("x\(letter)x").utf8) != Array(term.utf8)
    }
    #expect(different.isEmpty, "\(different.prefix(20))")
  }
}
