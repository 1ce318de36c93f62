import JSON
import MatrixModel
import RoomRules
import Testing

@testable import ServerRooms

@Suite struct RoomUpgradeTests {
  private let ann = RoomsFixture.actor("ann")
  private let bob = RoomsFixture.actor("bob")
  private let eve = RoomsFixture.actor("eve")

  private func upgrade(_ version: String, _ more: String = "") throws -> RoomUpgrade {
    try RoomUpgrade(json(#"{"new_version":"\#(version)"\#(more)}"#))
  }

  private func snapshot(_ fixture: RoomsFixture, _ room: RoomID) throws -> RoomSnapshot {
    try #require(fixture.rooms.cache.cachedSnapshot(of: room))
  }

  /// Versions from and to.
  static let steps = [("6", "9"), ("9", "10"), ("10", "11"), ("11", "12"), ("12", "12"), ("12", "11"), ("12", "6")]

  @Test(arguments: steps) func `the new room has the state of the old, which points to it`(
    from: String, to: String
  ) async throws {
    let fixture = try RoomsFixture()
    let old = try await fixture.createRoom(
      by: "ann",
      #"""
      {"room_version":"\#(from)","preset":"public_chat","visibility":"public","name":"N","topic":"T","room_alias_name":"a",
      "creation_content":{"type":"x.kind","m.federate":false},
      "initial_state":[{"type":"m.room.encryption","content":{"algorithm":"m.megolm.v1.aes-sha2"}},
      {"type":"m.room.server_acl","content":{"allow":["*"]}},{"type":"x.own","content":{"a":1}}]}
      """#)
    for actor in [bob, eve] { try await fixture.rooms.join(old, by: actor) }
    try await fixture.rooms.ban(eve.userID, from: old, by: ann, reason: "spam")
    let new = try await fixture.rooms.upgrade(old, upgrade(to), by: ann)

    let (before, after) = (try snapshot(fixture, old), try snapshot(fixture, new))
    #expect(after.version.name.string == to)
    for type in [EventType.name, .topic, .encryption, .serverACL, .joinRules, .historyVisibility, .guestAccess] {
      #expect(after[type]?.content.bytes.elementsEqual(before[type]?.content.bytes ?? []) ?? false)
    }
    #expect(after["x.own"] == nil)
    #expect(after[.create]?.content["type"]?.string == "x.kind")
    #expect(after[.create]?.content["m.federate"]?.bool == false)
    #expect(after.membership(of: ann.userID) == .join && after.membership(of: bob.userID) == nil)
    #expect(after.membership(of: eve.userID) == .ban)
    #expect(after.members[eve.userID]?.event.content["reason"]?.string == "spam")
    #expect(before[.tombstone]?.content["replacement_room"]?.string == new.string)
    let predecessor = try #require(after[.create]?.content["predecessor"])
    #expect(predecessor["room_id"]?.string == old.string)
    #expect(predecessor["event_id"]?.string == (to == "12" ? nil : before[.tombstone]?.eventID.string))
    #expect(before[.canonicalAlias]?.content["alias"] == nil)
    #expect(after[.canonicalAlias]?.content["alias"]?.string == "#a:example.org")
    #expect(try await fixture.rooms.room(of: RoomAlias(trusted: "#a:example.org")) == new)
    let published = try await fixture.database.read { transaction in
      try transaction.all("SELECT room FROM public_room_list ORDER BY list") { $0.integer(0) }
    }
    #expect(published == [after.number.value, after.number.value])
  }

  @Test(arguments: steps) func `power levels are carried over as the new version has them`(
    from: String, to: String
  ) async throws {
    let fixture = try RoomsFixture()
    let old = try await fixture.createRoom(
      by: "ann", #"{"room_version":"\#(from)","preset":"public_chat","invite":["@bob:example.org"]}"#)
    let levels = try #require(try snapshot(fixture, old)[.powerLevels]?.content)
    let listed = from == "12" ? "" : #","@ann:example.org":100"#
    let changed = try levels.replacing(["users"]) { writer in
      writer.member("users", raw: Array(#"{"@bob:example.org":60\#(listed)}"#.utf8))
    }
    _ = try await fixture.rooms.setState(.powerLevels, "", changed, in: old, by: ann)
    let new = try await fixture.rooms.upgrade(old, upgrade(to), by: ann)
    let (before, after) = (try snapshot(fixture, old).powerLevels, try snapshot(fixture, new).powerLevels)
    #expect(after.level(of: bob.userID) == 60)
    #expect(after.level(of: ann.userID) == (to == "12" ? .creator : 100))
    #expect(after.users[ann.userID.text] == (to == "12" ? nil : 100))
    #expect(after.canSend(.tombstone, isState: true, by: ann.userID))
    #expect(!after.canSend(.tombstone, isState: true, by: bob.userID))
    if to == "12" { #expect(after.required(for: .tombstone, isState: true) > after.required(.stateDefault)) }
    // In the old room only moderators go on.
    #expect(before.required(.eventsDefault) == 50 && before.required(.invite) == 50)
    #expect(after.required(.eventsDefault) == 0)
  }

  @Test func `levels that were strings become integers`() async throws {
    let fixture = try RoomsFixture()
    let old = try await fixture.createRoom(
      by: "ann",
      #"{"room_version":"9","power_level_content_override":{"users":{"@ann:example.org":" +100 "},"state_default":"60"}}"#)
    let new = try await fixture.rooms.upgrade(old, upgrade("10"), by: ann)
    let content = try #require(try snapshot(fixture, new)[.powerLevels]?.content)
    #expect(content["users"]?["@ann:example.org"]?.integer == 100)
    #expect(content["state_default"]?.integer == 60)
  }

  @Test func `a moderator without all powers upgrades without losing any state`() async throws {
    let fixture = try RoomsFixture()
    let old = try await fixture.createRoom(
      by: "ann",
      #"""
      {"room_version":"11","preset":"public_chat","power_level_content_override":{"users":{"@ann:example.org":100,
      "@bob:example.org":50},"events":{"m.room.tombstone":50,"m.room.power_levels":100,"m.room.name":100}}}
      """#)
    _ = try await fixture.rooms.setState(.name, "", json(#"{"name":"kept"}"#), in: old, by: ann)
    try await fixture.rooms.join(old, by: bob)
    try await fixture.rooms.join(old, by: eve)
    #expect(await errorCode { _ = try await fixture.rooms.upgrade(old, self.upgrade("11"), by: self.eve) } == .forbidden)
    let new = try await fixture.rooms.upgrade(old, upgrade("11"), by: bob)
    let after = try snapshot(fixture, new)
    #expect(after[.name]?.content["name"]?.string == "kept")
    #expect(after.powerLevels.level(of: ann.userID) == 100 && after.powerLevels.level(of: bob.userID) == 50)
    // Bob may not change the old levels: they stay, and the tombstone stands all the same.
    let before = try snapshot(fixture, old)
    #expect(before.powerLevels.required(.eventsDefault) == 0 && before[.tombstone] != nil)
  }

  @Test func `additional creators are who was asked for, of version 12 on`() async throws {
    let fixture = try RoomsFixture()
    let old = try await fixture.createRoom(
      by: "ann", #"{"creation_content":{"additional_creators":["@eve:example.org"]}}"#)
    let more = #","additional_creators":["@bob:example.org","@ann:example.org","@bob:example.org"]"#
    let new = try await fixture.rooms.upgrade(old, upgrade("12", more), by: ann)
    #expect(try snapshot(fixture, new).create?.privilegedCreators == [ann.userID, bob.userID])
    let older = try await fixture.rooms.upgrade(new, upgrade("11", more), by: ann)
    #expect(try snapshot(fixture, older)[.create]?.content["additional_creators"] == nil)
    // Those who stood above all of version 12 have the most there is before it.
    #expect(try snapshot(fixture, older).powerLevels.level(of: bob.userID) == 100)
  }

  @Test(arguments: [
    ("{}", ErrorCode.missingParameter), (#"{"new_version":12}"#, .badJSON), (#"{"new_version":"5"}"#, .unsupportedRoomVersion),
    (#"{"new_version":"12","additional_creators":"@a:b"}"#, .badJSON),
    (#"{"new_version":"12","additional_creators":["a"]}"#, .invalidParameter)
  ]) func `a request that makes no sense is refused`(body: String, code: ErrorCode) async throws {
    #expect(await errorCode { _ = try RoomUpgrade(json(body)) } == code)
  }

  @Test func `what a user has set for the room follows them into its replacement`() async throws {
    let fixture = try SyncFixture()
    let old = try await fixture.room(of: "ann", "bob")
    for actor in [ann, bob] {
      try await fixture.accountData.set(.tag, json(#"{"tags":{"m.favourite":{}}}"#), of: actor.userID, in: old)
      try await fixture.accountData.set(
        .direct, json(#"{"@x:example.org":["\#(old)"],"@y:example.org":["!other"]}"#), of: actor.userID, in: nil)
      try await fixture.pushRules.change(actor.userID) { rules in
        try rules.put(PushRule(.room, ruleID: old.text, actions: try #require(PushActions(json("[]")))), .room)
      }
    }
    let new = try await fixture.rooms.upgrade(old, upgrade("12"), by: ann)
    try await fixture.rooms.join(new, by: bob)
    for actor in [ann, bob] {
      let tags = try await fixture.accountData.content(of: .tag, actor.userID, in: new)
      #expect(try JSON.parse(tags)["tags"]?["m.favourite"] != nil)
      let direct = try JSON.parse(try await fixture.accountData.content(of: .direct, actor.userID, in: nil))
      #expect(direct["@x:example.org"]?.elements.compactMap(\.string) == [old.string, new.string])
      #expect(direct["@y:example.org"]?.count == 1)
      #expect(try await fixture.pushRules.rules(of: actor.userID).rule(.room, new.text) != nil)
    }
    // A room that only says it replaced another takes nothing.
    let false_ = try await fixture.base.createRoom(
      by: "eve", #"{"preset":"public_chat","creation_content":{"predecessor":{"room_id":"\#(old)"}}}"#)
    try await fixture.rooms.join(false_, by: bob)
    #expect(await errorCode { _ = try await fixture.accountData.content(of: .tag, self.bob.userID, in: false_) } == .notFound)
  }

  @Test func `who asks while the room is being upgraded gets the same new room, who asks later another`() async throws {
    let fixture = try RoomsFixture()
    let old = try await fixture.createRoom(by: "ann", #"{"preset":"public_chat","room_alias_name":"a"}"#)
    let asked = fixture.database.committedPosition
    let first = try await fixture.rooms.upgrade(old, upgrade("11"), by: ann, asOf: asked)
    #expect(try await fixture.rooms.upgrade(old, upgrade("11"), by: ann, asOf: asked) == first)
    #expect(try snapshot(fixture, old)[.tombstone]?.content["replacement_room"]?.string == first.string)
    #expect(try await fixture.rooms.upgrade(old, upgrade("11"), by: ann) != first)
  }
}
