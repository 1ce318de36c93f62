import JSON
import MatrixModel
import Testing

@testable import ServerCore
@testable import ServerRooms
@testable import ServerSync

@Suite struct SyncTests {
  @Test func `a first sync tells the room, the next only what is new, then nothing`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    try await fixture.base.send("one", to: room, by: "ann")
    let bob = try fixture.client("bob")
    let first = try #require(try await bob.sync().room(room))
    #expect(first.bodies == ["one"])
    #expect(first.json["summary"]?["m.joined_member_count"]?.integer == 2)
    #expect(first.json["summary"]?["m.heroes"]?.elements.compactMap(\.string) == ["@ann:example.org"])
    #expect(try await bob.sync().isIdle)
    try await fixture.base.send("two", to: room, by: "ann")
    let second = try #require(try await bob.sync().room(room))
    #expect(second.bodies == ["two"] && !second.isLimited && second.state.isEmpty)
    #expect(second.json["summary"] == nil)
    #expect(try await bob.sync().isIdle)
  }

  @Test func `the timeline and the state before it are the whole room`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob", settings: #"{"preset":"public_chat","name":"R"}"#)
    for number in 0..<30 { try await fixture.base.send("\(number)", to: room, by: "ann") }
    _ = try await fixture.rooms.setState(.topic, "", json(#"{"topic":"T"}"#), in: room, by: RoomsFixture.actor("ann"))
    let bob = try fixture.client("bob", filter: #"{"room":{"timeline":{"limit":5}}}"#)
    let answer = try #require(try await bob.sync().room(room))
    #expect(answer.timeline.count == 5 && answer.isLimited)
    #expect(answer.bodies == ["26", "27", "28", "29"])
    #expect(
      answer.state == [
        "m.room.create|", "m.room.guest_access|", "m.room.history_visibility|", "m.room.join_rules|",
        "m.room.member|@ann:example.org", "m.room.member|@bob:example.org", "m.room.name|", "m.room.power_levels|"
      ])
    let page = try await fixture.rooms.messages(
      of: room, for: bob.user, from: answer.previous, to: nil, .backward, limit: 2, EventFilter())
    #expect(page.events.compactMap { $0.content["body"]?.string } == ["25", "24"])
  }

  @Test(arguments: [10, 200]) func `a gap tells the state that changed before its timeline`(messages: Int) async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = try fixture.client("bob", filter: #"{"room":{"timeline":{"limit":3}}}"#)
    try await bob.sync()
    let ann = RoomsFixture.actor("ann")
    _ = try await fixture.rooms.setState(.name, "", json(#"{"name":"1"}"#), in: room, by: ann)
    _ = try await fixture.rooms.setState(.name, "", json(#"{"name":"2"}"#), in: room, by: ann)
    for number in 0..<messages { try await fixture.base.send("\(number)", to: room, by: "ann") }
    _ = try await fixture.rooms.setState(.topic, "", json(#"{"topic":"T"}"#), in: room, by: ann)
    let since = bob.since
    let answer = try #require(try await bob.sync().room(room))
    #expect(answer.isLimited && answer.timeline.count == 3)
    #expect(answer.state == ["m.room.name|"])
    #expect(answer.json["state"]?["events"]?.elements.first { _ in true }?["content"]?["name"]?.string == "2")
    bob.since = since
    let after = try #require(try await bob.sync { $0.usesStateAfter = true }.room(room))
    #expect(after.json["state"] == nil && after.stateAfter == ["m.room.name|", "m.room.topic|"])
  }

  @Test func `who joins gets the whole state and a timeline that ends with the join`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann")
    for number in 0..<5 { try await fixture.base.send("\(number)", to: room, by: "ann") }
    let bob = try fixture.client("bob", filter: #"{"room":{"timeline":{"limit":3}}}"#)
    #expect(try await bob.sync().room(room) == nil)
    try await fixture.rooms.join(room, by: RoomsFixture.actor("bob"))
    let answer = try #require(try await bob.sync().room(room))
    #expect(answer.bodies == ["3", "4"] && answer.isLimited)
    #expect(answer.state.contains("m.room.create|") && answer.state.contains("m.room.member|@ann:example.org"))
    #expect(!answer.state.contains("m.room.member|@bob:example.org"))
    #expect(try await bob.sync().isIdle)
  }

  @Test func `who joins sees of the past what its visibility allows`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(
      of: "ann",
      settings: #"""
        {"preset":"public_chat","initial_state":[{"type":"m.room.history_visibility","content":{"history_visibility":"joined"}}]}
        """#)
    try await fixture.base.send("secret", to: room, by: "ann")
    let bob = try fixture.client("bob")
    try await bob.sync()
    try await fixture.rooms.join(room, by: RoomsFixture.actor("bob"))
    try await fixture.base.send("open", to: room, by: "ann")
    #expect(try await bob.sync().room(room)?.bodies == ["open"])
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("bob"))
    try await fixture.base.send("secret again", to: room, by: "ann")
    try await fixture.rooms.join(room, by: RoomsFixture.actor("bob"))
    #expect(try await bob.sync().room(room)?.bodies == [])
  }

  @Test func `an invitation shows the stripped state, and accepting it the room`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", settings: #"{"preset":"private_chat","name":"R"}"#)
    let bob = try fixture.client("bob")
    try await bob.sync()
    try await fixture.rooms.invite(bob.user, to: room, by: RoomsFixture.actor("ann"))
    let invited = try #require(try await bob.sync().room(room, "invite"))
    let events = invited.json["invite_state"]?["events"]?.elements.map { $0 } ?? []
    #expect(events.contains { $0["type"]?.isString("m.room.name") ?? false })
    #expect(
      events.contains {
        $0["state_key"]?.isString("@bob:example.org") ?? false
          && $0["content"]?["membership"]?.isString("invite") ?? false
      })
    #expect(events.allSatisfy { $0["event_id"] == nil })
    #expect(try await bob.sync().isIdle)
    #expect(try await fixture.client("bob", device: "B").sync().room(room, "invite") != nil)
    try await fixture.rooms.join(room, by: RoomsFixture.actor("bob"))
    let answer = try await bob.sync()
    #expect(answer.room(room) != nil && answer.room(room, "invite") == nil)
  }

  @Test func `an invitation of an ignored user is not told, nor are their messages`() async throws {
    let fixture = try SyncFixture()
    let shared = try await fixture.room(of: "ann", "bob", "eve")
    let room = try await fixture.room(of: "eve", settings: #"{"preset":"private_chat"}"#)
    let bob = try fixture.client("bob")
    try await bob.sync()
    try await fixture.accountData.set(
      .ignoredUserList, json(#"{"ignored_users":{"@eve:example.org":{}}}"#), of: bob.user, in: nil)
    try await bob.sync()
    try await fixture.rooms.invite(bob.user, to: room, by: RoomsFixture.actor("eve"))
    try await fixture.base.send("bad", to: shared, by: "eve")
    try await fixture.base.send("good", to: shared, by: "ann")
    let answer = try await bob.sync()
    #expect(answer.room(room, "invite") == nil && answer.room(shared)?.bodies == ["good"])
  }

  @Test func `who leaves is told so once, and what came before, not what came after`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = try fixture.client("bob")
    try await bob.sync()
    try await fixture.base.send("before", to: room, by: "ann")
    try await fixture.rooms.ban(bob.user, from: room, by: RoomsFixture.actor("ann"))
    try await fixture.base.send("after", to: room, by: "ann")
    let answer = try await bob.sync()
    let left = try #require(answer.room(room, "leave"))
    #expect(answer.room(room) == nil && left.bodies == ["before"])
    #expect(left.timeline.last?["content"]?["membership"]?.string == "ban")
    try await fixture.base.send("later", to: room, by: "ann")
    #expect(try await bob.sync().isIdle)
    #expect(try await fixture.client("bob", device: "B").sync().room(room, "leave") == nil)
    let archive = try fixture.client("bob", device: "C", filter: #"{"room":{"include_leave":true}}"#)
    #expect(try await archive.sync().room(room, "leave")?.bodies == ["before"])
  }

  @Test func `who declines an invitation is told only that`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", settings: #"{"preset":"private_chat"}"#)
    let bob = try fixture.client("bob")
    try await fixture.rooms.invite(bob.user, to: room, by: RoomsFixture.actor("ann"))
    try await bob.sync()
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("bob"))
    let left = try #require(try await bob.sync().room(room, "leave"))
    #expect(left.state.isEmpty && !left.isLimited)
    #expect(left.memberships(of: "@bob:example.org") == ["leave"] && left.timeline.count == 1)
  }

  @Test(arguments: ["invited", "joined", "shared", "world_readable"], [true, false])
  func `a user whose invitation ends gets the event that ends it`(visibility: String, isDeclined: Bool) async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(
      of: "ann",
      settings: """
        {"preset":"private_chat","initial_state":[{"type":"m.room.history_visibility","content":
        {"history_visibility":"\(visibility)"}}]}
        """)
    let bob = try fixture.client("bob")
    try await bob.sync()
    try await fixture.rooms.invite(bob.user, to: room, by: RoomsFixture.actor("ann"))
    try await bob.sync()
    if isDeclined {
      try await fixture.rooms.leave(room, by: RoomsFixture.actor("bob"))
    } else {
      try await fixture.rooms.ban(bob.user, from: room, by: RoomsFixture.actor("ann"))
    }
    let left = try #require(try await bob.sync().room(room, "leave"))
    #expect(left.memberships(of: "@bob:example.org") == [isDeclined ? "leave" : "ban"] && left.timeline.count == 1)
    #expect(try await bob.sync().isIdle)
  }

  @Test(arguments: [true, false])
  func `a declined invitation to a room that everyone has left is told`(isAfterRestart: Bool) async throws {
    var fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", settings: #"{"preset":"private_chat"}"#)
    try await fixture.rooms.invite(RoomsFixture.user("bob"), to: room, by: RoomsFixture.actor("ann"))
    let token = try await fixture.client("bob").sync().token
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("ann"))
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("bob"))
    if isAfterRestart { fixture = try fixture.reopened() }
    let bob = try fixture.client("bob")
    bob.since = token
    let left = try #require(try await bob.sync().room(room, "leave"))
    #expect(left.memberships(of: "@bob:example.org") == ["leave"] && left.timeline.count == 1)
  }

  @Test func `an invitation that came and went between two syncs is told with both events`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", settings: #"{"preset":"private_chat"}"#)
    let bob = try fixture.client("bob")
    try await bob.sync()
    try await fixture.rooms.invite(bob.user, to: room, by: RoomsFixture.actor("ann"))
    try await fixture.base.send("secret", to: room, by: "ann")
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("bob"))
    let left = try #require(try await bob.sync().room(room, "leave"))
    #expect(left.memberships(of: "@bob:example.org") == ["invite", "leave"] && left.timeline.count == 2)
  }

  @Test func `members are loaded lazily, those who speak first`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob", "cat", "dan", settings: #"{"preset":"public_chat","name":"R"}"#)
    for number in 0..<5 { try await fixture.base.send("\(number)", to: room, by: "ann") }
    let bob = try fixture.client(
      "bob", filter: #"{"room":{"timeline":{"limit":3},"state":{"lazy_load_members":true}}}"#)
    func members(_ answer: RoomAnswer?) -> [String] { answer?.state.filter { $0.hasPrefix("m.room.member") } ?? [] }
    let first = try await bob.sync().room(room)
    #expect(members(first) == ["m.room.member|@ann:example.org", "m.room.member|@bob:example.org"])
    try await fixture.base.send("x", to: room, by: "cat")
    #expect(members(try await bob.sync().room(room)) == ["m.room.member|@cat:example.org"])
    try await fixture.base.send("y", to: room, by: "cat")
    #expect(members(try await bob.sync().room(room)) == [])
    bob.filter = try SyncFilter(
      json(#"{"room":{"timeline":{"limit":3},"state":{"lazy_load_members":true,"include_redundant_members":true}}}"#))
    try await fixture.base.send("z", to: room, by: "cat")
    #expect(members(try await bob.sync().room(room)) == ["m.room.member|@cat:example.org"])
  }

  @Test func `a lost answer is told again, its lazily loaded members too`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob", "cat", settings: #"{"preset":"public_chat","name":"R"}"#)
    for number in 0..<30 { try await fixture.base.send("\(number)", to: room, by: "ann") }
    let bob = try fixture.client("bob", filter: #"{"room":{"state":{"lazy_load_members":true}}}"#)
    try await bob.sync()
    try await fixture.base.send("x", to: room, by: "cat")
    let before = bob.since
    let lost = try await bob.sync().room(room)?.state
    bob.since = before
    #expect(try await bob.sync().room(room)?.state == lost)
    #expect(lost == ["m.room.member|@cat:example.org"])
  }

  @Test func `a filter keeps out what it names`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let other = try await fixture.room(of: "ann", "bob")
    let bob = try fixture.client(
      "bob",
      filter: #"""
        {"room":{"not_rooms":["\#(other)"],"timeline":{"types":["m.room.message"],"not_senders":["@bob:example.org"]},
          "state":{"types":["m.room.n*"]},"ephemeral":{"types":[]},"account_data":{"types":[]}},
         "account_data":{"not_types":["*"]}}
        """#)
    try await fixture.base.send("a", to: room, by: "ann")
    try await fixture.base.send("b", to: room, by: "bob")
    let answer = try await bob.sync()
    #expect(answer.room(other) == nil && answer.json["account_data"] == nil)
    #expect(answer.room(room)?.bodies == ["a"] && answer.room(room)?.state == [])
    try await fixture.base.send("c", to: other, by: "ann")
    try await fixture.rooms.setTyping(true, of: RoomsFixture.user("ann"), in: room, timeoutMilliseconds: 30_000)
    #expect(try await bob.sync().isIdle)
  }

  @Test func `a filter cuts events down to the fields it names`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    try await fixture.base.send("a", to: room, by: "ann")
    let bob = try fixture.client(
      "bob", filter: #"{"event_fields":["type","content.body"],"room":{"timeline":{"limit":1}}}"#)
    let event = try #require(try await bob.sync().room(room)?.timeline.first)
    #expect(Array(event.bytes) == Array(#"{"content":{"body":"a"},"type":"m.room.message"}"#.utf8))
  }

  @Test func `a stored filter is named by its ID and an unknown one refused`() async throws {
    let fixture = try SyncFixture()
    let user = RoomsFixture.user("ann")
    let id = try await fixture.storedFilters.store(json(#"{"room":{"timeline":{"limit":7}}}"#), of: user)
    #expect(try await fixture.filters.filter(id, of: user).timelineCount == 7)
    #expect(try await fixture.filters.filter(#"{"room":{"timeline":{"limit":8}}}"#, of: user).timelineCount == 8)
    #expect(await errorCode { _ = try await fixture.filters.filter("99", of: user) } == .invalidParameter)
    #expect(await errorCode { _ = try await fixture.filters.filter("{x", of: user) } == .invalidParameter)
    #expect(
      await errorCode { _ = try await fixture.filters.filter(#"{"room":{"timeline":{"limit":-1}}}"#, of: user) }
        == .badJSON)
  }

  @Test func `full state repeats the state, not the timeline`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = try fixture.client("bob")
    try await bob.sync()
    let answer = try #require(try await bob.sync(timeout: 100_000) { $0.isFullState = true }.room(room))
    #expect(answer.timeline.isEmpty && answer.state.count == 7)
  }

  @Test func `a token of another process goes on where it stood`() async throws {
    var fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let since = try await fixture.client("bob").sync().token
    try await fixture.base.send("missed", to: room, by: "ann")
    try await fixture.rooms.setTyping(true, of: RoomsFixture.user("ann"), in: room, timeoutMilliseconds: 30_000)
    fixture = try fixture.reopened()
    let bob = try fixture.client("bob")
    bob.since = since
    #expect(try await bob.sync().room(room)?.bodies == ["missed"])
    #expect(try await bob.sync().isIdle)
    #expect(bob.since?.boot == fixture.engine.boot)
  }

  @Test(arguments: ["s5_0_1", "s5_2_1_3"]) func `a token survives a round trip`(text: String) throws {
    #expect(try #require(SyncToken(ByteString(text))).text == ByteString(text))
    #expect(TimelineToken(ByteString(text))?.position == 5)
  }

  @Test(arguments: [
    "", "s", "s5", "t5", "s5_0", "s5__1", "s5_0_1_2_3", "s-5_0_1", "s5_0_1_", "s9999999999999999999_0_1"
  ])
  func `what is no token is refused`(text: String) { #expect(SyncToken(ByteString(text)) == nil) }
}
