import Testing

@testable import Database

@Suite("Reading")
struct ReadTests {
  let folder = try! Folder()

  @Test("A read sees every write that has returned", arguments: Engine.present)
  func readYourWrites(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    for number in 1...50 {
      let position = try await database.write { try $0.addNote(by: "\(number)") }
      #expect(try await database.read { try $0.first("SELECT max(position) FROM note") { $0.integer(0) } } == position)
    }
  }

  @Test("One read is one view: what is committed meanwhile does not appear in it", arguments: Engine.present)
  func snapshot(engine: Engine) async throws {
    let database = try folder.open(on: engine)
    try await database.write { _ = try $0.addNote(by: "a") }
    let gate = Gate()
    let reading = Task {
      try await database.read { transaction in
        let before = try transaction.authors()
        gate.pass()
        return (before, try transaction.authors())
      }
    }
    await gate.waitUntilEntered()
    try await database.write { _ = try $0.addNote(by: "b") }
    gate.open()
    let (before, after) = try await reading.value
    #expect(before == ["a"])
    #expect(after == ["a"])
    #expect(try await database.read { try $0.authors() } == ["a", "b"])
  }

  @Test("Readers work at the same time, and beside a writer that is held", arguments: Engine.present)
  func readersAreParallel(engine: Engine) async throws {
    let database = try folder.open(on: engine) { $0.readerCount = 2 }
    let (writing, first) = (Gate(), Gate())
    let writer = Task { try await database.write { _ in writing.pass() } }
    let reader = Task { try await database.read { _ in first.pass() } }
    await writing.waitUntilEntered()
    await first.waitUntilEntered()
    #expect(try await database.read { try $0.authors() } == [])
    writing.open()
    first.open()
    try await writer.value
    try await reader.value
  }

  @Test("A read that throws leaves its reader fit for the next", arguments: Engine.present)
  func failureLeavesNothingBehind(engine: Engine) async throws {
    struct Refused: Error {}
    let database = try folder.open(on: engine) { $0.readerCount = 1 }
    try await database.write {
      try $0.addNote(by: "a")
      try $0.addNote(by: "b")
    }
    await #expect(throws: Refused.self) {
      try await database.read { try $0.query("SELECT author FROM note") { _ in throw Refused() } }
    }
    try await database.write { _ = try $0.addNote(by: "c") }
    #expect(try await database.read { try $0.authors() } == ["a", "b", "c"])
  }

  @Test("The read queue takes as many as its limit, then refuses; a cancelled read is dropped", arguments: Engine.present)
  func queueLimitAndCancellation(engine: Engine) async throws {
    let database = try folder.open(on: engine) {
      $0.readerCount = 1
      $0.readQueueLimit = 2
    }
    let gate = Gate()
    let held = Task { try await database.read { _ in gate.pass() } }
    await gate.waitUntilEntered()
    let waiting = (0..<2).map { _ in Task { try await database.read { try $0.authors() } } }
    await eventually { database.statistics.waitingReads == 2 }
    await #expect(throws: DatabaseError.overloaded) { try await database.read { try $0.authors() } }
    waiting[0].cancel()
    gate.open()
    try await held.value
    await #expect(throws: CancellationError.self) { try await waiting[0].value }
    #expect(try await waiting[1].value == [])
  }
}
