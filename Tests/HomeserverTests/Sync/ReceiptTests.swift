import JSON
import MatrixModel
import Testing

@testable import ServerAccounts
@testable import ServerRooms

@Suite struct ReceiptTests {
  private let ann = RoomsFixture.user("ann"), bob = RoomsFixture.user("bob")

  @Test func `a receipt is told to the others, a private one to its owner only, also after a restart`() async throws {
    var fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let first = try await fixture.base.send("1", to: room, by: "ann")
    let second = try await fixture.base.send("2", to: room, by: "ann")
    let annClient = try fixture.client("ann")
    let bobClient = try fixture.client("bob")
    try await annClient.sync()
    try await bobClient.sync()
    try await fixture.receipts.move(.init(read: first, readPrivate: second), of: bob, in: room)
    let toAnn = try #require(try await annClient.sync().room(room)?.receipts)
    #expect(toAnn[first.text]?["m.read"]?["@bob:example.org"]?["ts"]?.integer != nil && toAnn[second.text] == nil)
    let toBob = try #require(try await bobClient.sync().room(room)?.receipts)
    #expect(toBob[second.text]?["m.read.private"]?["@bob:example.org"] != nil)
    #expect(try await annClient.sync().isIdle)
    fixture = try fixture.reopened()
    let again = try await fixture.client("ann", device: "B").sync().room(room)?.receipts
    #expect(again?[first.text] != nil && again?[second.text] == nil)
    let later = try fixture.client("ann")
    later.since = annClient.since
    #expect(try await later.sync().isIdle)
  }

  @Test func `receipts and the fully-read marker only move forward`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let first = try await fixture.base.send("1", to: room, by: "ann")
    let second = try await fixture.base.send("2", to: room, by: "ann")
    let client = try fixture.client("bob")
    try await fixture.receipts.move(.init(read: second, fullyRead: second), of: bob, in: room)
    try await client.sync()
    try await fixture.receipts.move(.init(read: first, fullyRead: first), of: bob, in: room)
    #expect(try await client.sync().isIdle)
    let marker = try await fixture.accountData.content(of: .fullyRead, bob, in: room)
    #expect(try JSON.parse(marker)["event_id"]?.string == second.string)
  }

  @Test func `a receipt needs a member, an event of the room and its thread`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let other = try await fixture.room(of: "ann")
    let event = try await fixture.base.send("1", to: room, by: "ann")
    let foreign = try await fixture.base.send("1", to: other, by: "ann")
    func move(_ markers: Receipts.Markers, _ user: UserID) async -> ErrorCode? {
      await errorCode { try await fixture.receipts.move(markers, of: user, in: room) }
    }
    #expect(await move(.init(read: event), RoomsFixture.user("eve")) == .forbidden)
    #expect(await move(.init(read: foreign), bob) == .notFound)
    #expect(await move(.init(read: event, thread: "$none"), bob) == .invalidParameter)
    #expect(await move(.init(read: event, thread: "main"), bob) == nil)
    let reply = try await fixture.rooms.send(
      .message, json(#"{"body":"t","m.relates_to":{"rel_type":"m.thread","event_id":"\#(event)"}}"#), to: room,
      by: RoomsFixture.actor("ann"), transactionID: TransactionID(trusted: "thread"))
    #expect(await move(.init(read: reply, thread: "main"), bob) == .invalidParameter)
    #expect(await move(.init(read: reply, thread: event.text), bob) == nil)
  }
}

@Suite struct UnreadTests {
  private let bob = RoomsFixture.user("bob")

  @Test func `a redacted message counts no longer, for who counted it as for who counts anew`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let client = try fixture.client("bob")
    let ann = RoomsFixture.actor("ann")
    try await client.sync()
    func notice(_ transaction: ByteString) async throws -> EventID {
      try await fixture.rooms.send(
        .message, json(#"{"msgtype":"m.notice","body":"n"}"#), to: room, by: ann,
        transactionID: TransactionID(trusted: transaction))
    }
    func redact(_ event: EventID) async throws {
      _ = try await fixture.rooms.redact(
        event, in: room, json("{}"), by: ann, transactionID: TransactionID(trusted: event.text))
    }
    // Without its type the redacted notice looks like any message.
    let silent = try await notice("n")
    let first = try await fixture.base.send("1", to: room, by: "ann")
    try await fixture.base.send("2", to: room, by: "ann")
    #expect(try await client.sync().room(room)?.unread == [2, 0])
    try await redact(silent)
    #expect(try await client.sync().room(room)?.unread == [2, 0])
    try await redact(first)
    #expect(try await client.sync().room(room)?.unread == [1, 0])
    #expect(try await fixture.reopened().client("bob").sync().room(room)?.unread == [1, 0])
  }

  @Test func `messages and mentions count until they are read, own ones read all before them`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob", "cat")
    let client = try fixture.client("bob")
    try await client.sync()
    try await fixture.base.send("1", to: room, by: "ann")
    let second = try await fixture.base.send("2", to: room, by: "ann")
    _ = try await fixture.rooms.send(
      .message, json(#"{"msgtype":"m.text","body":"you","m.mentions":{"user_ids":["@bob:example.org"]}}"#), to: room,
      by: RoomsFixture.actor("ann"), transactionID: TransactionID(trusted: "mention"))
    #expect(try await client.sync().room(room)?.unread == [3, 1])
    try await fixture.receipts.move(.init(readPrivate: second), of: bob, in: room)
    #expect(try await client.sync().room(room)?.unread == [1, 1])
    // Who answers a call has not read the room.
    _ = try await fixture.rooms.send(
      "m.call.answer", json(#"{"call_id":"1","version":"1"}"#), to: room, by: RoomsFixture.actor("bob"),
      transactionID: TransactionID(trusted: "answer"))
    #expect(try await client.sync().room(room)?.unread == [1, 1])
    try await fixture.base.send("mine", to: room, by: "bob")
    #expect(try await client.sync().room(room)?.unread == [0, 0])
    try await fixture.base.send("4", to: room, by: "cat")
    #expect(try await client.sync().room(room)?.unread == [1, 0])
    #expect(try await client.sync { $0.since = nil }.room(room)?.unread == [1, 0])
  }

  @Test func `threads are counted apart where asked for, together where not`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob", "cat")
    let root = try await fixture.base.send("root", to: room, by: "ann")
    for number in 0..<3 {
      _ = try await fixture.rooms.send(
        .message,
        json(#"{"msgtype":"m.text","body":"t","m.relates_to":{"rel_type":"m.thread","event_id":"\#(root)"}}"#),
        to: room, by: RoomsFixture.actor("ann"), transactionID: TransactionID(trusted: ByteString("thread\(number)")))
    }
    #expect(try await fixture.client("bob").sync().room(room)?.unread == [4, 0])
    let apart = try fixture.client("bob", filter: #"{"room":{"timeline":{"unread_thread_notifications":true}}}"#)
    let answer = try await apart.sync().room(room)
    #expect(answer?.unread == [1, 0])
    #expect(answer?.json["unread_thread_notifications"]?[root.text]?["notification_count"]?.integer == 3)
    try await fixture.receipts.move(.init(read: root, thread: "main"), of: bob, in: room)
    #expect(try await apart.sync().room(room)?.unread == [0, 0])
  }

  @Test func `changed push rules count anew`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob", "cat")
    try await fixture.base.send("1", to: room, by: "ann")
    #expect(try await fixture.client("bob").sync().room(room)?.unread == [1, 0])
    try await fixture.pushRules.change(bob) { try $0.setEnabled(true, .override, ".m.rule.master") }
    #expect(try await fixture.client("bob").sync().room(room)?.unread == [0, 0])
  }

  @Test(arguments: 0..<6) func `counts carried on equal counts from the beginning, also after a restart`(seed: Int)
    async throws
  {
    var fixture = try SyncFixture()
    var dice = SystemRandomNumberGenerator()
    let room = try await fixture.room(of: "ann", "bob", "cat")
    var sent: [(id: EventID, sender: String, mentions: Bool)] = []
    var read = -1
    for step in 0..<(seed == 0 ? 700 : 60) {
      switch Int.random(in: 0..<(seed == 0 ? 400 : 12), using: &dice) {
      case 0:
        sent.append((try await fixture.base.send("own", to: room, by: "bob", transaction: "own\(step)"), "bob", false))
        read = sent.count - 1
      case 1 where !sent.isEmpty:
        let index = Int.random(in: 0..<sent.count, using: &dice)
        try await fixture.receipts.move(.init(read: sent[index].id), of: bob, in: room)
        read = max(read, index)
      case 2: fixture = try fixture.reopened()
      default:
        let mentions = Bool.random(using: &dice)
        let mention = mentions ? #","m.mentions":{"user_ids":["@bob:example.org"]}"# : ""
        let id = try await fixture.rooms.send(
          .message, json(#"{"msgtype":"m.text","body":"m"\#(mention)}"#), to: room, by: RoomsFixture.actor("ann"),
          transactionID: TransactionID(trusted: ByteString("u\(step)")))
        sent.append((id, "ann", mentions))
      }
      guard step % 7 == 0 || step > 690 else { continue }
      let unread = sent[(read + 1)...].filter { $0.sender != "bob" }
      let expected = [Int64(unread.count), Int64(unread.filter(\.mentions).count)]
      #expect(try await fixture.client("bob").sync().room(room)?.unread == expected)
    }
  }
}

@Suite struct DeliveryTests {
  @Test func `a message to a device is told until acknowledged, then never, also over a restart`() async throws {
    var fixture = try SyncFixture()
    try await fixture.addDevice("bob")
    let bob = try fixture.client("bob")
    try await bob.sync()
    func send(_ number: Int) async throws {
      try await fixture.toDevice.send(
        "m.test", TransactionID(trusted: ByteString("n\(number)")), from: await fixture.session("ann"),
        messages: json(#"{"@bob:example.org":{"*":{"n":"\#(number)"}}}"#))
    }
    let before = bob.since
    try await send(1)
    #expect(try await bob.sync().toDevice == ["1"])
    let after = bob.since
    bob.since = before
    #expect(try await bob.sync().toDevice == ["1"])
    fixture = try fixture.reopened()
    let later = try fixture.client("bob")
    later.since = before
    #expect(try await later.sync().toDevice == ["1"])
    later.since = after
    #expect(try await later.sync().toDevice == [])
    try await send(2)
    #expect(try await later.sync().toDevice == ["2"])
    #expect(try await later.sync().toDevice == [])
    later.since = nil
    #expect(try await later.sync().toDevice == [])
  }

  @Test func `what does not fit into one answer comes with the next, each once and without waiting`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    try await fixture.addDevice("bob")
    let bob = try fixture.client("bob")
    try await bob.sync()
    for number in 0..<250 {
      try await fixture.toDevice.send(
        "m.test", TransactionID(trusted: ByteString("n\(number)")), from: await fixture.session("ann"),
        messages: json(#"{"@bob:example.org":{"DEVICE":{"n":"\#(number)"}}}"#))
    }
    try await fixture.base.send("once", to: room, by: "ann")
    var told: [String] = []
    var bodies: [String] = []
    for _ in 0..<3 {
      let answer = try await bob.sync(timeout: 60_000)
      told += answer.toDevice
      bodies += answer.room(room)?.bodies ?? []
    }
    #expect(told == (0..<250).map { "\($0)" } && bodies == ["once"])
    #expect(try await bob.sync().isIdle)
  }

  @Test func `device lists tell who changed keys, who came and who is gone`() async throws {
    let fixture = try SyncFixture()
    let settings =
      #"{"preset":"public_chat","initial_state":[{"type":"m.room.encryption","content":{"algorithm":"m.megolm.v1.aes-sha2"}}]}"#
    let room = try await fixture.room(of: "ann", "bob", settings: settings)
    let bob = try fixture.client("bob")
    func lists() async throws -> [[String]] {
      let answer = try await bob.sync()
      return ["changed", "left"].map { name in
        answer.json["device_lists"]?[ByteString(name)]?.elements.compactMap(\.string) ?? []
      }
    }
    #expect(try await lists() == [[], []])
    _ = try await fixture.database.write { try fixture.deviceLists.changed($0, RoomsFixture.user("ann")) }
    _ = try await fixture.database.write { try fixture.deviceLists.changed($0, RoomsFixture.user("eve")) }
    #expect(try await lists() == [["@ann:example.org"], []])
    try await fixture.rooms.join(room, by: RoomsFixture.actor("cat"))
    #expect(try await lists() == [["@cat:example.org"], []])
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("cat"))
    #expect(try await lists() == [[], ["@cat:example.org"]])
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("bob"))
    #expect(try await lists() == [[], ["@ann:example.org"]])
  }

  @Test func `account data is told once, of the account and of its room`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann")
    let ann = try fixture.client("ann")
    let first = try await ann.sync()
    #expect(
      first.json["account_data"]?["events"]?.elements.contains { $0["type"]?.isString("m.push_rules") ?? false }
        ?? false)
    try await fixture.accountData.set("m.x", json(#"{"n":1}"#), of: ann.user, in: nil)
    try await fixture.accountData.set("m.y", json(#"{"n":2}"#), of: ann.user, in: room)
    let answer = try await ann.sync()
    #expect(answer.json["account_data"]?["events"]?.elements.compactMap { $0["content"]?["n"]?.integer } == [1])
    #expect(
      answer.room(room)?.json["account_data"]?["events"]?.elements.compactMap { $0["content"]?["n"]?.integer } == [2])
    #expect(answer.room(room)?.timeline.isEmpty ?? false)
    #expect(try await ann.sync().isIdle)
  }
}
