import JSON
import MatrixModel
import Testing

@testable import Homeserver

@Suite struct KnockTests {
  private let ann = RoomsFixture.actor("ann")
  private let bob = RoomsFixture.actor("bob")

  private func room(_ fixture: SyncFixture, _ rule: String = "knock", version: String = "12") async throws -> RoomID {
    try await fixture.base.createRoom(
      by: "ann",
      #"""
      {"room_version":"\#(version)","name":"N","initial_state":[{"type":"m.room.join_rules","content":{"join_rule":"\#(rule)"}}]}
      """#)
  }

  @Test(arguments: [
    ("6", "knock", false), ("7", "knock", true), ("9", "knock", true), ("9", "knock_restricted", false),
    ("10", "knock_restricted", true), ("12", "knock", true), ("12", "invite", false), ("12", "public", false)
  ]) func `knocking is for rooms that have it`(version: String, rule: String, isAllowed: Bool) async throws {
    let fixture = try SyncFixture()
    let room = try await room(fixture, rule, version: version)
    #expect(
      await errorCode { try await fixture.rooms.knock(on: room, by: self.bob, reason: "please") }
        == (isAllowed ? nil : .forbidden))
    #expect(
      await errorCode { try await fixture.rooms.knock(on: RoomID(trusted: "!no"), by: self.bob) } == .notFound)
  }

  @Test func `a knock is shown to both sides and answered by an invitation`() async throws {
    let fixture = try SyncFixture()
    let room = try await room(fixture)
    let (annClient, bobClient) = (try fixture.client("ann"), try fixture.client("bob"))
    try await annClient.sync()
    try await bobClient.sync()
    try await fixture.rooms.knock(on: room, by: bob, reason: "please")
    let knocked = try #require(try await bobClient.sync().room(room, "knock"))
    let state = knocked.json["knock_state"]?["events"]?.elements.map { $0 } ?? []
    #expect(state.contains { $0["type"]?.string == "m.room.name" })
    #expect(
      state.contains {
        $0["content"]?["membership"]?.string == "knock" && $0["content"]?["reason"]?.string == "please"
      })
    #expect(state.allSatisfy { $0["event_id"] == nil })
    #expect(try await annClient.sync().room(room)?.timeline.last?["content"]?["membership"]?.string == "knock")
    #expect(await errorCode { try await fixture.rooms.join(room, by: self.bob) } == .forbidden)
    try await fixture.rooms.invite(bob.userID, to: room, by: ann)
    #expect(try await bobClient.sync().room(room, "invite") != nil)
    try await fixture.rooms.join(room, by: bob)
    #expect(try await bobClient.sync().room(room) != nil)
  }

  @Test(arguments: [true, false]) func `a knock is refused by a kick or taken back`(isKicked: Bool) async throws {
    let fixture = try SyncFixture()
    let room = try await room(fixture)
    let client = try fixture.client("bob")
    try await fixture.rooms.knock(on: room, by: bob)
    try await fixture.rooms.knock(on: room, by: bob, reason: "again")
    try await client.sync()
    if isKicked {
      try await fixture.rooms.kick(bob.userID, from: room, by: ann, reason: "no")
    } else {
      try await fixture.rooms.leave(room, by: bob)
    }
    #expect(try await client.sync().room(room, "leave") != nil)
    #expect(await errorCode { _ = try await fixture.rooms.state(of: room, for: self.bob.userID) } == .forbidden)
    try await fixture.rooms.ban(bob.userID, from: room, by: ann)
    #expect(await errorCode { try await fixture.rooms.knock(on: room, by: self.bob) } == .forbidden)
  }
}
