import Synchronization
import Testing

@testable import Database

private struct Refused: Error {}

private final class Told: CommitNote {
  let kindNumber: UInt8
  let author: String
  let wasReread: Bool

  init(kindNumber: UInt8 = 1, author: String, wasReread: Bool = false) {
    self.kindNumber = kindNumber
    self.author = author
    self.wasReread = wasReread
  }

  func reread() -> any CommitNote { Told(kindNumber: kindNumber, author: author, wasReread: true) }
}

/// Writes down what it is told, and what it finds then.
private final class Follower: CommitFollower {
  let lines = Mutex<[String]>([])
  let notes = Mutex<[Told]>([])
  /// How often it throws, in `apply` and then in `reload`.
  let failures = Mutex<(apply: Int, reload: Int)>((0, 0))
  let database: Database

  init(_ database: Database, _ kinds: [UInt8] = [1], failures: (apply: Int, reload: Int) = (0, 0)) {
    self.database = database
    self.failures.withLock { $0 = failures }
    database.follow(kinds, by: self)
  }

  private func fails(_ count: WritableKeyPath<(apply: Int, reload: Int), Int>) -> Bool {
    failures.withLock { failures in
      failures[keyPath: count] -= 1
      return failures[keyPath: count] >= 0
    }
  }

  private func add(_ line: String) { lines.withLock { $0.append(line) } }

  func apply(_ note: any CommitNote, _ rows: CommittedRows) throws {
    guard let note = note as? Told else { return }
    notes.withLock { $0.append(note) }
    if fails(\.apply) { throw Refused() }
    add("\(note.author) at \(database.committedPosition), \(try rows.read { try $0.authors() })")
  }

  func wake(_ note: any CommitNote) {
    if let note = note as? Told { add("\(note.author) wakes at \(database.committedPosition)") }
  }

  func reload(_ rows: CommittedRows) throws {
    if fails(\.reload) { throw Refused() }
    add("reload: \(try rows.read { try $0.authors() })")
  }

  var all: [String] { lines.withLock { $0 } }
}

@Suite("Followers of commits")
struct FollowerTests {
  let folder = try! Folder()

  private func add(_ author: String, kindNumber: UInt8 = 1, to database: Database) throws {
    try database.writeBlocking { transaction in
      transaction.post(Told(kindNumber: kindNumber, author: author))
      try transaction.addNote(by: author)
    }
  }

  @Test("A follower sees the rows of a commit before the position moves, and wakes waiters after", arguments: Engine.present)
  func order(engine: Engine) throws {
    let database = try folder.open(on: engine)
    let follower = Follower(database)
    try add("a", to: database)
    try add("b", to: database)
    #expect(follower.all == [#"a at 0, ["a"]"#, "a wakes at 1", #"b at 1, ["a", "b"]"#, "b wakes at 2"])
    #expect(follower.notes.withLock { $0.allSatisfy { !$0.wasReread } })
  }

  @Test("A job that throws tells nothing, and neither does the rehearsal of one that does not", arguments: Engine.present)
  func undone(engine: Engine) throws {
    let database = try folder.open(on: engine) { $0.rehearsesJobs = true }
    let follower = Follower(database)
    #expect(throws: Refused.self) {
      try database.writeBlocking { transaction in
        transaction.post(Told(author: "a"))
        throw Refused()
      }
    }
    try add("b", to: database)
    #expect(follower.all == [#"b at 0, ["b"]"#, "b wakes at 1"])
    // In this mode, notes go through their bytes.
    #expect(follower.notes.withLock { $0.map(\.author) } == ["b"])
    #expect(follower.notes.withLock { $0.allSatisfy(\.wasReread) })
  }

  @Test("A follower hears of its kinds only, and of nothing after it is gone", arguments: Engine.present)
  func kinds(engine: Engine) throws {
    let database = try folder.open(on: engine)
    let other = Follower(database, [0, 9])
    var gone: Follower? = Follower(database)
    weak let watched = gone
    try add("a", to: database)
    #expect(gone?.all.count == 2)
    gone = nil
    #expect(watched == nil)
    try add("b", kindNumber: 200, to: database)
    try add("c", kindNumber: 9, to: database)
    #expect(other.all == [#"c at 2, ["a", "b", "c"]"#, "c wakes at 3"])
  }

  @Test("A follower that fails is reloaded, at the next commits if that fails too", arguments: Engine.present)
  func failures(engine: Engine) throws {
    let database = try folder.open(on: engine)
    let follower = Follower(database, failures: (apply: 1, reload: 2))
    try add("a", to: database)
    #expect(follower.all == ["a wakes at 1"])
    try add("b", kindNumber: 7, to: database)
    #expect(follower.all == ["a wakes at 1"])
    try database.writeBlocking { _ = try $0.addNote(by: "c") }
    #expect(follower.all == ["a wakes at 1", #"reload: ["a", "b", "c"]"#])
    try add("d", to: database)
    #expect(follower.all.suffix(2) == [#"d at 3, ["a", "b", "c", "d"]"#, "d wakes at 4"])
  }

  @Test("A follower that comes while others follow hears of the commits after it", arguments: Engine.present)
  func later(engine: Engine) throws {
    let database = try folder.open(on: engine)
    let first = Follower(database)
    try add("a", to: database)
    let second = Follower(database)
    try add("b", to: database)
    #expect(first.all.count == 4)
    #expect(second.all == [#"b at 1, ["a", "b"]"#, "b wakes at 2"])
  }
}
