import JSON
import MatrixModel
import RoomRules
import Testing

@testable import ServerRooms

/// What decides about coming into a room besides the room's own rules.
@Suite struct AdmissionTests {
  private let ann = RoomsFixture.actor("ann")
  private let bob = RoomsFixture.actor("bob")
  private let eve = RoomsFixture.actor("eve")

  // MARK: Guests

  @Test(arguments: [("can_join", true), ("forbidden", false), ("strange", false)])
  func `guests come into rooms that have guests`(access: String, isAllowed: Bool) async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.base.createRoom(
      by: "ann",
      #"{"preset":"public_chat","initial_state":[{"type":"m.room.guest_access","content":{"guest_access":"\#(access)"}}]}"#)
    let guest = RoomsFixture.actor("guest")
    #expect(await errorCode { try await fixture.rooms.join(room, by: guest) } == (isAllowed ? nil : .guestAccessForbidden))
    let member = try json(#"{"membership":"join"}"#)
    if !isAllowed {
      #expect(
        await errorCode { _ = try await fixture.rooms.setState(.member, guest.userID.text, member, in: room, by: guest) }
          == .guestAccessForbidden)
      try await fixture.rooms.invite(guest.userID, to: room, by: ann)
      #expect(await errorCode { try await fixture.rooms.join(room, by: guest) } == .guestAccessForbidden)
    }
  }

  @Test(arguments: [true, false])
  func `guests go when the room has none any more, others stay`(byRedaction: Bool) async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.base.createRoom(
      by: "ann",
      #"{"preset":"public_chat","initial_state":[{"type":"m.room.guest_access","content":{"guest_access":"can_join"}}]}"#)
    for actor in [bob, RoomsFixture.actor("guest1"), RoomsFixture.actor("guest2")] {
      try await fixture.rooms.join(room, by: actor)
    }
    if byRedaction {
      let event = try #require(fixture.rooms.cache.cachedSnapshot(of: room)?[.guestAccess]).eventID
      _ = try await fixture.rooms.redact(
        event, in: room, json("{}"), by: ann, transactionID: TransactionID(trusted: "r"))
    } else {
      _ = try await fixture.rooms.setState(.guestAccess, "", json(#"{"guest_access":"forbidden"}"#), in: room, by: ann)
    }
    let after = try #require(fixture.rooms.cache.cachedSnapshot(of: room))
    #expect(Set(after.joinedUsers) == [ann.userID, bob.userID])
    #expect(after.membership(of: RoomsFixture.user("guest1")) == .leave)
  }

  // MARK: Invitations nobody wants

  @Test func `who blocks invitations gets none, by any door, and sees none`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "eve")
    let waiting = try await fixture.room(of: "ann")
    let client = try fixture.client("bob")
    try await client.sync()
    try await fixture.rooms.invite(bob.userID, to: waiting, by: ann)
    try await fixture.accountData.set(
      "m.invite_permission_config", json(#"{"default_action":"block"}"#), of: bob.userID, in: nil)
    #expect(try await client.sync().room(waiting, "invite") == nil)
    let invite = try json(#"{"membership":"invite"}"#)
    #expect(await errorCode { try await fixture.rooms.invite(self.bob.userID, to: room, by: self.ann) } == .inviteBlocked)
    #expect(
      await errorCode { _ = try await fixture.rooms.setState(.member, self.bob.userID.text, invite, in: room, by: self.ann) }
        == .inviteBlocked)
    #expect(
      await errorCode { _ = try await fixture.base.createRoom(by: "ann", #"{"invite":["@bob:example.org"]}"#) }
        == .inviteBlocked)
    // Who may not invite learns that, not what the other does not want.
    #expect(
      await errorCode {
        try await fixture.rooms.invite(self.bob.userID, to: room, by: RoomsFixture.actor("stranger"))
      } == .forbidden)
    try await fixture.accountData.set("m.invite_permission_config", json("{}"), of: bob.userID, in: nil)
    try await fixture.rooms.invite(bob.userID, to: room, by: ann)
    #expect(try await client.sync().room(room, "invite") != nil)
  }

  // MARK: Policy lists

  private func rule(_ entity: String, _ recommendation: String = "m.ban") throws -> JSON {
    try json(#"{"entity":"\#(entity)","recommendation":"\#(recommendation)","reason":"spam"}"#)
  }

  @Test func `a user's policy lists keep invitations and rooms away`() async throws {
    let fixture = try SyncFixture()
    let list = try await fixture.room(of: "mod", "bob")
    let hidden = try await fixture.room(of: "mod", settings: "{}")
    let room = try await fixture.room(
      of: "eve", "ann", settings: #"{"preset":"public_chat","power_level_content_override":{"invite":0}}"#)
    let mod = RoomsFixture.actor("mod")
    try await fixture.accountData.set(
      "martlet.policy_lists", json(#"{"rooms":["\#(list)","\#(hidden)","!none",1]}"#), of: bob.userID, in: nil)
    func invite(by actor: Rooms.Actor) async -> ErrorCode? {
      await errorCode {
        try await fixture.rooms.invite(self.bob.userID, to: room, by: actor)
        try await fixture.rooms.leave(room, by: self.bob)
      }
    }
    _ = try await fixture.rooms.setState("m.policy.rule.user", "1", rule("@e?e:*"), in: list, by: mod)
    _ = try await fixture.rooms.setState("m.policy.rule.user", "2", rule("@ann:*", "x.mute"), in: list, by: mod)
    // Bob cannot read this one: it says nothing to him.
    _ = try await fixture.rooms.setState("m.policy.rule.user", "1", rule("@ann:*"), in: hidden, by: mod)
    #expect(await invite(by: eve) == .inviteBlocked)
    #expect(await invite(by: ann) == nil)
    #expect(await errorCode { try await fixture.rooms.join(room, by: self.bob) } == nil)
    try await fixture.rooms.leave(room, by: bob)
    // A rule that was taken back has no effect.
    _ = try await fixture.rooms.setState("m.policy.rule.user", "1", json("{}"), in: list, by: mod)
    #expect(await invite(by: eve) == nil)
    _ = try await fixture.rooms.setState("m.policy.rule.room", "1", rule(room.string), in: list, by: mod)
    #expect(await invite(by: ann) == .inviteBlocked)
    #expect(await errorCode { try await fixture.rooms.join(room, by: self.bob) } == .forbidden)
    #expect(await errorCode { try await fixture.rooms.join(room, by: RoomsFixture.actor("carl")) } == nil)
    _ = try await fixture.rooms.setState("m.policy.rule.room", "1", json("{}"), in: list, by: mod)
    _ = try await fixture.rooms.setState("m.policy.rule.server", "1", rule("*.org"), in: list, by: mod)
    #expect(await invite(by: ann) == .inviteBlocked)
  }

  @Test func `the server's policy lists hold for everyone`() async throws {
    let base = try RoomsFixture()
    let list = try await base.createRoom(by: "mod")
    let fixture = try base.reopened { $0.policyRooms = [list] }
    let mod = RoomsFixture.actor("mod")
    let room = try await fixture.createRoom(by: "ann", #"{"preset":"public_chat","room_alias_name":"den"}"#)
    let other = try await fixture.createRoom(by: "eve", #"{"preset":"public_chat"}"#)
    _ = try await fixture.rooms.setState("m.policy.rule.user", "1", rule("@eve:*"), in: list, by: mod)
    #expect(await errorCode { try await fixture.rooms.join(room, by: self.eve) } == .forbidden)
    #expect(await errorCode { try await fixture.rooms.invite(self.bob.userID, to: other, by: self.eve) } == .forbidden)
    try await fixture.rooms.join(room, by: bob)
    try await fixture.rooms.leave(room, by: bob)
    _ = try await fixture.rooms.setState("m.policy.rule.room", "1", rule("#den:*"), in: list, by: mod)
    #expect(await errorCode { try await fixture.rooms.join(room, by: self.bob) } == .forbidden)
    #expect(await errorCode { try await fixture.rooms.invite(self.bob.userID, to: room, by: self.ann) } == .forbidden)
    try await fixture.rooms.join(other, by: bob)
  }

  // MARK: Slow mode

  @Test func `in slow mode members wait between messages, who sets it does not`() async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann", #"{"preset":"public_chat"}"#)
    try await fixture.rooms.join(room, by: bob)
    _ = try await fixture.rooms.setState(.slowMode, "", json(#"{"interval_ms":10000}"#), in: room, by: ann)
    let start: Int64 = 1_700_000_000_000
    fixture.setTime(start)
    let first = try await fixture.send("1", to: room, by: "bob", transaction: "t")
    fixture.setTime(start + 9_999)
    do {
      try await fixture.send("2", to: room, by: "bob")
      Issue.record("sent too early")
    } catch let error as MatrixError {
      #expect(error.code == .limitExceeded && error.status == 429 && error.retryAfterMilliseconds == 1)
    }
    // A repetition is no new message, and a reaction is no message at all.
    #expect(try await fixture.send("1", to: room, by: "bob", transaction: "t") == first)
    _ = try await fixture.rooms.send(
      .reaction, json("{}"), to: room, by: bob, transactionID: TransactionID(trusted: "r"))
    for number in 0..<3 { try await fixture.send("\(number)", to: room, by: "ann") }
    fixture.setTime(start + 10_000)
    let later = try fixture.reopened()
    later.setTime(start + 10_000)
    try await later.send("2", to: room, by: "bob")
    later.setTime(start + 10_001)
    #expect(await errorCode { try await later.send("3", to: room, by: "bob") } == .limitExceeded)
    _ = try await later.rooms.setState(.slowMode, "", json(#"{"interval_ms":0}"#), in: room, by: ann)
    try await later.send("3", to: room, by: "bob")
  }

  @Test func `an interval has a limit`() throws {
    let limit = SlowMode.intervalMillisecondsLimit
    #expect(SlowMode(try json(#"{"interval_ms":\#(limit)}"#))?.intervalMilliseconds == limit)
    #expect(SlowMode(try json(#"{"interval_ms":\#(limit + 1)}"#))?.intervalMilliseconds == limit)
    for content in ["{}", #"{"interval_ms":0}"#, #"{"interval_ms":-1}"#, #"{"interval_ms":"5"}"#] {
      #expect(SlowMode(try json(content)) == nil)
    }
  }

  // MARK: Third-party invitations

  @Test(arguments: ["6", "9", "11", "12"])
  func `who proves that the invited address is theirs may join`(version: String) async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann", #"{"room_version":"\#(version)"}"#)
    let key = try #require(SigningKey(seed: [UInt8](repeating: 7, count: 32), version: "0"))
    _ = try await fixture.rooms.setState(
      .thirdPartyInvite, "token", json(#"{"display_name":"b…","public_key":"\#(key.publicKeyBase64)"}"#), in: room, by: ann)
    func join(_ signed: String, by actor: Rooms.Actor, signer: SigningKey) async -> ErrorCode? {
      await errorCode {
        let signed = try SignedJSON.sign(json(signed), as: "id.example", with: signer)
        try await fixture.rooms.join(room, by: actor, thirdPartySigned: JSON.parse(signed))
      }
    }
    let right = #"{"mxid":"@bob:example.org","sender":"@ann:example.org","token":"token"}"#
    let forger = try #require(SigningKey(seed: [UInt8](repeating: 8, count: 32), version: "0"))
    #expect(await join(right, by: bob, signer: forger) == .forbidden)
    #expect(await join(right, by: eve, signer: key) == .forbidden)
    for wrong in [
      #"{"mxid":"@bob:example.org","sender":"@eve:example.org","token":"token"}"#,
      #"{"mxid":"@bob:example.org","sender":"@ann:example.org","token":"other"}"#
    ] { #expect(await join(wrong, by: bob, signer: key) == .forbidden) }
    #expect(await join(#"{"mxid":"@bob:example.org","token":"token"}"#, by: bob, signer: key) == .invalidParameter)
    #expect(try #require(fixture.rooms.cache.cachedSnapshot(of: room)).membership(of: bob.userID) == nil)
    #expect(await join(right, by: bob, signer: key) == nil)
    let snapshot = try #require(fixture.rooms.cache.cachedSnapshot(of: room))
    #expect(snapshot.membership(of: bob.userID) == .join)
    let invitation = try #require(snapshot.tail.last { $0.type == .member && $0.sender == ann.userID })
    #expect(invitation.content["third_party_invite"]?["signed"]?["token"]?.string == "token")
  }
}
