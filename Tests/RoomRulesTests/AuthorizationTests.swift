import JSON
import MatrixModel
import Testing

@testable import RoomRules

private let alice = TestRoom.alice
private let bob = TestRoom.bob
private let carol = TestRoom.carol

/// Rules of every version about everything but membership and power levels.
@Suite struct AuthorizationTests {
  @Test(arguments: versions) func `members may send messages, others may not`(version: RoomVersion) throws {
    var room = try TestRoom(version)
    try room.setMember(bob, "join")
    #expect(try room.refusal(.message, from: bob) == nil)
    #expect(try room.refusal(.message, from: carol) == "You are not in this room.")
    try room.setMember(bob, "ban", by: alice)
    #expect(try room.refusal(.message, from: bob) == "You are banned from this room.")
  }

  @Test(arguments: versions) func `state needs 50, messages 0, the event may say otherwise`(version: RoomVersion) throws {
    var room = try TestRoom(version)
    try room.setMember(bob, "join")
    #expect(
      try room.refusal(.topic, from: bob, stateKey: "") == "You need power level 50 to send 'm.room.topic'; you have 0."
    )
    #expect(try room.refusal(.topic, from: alice, stateKey: "") == nil)
    try room.add(
      .powerLevels, from: alice, stateKey: "",
      #"{"state_default":1,"events_default":1,"users":{"@bob:a.example":1},"events":{"m.room.name":2}}"#)
    #expect(try room.refusal(.topic, from: bob, stateKey: "") == nil)
    #expect(try room.refusal(.message, from: bob) == nil)
    #expect(try room.refusal(.name, from: bob, stateKey: "") != nil)
  }

  @Test(arguments: versions) func `a state key that is another's user ID is refused`(version: RoomVersion) throws {
    let room = try TestRoom(version)
    #expect(try room.refusal("x", from: alice, stateKey: alice.text) == nil)
    #expect(try room.refusal("x", from: alice, stateKey: "@someone") != nil)
    #expect(try room.refusal("x", from: alice, stateKey: "some@one") == nil)
    #expect(try room.refusal("x", from: alice, stateKey: "") == nil)
  }

  @Test(arguments: versions) func `a room can be closed to other servers`(version: RoomVersion) throws {
    let creator = version.createNamesCreator ? #""creator":"@alice:a.example","# : ""
    var open = try TestRoom(version)
    var closed = try TestRoom(version, createContent: #"{\#(creator)"m.federate":false}"#)
    try open.setJoinRule("public")
    try closed.setJoinRule("public")
    #expect(try open.memberRefusal(carol, "join") == nil)
    #expect(try closed.memberRefusal(carol, "join") == "This room is closed to users of other servers.")
    #expect(try closed.memberRefusal(bob, "join") == nil)
  }

  @Test(arguments: versions) func `an event of another room is refused`(version: RoomVersion) throws {
    let room = try TestRoom(version)
    var draft = try room.draft(.message, from: alice)
    draft.roomID = RoomID(trusted: "!other:a.example")
    #expect(throws: AuthorizationError.self) { try version.authorize(draft, in: room) }
  }

  @Test(arguments: versions) func `nothing but a create event is allowed without a room`(version: RoomVersion) throws {
    var room = try TestRoom(version)
    room.state = [:]
    #expect(try room.refusal(.message, from: alice) == "The room does not exist.")
    #expect(try room.memberRefusal(alice, "join") == "The room does not exist.")
  }

  @Test(arguments: versions) func `a third-party invitation needs the invite level`(version: RoomVersion) throws {
    var room = try TestRoom(version)
    try room.setMember(bob, "join")
    #expect(try room.refusal(.thirdPartyInvite, from: bob, stateKey: "token") == nil)
    try room.add(.powerLevels, from: alice, stateKey: "", #"{"invite":1}"#)
    #expect(
      try room.refusal(.thirdPartyInvite, from: bob, stateKey: "token")
        == "You need power level 1 to invite; you have 0.")
  }

  // MARK: Create

  private func createRefusal(_ version: RoomVersion, _ content: String, _ change: (inout EventDraft) -> Void = { _ in })
    throws -> String?
  {
    var draft = EventDraft(
      version: version, roomID: version.roomIDIsCreateHash ? nil : RoomID(trusted: "!r:a.example"), type: .create,
      sender: alice, stateKey: "", content: try json(content), originServerTimestamp: 1)
    change(&draft)
    var nowhere = try TestRoom(version)
    nowhere.state = [:]
    do throws(AuthorizationError) { try version.authorize(draft, in: nowhere) } catch { return error.message }
    return nil
  }

  @Test(arguments: versions) func `a create event is first, in a known version`(version: RoomVersion) throws {
    let creator = version.createNamesCreator ? #""creator":"@alice:a.example","# : ""
    #expect(try createRefusal(version, #"{\#(creator)"room_version":"\#(version)"}"#) == nil)
    #expect(try createRefusal(version, #"{\#(creator)"room_version":"nil"}"#) == "The room version is not known.")
    #expect(try createRefusal(version, #"{\#(creator)"room_version":12}"#) == "The room version is not known.")
    #expect(try createRefusal(version, #"{\#(creator)"x":1}"#) { $0.prevEvents = [EventID(trusted: "$x")] } != nil)
  }

  @Test func `before version 12 the room ID is of the sender's server`() throws {
    #expect(try createRefusal(.v11, "{}") { $0.roomID = RoomID(trusted: "!r:b.example") } != nil)
    #expect(try createRefusal(.v12, "{}") { $0.roomID = RoomID(trusted: "!r:a.example") } != nil)
  }

  @Test func `version 10 wants a creator`() throws {
    #expect(try createRefusal(.v10, "{}") == "'creator' of the create event is missing or malformed.")
    #expect(try createRefusal(.v11, "{}") == nil)
  }

  @Test(arguments: [#"["@a:b"]"#, "[]"]) func `additional creators are user IDs`(list: String) throws {
    #expect(try createRefusal(.v12, #"{"additional_creators":\#(list)}"#) == nil)
  }

  @Test(arguments: [#"["@a"]"#, "[1]", "{}", #""@a:b""#])
  func `other additional creators are refused from version 12 on`(list: String) throws {
    #expect(try createRefusal(.v12, #"{"additional_creators":\#(list)}"#) != nil)
    #expect(try createRefusal(.v11, #"{"additional_creators":\#(list)}"#) == nil)
  }

  // MARK: Auth events

  private func keys(_ room: TestRoom, _ type: EventType, _ stateKey: ByteString?, _ content: String) throws -> Set<
    String
  > {
    Set(
      room.version.authEventKeys(for: try room.draft(type, from: alice, stateKey: stateKey, content)).map {
        "\($0.type) \($0.stateKey)"
      })
  }

  @Test(arguments: versions) func `auth events are selected by type and membership`(version: RoomVersion) throws {
    let room = try TestRoom(version)
    let common: Set =
      version.roomIDIsCreateHash
      ? ["m.room.power_levels ", "m.room.member @alice:a.example"]
      : ["m.room.create ", "m.room.power_levels ", "m.room.member @alice:a.example"]
    #expect(try keys(room, .create, "", "{}") == [])
    #expect(try keys(room, .message, nil, "{}") == common)
    let target = "m.room.member @bob:a.example"
    #expect(try keys(room, .member, bob.text, #"{"membership":"ban"}"#) == common.union([target]))
    #expect(
      try keys(room, .member, bob.text, #"{"membership":"invite"}"#) == common.union([target, "m.room.join_rules "]))
    #expect(
      try keys(room, .member, bob.text, #"{"membership":"invite","third_party_invite":{"signed":{"token":"t"}}}"#)
        == common.union([target, "m.room.join_rules ", "m.room.third_party_invite t"]))
    #expect(
      try keys(room, .member, alice.text, #"{"membership":"join","join_authorised_via_users_server":"@bob:a.example"}"#)
        == common.union(version.hasRestrictedJoins ? [target, "m.room.join_rules "] : ["m.room.join_rules "]))
    #expect(try keys(room, .member, alice.text, #"{"membership":"knock"}"#) == common.union(["m.room.join_rules "]))
  }

  @Test(arguments: versions) func `wrong auth events are refused`(version: RoomVersion) throws {
    var room = try TestRoom(version)
    let firstName = try room.add(.name, from: alice, stateKey: "", #"{"name":"1"}"#)
    let message = try room.add(.message, from: alice)
    let right = message.authEvents.compactMap { room.events[$0] }
    try version.checkAuthEvents(right, of: message)
    #expect(throws: AuthorizationError.self) { try version.checkAuthEvents(right + [firstName], of: message) }
    #expect(throws: AuthorizationError.self) { try version.checkAuthEvents(right + right, of: message) }
    var rejected = right
    rejected[0].isRejected = true
    #expect(throws: AuthorizationError.self) { try version.checkAuthEvents(rejected, of: message) }
    let other = try TestRoom(version, createContent: #"{"creator":"@alice:a.example","other":true}"#)
    if version.roomIDIsCreateHash {
      let stranger = try #require(other.event(StateMapKey(.member, alice.text)))
      #expect(throws: AuthorizationError.self) { try version.checkAuthEvents([stranger], of: message) }
    } else {
      #expect(throws: AuthorizationError.self) {
        try version.checkAuthEvents(right.filter { $0.type != .create }, of: message)
      }
    }
  }
}
