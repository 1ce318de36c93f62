import JSON
import MatrixModel
import Testing

@testable import Homeserver

/// What who is out of a room learns of their own membership.
@Suite struct BanTests {
  private let ann = RoomsFixture.actor("ann")

  private func memberships(_ events: [JSON]) -> [String] {
    events.filter { $0["state_key"]?.isString("@bob:example.org") ?? false }
      .compactMap { $0["content"]?["membership"]?.string }
  }

  /// Bob is banned, has been told, and things happen.
  private func meanwhile(_ fixture: SyncFixture, in room: RoomID) async throws {
    try await fixture.base.send("secret", to: room, by: "ann")
    try await fixture.rooms.join(room, by: RoomsFixture.actor("cat"))
    _ = try await fixture.rooms.setState(.topic, "", json(#"{"topic":"T"}"#), in: room, by: ann)
    try await fixture.rooms.unban(RoomsFixture.user("bob"), in: room, by: ann)
    try await fixture.base.send("more", to: room, by: "ann")
  }

  @Test(arguments: [true, false]) func `that a ban is lifted is told, and nothing else of what came after it`(isLazy: Bool)
    async throws
  {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = try fixture.client("bob", filter: #"{"room":{"state":{"lazy_load_members":\#(isLazy)}}}"#)
    try await bob.sync()
    for _ in 0..<2 {
      try await fixture.rooms.ban(bob.user, from: room, by: ann)
      #expect(memberships(try #require(try await bob.sync().room(room, "leave")).timeline) == ["ban"])
      try await meanwhile(fixture, in: room)
      let answer = try #require(try await bob.sync().room(room, "leave"))
      #expect(memberships(answer.timeline) == ["leave"] && answer.timeline.count == 1)
      #expect(!answer.state.contains("m.room.member|@cat:example.org") && !answer.state.contains("m.room.topic|"))
      #expect(try await bob.sync().isIdle)
      try await fixture.rooms.kick(RoomsFixture.user("cat"), from: room, by: ann)
    }
    try await fixture.rooms.ban(bob.user, from: room, by: ann)
    try await fixture.rooms.unban(bob.user, in: room, by: ann)
    #expect(memberships(try #require(try await bob.sync().room(room, "leave")).timeline) == ["ban", "leave"])
  }

  @Test func `state_after has the own membership as it is`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let bob = try fixture.client("bob")
    try await bob.sync()
    try await fixture.rooms.ban(bob.user, from: room, by: ann)
    try await bob.sync()
    try await meanwhile(fixture, in: room)
    let answer = try #require(try await bob.sync { $0.usesStateAfter = true }.room(room, "leave"))
    let state = answer.json["state_after"]?["events"]?.elements.map { $0 } ?? []
    #expect(memberships(state) == ["leave"])
    #expect(!answer.stateAfter.contains("m.room.topic|"))
  }

  @Test func `sliding sync tells it in the same way`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let list = SlidingClient.list(state: #"[["m.room.member","*"],["m.room.topic",""]]"#)
    let bob = SlidingClient(fixture, "bob", list)
    try await bob.sync()
    try await fixture.rooms.ban(bob.user, from: room, by: ann)
    #expect(memberships(try #require(try await bob.sync().room(room)).timeline) == ["ban"])
    try await meanwhile(fixture, in: room)
    let answer = try #require(try await bob.sync().room(room))
    #expect(!answer.isInitial && memberships(answer.timeline) == ["leave"] && answer.timeline.count == 1)
    #expect(answer.state == ["m.room.member|@bob:example.org"])
    #expect(memberships(answer.json["required_state"]?.elements.map { $0 } ?? []) == ["leave"])
    #expect(try await bob.sync().rooms.isEmpty)
    // A connection that begins now is told of the room as it was left, and of the membership as it is.
    try await fixture.rooms.ban(bob.user, from: room, by: ann)
    let other = SlidingClient(
      fixture, "bob", device: "OTHER", #"{"room_subscriptions":{"\#(room)":{"timeline_limit":9,"required_state":[["*","*"]]}}}"#
    )
    let whole = try #require(try await other.sync().room(room))
    #expect(whole.isInitial && whole.bodies.isEmpty && memberships(whole.timeline).last == "ban")
    #expect(memberships(whole.json["required_state"]?.elements.map { $0 } ?? []) == ["ban"])
    #expect(!whole.state.contains("m.room.member|@cat:example.org") && !whole.state.contains("m.room.topic|"))
  }

  @Test func `who is out reads none of what was said later, and may look at their own membership`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    try await fixture.rooms.ban(RoomsFixture.user("bob"), from: room, by: ann)
    try await meanwhile(fixture, in: room)
    #expect(try await fixture.base.bodies(of: room, for: "bob").isEmpty)
  }
}
