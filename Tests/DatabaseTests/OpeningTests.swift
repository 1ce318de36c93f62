import Glibc
import Synchronization
import Testing

@testable import Database

@Suite("Opening and closing")
struct OpeningTests {
  let folder = try! Folder()

  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
  }

  @Test("The database and its log are for their owner only")
  func fileModes() throws {
    let database = try folder.open()
    try database.writeBlocking { _ = try $0.addNote(by: "a") }
    for suffix in ["", "-wal", "-shm", "-lock"] { #expect(mode(folder.database + suffix) == 0o600) }
  }

  @Test("An unusable path is refused with its name and the reason")
  func unusablePaths() throws {
    let missing = folder.path + "/missing/m.db"
    let error = #expect(throws: DatabaseError.self) {
      _ = try Database(DatabaseConfiguration(path: missing), migrations: [])
    }
    let description = try #require(error).description
    #expect(description.contains(missing) && description.contains("No such file"))

    let other = folder.path + "/other"
    mkdir(other, 0o700)
    let directory = #expect(throws: DatabaseError.self) {
      _ = try Database(DatabaseConfiguration(path: other), migrations: [])
    }
    rmdir(other)
    #expect(try #require(directory).description.contains(other))
  }

  @Test("A file that is no database is refused and not touched")
  func notADatabase() throws {
    let file = try #require(fopen(folder.database, "w"))
    for _ in 0..<1_000 { fputs("not a database\n", file) }
    fclose(file)
    let error = #expect(throws: DatabaseError.self) { _ = try folder.open() }
    #expect(try #require(error).description.contains("not a database"))
    var status = stat()
    stat(folder.database, &status)
    #expect(status.st_size == 15_000)
  }

  @Test("A second opening is refused, naming the lock and its holder, until the first is closed")
  func locked() throws {
    let database = try folder.open()
    let error = #expect(throws: DatabaseError.self) { _ = try folder.open() }
    #expect(error == .locked(path: folder.database, processID: getpid()))
    #expect(try #require(error).description.contains(folder.database + "-lock"))
    #expect(try #require(error).description.contains("process \(getpid())"))
    database.close()
    #expect(try folder.open().readBlocking { try $0.authors() } == [])
  }

  @Test("Who finds a database in use closes its own file, and no other that has the number meanwhile")
  func refusedOpening() throws {
    let database = try folder.open()
    defer { database.close() }
    let isOver = Atomic<Bool>(false)
    let losses = Atomic<Int>(0)
    let others = WorkerThread {
      while !isOver.load(ordering: .relaxed) {
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        if file >= 0, close(file) != 0 { losses.add(1, ordering: .relaxed) }
      }
    }
    for _ in 0..<2_000 { #expect(throws: DatabaseError.self) { _ = try LockFile(for: folder.database) } }
    isOver.store(true, ordering: .relaxed)
    others.join()
    #expect(losses.load(ordering: .relaxed) == 0)
  }

  @Test("Closing finishes what is queued, empties the log and refuses the rest", arguments: Engine.present)
  func closing(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    let gate = Gate()
    let held = Task { try await database.write { _ in gate.pass() } }
    await gate.waitUntilEntered()
    let queued = Task { try await database.write { try $0.addNote(by: "a") } }
    await eventually { database.statistics.waitingWrites == 1 }
    let closing = WorkerThread { database.close() }
    await eventually {
      do { try database.readBlocking { _ in } } catch { return error as? DatabaseError == .closed }
      return false
    }
    await #expect(throws: DatabaseError.closed) { try await database.write { try $0.addNote(by: "b") } }
    gate.open()
    try await held.value
    #expect(try await queued.value == 1)
    closing.join()
    if engine == .sqlite { #expect(mode(folder.database + "-wal") == nil) }
    database.close()
    #expect(try folder.open(on: engine).readBlocking { try $0.authors() } == ["a"])
  }

  @Test("The position goes on where it was, even when its newest row is gone", arguments: Engine.present)
  func positionSurvives(engine: Engine) throws {
    do {
      let database = try folder.open(on: engine)
      try database.writeBlocking { for name in ["a", "b", "c"] { try $0.addNote(by: name) } }
      try database.writeBlocking { _ = try $0.execute("DELETE FROM note WHERE position > 1") }
    }
    let database = try folder.open(on: engine)
    #expect(database.committedPosition == 3)
    #expect(try database.writeBlocking { try $0.addNote(by: "d") } == 4)
  }

  @Test(
    "The log is copied into the database between commits",
    arguments: [DatabaseConfiguration.Synchronous.full, .normal])
  func checkpoints(synchronous: DatabaseConfiguration.Synchronous) async throws {
    let database = try folder.open {
      $0.checkpointPages = 8
      $0.synchronous = synchronous
    }
    let body = [UInt8](repeating: 7, count: 4_000)
    for number in 0..<400 { try await database.write { _ = try $0.addNote(by: "\(number)", body: body) } }
    // 400 pages of bodies at least went through the log; past eight pages the writer begins it anew.
    #expect(database.statistics.logPages < 100)
    #expect(database.statistics.checkpoints > 0)
    #expect(try database.readBlocking { try $0.authors().count } == 400)
  }
}

@Suite("Migrations")
struct MigrationTests {
  let folder = try! Folder()
  let stars = Migration(version: 2, name: "marks", statements: ["ALTER TABLE note ADD COLUMN mark INTEGER"])

  private func versions(_ database: Database) throws -> [Int64] {
    try database.readBlocking { try $0.all("SELECT version FROM schema_version ORDER BY version") { $0.integer(0) } }
  }

  @Test("Steps are applied in order, each once", arguments: Engine.present)
  func appliedOnce(engine: Engine) throws {
    #expect(try versions(folder.open(on: engine, [.notes])) == [1])
    #expect(try versions(folder.open(on: engine, [.notes, stars])) == [1, 2])
    #expect(try versions(folder.open(on: engine, [.notes, stars])) == [1, 2])
  }

  @Test("A database of a newer program is refused and stays as it is", arguments: Engine.present)
  func newer(engine: Engine) throws {
    _ = try folder.open(on: engine, [.notes, stars])
    let error = #expect(throws: DatabaseError.self) { _ = try folder.open(on: engine, [.notes]) }
    #expect(try error == .newer(path: folder.configuration(on: engine).name, version: 2, supported: 1))
    #expect(try #require(error).description.contains("version 2"))
    #expect(try versions(folder.open(on: engine, [.notes, stars])) == [1, 2])
  }

  @Test("A step that fails leaves the version before it, whole", arguments: Engine.present)
  func interrupted(engine: Engine) throws {
    let broken = Migration(
      version: 2, name: "broken", statements: ["CREATE TABLE half(a INTEGER)", "CREATE TABLE note(a INTEGER)"])
    let error = #expect(throws: DatabaseError.self) { _ = try folder.open(on: engine, [.notes, broken]) }
    #expect(try #require(error).description.contains("broken"))
    let database = try folder.open(on: engine, [.notes])
    #expect(try versions(database) == [1])
    #expect(try database.readBlocking { try $0.connection.hasTable("half") } == false)
    #expect(try database.readBlocking { try $0.connection.hasTable("note") })
  }

  @Test("A different history and versions out of order are refused", arguments: Engine.present)
  func mixedHistories(engine: Engine) throws {
    _ = try folder.open(on: engine, [.notes])
    let other = Migration(version: 1, name: "other", statements: [])
    #expect(throws: DatabaseError.self) { _ = try folder.open(on: engine, [other]) }
    #expect(throws: DatabaseError.self) { _ = try folder.open(on: engine, [stars, .notes]) }
    #expect(throws: DatabaseError.self) {
      _ = try folder.open(on: engine, [Migration(version: 0, name: "zero", statements: [])])
    }
  }
}
