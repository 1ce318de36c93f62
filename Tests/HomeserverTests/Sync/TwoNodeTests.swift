import Database
import Glibc
import JSON
import MatrixModel
import Synchronization
import Testing

@testable import ServerAccounts
@testable import ServerCore
@testable import ServerRooms

/// Two nodes on one database, which only notes connect. What one does, the other has in memory as a node that starts has it from the rows.
@Suite struct TwoNodeTests {
  private let ann = RoomsFixture.user("ann"), bob = RoomsFixture.user("bob")

  /// What is told to those who follow rooms.
  private final class Listener: RoomObserver {
    let lines = Mutex<[String]>([])

    func published(_ news: Note.RoomNews) { lines.withLock { $0.append("\(news.count) events") } }
    func received(_ receipt: Receipt, in room: RoomNumber) { lines.withLock { $0.append("\(receipt.user) \(receipt.kind)") } }
    func take() -> [String] {
      lines.withLock { lines in
        defer { lines = [] }
        return lines
      }
    }
  }

  private func nodes(observers: [any RoomObserver] = []) throws -> (SyncFixture, SyncFixture) {
    let first = try SyncFixture()
    return (first, try SyncFixture(first.base.otherNode(observers: observers), boot: 2))
  }

  /// A sync that waits for something new.
  private func waiting(_ client: SyncClient) -> Task<SyncAnswer, any Error> {
    let (engine, request) = (client.fixture.engine, client.request(timeout: 60_000))
    return Task { SyncAnswer(json: try JSON.parse(try await engine.sync(request))) }
  }

  // MARK: Rooms

  @Test func `a message that is sent at one node ends a sync that waits at the other`() async throws {
    let listener = Listener()
    let (here, there) = try nodes(observers: [listener])
    let room = try await here.room(of: "ann", "bob")
    let client = try there.client("bob")
    try await client.sync()
    _ = listener.take()
    let sync = waiting(client)
    try await here.base.send("1", to: room, by: "ann")
    let answer = try await sync.value
    #expect(answer.room(room)?.bodies == ["1"])
    client.since = answer.token
    #expect(listener.take() == ["1 events"])
    // And the other way.
    let other = try here.client("ann")
    try await other.sync()
    try await there.base.send("2", to: room, by: "bob")
    #expect(try await other.sync().room(room)?.bodies == ["2"])
    #expect(try await client.sync().room(room)?.bodies == ["2"])
  }

  @Test func `who is invited, joins, leaves and forgets at one node is so at the other`() async throws {
    let (here, there) = try nodes()
    let room = try await here.room(of: "ann", settings: #"{"preset":"private_chat"}"#)
    let client = try there.client("bob")
    try await client.sync()
    try await here.rooms.invite(bob, to: room, by: RoomsFixture.actor("ann"))
    #expect(try await client.sync().room(room, "invite") != nil)
    try await here.rooms.join(room, by: RoomsFixture.actor("bob"))
    #expect(try await client.sync().room(room)?.bodies == [])
    try await here.base.send("1", to: room, by: "ann")
    #expect(try await client.sync().room(room)?.bodies == ["1"])
    try await here.rooms.leave(room, by: RoomsFixture.actor("bob"))
    #expect(try await client.sync().room(room, "leave") != nil)
    let number = try #require(there.rooms.cache.cachedSnapshot(of: room)).number
    #expect(there.rooms.memberships.cachedRooms(of: bob)?[number]?.isForgotten == false)
    try await here.rooms.forget(room, by: RoomsFixture.actor("bob"))
    for node in [here, there] { #expect(node.rooms.memberships.cachedRooms(of: bob)?[number]?.isForgotten ?? true) }
    #expect(there.rooms.memberships.cachedRooms(of: bob)?[number]?.isForgotten == true)
    try await here.base.send("2", to: room, by: "ann")
    #expect(try await client.sync().isIdle)
  }

  @Test func `a room that one node purges is gone at the other, and its members are told`() async throws {
    let (here, there) = try nodes()
    let room = try await here.room(of: "ann", "bob")
    let client = try there.client("bob")
    try await client.sync()
    let sync = waiting(client)
    try await here.rooms.purge(room)
    #expect(try await sync.value.room(room, "leave") != nil)
    #expect(there.rooms.cache.cachedSnapshot(of: room) == nil)
    #expect(await errorCode { try await there.base.send("1", to: room, by: "bob") } == .forbidden)
  }

  @Test func `a token of the other node tells who types again, but not at once: what lasts comes first`() async throws {
    let (here, there) = try nodes()
    let room = try await here.room(of: "ann", "bob")
    let client = try here.client("bob"), moved = try there.client("bob")
    try await there.rooms.setTyping(true, of: ann, in: room, timeoutMilliseconds: 30_000)
    // Presence is news, too.
    try await client.sync { $0.presence = .offline }
    moved.since = client.since
    let began = ContinuousClock.now
    #expect(try await moved.sync(timeout: 60_000, { $0.presence = .offline }).room(room)?.typing == ["@ann:example.org"])
    let waited = ContinuousClock.now - began
    #expect(waited > .milliseconds(900), "a client that jumps between nodes would ask without end: \(waited)")
    // Who does not want to wait is told at once, and a message is not held back.
    moved.since = client.since
    #expect(try await moved.sync().room(room)?.typing == ["@ann:example.org"])
    try await here.base.send("1", to: room, by: "ann")
    moved.since = client.since
    let sync = waiting(moved)
    #expect(try await sync.value.room(room)?.bodies == ["1"])
  }

  @Test func `who sends at one node is not shown as typing at the other any more`() async throws {
    let (here, there) = try nodes()
    let room = try await here.room(of: "ann", "bob")
    try await there.rooms.setTyping(true, of: ann, in: room, timeoutMilliseconds: 30_000)
    try await there.rooms.setTyping(true, of: bob, in: room, timeoutMilliseconds: 30_000)
    let number = try #require(there.rooms.cache.cachedSnapshot(of: room)).number
    #expect(there.rooms.typing.users(in: number).users == [ann, bob])
    try await here.base.send("1", to: room, by: "ann")
    #expect(there.rooms.typing.users(in: number).users == [bob])
    try await here.rooms.leave(room, by: RoomsFixture.actor("bob"))
    #expect(there.rooms.typing.users(in: number).users == [])
  }

  @Test func `sending at one node makes a device active there alone`() async throws {
    let (here, there) = try nodes()
    let room = try await here.room(of: "ann", "bob")
    let device = DeviceID(trusted: "DEVICE")
    for node in [here, there] {
      node.base.setTime(1_000_000)
      try await node.presence.began(ann, device, .online)
    }
    here.base.setTime(1_001_000)
    try await here.base.send("1", to: room, by: "ann")
    let now = here.base.configuration.clock.now()
    #expect(try await here.presence.status(of: ann, for: ann).lastActive == now)
    #expect(try await there.presence.status(of: ann, for: ann).lastActive == 1_000_000)
  }

  /// A reader may still have rows from before what another node did, and must not bring them into memory after it.
  @Test func `a room that another node has changed is not taken into memory from older rows`() async throws {
    let (here, there) = try nodes()
    let room = try await here.room(of: "ann", "bob")
    let began = AsyncStream<Void>.makeStream()
    let ends = Atomic<Bool>(false)
    let reader = Task {
      try await there.database.read { transaction in
        // The transaction begins with its first row.
        _ = try transaction.first("SELECT COUNT(*) FROM room") { $0.integer(0) }
        began.continuation.finish()
        while !ends.load(ordering: .acquiring) { sched_yield() }
        return try there.rooms.cache.snapshot(of: room, in: transaction)?.position
      }
    }
    for await _ in began.stream {}
    try await here.base.send("1", to: room, by: "ann")
    ends.store(true, ordering: .releasing)
    let newest = try #require(here.rooms.cache.cachedSnapshot(of: room)).position
    #expect(try #require(try await reader.value) < newest)
    #expect(there.rooms.cache.cachedSnapshot(of: room) == nil)
    let read = try await there.database.read { try there.rooms.cache.snapshot(of: room, in: $0)?.position }
    #expect(read == newest)
    #expect(there.rooms.cache.cachedSnapshot(of: room)?.position == newest)
  }

  @Test func `rooms in memory are as their rows say, whichever node does what`() async throws {
    var dice = Dice(seed: Trials.seed)
    let (here, there) = try nodes()
    let nodes = [here, there]
    let names = ["ann", "bob", "cas"]
    let room = try await here.room(of: "ann", "bob", "cas")
    for name in names { for node in nodes { try await node.client(name).sync() } }
    let number = try #require(here.rooms.cache.cachedSnapshot(of: room)).number
    var sent: [EventID] = []
    for step in 0..<Trials.count(150, long: 5_000) {
      let (node, name) = (dice.pick(nodes), dice.pick(names))
      let actor = RoomsFixture.actor(name)
      // Some of it is refused, such as what those who have left send.
      do {
        switch dice.below(12) {
        case 0...3: sent.append(try await node.base.send("\(step)", to: room, by: name))
        case 4: _ = try await node.rooms.setState("m.room.topic", "", json(#"{"topic":"\#(step)"}"#), in: room, by: actor)
        case 5: try await node.rooms.leave(room, by: actor)
        case 6...7: try await node.rooms.join(room, by: actor)
        case 8:
          guard !sent.isEmpty else { continue }
          let event = dice.pick(sent)
          let transaction = TransactionID(trusted: ByteString("r\(step)"))
          _ = try await node.rooms.redact(event, in: room, json("{}"), by: actor, transactionID: transaction)
        case 9:
          guard !sent.isEmpty else { continue }
          let event = dice.pick(sent)
          let relation = #"{"body":"","m.relates_to":{"rel_type":"m.thread","event_id":"\#(event)"}}"#
          let transaction = TransactionID(trusted: ByteString("t\(step)"))
          _ = try await node.rooms.send(.message, json(relation), to: room, by: actor, transactionID: transaction)
        case 10: try await node.rooms.forget(room, by: actor)
        default:
          guard !sent.isEmpty else { continue }
          let event = dice.pick(sent)
          try await node.rooms.purgeHistory(of: room, before: .event(event))
        }
      } catch is MatrixError {}
      for node in nodes { try await expectAsRows(number, of: node, names, "step \(step) of seed \(Trials.seed)") }
    }
  }

  /// Compares what a node has in memory of a room with what a node that starts would read.
  private func expectAsRows(
    _ number: RoomNumber, of node: SyncFixture, _ names: [String], _ comment: String
  ) async throws {
    let users = names.map(RoomsFixture.user)
    let (stored, entries) = try await node.database.read { transaction in
      let fresh = Memberships()
      return (
        try RoomLoader(transaction: transaction).snapshot(of: number),
        try users.map { try fresh.rooms(of: $0, in: transaction)[number] }
      )
    }
    let rows = try #require(stored)
    let memory = try #require(node.rooms.cache.cachedSnapshot(of: number))
    #expect(Self.lines(memory) == Self.lines(rows), "\(comment)")
    for (user, entry) in zip(users, entries) {
      let known = node.rooms.memberships.cachedRooms(of: user)?[number]
      #expect(known?.membership == entry?.membership && known?.position == entry?.position, "\(user), \(comment)")
      #expect(known?.isForgotten == entry?.isForgotten, "\(user), \(comment)")
    }
  }

  private static func lines(_ room: RoomSnapshot) -> [String] {
    func line(_ event: StoredEvent) -> String {
      "\(event.position) \(event.eventID) \(String(decoding: event.shared, as: UTF8.self)) \(event.thread?.string ?? "")"
        + " \(event.replaced?.eventID.string ?? "") \(event.redactedBecause.map { String(decoding: $0, as: UTF8.self) } ?? "")"
    }
    let state = room.state.values.map(line).sorted() + room.members.map { line($0.value.event) }.sorted()
    return room.tail.map(line) + state + ["\(room.joinedCount) \(room.invitedCount) \(room.extremities.map(\.eventID))"]
  }

  // MARK: Receipts, messages to devices

  @Test func `a receipt of one node is known at the other, a private one to its owner only`() async throws {
    let listener = Listener()
    let (here, there) = try nodes(observers: [listener])
    let room = try await here.room(of: "ann", "bob")
    let first = try await here.base.send("1", to: room, by: "ann")
    let second = try await here.base.send("2", to: room, by: "ann")
    let (annClient, bobClient) = (try there.client("ann"), try there.client("bob"))
    for client in [annClient, bobClient] { try await client.sync() }
    _ = listener.take()
    let anns = waiting(annClient)
    try await here.receipts.move(.init(read: first), of: bob, in: room)
    let answer = try await anns.value
    annClient.since = answer.token
    #expect(answer.room(room)?.receipts?[first.text]?["m.read"]?["@bob:example.org"] != nil)
    #expect(listener.take() == ["@bob:example.org read"])
    try await bobClient.sync()
    let bobs = waiting(bobClient)
    try await here.receipts.move(.init(readPrivate: second), of: bob, in: room)
    #expect(try await bobs.value.room(room)?.receipts?[second.text]?["m.read.private"]?["@bob:example.org"] != nil)
    #expect(try await annClient.sync().isIdle)
    #expect(listener.take() == ["@bob:example.org readPrivate"])
  }

  @Test func `receipts of one commit in two rooms are all known at both nodes`() async throws {
    let (here, there) = try nodes()
    let rooms = [try await here.room(of: "ann", "bob"), try await here.room(of: "ann", "bob")]
    var numbers: [RoomNumber] = []
    for room in rooms {
      try await here.base.send("1", to: room, by: "ann")
      numbers.append(try #require(here.rooms.cache.cachedSnapshot(of: room)).number)
    }
    for node in [here, there] { try await node.client("ann").sync() }
    let before = here.database.committedPosition
    try await here.database.write { [numbers] transaction in
      // One room first and last.
      for (user, number) in [("ann", numbers[0]), ("bob", numbers[1]), ("bob", numbers[0])] {
        try here.receipts.store(
          Receipt(
            user: RoomsFixture.user(user), kind: .read, thread: "", eventID: EventID(trusted: "$e"), event: before,
            timestamp: 1, position: 0), in: number, transaction)
      }
    }
    for node in [here, there] {
      for (number, users) in zip(numbers, [[ann, bob], [bob]]) {
        let rows = SyncRows(nil, completeUpTo: node.database.committedPosition)
        let known = try node.receipts.changes(in: number, after: before, upTo: .max, for: ann, rows)
        #expect(Set(known.map(\.user)) == Set(users))
      }
    }
  }

  @Test func `a node forgets how much waits for a device that another node has sent to`() async throws {
    let (here, there) = try nodes()
    let session = try await here.session("ann")
    func send(_ number: Int, _ node: SyncFixture) async throws {
      try await node.toDevice.send(
        "t", TransactionID(trusted: ByteString("\(number)")), from: session, messages: json(#"{"@ann:example.org":{"*":{}}}"#))
    }
    func known(_ node: SyncFixture) -> Int? {
      node.toDevice.waiting.withLock { $0[.init(userID: ann, deviceID: session.deviceID)]?.atMost }
    }
    try await send(1, here)
    #expect(known(here) == 1 && known(there) == nil)
    try await send(2, here)
    #expect(known(here) == 2 && known(there) == nil)
    try await send(3, there)
    #expect(known(here) == nil && known(there) == 3)
    try await send(4, here)
    #expect(known(here) == 4 && known(there) == nil)
    // A repeated request sends nothing, and one that is undone leaves nothing behind.
    try await send(4, here)
    #expect(known(here) == 4)
  }
}
