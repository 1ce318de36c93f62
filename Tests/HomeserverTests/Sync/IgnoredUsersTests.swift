import JSON
import MatrixModel
import Testing

@testable import ServerRooms

@Suite struct IgnoredUsersTests {
  private func ignore(_ names: [String], by client: SyncClient) async throws {
    let users = names.map { #""@\#($0):example.org":{}"# }.joined(separator: ",")
    try await client.fixture.accountData.set(
      .ignoredUserList, json(#"{"ignored_users":{\#(users)}}"#), of: client.user, in: nil)
  }

  @Test func `their messages are left out of every way to read, their state is not`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(
      of: "ann", "bob", "cid", settings: #"{"preset":"public_chat","power_level_content_override":{"state_default":0}}"#)
    let bob = try fixture.client("bob")
    try await bob.sync()
    let sliding = SlidingClient(fixture, "bob", SlidingClient.list())
    try await sliding.sync()
    try await ignore(["cid"], by: bob)
    let hidden = try await fixture.base.send("from cid", to: room, by: "cid")
    let seen = try await fixture.base.send("from ann", to: room, by: "ann")
    let topic = try await fixture.rooms.setState(.topic, "", json(#"{"topic":"T"}"#), in: room, by: RoomsFixture.actor("cid"))
    let told = try #require(try await bob.sync().room(room))
    #expect(told.eventIDs == [seen, topic] && told.unread == [1, 0])
    #expect(try await sliding.sync().room(room)?.eventIDs == [seen, topic])
    let page = try await fixture.rooms.messages(
      of: room, for: bob.user, from: nil, to: nil, .backward, limit: 100, EventFilter())
    #expect(page.events.contains { $0.eventID == topic } && !page.events.contains { $0.eventID == hidden })
    let context = try await fixture.rooms.context(of: seen, in: room, for: bob.user, limit: 10, EventFilter())
    #expect(!(context.before + context.after).contains { $0.eventID == hidden })
    #expect(await errorCode { _ = try await fixture.rooms.event(hidden, in: room, for: bob.user) } == .notFound)
    // Others see them as ever.
    #expect(try await fixture.bodies(room, "ann").contains("from cid"))
  }

  @Test func `a changed list counts at once, and what was missed meanwhile does not come after`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = try fixture.client("bob")
    try await bob.sync()
    try await ignore(["ann"], by: bob)
    try await fixture.base.send("missed", to: room, by: "ann")
    #expect(try await bob.sync().room(room) == nil)
    try await ignore([], by: bob)
    try await fixture.base.send("seen", to: room, by: "ann")
    #expect(try await bob.sync().room(room)?.bodies == ["seen"])
    #expect(try await fixture.client("bob", device: "NEW").sync().room(room)?.bodies == ["missed", "seen"])
  }

  @Test func `unread counts leave them out as soon as they are ignored`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob", "cid")
    let bob = try fixture.client("bob")
    for name in ["ann", "cid"] { try await fixture.base.send("hi", to: room, by: name) }
    #expect(try await bob.sync().room(room)?.unread == [2, 0])
    #expect(try await fixture.engine.unreadTotal(of: bob.user).count.notifications == 2)
    try await ignore(["cid"], by: bob)
    #expect(try await fixture.client("bob", device: "NEW").sync().room(room)?.unread == [1, 0])
    #expect(try await fixture.engine.unreadTotal(of: bob.user).count.notifications == 1)
  }

  @Test func `their invitations, typing and receipts are not shown`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob", "cid")
    let bob = try fixture.client("bob")
    try await ignore(["cid"], by: bob)
    try await bob.sync()
    let event = try await fixture.base.send("hi", to: room, by: "ann")
    for name in ["ann", "cid"] {
      try await fixture.rooms.setTyping(true, of: RoomsFixture.user(name), in: room, timeoutMilliseconds: 30_000)
      try await fixture.receipts.move(.init(read: event), of: RoomsFixture.user(name), in: room)
    }
    let invite = try await fixture.room(of: "cid", settings: #"{"invite":["@bob:example.org"]}"#)
    let answer = try await bob.sync()
    #expect(answer.room(invite, "invite") == nil)
    let told = try #require(answer.room(room))
    #expect(told.typing == ["@ann:example.org"])
    #expect(told.receipts?[event.text]?["m.read"]?.members.map(\.key.string) == ["@ann:example.org"])
    let sliding = try await SlidingClient(fixture, "bob", SlidingClient.list()).sync()
    #expect(sliding.room(invite) == nil && sliding.count == 1)
  }

  @Test func `who lists themselves, or writes the list wrongly, loses nothing`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = try fixture.client("bob")
    try await ignore(["bob"], by: bob)
    try await fixture.base.send("mine", to: room, by: "bob")
    #expect(try await bob.sync().room(room)?.bodies == ["mine"])
    try await fixture.accountData.set(.ignoredUserList, json(#"{"ignored_users":[1]}"#), of: bob.user, in: nil)
    try await fixture.base.send("theirs", to: room, by: "ann")
    #expect(try await bob.sync().room(room)?.bodies == ["theirs"])
  }
}

extension SyncFixture {
  fileprivate func bodies(_ room: RoomID, _ name: String) async throws -> [String] {
    try await base.bodies(of: room, for: name)
  }
}
