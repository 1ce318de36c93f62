import JSON
import MatrixModel
import Testing

@testable import ServerAccounts
@testable import ServerSync

@Suite struct SlidingExtensionTests {
  private func body(_ extensions: String, lists: Bool = true) -> String {
    lists ? SlidingClient.list(more: #","extensions":{\#(extensions)}"#) : #"{"extensions":{\#(extensions)}}"#
  }

  @Test func `messages to the device come once, whatever becomes of the connection`() async throws {
    let fixture = try SyncFixture()
    try await fixture.addDevice("bob")
    func send(_ number: Int) async throws {
      try await fixture.toDevice.send(
        "m.test", TransactionID(trusted: ByteString("\(number)")), from: await fixture.session("ann"),
        messages: json(#"{"@bob:example.org":{"DEVICE":{"n":"\#(number)"}}}"#))
    }
    func client(_ fixture: SyncFixture, since: String?) -> SlidingClient {
      let since = since.map { #","since":"\#($0)""# } ?? ""
      return SlidingClient(fixture, "bob", body(#""to_device":{"enabled":true,"limit":2\#(since)}"#, lists: false))
    }
    for number in 0..<5 { try await send(number) }
    var got: [String] = []
    var since: String?
    var server = fixture
    for _ in 0..<5 {
      // A new connection each time, and once a new process: the token is the client's.
      let answer = try await client(server, since: since).sync().extensionAnswer("to_device")
      got += answer?["events"]?.elements.compactMap { $0["content"]?["n"]?.string } ?? []
      since = answer?["next_batch"]?.string
      if got.count == 2 { server = try server.reopened() }
    }
    #expect(got == ["0", "1", "2", "3", "4"])
    // What was acknowledged is gone, also for an older token.
    let again = try await client(server, since: nil).sync().extensionAnswer("to_device")
    #expect(again?["events"]?.count == 0 && again?["next_batch"]?.isString ?? false)
  }

  @Test func `e2ee tells counts always and device lists from the last answer or the token of the device's messages`()
    async throws
  {
    let fixture = try SyncFixture()
    try await fixture.addDevice("bob")
    _ = try await fixture.room(of: "ann", "bob")
    let bob = SlidingClient(fixture, "bob", body(#""e2ee":{"enabled":true},"to_device":{"enabled":true}"#))
    let first = try await bob.sync()
    let counts = try #require(first.extensionAnswer("e2ee"))
    #expect(counts["device_one_time_keys_count"]?["signed_curve25519"]?.integer == 0)
    #expect(counts["device_unused_fallback_key_types"]?.isArray ?? false && counts["device_lists"] == nil)
    let token = try #require(first.extensionAnswer("to_device")?["next_batch"]?.string)
    _ = try await fixture.database.write { try fixture.deviceLists.changed($0, RoomsFixture.user("ann")) }
    let changed = try await bob.sync().extensionAnswer("e2ee")?["device_lists"]?["changed"]
    #expect(changed?.elements.compactMap(\.string) == ["@ann:example.org"])
    #expect(try await bob.sync().extensionAnswer("e2ee")?["device_lists"] == nil)
    // After a restart the connection is lost, the change is not.
    let later = SlidingClient(
      try fixture.reopened(), "bob", body(#""e2ee":{"enabled":true},"to_device":{"enabled":true,"since":"\#(token)"}"#))
    let told = try await later.sync().extensionAnswer("e2ee")?["device_lists"]?["changed"]
    #expect(told?.elements.compactMap(\.string) == ["@ann:example.org"])
  }

  @Test func `account data comes whole first, then by change, for rooms that were told`() async throws {
    let fixture = try SyncFixture()
    let (room, other) = (try await fixture.room(of: "ann", "bob"), try await fixture.room(of: "ann", "bob"))
    let bob = SlidingClient(
      fixture, "bob", SlidingClient.list("[0,0]", more: #","extensions":{"account_data":{"enabled":true}}"#))
    try await fixture.accountData.set("a", json(#"{"n":1}"#), of: bob.user, in: nil)
    for room in [room, other] { try await fixture.accountData.set("r", json(#"{"n":1}"#), of: bob.user, in: room) }
    func types(_ json: JSON?) -> [String] { json?.elements.compactMap { $0["type"]?.string }.sorted() ?? [] }
    let first = try #require(try await bob.sync().extensionAnswer("account_data"))
    #expect(types(first["global"]) == ["a", "m.push_rules"])
    #expect(types(first["rooms"]?[other.text]) == ["r"] && first["rooms"]?[room.text] == nil)
    try await fixture.accountData.set("r2", json("{}"), of: bob.user, in: room)
    try await fixture.accountData.set("r3", json("{}"), of: bob.user, in: other)
    let next = try #require(try await bob.sync().extensionAnswer("account_data"))
    #expect(types(next["global"]).isEmpty && types(next["rooms"]?[other.text]) == ["r3"] && next["rooms"]?[room.text] == nil)
    try await fixture.base.send("up", to: room, by: "ann")
    #expect(types(try await bob.sync().extensionAnswer("account_data")?["rooms"]?[room.text]) == ["r", "r2"])
  }

  @Test func `few receipts of a new room are all told, whatever of its timeline is`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob", "cid")
    let old = try await fixture.base.send("old", to: room, by: "ann")
    try await fixture.receipts.move(.init(read: old), of: RoomsFixture.user("cid"), in: room)
    try await fixture.base.send("new", to: room, by: "ann")
    let bob = SlidingClient(
      fixture, "bob", SlidingClient.list(timeline: 1, more: #","extensions":{"receipts":{"enabled":true}}"#))
    let told = try await bob.sync().extensionAnswer("receipts")?["rooms"]?[room.text]?["content"]
    #expect(told?[old.text]?["m.read"]?["@cid:example.org"] != nil)
  }

  @Test func `of many receipts a new room has those of its timeline and the user's own, then each new one`() async throws {
    let fixture = try SyncFixture()
    let readers = (1...SlidingExtensions.fewReceipts).map { "reader\($0)" }
    let room = try await fixture.room(of: "ann", "bob", "cid")
    for name in readers { try await fixture.rooms.join(room, by: RoomsFixture.actor(name)) }
    let old = try await fixture.base.send("old", to: room, by: "ann")
    for name in ["bob", "cid"] + readers {
      try await fixture.receipts.move(.init(read: old), of: RoomsFixture.user(name), in: room)
    }
    let new = try await fixture.base.send("new", to: room, by: "ann")
    try await fixture.receipts.move(.init(read: new), of: RoomsFixture.user("ann"), in: room)
    let bob = SlidingClient(
      fixture, "bob", SlidingClient.list(timeline: 1, more: #","extensions":{"receipts":{"enabled":true}}"#))
    func content(_ answer: SlidingAnswer) -> JSON? { answer.extensionAnswer("receipts")?["rooms"]?[room.text]?["content"] }
    let first = try #require(content(try await bob.sync()))
    #expect(first[new.text]?["m.read"]?["@ann:example.org"] != nil)
    #expect(first[old.text]?["m.read"]?["@bob:example.org"] != nil && first[old.text]?["m.read"]?["@cid:example.org"] == nil)
    try await fixture.receipts.move(.init(read: new), of: RoomsFixture.user("cid"), in: room)
    let answer = try await bob.sync()
    #expect(answer.rooms.isEmpty && content(answer)?[new.text]?["m.read"]?["@cid:example.org"] != nil)
    // The user's own receipt changes the counts.
    try await fixture.receipts.move(.init(readPrivate: new), of: bob.user, in: room)
    let read = try await bob.sync()
    #expect(content(read)?[new.text]?["m.read.private"]?["@bob:example.org"] != nil && read.room(room)?.unread == [0, 0])
  }

  @Test func `typing is told as it is, and an extension can be kept to lists and rooms`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let all = SlidingClient(fixture, "bob", body(#""typing":{"enabled":true}"#))
    let none = SlidingClient(fixture, "bob", device: "X", body(#""typing":{"enabled":true,"lists":["other"],"rooms":[]}"#))
    let named = SlidingClient(fixture, "bob", device: "Y", body(#""typing":{"enabled":true,"lists":[],"rooms":["\#(room)"]}"#))
    let list = SlidingClient(fixture, "bob", device: "Z", body(#""typing":{"enabled":true,"lists":["all"]}"#))
    for client in [all, none, named, list] { try await client.sync() }
    try await fixture.rooms.setTyping(true, of: RoomsFixture.user("ann"), in: room, timeoutMilliseconds: 30_000)
    func typing(_ answer: SlidingAnswer) -> [String]? {
      answer.extensionAnswer("typing")?["rooms"]?[room.text]?["content"]?["user_ids"]?.elements.compactMap(\.string)
    }
    for client in [all, named, list] { #expect(typing(try await client.sync()) == ["@ann:example.org"]) }
    #expect(typing(try await none.sync()) == nil)
    #expect(typing(try await all.sync()) == nil)
    try await fixture.rooms.setTyping(false, of: RoomsFixture.user("ann"), in: room, timeoutMilliseconds: 0)
    #expect(typing(try await all.sync()) == [])
  }

  @Test func `threads whose news is not in a timeline are told with where they go on`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let root = try await fixture.base.send("root", to: room, by: "ann")
    let bob = SlidingClient(
      fixture, "bob", SlidingClient.list(timeline: 1, more: #","extensions":{"io.element.msc4360.threads":{"enabled":true}}"#))
    try await bob.sync()
    func reply(_ number: Int) async throws {
      _ = try await fixture.rooms.send(
        .message,
        json(#"{"body":"r\#(number)","m.relates_to":{"rel_type":"m.thread","event_id":"\#(root)"}}"#), to: room,
        by: RoomsFixture.actor("ann"), transactionID: TransactionID(trusted: ByteString("r\(number)")))
    }
    func updates(_ answer: SlidingAnswer) -> JSON? {
      answer.extensionAnswer("io.element.msc4360.threads")?["updates"]?[room.text]?[root.text]
    }
    try await reply(0)
    // In the timeline: nothing to add.
    #expect(updates(try await bob.sync()) == nil)
    for number in 1..<4 { try await reply(number) }
    let missed = try #require(updates(try await bob.sync()))
    #expect(missed["thread_root"] == nil && missed["prev_batch"]?.isString ?? false)
    let page = try JSON.parse(
      try await fixture.sliding.threadUpdates(for: bob.user, bob.device, from: nil, to: nil, limit: 10))
    #expect(page["chunk"]?[room.text]?[root.text]?["thread_root"]?["content"]?["body"]?.string == "root")
  }
}
