import JSON
import MatrixModel
import Testing

@testable import RoomRules

private let alice = TestRoom.alice
private let bob = TestRoom.bob
private let carol = TestRoom.carol

/// The rules of `m.room.member`. Alice made the room; the tests are about Bob and Carol.
@Suite struct MembershipTests {
  /// Join rule, membership before: whether Bob may join.
  static let joins: [(String, String?, Bool)] = [
    ("public", nil, true), ("public", "leave", true), ("public", "invite", true), ("public", "join", true),
    ("public", "knock", true), ("public", "ban", false),
    ("invite", nil, false), ("invite", "leave", false), ("invite", "invite", true), ("invite", "join", true),
    ("invite", "knock", false), ("invite", "ban", false),
    ("knock", nil, false), ("knock", "knock", false), ("knock", "invite", true), ("knock", "ban", false),
    ("restricted", nil, false), ("restricted", "invite", true), ("restricted", "join", true),
    ("restricted", "ban", false),
    ("knock_restricted", "knock", false), ("knock_restricted", "invite", true),
    ("private", "invite", false), ("strange", "invite", false)
  ]

  @Test(arguments: versions, joins) func `joining`(version: RoomVersion, join: (String, String?, Bool)) throws {
    var room = try TestRoom(version)
    try room.setJoinRule(join.0)
    if let before = join.1 { try room.setMember(bob, before, by: alice) }
    #expect((try room.memberRefusal(bob, "join") == nil) == (join.2 && version.knows(rule: join.0)))
  }

  @Test(arguments: versions) func `without a join rule one needs an invitation`(version: RoomVersion) throws {
    var room = try TestRoom(version)
    #expect(try room.memberRefusal(bob, "join") == "You need an invitation to join this room.")
    try room.setMember(bob, "invite", by: alice)
    #expect(try room.memberRefusal(bob, "join") == nil)
  }

  @Test(arguments: versions) func `nobody joins for another`(version: RoomVersion) throws {
    var room = try TestRoom(version)
    try room.setJoinRule("public")
    #expect(try room.memberRefusal(bob, "join", by: alice) == "Only the user can do this for themselves.")
  }

  @Test(arguments: versions) func `the creator joins right behind the create event`(version: RoomVersion) throws {
    let room = try TestRoom(version)
    let create = try #require(room.event(StateMapKey(.create)))
    var empty = room
    empty.state = room.state.filter { $0.key.type == .create }
    var draft = try room.draft(.member, from: alice, stateKey: alice.text, #"{"membership":"join"}"#)
    draft.prevEvents = [create.eventID]
    try version.authorize(draft, in: empty)
    draft.prevEvents = [create.eventID, EventID(trusted: "$other")]
    #expect(throws: AuthorizationError.self) { try version.authorize(draft, in: empty) }
    draft.prevEvents = [create.eventID]
    draft.sender = bob
    draft.stateKey = bob.text
    #expect(throws: AuthorizationError.self) { try version.authorize(draft, in: empty) }
  }

  @Test(arguments: versions, ["restricted", "knock_restricted"])
  func `a member who may invite lets others into a restricted room`(version: RoomVersion, rule: String) throws {
    var room = try TestRoom(version)
    try room.setJoinRule(rule)
    try room.setMember(carol, "join")
    try room.add(
      .powerLevels, from: alice, stateKey: "",
      #"{"invite":1,"users":{\#(version.hasPrivilegedCreators ? "" : #""@alice:a.example":100"#)}}"#)
    func join(via user: UserID) throws -> String? {
      try room.refusal(
        .member, from: bob, stateKey: bob.text, #"{"membership":"join","join_authorised_via_users_server":"\#(user)"}"#)
    }
    guard version.knows(rule: rule) else {
      #expect(try join(via: alice) == "You need an invitation to join this room.")
      return
    }
    #expect(try join(via: alice) == nil)
    #expect(try join(via: carol) == "You do not meet the conditions for joining this room.")
    #expect(try join(via: UserID(trusted: "@nobody:a.example")) != nil)
    try room.setMember(alice, "leave")
    #expect(try join(via: alice) != nil)
  }

  /// Membership before: whether Alice (who may) may invite.
  static let invites: [(String?, Bool)] = [
    (nil, true), ("leave", true), ("knock", true), ("invite", true), ("join", false), ("ban", false)
  ]

  @Test(arguments: versions, invites) func `inviting`(version: RoomVersion, invite: (String?, Bool)) throws {
    var room = try TestRoom(version)
    if let before = invite.0 { try room.setMember(bob, before, by: alice) }
    #expect((try room.memberRefusal(bob, "invite", by: alice) == nil) == invite.1)
  }

  @Test(arguments: versions) func `inviting needs to be in the room and the level`(version: RoomVersion) throws {
    var room = try TestRoom(version)
    #expect(try room.memberRefusal(bob, "invite", by: carol) == "You are not in this room.")
    try room.setMember(carol, "join")
    #expect(try room.memberRefusal(bob, "invite", by: carol) == nil)
    try room.add(.powerLevels, from: alice, stateKey: "", #"{"invite":50}"#)
    #expect(try room.memberRefusal(bob, "invite", by: carol) == "You need power level 50 to invite; you have 0.")
  }

  /// Membership before: whether Bob may leave.
  static let leaves: [(String?, Bool)] = [
    (nil, false), ("leave", false), ("knock", true), ("invite", true), ("join", true), ("ban", false)
  ]

  @Test(arguments: versions, leaves) func `leaving`(version: RoomVersion, leave: (String?, Bool)) throws {
    var room = try TestRoom(version)
    if let before = leave.0 { try room.setMember(bob, before, by: alice) }
    #expect((try room.memberRefusal(bob, "leave") == nil) == leave.1)
  }

  private func moderated(_ version: RoomVersion, bob bobLevel: Int, carol carolLevel: Int) throws -> TestRoom {
    var room = try TestRoom(version)
    try room.setMember(bob, "join")
    try room.setMember(carol, "join")
    try room.add(
      .powerLevels, from: alice, stateKey: "",
      #"{"kick":40,"ban":60,"users":{"@bob:a.example":\#(bobLevel),"@carol:b.example":\#(carolLevel)}}"#)
    return room
  }

  @Test(arguments: versions) func `kicking needs the level and power over the target`(version: RoomVersion) throws {
    #expect(try moderated(version, bob: 40, carol: 39).memberRefusal(carol, "leave", by: bob) == nil)
    #expect(
      try moderated(version, bob: 39, carol: 0).memberRefusal(carol, "leave", by: bob)
        == "You need power level 40 to remove; you have 39.")
    #expect(try moderated(version, bob: 40, carol: 40).memberRefusal(carol, "leave", by: bob) != nil)
    var outside = try moderated(version, bob: 40, carol: 0)
    try outside.setMember(bob, "leave")
    #expect(try outside.memberRefusal(carol, "leave", by: bob) == "You are not in this room.")
  }

  @Test(arguments: versions) func `banning needs the level and power over the target`(version: RoomVersion) throws {
    #expect(try moderated(version, bob: 60, carol: 59).memberRefusal(carol, "ban", by: bob) == nil)
    #expect(
      try moderated(version, bob: 59, carol: 0).memberRefusal(carol, "ban", by: bob)
        == "You need power level 60 to ban; you have 59.")
    #expect(try moderated(version, bob: 60, carol: 60).memberRefusal(carol, "ban", by: bob) != nil)
    #expect(try moderated(version, bob: 60, carol: 0).memberRefusal(UserID(trusted: "@new:c"), "ban", by: bob) == nil)
  }

  @Test(arguments: versions) func `lifting a ban needs the ban and the kick level`(version: RoomVersion) throws {
    for (level, isAllowed) in [(60, true), (59, false), (40, false)] {
      var room = try moderated(version, bob: level, carol: 0)
      try room.setMember(carol, "ban", by: alice)
      #expect((try room.memberRefusal(carol, "leave", by: bob) == nil) == isAllowed)
    }
  }

  /// Join rule, membership before: whether Bob may knock.
  static let knocks: [(String, String?, Bool)] = [
    ("knock", nil, true), ("knock", "leave", true), ("knock", "knock", true), ("knock", "invite", false),
    ("knock", "join", false), ("knock", "ban", false), ("knock_restricted", nil, true),
    ("knock_restricted", "ban", false),
    ("public", nil, false), ("invite", nil, false), ("restricted", nil, false)
  ]

  @Test(arguments: versions, knocks) func `knocking`(version: RoomVersion, knock: (String, String?, Bool)) throws {
    var room = try TestRoom(version)
    try room.setJoinRule(knock.0)
    if let before = knock.1 { try room.setMember(bob, before, by: alice) }
    #expect((try room.memberRefusal(bob, "knock") == nil) == (knock.2 && version.knows(rule: knock.0)))
    #expect(try room.memberRefusal(bob, "knock", by: alice) != nil)
  }

  @Test(arguments: versions) func `a member event needs its parts`(version: RoomVersion) throws {
    let room = try TestRoom(version)
    #expect(try room.refusal(.member, from: alice, #"{"membership":"join"}"#) != nil)
    #expect(try room.refusal(.member, from: alice, stateKey: alice.text, "{}") != nil)
    #expect(try room.refusal(.member, from: alice, stateKey: alice.text, #"{"membership":"sleep"}"#) != nil)
    #expect(try room.refusal(.member, from: alice, stateKey: "alice", #"{"membership":"ban"}"#) != nil)
  }

  // MARK: Third-party invitations

  @Test(arguments: versions) func `a signed token invites`(version: RoomVersion) throws {
    var room = try TestRoom(version)
    let other = try #require(SigningKey(seed: [UInt8](repeating: 9, count: 32), version: "0"))
    try room.add(
      .thirdPartyInvite, from: alice, stateKey: "token",
      #"{"public_key":"\#(other.publicKeyBase64)","public_keys":[{"public_key":"\#(testKey.publicKeyBase64)"}]}"#)
    func invite(_ signed: String, by sender: UserID = alice, signer: SigningKey = testKey) throws -> String? {
      let signed = text(try SignedJSON.sign(try json(signed), as: "id.example", with: signer))
      return try room.refusal(
        .member, from: sender, stateKey: bob.text,
        #"{"membership":"invite","third_party_invite":{"signed":\#(signed)}}"#)
    }
    let right = #"{"mxid":"@bob:a.example","token":"token"}"#
    #expect(try invite(right) == nil)
    #expect(try invite(right, signer: other) == nil)
    #expect(
      try invite(right, signer: try #require(SigningKey(seed: [UInt8](repeating: 8, count: 32), version: "0"))) != nil)
    #expect(try invite(right, by: carol) != nil)
    #expect(try invite(#"{"mxid":"@carol:b.example","token":"token"}"#) != nil)
    #expect(try invite(#"{"mxid":"@bob:a.example","token":"unknown"}"#) != nil)
    #expect(try invite(#"{"mxid":"@bob:a.example"}"#) != nil)
    #expect(
      try room.refusal(.member, from: alice, stateKey: bob.text, #"{"membership":"invite","third_party_invite":{}}"#)
        != nil)
    try room.setMember(bob, "ban", by: alice)
    #expect(try invite(right) == "The user is banned from the room.")
  }
}

extension RoomVersion {
  /// "Changes" of the room versions: knocking came with 7, restricted rooms with 8, both together with 10.
  fileprivate func knows(rule: String) -> Bool {
    let number = Int(name.string) ?? 0
    switch rule {
    case "knock": return number >= 7
    case "restricted": return number >= 8
    case "knock_restricted": return number >= 10
    default: return true
    }
  }
}
