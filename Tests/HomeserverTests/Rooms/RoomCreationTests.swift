import JSON
import MatrixModel
import Testing

@testable import ServerRooms

@Suite struct RoomCreationTests {
  private func list(_ count: Int, _ element: (Int) -> String) -> String {
    "[" + (0..<count).map(element).joined(separator: ",") + "]"
  }

  @Test func `as many may be invited, and as much state may be set, as the limits say`() throws {
    func invites(_ count: Int) -> String { #"{"invite":\#(list(count) { #""@u\#($0):example.org""# })}"# }
    func state(_ count: Int) -> String { #"{"initial_state":\#(list(count) { #"{"type":"x.\#($0)","content":{}}"# })}"# }
    let limits: [(body: (Int) -> String, limit: Int)] = [
      (invites, RoomCreation.invitedLimit), (state, RoomCreation.initialStateLimit)
    ]
    for (body, limit) in limits {
      _ = try RoomCreation(json(body(limit)), defaultVersion: "12")
      #expect(throws: MatrixError.self) { try RoomCreation(json(body(limit + 1)), defaultVersion: "12") }
    }
  }

  @Test(arguments: [
    (#"{"room_version":"99"}"#, ErrorCode.unsupportedRoomVersion), (#"{"room_version":12}"#, .badJSON),
    (#"{"preset":"none"}"#, .invalidParameter), (#"{"visibility":"secret"}"#, .invalidParameter),
    (#"{"invite":["bob"]}"#, .invalidParameter), (#"{"invite":["@nobody:example.org"]}"#, .invalidParameter),
    (#"{"invite":["@bob:elsewhere.org"]}"#, .invalidParameter), (#"{"initial_state":[{"type":"x"}]}"#, .badJSON),
    (#"{"room_alias_name":"a:b"}"#, .invalidParameter), (#"{"creation_content":[]}"#, .badJSON),
    (#"{"room_version":"11","name":"x","power_level_content_override":{"users":{}}}"#, .invalidRoomState)
  ])
  func `what cannot be made is refused and leaves nothing`(body: String, code: ErrorCode) async throws {
    let fixture = try RoomsFixture()
    #expect(await errorCode { _ = try await fixture.createRoom(by: "ann", body) } == code)
    #expect(try await fixture.rooms.joinedRooms(of: RoomsFixture.user("ann")).isEmpty)
  }

  @Test func `a trusted chat of version 12 makes the invited creators too`() async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann", #"{"preset":"trusted_private_chat","invite":["@bob:example.org"]}"#)
    try await fixture.rooms.join(room, by: RoomsFixture.actor("bob"))
    let snapshot = try #require(fixture.rooms.cache.cachedSnapshot(of: room))
    #expect(snapshot.create?.privilegedCreators == [RoomsFixture.user("ann"), RoomsFixture.user("bob")])
    #expect(snapshot[.powerLevels]?.content["users"]?.count == 0)
  }

  @Test func `state set at the start wins over the preset, and name over state`() async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(
      by: "ann",
      #"""
      {"preset":"private_chat","name":"second","initial_state":[{"type":"m.room.name","content":{"name":"first"}},
      {"type":"m.room.join_rules","content":{"join_rule":"public"}}]}
      """#)
    let snapshot = try #require(fixture.rooms.cache.cachedSnapshot(of: room))
    #expect(snapshot[.name]?.content["name"]?.string == "second")
    #expect(snapshot.joinRule == .public)
  }
}

@Suite struct AliasTests {
  private let alias = RoomAlias(trusted: "#tea:example.org")

  @Test func `an alias is one room's until it is removed`() async throws {
    let fixture = try RoomsFixture()
    let (ann, eve) = (RoomsFixture.actor("ann"), RoomsFixture.actor("eve"))
    let room = try await fixture.createRoom(by: "ann", #"{"room_alias_name":"tea"}"#)
    #expect(await errorCode { _ = try await fixture.createRoom(by: "eve", #"{"room_alias_name":"tea"}"#) } == .roomInUse)
    #expect(await errorCode { try await fixture.rooms.addAlias(self.alias, to: room, by: ann) } == .unknown)
    #expect(await errorCode { try await fixture.rooms.removeAlias(self.alias, by: eve) } == .forbidden)
    #expect(try await fixture.rooms.aliases(of: room, for: ann.userID) == [alias])
    try await fixture.rooms.removeAlias(alias, by: ann)
    #expect(await errorCode { _ = try await fixture.rooms.room(of: self.alias) } == .notFound)
    let foreign = RoomAlias(trusted: "#tea:elsewhere.org")
    #expect(await errorCode { try await fixture.rooms.addAlias(foreign, to: room, by: ann) } == .invalidParameter)
  }

  @Test func `a canonical alias must point to the room`() async throws {
    let fixture = try RoomsFixture()
    let ann = RoomsFixture.actor("ann")
    let room = try await fixture.createRoom(by: "ann")
    let content = try json(##"{"alias":"#tea:example.org"}"##)
    let alias = alias
    func setCanonical() async throws { _ = try await fixture.rooms.setState(.canonicalAlias, "", content, in: room, by: ann) }
    #expect(await errorCode { try await setCanonical() } == .badAlias)
    try await fixture.rooms.addAlias(alias, to: room, by: ann)
    try await setCanonical()
    #expect(fixture.rooms.cache.cachedSnapshot(of: room)?[.canonicalAlias] != nil)
  }
}

@Suite struct RestrictedJoinTests {
  @Test func `who is in the named room may join, who is not may not`() async throws {
    let fixture = try RoomsFixture()
    let hall = try await fixture.createRoom(by: "ann", #"{"preset":"public_chat"}"#)
    let room = try await fixture.createRoom(
      by: "ann",
      #"""
      {"initial_state":[{"type":"m.room.join_rules","content":{"join_rule":"restricted",
      "allow":[{"type":"m.room_membership","room_id":"\#(hall)"}]}}]}
      """#)
    let bob = RoomsFixture.actor("bob")
    #expect(await errorCode { try await fixture.rooms.join(room, by: bob) } == .forbidden)
    try await fixture.rooms.join(hall, by: bob)
    try await fixture.rooms.join(room, by: bob)
    let member = try #require(fixture.rooms.cache.cachedSnapshot(of: room)?.members[bob.userID])
    #expect(member.event.content["join_authorised_via_users_server"]?.string == "@ann:example.org")
  }
}
