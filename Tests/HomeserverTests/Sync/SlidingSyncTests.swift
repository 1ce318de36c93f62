import JSON
import MatrixModel
import Testing

@testable import ServerRooms
@testable import ServerSync

@Suite struct SlidingSyncTests {
  // MARK: Lists

  @Test func `a list tells the rooms of its range, the newest first, and how many there are`() async throws {
    let fixture = try SyncFixture()
    var rooms: [RoomID] = []
    for _ in 0..<5 { rooms.append(try await fixture.room(of: "ann", "bob")) }
    try await fixture.base.send("old room, new message", to: rooms[1], by: "ann")
    let bob = SlidingClient(fixture, "bob", SlidingClient.list("[0,1]"))
    let first = try await bob.sync()
    #expect(first.count == 5 && first.rooms == [rooms[1].string, rooms[4].string])
    #expect(first.room(rooms[1])?.isInitial ?? false)
    #expect(first.room(rooms[1])?.bodies == ["old room, new message"])
    #expect(first.room(rooms[1])?.live == 0)
    // Nothing of what was told is told again; a wider range tells the others.
    bob.body = SlidingClient.list("[0,2]")
    #expect(try await bob.sync().rooms == [rooms[3].string])
    bob.body = SlidingClient.list("[0,99]")
    #expect(try await bob.sync().rooms == [rooms[0].string, rooms[2].string])
    #expect(try await bob.sync().rooms.isEmpty)
  }

  @Test func `a message brings its room into the range, and only what is new of it`() async throws {
    let fixture = try SyncFixture()
    let (first, second) = (try await fixture.room(of: "ann", "bob"), try await fixture.room(of: "ann", "bob"))
    let bob = SlidingClient(fixture, "bob", SlidingClient.list("[0,0]"))
    #expect(try await bob.sync().rooms == [second.string])
    try await fixture.base.send("one", to: first, by: "ann")
    let moved = try await bob.sync()
    #expect(moved.rooms == [first.string] && moved.room(first)?.isInitial ?? false && moved.room(first)?.live == 1)
    try await fixture.base.send("two", to: first, by: "ann")
    let next = try #require(try await bob.sync().room(first))
    #expect(!next.isInitial && next.bodies == ["two"] && next.live == 1 && !next.isLimited)
    #expect(next.json["name"] == nil && next.json["joined_count"] == nil && next.unread == [2, 0])
    // What happened outside the range is told when the room comes back.
    for number in 0..<3 { try await fixture.base.send("s\(number)", to: second, by: "ann") }
    #expect(try await bob.sync().room(second)?.bodies == ["s0", "s1", "s2"])
    try await fixture.base.send("three", to: first, by: "ann")
    #expect(try await bob.sync().room(first)?.bodies == ["three"])
  }

  @Test func `a gap is limited and can be paged`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = SlidingClient(fixture, "bob", SlidingClient.list(timeline: 2))
    let first = try #require(try await bob.sync().room(room))
    #expect(first.isLimited && first.eventIDs.count == 2)
    for number in 0..<5 { try await fixture.base.send("\(number)", to: room, by: "ann") }
    let next = try #require(try await bob.sync().room(room))
    #expect(next.isLimited && next.bodies == ["3", "4"] && next.live == 2)
    let page = try await fixture.rooms.messages(
      of: room, for: bob.user, from: next.previous, to: nil, .backward, limit: 3, EventFilter())
    #expect(page.events.compactMap { $0.content["body"]?.string } == ["2", "1", "0"])
    let fromPosition = try #require(bob.pos.flatMap { TimelineToken($0) })
    #expect(fromPosition.position == fixture.database.committedPosition)
  }

  @Test(arguments: [
    (#"{"is_dm":true}"#, ["direct"]), (#"{"is_dm":false}"#, ["invite", "plain", "secret", "space", "tagged"]),
    (#"{"is_encrypted":true}"#, ["secret"]), (#"{"is_invite":true}"#, ["invite"]), (#"{"is_invited":true}"#, ["invite"]),
    (#"{"room_types":["m.space"]}"#, ["space"]),
    (#"{"not_room_types":["m.space"],"is_invite":false}"#, ["direct", "plain", "secret", "tagged"]),
    (#"{"room_types":[null],"is_dm":false,"is_encrypted":false,"is_invite":false}"#, ["plain", "tagged"]),
    (#"{"room_types":["m.space"],"not_room_types":["m.space"]}"#, []),
    (#"{"room_name_like":"PLA"}"#, ["plain"]), (#"{"tags":["m.favourite"]}"#, ["tagged"]),
    (#"{"not_tags":["m.favourite"],"room_name_like":"t"}"#, ["direct", "invite", "secret"]),
    (#"{"tags":["m.favourite"],"not_tags":["u.other"]}"#, []), (#"{"martlet.hidden":true}"#, ["plain"]),
    (#"{"spaces":["SPACE"]}"#, ["secret"]), (#"{"spaces":["!none:example.org"]}"#, [])
  ])
  func `filters choose rooms`(filter: String, expected: [String]) async throws {
    let fixture = try SyncFixture()
    var rooms: [String: RoomID] = [:]
    for name in ["plain", "direct", "secret", "tagged", "space"] {
      let type = name == "space" ? #","creation_content":{"type":"m.space"}"# : ""
      rooms[name] = try await fixture.room(of: "ann", "bob", settings: #"{"preset":"public_chat","name":"\#(name)"\#(type)}"#)
    }
    rooms["invite"] = try await fixture.room(of: "ann", settings: #"{"name":"invite","invite":["@bob:example.org"]}"#)
    let (ann, bob) = (RoomsFixture.actor("ann"), RoomsFixture.user("bob"))
    let made = rooms
    func room(_ name: String) -> RoomID { made[name] ?? RoomID(trusted: "") }
    _ = try await fixture.rooms.setState(
      .encryption, "", json(#"{"algorithm":"m.megolm.v1.aes-sha2"}"#), in: room("secret"), by: ann)
    _ = try await fixture.rooms.setState(
      "m.space.child", room("secret").text, json(#"{"via":["example.org"]}"#), in: room("space"), by: ann)
    // A child that was taken away again.
    _ = try await fixture.rooms.setState("m.space.child", room("plain").text, json("{}"), in: room("space"), by: ann)
    try await fixture.accountData.set(.direct, json(#"{"@ann:example.org":["\#(room("direct"))"]}"#), of: bob, in: nil)
    try await fixture.accountData.set(
      .tag, json(#"{"tags":{"m.favourite":{},"u.other":{}}}"#), of: bob, in: room("tagged"))
    try await fixture.hidden.hide([room("plain")], of: bob)
    func names(_ answer: SlidingAnswer) -> [String] {
      rooms.filter { answer.rooms.contains($0.value.string) }.map(\.key).sorted()
    }
    let filters = filter.replacing("SPACE", with: room("space").string)
    let cold = SlidingClient(try fixture.reopened(), "bob", SlidingClient.list("[0,99]", filters: filters))
    let answer = try await cold.sync()
    #expect(names(answer) == expected && answer.count == Int64(expected.count))
    // The same where the rooms are in memory.
    let warm = SlidingClient(cold.fixture, "bob", device: "OTHER", SlidingClient.list("[0,99]", filters: filters))
    #expect(try names(await warm.sync()) == expected)
  }

  @Test func `a room that is hidden, tagged or made direct changes its lists at once`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = SlidingClient(fixture, "bob", SlidingClient.list(filters: #"{"martlet.hidden":false}"#))
    #expect(try await bob.sync().count == 1)
    try await fixture.hidden.hide(nil, of: bob.user)
    #expect(try await bob.sync().count == 0)
    try await fixture.base.send("mine", to: room, by: "bob")
    #expect(try await bob.sync().count == 0)
    try await fixture.base.send("hello", to: room, by: "ann")
    let shown = try await bob.sync()
    #expect(shown.count == 1 && shown.room(room)?.bodies == ["mine", "hello"])
    try await fixture.accountData.set(.direct, json(#"{"@ann:example.org":["\#(room)"]}"#), of: bob.user, in: nil)
    #expect(try await bob.sync().room(room)?.json["is_dm"]?.bool == true)
  }

  // MARK: Rooms

  @Test func `required state comes as requested: by name, by wildcard, for the user and lazily`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob", "cid", settings: #"{"preset":"public_chat","name":"N","topic":"T"}"#)
    try await fixture.base.send("hi", to: room, by: "cid")
    func state(_ required: String, timeline: Int = 1) async throws -> [String] {
      let bob = SlidingClient(fixture, "bob", device: "X", SlidingClient.list(timeline: timeline, state: required))
      return try await bob.sync().room(room)?.state ?? []
    }
    #expect(try await state(#"[["m.room.name",""],["m.room.nothing",""]]"#) == ["m.room.name|"])
    #expect(try await state(#"[["m.room.member","$ME"]]"#) == ["m.room.member|@bob:example.org"])
    #expect(try await state(#"[["m.room.member","$LAZY"]]"#) == ["m.room.member|@cid:example.org"])
    let members = ["ann", "bob", "cid"].map { "m.room.member|@\($0):example.org" }
    #expect(try await state(#"[["m.room.member","*"]]"#) == members)
    let all = try await state(#"[["*","*"]]"#)
    #expect(Set(all).isSuperset(of: members) && all.contains("m.room.create|") && all.contains("m.room.topic|"))
    let lazy = try await state(#"[["*","*"],["m.room.member","$LAZY"],["m.room.member","$ME"]]"#)
    #expect(lazy.filter { $0.hasPrefix("m.room.member") } == Array(members.dropFirst()) && lazy.contains("m.room.topic|"))
    #expect(try await state(#"[["*",""]]"#).contains("m.room.power_levels|"))
    let last = try await state(#"{"include":[{}],"exclude":[{"type":"m.room.topic"}],"lazy_members":true}"#)
    #expect(!last.contains("m.room.topic|") && last.contains("m.room.name|") && !last.contains(members[0]))
  }

  @Test func `changed state is told once, and newly wanted state at once`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob", settings: #"{"preset":"public_chat","topic":"T"}"#)
    let bob = SlidingClient(fixture, "bob", SlidingClient.list(state: #"[["m.room.name",""],["m.room.member","$LAZY"]]"#))
    #expect(try await bob.sync().room(room)?.json["name"] == nil)
    _ = try await fixture.rooms.setState(.name, "", json(#"{"name":"New"}"#), in: room, by: RoomsFixture.actor("ann"))
    let named = try #require(try await bob.sync().room(room))
    #expect(named.json["name"]?.string == "New" && named.state == ["m.room.name|"])
    try await fixture.rooms.join(room, by: RoomsFixture.actor("cid"))
    let joined = try #require(try await bob.sync().room(room))
    #expect(joined.state == ["m.room.member|@cid:example.org"] && joined.json["joined_count"]?.integer == 3)
    bob.body = SlidingClient.list(state: #"[["m.room.name",""],["m.room.topic",""],["m.room.member","$LAZY"]]"#)
    #expect(try await bob.sync().room(room)?.state == ["m.room.topic|"])
    #expect(try await bob.sync().rooms.isEmpty)
    _ = try await fixture.rooms.setState(.name, "", json("{}"), in: room, by: RoomsFixture.actor("ann"))
    #expect(try await bob.sync().room(room)?.json["name"]?.isNull ?? false)
  }

  @Test func `a longer timeline is told at once and says so; a subscription is a second way to ask`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    for number in 0..<6 { try await fixture.base.send("\(number)", to: room, by: "ann") }
    let bob = SlidingClient(fixture, "bob", SlidingClient.list(timeline: 1))
    #expect(try await bob.sync().room(room)?.bodies == ["5"])
    bob.body = SlidingClient.list(
      timeline: 1, more: #","room_subscriptions":{"\#(room)":{"timeline_limit":4,"required_state":[]},"!no:example.org":{}}"#)
    let answer = try #require(try await bob.sync().room(room))
    #expect(answer.isExpanded && !answer.isInitial && answer.bodies == ["2", "3", "4", "5"] && answer.live == 0)
    #expect(try await bob.sync().rooms.isEmpty)
    bob.body = #"{"room_subscriptions":{"\#(room)":{"timeline_limit":4,"required_state":[]}}}"#
    try await fixture.base.send("6", to: room, by: "ann")
    #expect(try await bob.sync().room(room)?.bodies == ["6"])
  }

  @Test func `counts that changed while a room was outside the range are told when it is back`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let event = try await fixture.base.send("hi", to: room, by: "ann")
    let bob = SlidingClient(fixture, "bob", SlidingClient.list("[0,9]"))
    #expect(try await bob.sync().room(room)?.unread == [1, 0])
    bob.body = SlidingClient.list("[5,9]")
    try await fixture.receipts.move(.init(readPrivate: event), of: bob.user, in: room)
    #expect(try await bob.sync().rooms.isEmpty)
    bob.body = SlidingClient.list("[0,9]")
    #expect(try await bob.sync().room(room)?.unread == [0, 0])
    #expect(try await bob.sync().rooms.isEmpty)
  }

  @Test func `heroes name a room without a name, and the bump stamp follows messages only`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let sent = try await fixture.base.send("hi", to: room, by: "ann")
    let bob = SlidingClient(fixture, "bob", SlidingClient.list())
    let first = try #require(try await bob.sync().room(room))
    #expect(
      first.heroes == ["@ann:example.org"]
        && first.json["heroes"]?.elements.first { _ in true }?["displayname"]?.string == "ann")
    #expect(first.json["joined_count"]?.integer == 2 && first.json["invited_count"]?.integer == 0)
    let position = try await fixture.rooms.event(sent, in: room, for: bob.user).position
    #expect(first.bumpStamp == position)
    _ = try await fixture.rooms.setState(.topic, "", json(#"{"topic":"T"}"#), in: room, by: RoomsFixture.actor("ann"))
    #expect(try await bob.sync().room(room)?.bumpStamp == position)
    for number in 0..<80 {
      _ = try await fixture.rooms.setState(
        .topic, "", json(#"{"topic":"\#(number)"}"#), in: room, by: RoomsFixture.actor("ann"))
    }
    #expect(try await bob.sync().room(room)?.bumpStamp == position)
  }

  // MARK: Membership

  @Test func `an invitation shows its stripped state, joining makes the room new, leaving and being removed are told`()
    async throws
  {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", settings: #"{"name":"N","invite":["@bob:example.org"]}"#)
    let bob = SlidingClient(fixture, "bob", SlidingClient.list())
    let invited = try #require(try await bob.sync().room(room))
    let types = invited.json["invite_state"]?.elements.compactMap { $0["type"]?.string } ?? []
    #expect(types.contains("m.room.name") && types.contains("m.room.member") && invited.json["timeline"] == nil)
    #expect(invited.json["membership"]?.string == "invite" && invited.json["stripped_state"]?.count == types.count)
    #expect(try await bob.sync().rooms.isEmpty)
    try await fixture.rooms.join(room, by: RoomsFixture.actor("bob"))
    let joined = try #require(try await bob.sync().room(room))
    #expect(joined.isInitial && joined.json["name"]?.string == "N" && joined.json["membership"]?.string == "join")
    try await fixture.base.send("bye", to: room, by: "ann")
    try await fixture.rooms.kick(bob.user, from: room, by: RoomsFixture.actor("ann"))
    try await fixture.base.send("secret", to: room, by: "ann")
    let kicked = try #require(try await bob.sync().room(room))
    #expect(kicked.json["membership"]?.string == "leave" && kicked.bodies == ["bye"] && kicked.timeline.count == 2)
    #expect(try await bob.sync().rooms.isEmpty)
    // Another connection learns of the removal, not of what came after.
    let other = SlidingClient(fixture, "bob", device: "OTHER", SlidingClient.list())
    #expect(try await other.sync().room(room)?.bodies == ["bye"])
  }

  @Test func `a room that the user left is sent to connections that knew it, and to no other`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = SlidingClient(fixture, "bob", SlidingClient.list())
    try await bob.sync()
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("bob"))
    #expect(try await bob.sync().room(room)?.json["membership"]?.string == "leave")
    let other = SlidingClient(fixture, "bob", device: "OTHER", SlidingClient.list())
    let answer = try await other.sync()
    #expect(answer.rooms.isEmpty && answer.count == 0)
    try await fixture.rooms.join(room, by: RoomsFixture.actor("bob"))
    #expect(try await bob.sync().room(room)?.isInitial ?? false)
    #expect(try await other.sync().room(room)?.isInitial ?? false)
  }

  @Test func `an invitation taken back tells no more than that it is over`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", settings: #"{"name":"N","invite":["@bob:example.org"]}"#)
    let bob = SlidingClient(fixture, "bob", SlidingClient.list())
    try await bob.sync()
    _ = try await fixture.rooms.setState(.name, "", json(#"{"name":"secret"}"#), in: room, by: RoomsFixture.actor("ann"))
    try await fixture.rooms.kick(bob.user, from: room, by: RoomsFixture.actor("ann"))
    let over = try #require(try await bob.sync().room(room))
    #expect(over.json["membership"]?.string == "leave" && over.timeline.isEmpty && over.json["name"] == nil)
    #expect(over.json["stripped_state"]?.count == 1)
    #expect(try await SlidingClient(fixture, "bob", device: "OTHER", SlidingClient.list()).sync().rooms.isEmpty)
  }

  // MARK: Connections

  @Test func `a request that is repeated gets the same again; an old position is unknown`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = SlidingClient(fixture, "bob", SlidingClient.list())
    try await bob.sync()
    let old = bob.pos
    try await fixture.base.send("one", to: room, by: "ann")
    #expect(try await bob.ask().room(room)?.bodies == ["one"])
    try await fixture.base.send("two", to: room, by: "ann")
    #expect(try await bob.ask().room(room)?.bodies == ["one", "two"])
    #expect(try await bob.sync().room(room)?.bodies == ["one", "two"])
    #expect(try await bob.sync().rooms.isEmpty)
    bob.pos = old
    #expect(await errorCode { try await bob.sync() } == "M_UNKNOWN_POS")
  }

  @Test func `a position is of one device, one connection and one process`() async throws {
    let fixture = try SyncFixture()
    _ = try await fixture.room(of: "ann", "bob")
    let bob = SlidingClient(fixture, "bob", SlidingClient.list())
    try await bob.sync()
    let ann = SlidingClient(fixture, "ann", SlidingClient.list())
    ann.pos = bob.pos
    #expect(await errorCode { try await ann.sync() } == "M_UNKNOWN_POS")
    let phone = SlidingClient(fixture, "bob", device: "PHONE", SlidingClient.list())
    phone.pos = bob.pos
    #expect(await errorCode { try await phone.sync() } == "M_UNKNOWN_POS")
    let second = SlidingClient(fixture, "bob", SlidingClient.list(more: #","conn_id":"second""#))
    #expect(try await second.sync().rooms.count == 1)
    #expect(try await bob.sync().rooms.isEmpty)
    let later = SlidingClient(try fixture.reopened(), "bob", SlidingClient.list())
    later.pos = bob.pos
    #expect(await errorCode { try await later.sync() } == "M_UNKNOWN_POS")
    later.pos = "s1_2_3_pX"
    #expect(await errorCode { try await later.sync() } == "M_UNKNOWN_POS")
  }

  @Test func `connections beyond the limit of a user go, the one used longest ago first`() async throws {
    let connections = SlidingConnections()
    let (user, device) = (RoomsFixture.user("bob"), DeviceID(trusted: "D"))
    for number in 0...SlidingConnections.userLimit {
      _ = connections.open(user, device, ByteString("c\(number)"), now: UInt64(number))
    }
    #expect(connections.known(user, device, "c0", now: 99) == nil)
    #expect(connections.known(user, device, "c1", now: 99) != nil)
  }

  @Test func `a parked request is woken by news, and answers empty when its time is over`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = SlidingClient(fixture, "bob", SlidingClient.list())
    try await bob.sync(timeout: 60_000)
    let idle = try await bob.sync(timeout: 1)
    #expect(idle.rooms.isEmpty && idle.count == 1)
    let parked = Task { [pos = bob.pos] in
      let client = SlidingClient(fixture, "bob", SlidingClient.list())
      client.pos = pos
      return try await client.sync(timeout: 60_000)
    }
    try await fixture.base.send("wake", to: room, by: "ann")
    #expect(try await parked.value.room(room)?.bodies == ["wake"])
  }

  @Test(arguments: [
    #"{"lists":{"a":{"ranges":[[1,0]]}}}"#, #"{"lists":{"a":{"ranges":[[-1,0]]}}}"#, #"{"lists":{"a":{"range":[0]}}}"#,
    #"{"lists":{"":{}}}"#, #"{"lists":{"a":{"timeline_limit":-1}}}"#, #"{"lists":{"a":{"required_state":[["m.room.name"]]}}}"#,
    #"{"lists":{"a":{"required_state":"x"}}}"#, #"{"room_subscriptions":{"x":{}}}"#, #"{"set_presence":"away"}"#,
    #"{"extensions":{"to_device":{"enabled":true,"since":"x"}}}"#, #"{"extensions":{"to_device":{"enabled":true,"limit":0}}}"#
  ])
  func `a request that is not valid is refused`(body: String) async throws {
    let fixture = try SyncFixture()
    #expect(await errorCode { try await SlidingClient(fixture, "bob", body).sync() } == .invalidParameter)
  }

  @Test func `lists, subscriptions, ranges and state have limits`() async throws {
    let fixture = try SyncFixture()
    func code(_ body: String) async -> ErrorCode? { await errorCode { try await SlidingClient(fixture, "bob", body).sync() } }
    func many(_ count: Int, _ element: (Int) -> String) -> String { (0..<count).map(element).joined(separator: ",") }
    for (count, expected) in [(100, nil), (101, ErrorCode.invalidParameter)] {
      #expect(await code(#"{"lists":{\#(many(count) { #""l\#($0)":{}"# })}}"#) == expected)
      #expect(await code(#"{"room_subscriptions":{\#(many(count) { #""!r\#($0):example.org":{}"# })}}"#) == expected)
      #expect(await code(#"{"lists":{"a":{"ranges":[\#(many(count) { "[\($0),\($0)]" })]}}}"#) == expected)
    }
    for (count, expected) in [(500, nil), (501, ErrorCode.invalidParameter)] {
      #expect(await code(#"{"lists":{"a":{"required_state":[\#(many(count) { #"["t\#($0)",""]"# })]}}}"#) == expected)
    }
  }
}

extension String {
  fileprivate func replacing(_ part: String, with other: String) -> String {
    var pieces: [Substring] = []
    var rest = self[...]
    while let range = rest.firstRange(of: part) {
      pieces += [rest[..<range.lowerBound], other[...]]
      rest = rest[range.upperBound...]
    }
    return (pieces + [rest]).joined()
  }
}
