import JSON
import MatrixModel
import ServerAccounts
import ServerRooms
import Synchronization
import Testing

@Suite struct AccountAdministrationTests {
  /// Keeps deactivated users in their rooms while it is on.
  private final class Outage: RoomObserver, AccountObserver {
    struct PowerCut: Error {}

    let isOn = Atomic(false)

    func finishDeactivation(of userID: UserID) async throws {
      if isOn.load(ordering: .relaxed) { throw PowerCut() }
    }
  }

  private static func run(
    follower: (any RoomObserver & AccountObserver)? = nil,
    _ body: (APIFixture, _ admin: APIFixture.User, _ ann: APIFixture.User) async throws -> Void
  ) async throws {
    try await APIFixture.run(follower: follower) { fixture in
      let admin = try await fixture.register("admin")
      try await fixture.homeserver.accounts.setAdmin(admin.userID, true)
      try await body(fixture, admin, try await fixture.register("ann"))
    }
  }

  @Test(arguments: [("lock", "locked"), ("suspend", "suspended")])
  func `administrators lock and suspend, and see whether an account is`(verb: String, member: String) async throws {
    try await Self.run { fixture, admin, ann in
      let path = "/_matrix/client/v1/admin/\(verb)/"
      func state() async throws -> Bool? {
        try await fixture.call(.get, path + ann.userID.string, as: admin).json[ByteString(member)]?.bool
      }
      #expect(try await state() == false)
      for value in [true, false] {
        let answer = try await fixture.call(.put, path + ann.userID.string, as: admin, #"{"\#(member)":\#(value)}"#)
        #expect(answer.status == 200 && answer.json[ByteString(member)]?.bool == value)
        #expect(try await state() == value)
      }
      let refusals: [(String, APIFixture.User, String, String)] = [
        ("@ann:example.org", ann, "{\"\(member)\":true}", "M_FORBIDDEN"),
        ("@nobody:example.org", ann, "{\"\(member)\":true}", "M_FORBIDDEN"),
        ("@nobody:example.org", admin, "{\"\(member)\":true}", "M_NOT_FOUND"),
        ("@ann:elsewhere.org", admin, "{\"\(member)\":true}", "M_INVALID_PARAM"),
        ("@admin:example.org", admin, "{\"\(member)\":true}", "M_FORBIDDEN"),
        ("@ann:example.org", admin, "{}", "M_MISSING_PARAM")
      ]
      for (userID, user, body, code) in refusals {
        #expect(try await fixture.call(.put, path + userID, as: user, body).errorCode == code)
      }
      #expect(try await fixture.call(.get, path + "@ann:example.org", as: ann).status == 403)
      let second = try await fixture.register("second")
      try await fixture.homeserver.accounts.setAdmin(second.userID, true)
      #expect(try await fixture.call(.get, path + "@second:example.org", as: admin).status == 403)
      try await fixture.homeserver.accounts.deactivate(ann.userID, erase: false)
      #expect(try await fixture.call(.get, path + "@ann:example.org", as: admin).errorCode == "M_NOT_FOUND")
    }
  }

  @Test func `what was asked for before an account ended leads into no room after it`() async throws {
    try await Self.run { fixture, admin, ann in
      func room(_ rule: String) async throws -> RoomID {
        let state = #"[{"type":"m.room.join_rules","content":{"join_rule":"\#(rule)"}}]"#
        let made = try await fixture.call(
          .post, "createRoom", as: admin, #"{"room_version":"11","preset":"public_chat","initial_state":\#(state)}"#)
        return RoomID(trusted: ByteString(try #require(made.json["room_id"]?.string)))
      }
      let (open, asking) = (try await room("public"), try await room("knock"))
      let rooms = fixture.homeserver.rooms
      let actor = Rooms.Actor(userID: ann.userID, deviceID: nil)
      let founding = try RoomCreation(JSON.object { _ in }, defaultVersion: "11")
      let joining = try JSON.object { $0.member("membership", "join") }
      try await fixture.homeserver.accounts.deactivate(ann.userID, erase: false)
      // Each was let in by a token that is gone now.
      let requests: [(String, () async throws -> Void)] = [
        ("join", { try await rooms.join(open, by: actor) }),
        ("knock", { try await rooms.knock(on: asking, by: actor) }),
        ("create", { _ = try await rooms.create(founding, by: actor) }),
        ("state", { _ = try await rooms.setState(.member, ann.userID.text, joining, in: open, by: actor) })
      ]
      for (name, request) in requests {
        await #expect("\(name)") { try await request() } throws: { ($0 as? MatrixError)?.code == .userDeactivated }
      }
      #expect(try await rooms.joinedRooms(of: ann.userID).isEmpty)
    }
  }

  @Test func `administrators are told what they may, and it ends with their administration`() async throws {
    try await Self.run { fixture, admin, ann in
      let moderation = try await fixture.call(.get, "capabilities", as: admin).json["capabilities"]?["m.account_moderation"]
      #expect(moderation?["lock"]?.bool == true && moderation?["suspend"]?.bool == true)
      #expect(try await fixture.call(.get, "capabilities", as: ann).json["capabilities"]?["m.account_moderation"] == nil)
      try await fixture.homeserver.accounts.setAdmin(admin.userID, false)
      #expect(try await fixture.call(.get, "/_matrix/client/v1/admin/lock/@ann:example.org", as: admin).status == 403)
    }
  }

  @Test func `who somebody is, is for themselves and for administrators`() async throws {
    try await Self.run { fixture, admin, ann in
      for user in [admin, ann] {
        let answer = try await fixture.call(.get, "admin/whois/@ann:example.org", as: user)
        #expect(answer.json["user_id"]?.string == "@ann:example.org")
        let session = answer.json["devices"]?[ann.deviceID.text]?["sessions"]?.elements.first { _ in true }
        #expect(session?["connections"]?.elements.first { _ in true }?["last_seen"]?.integer == 1_700_000_000_000)
      }
      #expect(try await fixture.call(.get, "admin/whois/@admin:example.org", as: ann).status == 403)
      #expect(try await fixture.call(.get, "admin/whois/@nobody:example.org", as: admin).errorCode == "M_NOT_FOUND")
    }
  }

  @Test func `an administrator resets a password, and may log everyone out with it`() async throws {
    try await Self.run { fixture, _, ann in
      let accounts = fixture.homeserver.accounts
      try await accounts.resetPassword(ann.userID, to: .init("battery staple"), loggingOut: false)
      #expect(try await fixture.call(.get, "account/whoami", as: ann).status == 200)
      #expect(try await fixture.logIn("ann").status == 403)
      #expect(try await fixture.logIn("ann", password: "battery staple").status == 200)
      try await accounts.resetPassword(ann.userID, to: .init("correct horse"), loggingOut: true)
      #expect(try await fixture.call(.get, "account/whoami", as: ann).status == 401)
    }
  }

  @Test func `a deactivation that was interrupted is finished at the next start`() async throws {
    let outage = Outage()
    try await Self.run(follower: outage) { fixture, admin, ann in
      let room = try #require(
        try await fixture.call(.post, "createRoom", as: admin, #"{"preset":"public_chat"}"#).json["room_id"]?.string)
      #expect(try await fixture.call(.post, "join/\(room)", as: ann, "{}").status == 200)
      let accounts = fixture.homeserver.accounts
      outage.isOn.store(true, ordering: .relaxed)
      await #expect(throws: Outage.PowerCut.self) { try await accounts.deactivate(ann.userID, erase: false) }
      func members() async throws -> Int? {
        let answer = try await fixture.call(.get, "rooms/\(room)/joined_members", as: admin)
        return answer.json["joined"]?.count
      }
      #expect(try await members() == 2)
      var failures = 0
      try await accounts.finishDeactivations { _, _ in failures += 1 }
      #expect(failures == 1)
      outage.isOn.store(false, ordering: .relaxed)
      try await accounts.finishDeactivations { _, _ in failures += 1 }
      #expect(failures == 1)
      #expect(try await members() == 1)
    }
  }
}
