import JSON
import MatrixModel
import Testing

@testable import RoomRules

private let alice = TestRoom.alice
private let bob = TestRoom.bob
private let carol = TestRoom.carol

@Suite struct PowerLevelRulesTests {
  /// Bob has 50 and may send the event; the rest is what the test says.
  private func room(_ version: RoomVersion, _ members: String = "", users: String = "") throws -> TestRoom {
    var room = try TestRoom(version)
    try room.setMember(bob, "join")
    try room.add(.powerLevels, from: alice, stateKey: "", Self.content(members, users: users))
    return room
  }

  private static func content(_ members: String, users: String = "", bob: Int = 50) -> String {
    let members = members.isEmpty ? "" : members + ","
    let users = users.isEmpty ? "" : "," + users
    return #"{\#(members)"users":{"@bob:a.example":\#(bob)\#(users)}}"#
  }

  private func refusal(_ room: TestRoom, _ members: String, users: String = "", bob bobLevel: Int = 50) throws
    -> String?
  {
    try room.refusal(.powerLevels, from: bob, stateKey: "", Self.content(members, users: users, bob: bobLevel))
  }

  @Test(arguments: versions) func `power levels with a state key change nobody's power`(version: RoomVersion) throws {
    let room = try room(version, #""events":{"m.room.power_levels":50}"#)
    func refusal(_ content: String) throws -> String? {
      try room.refusal(.powerLevels, from: bob, stateKey: "odd", content)
    }
    #expect(try refusal(#"{"ban":99,"users":{"@bob:a.example":99}}"#) == nil)
    #expect(try refusal(#"{"users":{"bob":1}}"#) == "'users' of the power levels is malformed.")
  }

  @Test(arguments: versions, ["ban", "events_default", "invite", "kick", "redact", "state_default", "users_default"])
  func `a user may change a property up to their own level`(version: RoomVersion, name: String) throws {
    let mayChange = #""events":{"m.room.power_levels":50}"#
    let plain = try room(version, mayChange)
    #expect(try refusal(plain, #"\#(mayChange),"\#(name)":50"#) == nil)
    #expect(
      try refusal(plain, #"\#(mayChange),"\#(name)":51"#)
        == "You need power level 51 to change '\(name)' of the power levels; you have 50.")
    let high = try room(version, #"\#(mayChange),"\#(name)":51"#)
    #expect(try refusal(high, #"\#(mayChange),"\#(name)":51"#) == nil)
    #expect(try refusal(high, #"\#(mayChange),"\#(name)":50"#) != nil)
    #expect(try refusal(high, mayChange) != nil)
  }

  @Test(arguments: versions, ["events", "notifications"])
  func `a user may change an entry up to their own level`(version: RoomVersion, name: String) throws {
    let plain = try room(version)
    #expect(try refusal(plain, #""\#(name)":{"x":50}"#) == nil)
    #expect(try refusal(plain, #""\#(name)":{"x":51}"#) != nil)
    let high = try room(version, #""\#(name)":{"x":51,"y":50}"#)
    #expect(try refusal(high, #""\#(name)":{"x":51}"#) == nil)
    #expect(try refusal(high, #""\#(name)":{"y":50}"#) != nil)
    #expect(try refusal(high, #""\#(name)":{"x":0}"#) != nil)
  }

  @Test(arguments: versions) func `a user may change the level of somebody below them`(version: RoomVersion) throws {
    func carolIs(_ level: Int) -> String { #""@carol:b.example":\#(level)"# }
    #expect(try refusal(room(version), "", users: carolIs(50)) == nil)
    #expect(try refusal(room(version), "", users: carolIs(51)) != nil)
    let below = try room(version, users: carolIs(49))
    #expect(try refusal(below, "", users: carolIs(0)) == nil)
    #expect(try refusal(below, "") == nil)
    let equal = try room(version, users: carolIs(50))
    #expect(try refusal(equal, "", users: carolIs(50)) == nil)
    #expect(
      try refusal(equal, "", users: carolIs(49))
        == "You cannot change the level of a user who has as much power as you.")
    #expect(try refusal(equal, "") != nil)
  }

  @Test(arguments: versions) func `users may lower their own level, not raise it`(version: RoomVersion) throws {
    let room = try room(version)
    #expect(try refusal(room, "", bob: 49) == nil)
    #expect(try refusal(room, "", bob: 51) != nil)
    #expect(try room.refusal(.powerLevels, from: bob, stateKey: "", #"{"users":{}}"#) == nil)
  }

  @Test(
    arguments: versions,
    [
      #""ban":"50""#, #""users_default":1.5"#, #""kick":null"#, #""events":{"x":"1"}"#, #""events":1"#,
      #""notifications":{"room":{}}"#, #""notifications":[]"#
    ])
  func `from version 10 on levels are integers`(version: RoomVersion, member: String) throws {
    let room = try TestRoom(version)
    guard version.needsIntegerPowerLevels else {
      #expect(try room.refusal(.powerLevels, from: alice, stateKey: "", "{\(member)}") == nil)
      return
    }
    #expect(
      try room.refusal(.powerLevels, from: alice, stateKey: "", "{\(member)}")?.hasSuffix(
        "of the power levels is malformed.") == true)
  }

  @Test(arguments: versions, [#"{"bob":1}"#, #"{"@bob":1}"#, #"{"@bob:a":"x"}"#, "[]", "1"])
  func `users are user IDs with integers`(version: RoomVersion, users: String) throws {
    let room = try TestRoom(version)
    #expect(
      try room.refusal(.powerLevels, from: alice, stateKey: "", #"{"users":\#(users)}"#)
        == "'users' of the power levels is malformed.")
  }

  /// Spec: room version 9, "`m.room.power_levels` events accept values as strings"; version 10 ends it.
  @Test(arguments: versions, ["100", "000100", "+100", " 100 ", " +00100 "])
  func `before version 10 a string stands for a level`(version: RoomVersion, text: String) throws {
    var room = try TestRoom(version)
    try room.setMember(bob, "join")
    let levels = #"{"users":{"@bob:a.example":"\#(text)"},"state_default":"60"}"#
    let isInteger = version.needsIntegerPowerLevels
    #expect((try room.refusal(.powerLevels, from: alice, stateKey: "", levels) == nil) == !isInteger)
    #expect(isInteger == ["10", "11", "12"].contains(version.name.string))
    if isInteger { return }
    try room.add(.powerLevels, from: alice, stateKey: "", levels)
    #expect(try room.refusal(.topic, from: bob, stateKey: "") == nil)
    #expect(
      try room.refusal(.powerLevels, from: bob, stateKey: "", #"{"users":{"@bob:a.example":"101"},"state_default":"60"}"#)
        != nil)
  }

  @Test(arguments: versions) func `the first power levels may say anything`(version: RoomVersion) throws {
    let room = try TestRoom(version)
    #expect(
      try room.refusal(.powerLevels, from: alice, stateKey: "", #"{"ban":1000,"users":{"@bob:a.example":1000}}"#) == nil
    )
    #expect(try room.refusal(.powerLevels, from: bob, stateKey: "", "{}") != nil)
  }

  @Test func `from version 12 on creators are above all and are not listed`() throws {
    var room = try TestRoom(.v12, createContent: #"{"additional_creators":["@bob:a.example"]}"#)
    try room.setMember(bob, "join")
    try room.add(.powerLevels, from: alice, stateKey: "", #"{"events":{"m.room.power_levels":9007199254740991}}"#)
    #expect(try room.refusal(.powerLevels, from: bob, stateKey: "", #"{"ban":9007199254740991}"#) == nil)
    for creator in [alice, bob] {
      #expect(
        try room.refusal(.powerLevels, from: alice, stateKey: "", #"{"users":{"\#(creator)":100}}"#)
          == "The power levels must not list the room's creators.")
    }
    #expect(try room.memberRefusal(bob, "ban", by: alice) != nil)
    #expect(try room.memberRefusal(alice, "leave", by: bob) != nil)
    let first = try TestRoom(.v12)
    #expect(try first.refusal(.powerLevels, from: alice, stateKey: "", #"{"users":{"@alice:a.example":100}}"#) != nil)
  }

  @Test(arguments: [RoomVersion.v10, .v11]) func `before version 12 creators can lose their power`(version: RoomVersion)
    throws
  {
    var room = try TestRoom(
      version, createContent: #"{"creator":"@alice:a.example","additional_creators":["@bob:a.example"]}"#)
    try room.setMember(bob, "join")
    #expect(try room.refusal(.topic, from: bob, stateKey: "") != nil)
    try room.add(.powerLevels, from: alice, stateKey: "", #"{"users":{"@alice:a.example":10}}"#)
    #expect(
      try room.refusal(.topic, from: alice, stateKey: "")
        == "You need power level 50 to send 'm.room.topic'; you have 10.")
  }
}
