import PostgreSQLTesting
import Synchronization
import Testing

@testable import Database

/// Says who has written.
private final class Written: CommitNote {
  let kindNumber: UInt8 = 1
  let author: String

  init(_ author: String) { self.author = author }

  func reread() -> any CommitNote { Written(author) }

  /// Authors with a zero byte behind each; bytes that are no text are of a newer program.
  static let bytes = CommitNoteBytes(
    encode: { $0.flatMap { Array((($0 as? Written)?.author ?? "").utf8) + [0] } },
    decode: { bytes in
      bytes.contains(0xFF) ? nil : bytes.split(separator: 0).map { Written(String(decoding: $0, as: UTF8.self)) }
    })
}

private final class Memory: CommitFollower {
  let database: Database
  let lines = Mutex<[String]>([])

  init(of database: Database) {
    self.database = database
    database.follow([1], by: self)
  }

  func apply(_ note: any CommitNote, _ rows: CommittedRows) throws {
    guard let note = note as? Written else { return }
    // The rows of the note's commit are there, perhaps more.
    guard try rows.read({ try $0.authors() }).contains(note.author) else { return add("\(note.author) has no row") }
    add(note.author)
  }

  func wake(_ note: any CommitNote) {}

  func reload(_ rows: CommittedRows) throws {
    let authors = try rows.read { try $0.authors() }
    lines.withLock { $0 = ["reloaded"] + authors }
  }

  private func add(_ line: String) { lines.withLock { $0.append(line) } }

  var all: [String] { lines.withLock { $0 } }
}

extension Database {
  fileprivate func add(_ author: String) async throws -> Int64 {
    try await write { transaction in
      transaction.post(Written(author))
      return try transaction.addNote(by: author)
    }
  }
}

@Suite(
  "Nodes on one database",
  .enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed: Scripts/install-dependencies --test"))
struct NodesTests {
  let folder = try! Folder()

  private func node(_ name: String) throws -> Database {
    try folder.open(on: .postgreSQL) {
      $0.node = NodeConfiguration(name: name, address: "\(name).example:80", notes: Written.bytes)
    }
  }

  private func run(_ sql: String) throws {
    let url = try folder.serverURL()
    try PostgreSQLServer.shared().run(sql, in: String(url.drop { $0 != "@" }.dropFirst(2).prefix { $0 != "?" }))
  }

  @Test func `each node applies what each has committed, in the same order, and gives positions without a gap`() async throws {
    let nodes = try ["a", "b", "c"].map(node)
    defer { for node in nodes { node.close() } }
    let memories = nodes.map(Memory.init)
    let positions = try await withThrowingTaskGroup(of: Int64.self) { group in
      for number in 0..<150 { group.addTask { try await nodes[number % 3].add("author \(number)") } }
      return try await group.reduce(into: [Int64]()) { $0.append($1) }
    }
    #expect(positions.sorted() == Array(1...150))
    for node in nodes { try await node.catchUp() }
    let authors = try await nodes[0].read { try $0.authors() }
    for (node, memory) in zip(nodes, memories) {
      #expect(memory.all == authors)
      #expect(node.committedPosition == 150)
    }
  }

  @Test func `who catches up has what another node has committed`() async throws {
    let (here, there) = (try node("a"), try node("b"))
    defer { for node in [here, there] { node.close() } }
    let memory = Memory(of: there)
    for number in 1...50 {
      let position = try await here.add("\(number)")
      try await there.catchUp()
      #expect(there.committedPosition == position)
      #expect(memory.all.count == number)
    }
    try await there.catchUp(to: 50)
  }

  @Test func `a node hears of others without asking`() async throws {
    let (here, there) = (try node("a"), try node("b"))
    defer { for node in [here, there] { node.close() } }
    let memory = Memory(of: there)
    _ = try await here.add("ann")
    await eventually { there.committedPosition == 1 }
    #expect(memory.all == ["ann"])
  }

  @Test func `a job that fails says nothing to other nodes`() async throws {
    let (here, there) = (try node("a"), try node("b"))
    defer { for node in [here, there] { node.close() } }
    let memory = Memory(of: there)
    await #expect(throws: CancellationError.self) {
      try await here.write { transaction in
        transaction.post(Written("ann"))
        try transaction.addNote(by: "ann")
        throw CancellationError()
      }
    }
    #expect(try await there.add("bob") == 1)
    #expect(memory.all == ["bob"])
    try await here.catchUp()
    #expect(here.committedPosition == 1)
  }

  @Test func `notes of a newer program, and a log that does not go back far enough, have a node forget all it remembers`()
    async throws
  {
    let (here, there) = (try node("a"), try node("b"))
    defer { for node in [here, there] { node.close() } }
    let memory = Memory(of: there)
    _ = try await here.add("ann")
    try await there.catchUp()
    #expect(memory.all == ["ann"])
    // What a newer program writes.
    try run(
      """
      BEGIN; UPDATE stream_head SET batch = batch + 1;
      INSERT INTO cluster_batch(number, position, run, notes) SELECT batch, position, 1, '\\xff' FROM stream_head; COMMIT
      """)
    try await there.catchUp()
    #expect(memory.all == ["reloaded", "ann"])
    memory.lines.withLock { $0 = [] }
    // A node that was away for long.
    try run("UPDATE stream_head SET batch = batch + 7")
    try await there.catchUp()
    #expect(memory.all == ["reloaded", "ann"])
    #expect(try await there.add("bob") == 2)
    try await here.catchUp()
    #expect(here.committedPosition == 2)
  }

  @Test func `a connection that is lost is made anew, and nothing is missed`() async throws {
    let (here, there) = (try node("a"), try node("b"))
    defer { for node in [here, there] { node.close() } }
    let memory = Memory(of: there)
    for round in 1...5 {
      try run(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
      )
      var isWritten = false
      while !isWritten {
        do {
          _ = try await here.add("\(round)")
          isWritten = true
        } catch DatabaseError.unavailable {}
      }
      await eventually { memory.all.count == round }
    }
    #expect(memory.all == (1...5).map(String.init))
  }

  @Test func `a server that wants the database alone is refused while there are nodes, and the other way`() async throws {
    let first = try node("a")
    #expect(throws: DatabaseError.self) { _ = try folder.open(on: .postgreSQL) }
    first.close()
    let alone = try folder.open(on: .postgreSQL)
    #expect(throws: DatabaseError.self) { _ = try node("a") }
    alone.close()
  }

  @Test func `a transaction knows that commits of another node were applied since it began`() async throws {
    let (here, there) = (try node("a"), try node("b"))
    defer { for node in [here, there] { node.close() } }
    let began = AsyncStream<Void>.makeStream()
    let ends = Atomic<Bool>(false)
    let reader = Task {
      try await there.read { transaction in
        let before = transaction.isBehind
        _ = try transaction.authors()
        began.continuation.finish()
        while !ends.load(ordering: .acquiring) {}
        return (before, try transaction.authors().count, transaction.isBehind)
      }
    }
    for await _ in began.stream {}
    _ = try await here.add("ann")
    try await there.catchUp()
    ends.store(true, ordering: .releasing)
    #expect(try await reader.value == (false, 0, true))
    #expect(try await there.read { $0.isBehind } == false)
  }

  @Test func `a node with the name of another is refused until that one has ended`() async throws {
    let first = try node("a")
    #expect(throws: DatabaseError.sameNode("a")) { _ = try node("a") }
    first.close()
    try node("a").close()
  }

  @Test func `a node that differs from one that runs is refused with the names of what differs`() async throws {
    let (here, there) = (try node("a"), try node("b"))
    defer { for node in [here, there] { node.close() } }
    func terms(_ keys: [String: String], _ settings: [String: String]) -> NodeTerms {
      NodeTerms(keys: keys, settings: settings)
    }
    let keys = ["call.key": "c", "signing.key": "s", "web-push.key": "w"]
    try await here.join(with: terms(keys, ["limit": "1", "name": "2", "newer": "3"]))
    await #expect(throws: DatabaseError.disagreement(with: "a", terms: ["limit"])) {
      try await there.join(with: terms(keys, ["limit": "9", "name": "2"]))
    }
    // All keys at once, and nothing that follows from them.
    await #expect(throws: DatabaseError.disagreement(with: "a", terms: ["call.key", "signing.key"])) {
      try await there.join(with: terms(["call.key": "d", "signing.key": "t", "web-push.key": "w"], ["limit": "9"]))
    }
    try await there.join(with: terms(keys, ["limit": "1", "name": "2"]))
    // What a node that has ended had counts no more.
    here.close()
    try await there.join(with: terms(["signing.key": "l"], [:]))
  }

  @Test func `work of a lease writes nothing once another node has the lease, and its node is told`() async throws {
    let here = try node("a")
    defer { here.close() }
    let tries = AsyncStream<Void>.makeStream()
    let lost = Atomic<Bool>(false)
    let work = Mutex<Task<[String], Never>?>(nil)
    here.lease(
      "work",
      granted: {
        work.withLock {
          $0 = Task {
            var results: [String] = []
            for await _ in tries.stream {
              do { results.append("\(try await here.add("work"))") } catch { results.append("\(error)") }
            }
            return results
          }
        }
      }, lost: { lost.store(true, ordering: .releasing) })
    await eventually { work.withLock { $0 } != nil }
    let task = try #require(work.withLock { $0 })
    tries.continuation.yield()
    await eventually { here.committedPosition == 1 }
    // As another node does when this one was stopped for too long.
    try run("UPDATE lease SET run = 1, fence = fence + 1, until = now() + interval '1 minute'")
    tries.continuation.yield()
    tries.continuation.finish()
    #expect(await task.value == ["1", "another node has the lease work by now"])
    #expect(try await here.read { try $0.authors() } == ["work"])
    #expect(try await here.add("another") == 2, "what needs no lease goes on")
    await eventually { lost.load(ordering: .acquiring) }
  }

  @Test func `a lease that ended while the database was away for all nodes stays with its owner, who goes on`() async throws {
    let owner = try node("a")
    defer { owner.close() }
    let granted = Atomic<Bool>(false)
    let lost = Atomic<Bool>(false)
    owner.lease(
      "work", granted: { granted.store(true, ordering: .releasing) }, lost: { lost.store(true, ordering: .releasing) })
    await eventually { granted.load(ordering: .acquiring) }
    let other = try node("b")
    defer { other.close() }
    let isTaken = Atomic<Bool>(false)
    other.lease("work", granted: { isTaken.store(true, ordering: .releasing) }, lost: {})
    // As often as the other would come first.
    for _ in 0..<3 {
      try run(
        """
        UPDATE lease SET until = now() - interval '1 s';
        SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
        """)
      while try await other.census(of: "work").worker != "a" { try await Task.sleep(for: .milliseconds(5)) }
    }
    #expect(!lost.load(ordering: .acquiring) && !isTaken.load(ordering: .acquiring))
    // One that has been given up is anybody's.
    owner.close()
    await eventually { isTaken.load(ordering: .acquiring) }
  }

  @Test func `a node knows the others that run, and who has a lease`() async throws {
    let (here, there) = (try node("a"), try node("b"))
    defer { here.close() }
    there.lease("work", granted: {}, lost: {})
    while try await here.census(of: "work").worker == nil {}
    let other = NodeCensus.Node(name: "b", address: "b.example:80")
    #expect(try await here.census(of: "work") == NodeCensus(others: [other], worker: "b"))
    #expect(try await there.census(of: "other") == NodeCensus(others: [.init(name: "a", address: "a.example:80")]))
    there.close()
    #expect(try await here.census(of: "work") == NodeCensus())
  }

  @Test func `a clock is compared as far as the way there and back allows`() async throws {
    #expect(ClockComparison.offset(of: 150, asked: 100, answered: 200) == .zero)
    #expect(ClockComparison.offset(of: 40, asked: 100, answered: 200) == .microseconds(60))
    #expect(ClockComparison.offset(of: 210, asked: 100, answered: 200) == .microseconds(-10))
    let here = try node("a")
    defer { here.close() }
    // The same machine.
    #expect(try await here.clockOffset() == .zero)
  }

  @Test func `something that is away is told once, after some patience, and so is its return`() {
    var outage = Outage(patienceNanoseconds: 10)
    let told = [(true, 0), (false, 5), (true, 20), (true, 29), (true, 30), (true, 99), (false, 100), (false, 101)].map {
      outage.note(isAway: $0.0, at: UInt64($0.1))
    }
    #expect(told == [nil, nil, nil, nil, .began, nil, .ended, nil])
  }

  @Test func `what one node holds is nobody else's until it is given away, or its node has ended`() async throws {
    let (here, there) = (try node("a"), try node("b"))
    defer { there.close() }
    #expect(try await here.hold("call/1") == .here(fence: 1))
    guard case .elsewhere(let contact) = try await there.hold("call/1") else { throw DatabaseError.closed }
    #expect(contact.run == here.run && contact.address == "a.example:80")
    #expect((1...5_000).contains(contact.leaseMilliseconds))
    #expect(try await there.otherHolder(of: "call/1")?.run == here.run)
    #expect(try await here.otherHolder(of: "call/1") == nil)
    // Taken again since: it stays.
    #expect(try await here.hold("call/1") == .here(fence: 2))
    try await here.letGo("call/1", fence: 1)
    #expect(try await there.otherHolder(of: "call/1") != nil)
    try await here.letGo("call/1", fence: 2)
    #expect(try await there.hold("call/1") == .here(fence: 1))
    #expect(try await here.hold("call/2") == .here(fence: 1))
    here.close()
    #expect(try await there.hold("call/2") == .here(fence: 2))
    #expect(try await there.liveRuns() == [there.run])
  }

  @Test func `of a node that was killed everything is free when its lease has ended`() async throws {
    let here = try node("a")
    defer { here.close() }
    try run(
      """
      INSERT INTO node(name, run, address, applied, seen) VALUES ('killed', 7, 'killed.example:80', 0, now() - interval '4.9 s');
      INSERT INTO node(name, run, address, applied, seen) VALUES ('lives', 8, 'lives.example:80', 0, now() + interval '1 h');
      INSERT INTO holding(name, run, fence) VALUES ('call/1', 7, 3), ('call/2', 8, 3)
      """)
    while try await here.otherHolder(of: "call/1") != nil {}
    #expect(try await here.nodeContact(of: 7) == nil)
    #expect(try await here.hold("call/1") == .here(fence: 4))
    #expect(try await here.otherHolder(of: "call/2")?.run == 8)
  }

  @Test func `a node uses what it holds until a second before others may take it`() {
    let lease = NodeLease()
    #expect(!lease.isHeld)
    lease.renew(from: NodeLease.now() - 3_000_000_000)
    #expect(lease.isHeld)
    lease.renew(from: NodeLease.now() - 4_000_000_000)
    #expect(!lease.isHeld)
  }
}
