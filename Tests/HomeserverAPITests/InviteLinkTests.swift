import JSON
import MatrixModel
import ServerAccounts
import Testing

@testable import Homeserver
@testable import HomeserverAPI

/// Links that invite into a room or to a person, and what an attacker can do with one.
@Suite struct InviteLinkTests {
  private static let path = "/_matrix/client/unstable/martlet.invite_links"

  private struct Scene {
    let fixture: APIFixture
    /// Has the room.
    let ann: APIFixture.User
    let bob: APIFixture.User
    let room: String

    init(_ fixture: APIFixture) async throws {
      self.fixture = fixture
      ann = try await Self.account("ann", fixture)
      bob = try await Self.account("bob", fixture)
      let made = try await fixture.call(
        .post, "createRoom", as: ann, #"{"name":"Garden","topic":"Roses","preset":"private_chat"}"#)
      room = try #require(made.json["room_id"]?.string)
    }

    static func account(_ name: String, _ fixture: APIFixture) async throws -> APIFixture.User {
      _ = try await fixture.homeserver.accounts.create(ByteString(name), password: .init("correct horse"))
      return try fixture.user(try await fixture.logIn(name))
    }

    func user(_ name: String) async throws -> APIFixture.User { try await Self.account(name, fixture) }

    func makeAdministrator(_ user: APIFixture.User) async throws {
      try await fixture.homeserver.accounts.setAdmin(user.userID, true)
    }

    func create(as user: APIFixture.User, toRoom: Bool = true, _ more: String = "") async throws -> APIFixture.Answer {
      let target = toRoom ? #""room_id":"\#(room)""# : #""for":"me""#
      return try await fixture.call(.post, InviteLinkTests.path, as: user, "{\(target)\(more)}")
    }

    func token(_ more: String = "", toRoom: Bool = true) async throws -> String {
      try #require(try await create(as: ann, toRoom: toRoom, more).json["token"]?.string)
    }

    func describe(_ token: String, as user: APIFixture.User? = nil) async throws -> APIFixture.Answer {
      try await fixture.call(.post, InviteLinkTests.path + "/describe", as: user, #"{"token":"\#(token)"}"#)
    }

    func join(_ token: String, as user: APIFixture.User, _ more: String = "") async throws -> APIFixture.Answer {
      try await fixture.call(.post, InviteLinkTests.path + "/join", as: user, #"{"token":"\#(token)"\#(more)}"#)
    }

    func act(_ verb: String, as user: APIFixture.User, _ body: String = "{}") async throws -> Int {
      try await fixture.call(.post, "rooms/\(PercentEncoding.encode(ByteString(room)))/\(verb)", as: user, body).status
    }

    func links(of user: APIFixture.User) async throws -> [JSON] {
      try await fixture.call(.get, InviteLinkTests.path, as: user).json["invite_links"]?.elements.map { $0 } ?? []
    }

    func register(_ name: String, _ token: String) async throws -> APIFixture.Answer {
      try await fixture.call(
        .post, "register",
        #"{"username":"\#(name)","password":"correct horse","auth":{"type":"m.login.registration_token","token":"\#(token)"}}"#)
    }
  }

  private static func run(
    _ configure: (inout HomeserverConfiguration) -> Void, limited: Bool = false, _ body: (Scene) async throws -> Void
  ) async throws {
    try await APIFixture.run(limited ? APIConfiguration() : nil, configure: configure) { try await body(Scene($0)) }
  }

  private static func run(_ body: (Scene) async throws -> Void) async throws { try await run({ _ in }, body) }

  // MARK: What links do

  @Test func `a link shows who invites to what, and takes its holder into the private room`() async throws {
    try await Self.run { scene in
      let made = try await scene.create(as: scene.ann)
      #expect(made.status == 200)
      let token = try #require(made.json["token"]?.string)
      #expect(token.utf8.count == 22)
      let shown = try await scene.describe(token)
      #expect(shown.status == 200)
      #expect(shown.json["inviter"]?["displayname"]?.string == "ann")
      #expect(shown.json["room"]?["name"]?.string == "Garden")
      #expect(shown.json["room"]?["topic"]?.string == "Roses")
      #expect(shown.json["room"]?["num_joined_members"]?.integer == 1)
      #expect(shown.json["room"]?["room_id"] == nil)
      #expect(shown.json["registration"]?.bool == false)
      let joined = try await scene.join(token, as: scene.bob)
      #expect(joined.json["room_id"]?.string == scene.room)
      let member = try await scene.fixture.call(
        .get, "rooms/\(PercentEncoding.encode(ByteString(scene.room)))/state/m.room.member/%40bob%3Aexample.org", as: scene.ann)
      #expect(member.json["membership"]?.string == "join")
      #expect(try await scene.links(of: scene.ann).first?["uses"]?.integer == 1)
      // A second click, also of a link that others have used up by now, is no second use.
      #expect(try await scene.join(token, as: scene.bob).status == 200)
      #expect(try await scene.links(of: scene.ann).first?["uses"]?.integer == 1)
    }
  }

  @Test func `a link to a person opens the direct chat with them`() async throws {
    try await Self.run { scene in
      let token = try await scene.token(toRoom: false)
      let shown = try await scene.describe(token)
      #expect(shown.json["room"] == nil)
      #expect(shown.json["inviter"]?["user_id"]?.string == "@ann:example.org")
      let room = try #require(try await scene.join(token, as: scene.bob).json["room_id"]?.string)
      let again = try await scene.fixture.call(
        .post, "/_matrix/client/unstable/martlet.direct", as: scene.bob, #"{"user_id":"@ann:example.org"}"#)
      #expect(again.json["room_id"]?.string == room)
      #expect(try await scene.join(token, as: scene.ann).errorCode == "M_INVALID_PARAM")
    }
  }

  @Test func `the direct chat that a link makes has the initial state that its user asks for`() async throws {
    try await Self.run { scene in
      let token = try await scene.token(toRoom: false)
      let wrong = try await scene.join(token, as: scene.bob, #","initial_state":[{"content":{}}]"#)
      #expect(wrong.status == 400)
      let state = #"[{"type":"m.room.encryption","state_key":"","content":{"algorithm":"m.megolm.v1.aes-sha2"}}]"#
      let joined = try await scene.join(token, as: scene.bob, #","initial_state":\#(state)"#)
      let room = PercentEncoding.encode(ByteString(try #require(joined.json["room_id"]?.string)))
      let encryption = try await scene.fixture.call(.get, "rooms/\(room)/state/m.room.encryption/", as: scene.bob)
      #expect(encryption.status == 200)
      #expect(encryption.json["algorithm"]?.string == "m.megolm.v1.aes-sha2")
    }
  }

  @Test func `limits of links are those of the settings, and administrators have none but the life`() async throws {
    try await Self.run({
      $0.inviteLinks.perUser = 2
      $0.inviteLinks.usesPerLink = 5
      $0.inviteLinks.longestDays = 1
    }) { scene in
      #expect(try await scene.create(as: scene.ann, #","uses":6"#).errorCode == "M_INVALID_PARAM")
      #expect(try await scene.create(as: scene.ann, #","uses":0"#).errorCode == "M_INVALID_PARAM")
      #expect(try await scene.create(as: scene.ann, #","lifetime_ms":86400001"#).errorCode == "M_INVALID_PARAM")
      for _ in 0..<2 { #expect(try await scene.create(as: scene.ann).status == 200) }
      #expect(try await scene.create(as: scene.ann).errorCode == "M_RESOURCE_LIMIT_EXCEEDED")
      let first = try #require(try await scene.links(of: scene.ann).first?["id"]?.string)
      #expect(try await scene.fixture.call(.delete, Self.path + "/" + first, as: scene.ann).status == 200)
      #expect(try await scene.create(as: scene.ann).status == 200)
      try await scene.makeAdministrator(scene.ann)
      let admin = try scene.fixture.user(try await scene.fixture.logIn("ann"))
      #expect(try await scene.create(as: admin, #","uses":1000"#).status == 200)
      #expect(try await scene.create(as: admin, #","lifetime_ms":86400001"#).errorCode == "M_INVALID_PARAM")
    }
  }

  @Test(arguments: [InviteLinkRules.Makers.nobody, .administrators])
  func `users make no links if the setting keeps them from it`(makers: InviteLinkRules.Makers) async throws {
    try await Self.run({ $0.inviteLinks.makers = makers }) { scene in
      #expect(try await scene.create(as: scene.ann).errorCode == "M_FORBIDDEN")
      let capabilities = try await scene.fixture.call(.get, "capabilities", as: scene.ann)
      #expect(capabilities.json["capabilities"]?["martlet.invite_links"]?["create"]?.bool == false)
    }
  }

  @Test func `only members who may invite make links to a room`() async throws {
    try await Self.run { scene in
      let answer = try await scene.create(as: scene.bob)
      #expect(answer.errorCode == "M_FORBIDDEN")
    }
  }

  @Test func `administrators see and revoke the links of all, users only their own`() async throws {
    try await Self.run { scene in
      let token = try await scene.token()
      let id = try #require(try await scene.links(of: scene.ann).first?["id"]?.string)
      #expect(try await scene.fixture.call(.delete, Self.path + "/" + id, as: scene.bob).errorCode == "M_NOT_FOUND")
      let all = "/_matrix/client/unstable/martlet.administration/invite_links"
      #expect(try await scene.fixture.call(.get, all, as: scene.bob).errorCode == "M_FORBIDDEN")
      try await scene.makeAdministrator(scene.bob)
      let listed = try await scene.fixture.call(.get, all, as: scene.bob).json
      #expect(listed["total"]?.integer == 1)
      let link = try #require(listed["invite_links"]?.elements.map { $0 }.first)
      #expect(link["user_id"]?.string == "@ann:example.org")
      #expect(link["room_name"]?.string == "Garden")
      #expect(link["token"] == nil)
      #expect(try await scene.fixture.call(.delete, all + "/" + id, as: scene.bob).status == 200)
      #expect(try await scene.describe(token).errorCode == "M_NOT_FOUND")
    }
  }

  // MARK: Registering

  @Test func `an administrator's link creates accounts on a closed server, one for each use`() async throws {
    try await Self.run { scene in
      try await scene.makeAdministrator(scene.ann)
      let token = try await scene.token(#","uses":1"#)
      #expect(try await scene.describe(token).json["registration"]?.bool == true)
      // A registration that fails is no use.
      #expect(try await scene.register("ann", token).errorCode == "M_USER_IN_USE")
      let answer = try await scene.register("carol", token)
      #expect(answer.status == 200)
      let carol = try scene.fixture.user(answer)
      // The link is used up for others, but not for Carol, who is its use.
      #expect(try await scene.describe(token).errorCode == "M_NOT_FOUND")
      #expect(try await scene.describe(token, as: carol).status == 200)
      #expect(try await scene.join(token, as: scene.bob).errorCode == "M_NOT_FOUND")
      #expect(try await scene.join(token, as: carol).json["room_id"]?.string == scene.room)
      #expect(try await scene.register("dave", token).status == 401)
    }
  }

  @Test func `links of users let nobody register unless the setting says so`() async throws {
    try await Self.run { scene in
      let token = try await scene.token()
      #expect(try await scene.register("carol", token).status == 401)
      #expect(try await scene.fixture.call(.post, "register", #"{"username":"carol"}"#).status == 403)
    }
    try await Self.run({ $0.inviteLinks.registrars = .everybody }) { scene in
      let token = try await scene.token()
      #expect(try await scene.describe(token).json["registration"]?.bool == true)
      #expect(try await scene.register("carol", token).status == 200)
    }
  }

  @Test func `a link is a registration token where those are asked for`() async throws {
    try await Self.run({
      $0.registration = .token
      $0.inviteLinks.registrars = .everybody
    }) { scene in
      let token = try await scene.token()
      let check = "/_matrix/client/v1/register/m.login.registration_token/validity?token="
      #expect(try await scene.fixture.call(.get, check + token).json["valid"]?.bool == true)
      #expect(try await scene.register("carol", token).status == 200)
    }
  }

  @Test func `of registrations and joins at once, no more succeed than a link allows`() async throws {
    try await Self.run({ $0.inviteLinks.registrars = .everybody }) { scene in
      let token = try await scene.token(#","uses":2"#)
      var users: [APIFixture.User] = []
      for number in 0..<4 { users.append(try await scene.user("u\(number)")) }
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for user in users { group.addTask { try await scene.join(token, as: user).status } }
        for number in 0..<4 { group.addTask { try await scene.register("new\(number)", token).status } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.count { $0 == 200 } == 2)
      #expect(try await scene.links(of: scene.ann).first?["uses"]?.integer == 2)
    }
  }

  // MARK: Links that lead nowhere

  @Test func `unknown, expired, used up and revoked links get the same answer`() async throws {
    try await Self.run { scene in
      let (used, revoked) = (try await scene.token(#","uses":1"#), try await scene.token())
      #expect(try await scene.join(used, as: scene.bob).status == 200)
      let id = try #require(try await scene.links(of: scene.ann).first { $0["uses"]?.integer == 0 }?["id"]?.string)
      #expect(try await scene.fixture.call(.delete, Self.path + "/" + id, as: scene.ann).status == 200)
      let expired = try await scene.token(#","lifetime_ms":1000"#)
      scene.fixture.advance(milliseconds: 1_000)
      let long = String(repeating: "a", count: 60_000)
      let carol = try await scene.user("carol")
      var answers: Set<String> = []
      for token in [used, revoked, expired, "unknown", "", long, "%23", #"\u0000"#] {
        let (shown, joined) = (try await scene.describe(token), try await scene.join(token, as: carol))
        answers.insert("\(shown.status) \(shown.errorCode ?? "") \(shown.json["error"]?.string ?? "")")
        answers.insert("\(joined.status) \(joined.errorCode ?? "") \(joined.json["error"]?.string ?? "")")
      }
      #expect(answers == ["404 M_NOT_FOUND This invite link is not valid, or not any more."])
    }
  }

  @Test(arguments: ["leave", "right", "suspend", "deactivate", "lock"])
  func `the links of an inviter who may not invite any more do nothing`(end: String) async throws {
    try await Self.run { scene in
      let token = try await scene.token()
      let accounts = scene.fixture.homeserver.accounts
      switch end {
      case "leave": #expect(try await scene.act("leave", as: scene.ann) == 200)
      case "right":
        // Bob may invite until the room takes his right.
        #expect(try await scene.join(token, as: scene.bob).status == 200)
        let made = try await scene.create(as: scene.bob)
        let path = "rooms/\(PercentEncoding.encode(ByteString(scene.room)))/state/m.room.power_levels"
        #expect(try await scene.fixture.call(.put, path, as: scene.ann, #"{"invite":50}"#).status == 200)
        #expect(try await scene.describe(try #require(made.json["token"]?.string)).errorCode == "M_NOT_FOUND")
        #expect(try await scene.create(as: scene.bob).errorCode == "M_FORBIDDEN")
        return
      case "suspend": try await accounts.setSuspended(scene.ann.userID, true)
      case "lock": try await accounts.setLocked(scene.ann.userID, true)
      default: try await accounts.deactivate(scene.ann.userID, erase: false)
      }
      #expect(try await scene.describe(token).errorCode == "M_NOT_FOUND")
      #expect(try await scene.join(token, as: scene.bob).errorCode == "M_NOT_FOUND")
    }
  }

  @Test func `a link does not let in banned users, nor users that the inviter ignores`() async throws {
    try await Self.run { scene in
      let token = try await scene.token()
      #expect(try await scene.act("ban", as: scene.ann, #"{"user_id":"@bob:example.org"}"#) == 200)
      #expect(try await scene.join(token, as: scene.bob).errorCode == "M_FORBIDDEN")
      let carol = try await scene.user("carol")
      let ignored = #"{"ignored_users":{"@carol:example.org":{}}}"#
      _ = try await scene.fixture.call(
        .put, APIFixture.own(scene.ann, "account_data/m.ignored_user_list"), as: scene.ann, ignored)
      #expect(try await scene.join(token, as: carol).errorCode == "M_FORBIDDEN")
      #expect(try await scene.join(try await scene.token(toRoom: false), as: carol).errorCode == "M_NOT_FOUND")
      #expect(try await scene.links(of: scene.ann).allSatisfy { $0["uses"]?.integer == 0 })
    }
  }

  @Test func `a user who takes no invitations joins by a link all the same`() async throws {
    try await Self.run { scene in
      _ = try await scene.fixture.call(
        .put, APIFixture.own(scene.bob, "account_data/m.invite_permission_config"), as: scene.bob,
        #"{"default_action":"block"}"#)
      #expect(try await scene.join(try await scene.token(), as: scene.bob).status == 200)
    }
  }

  @Test func `guesses are limited by address`() async throws {
    try await Self.run({ _ in }, limited: true) { scene in
      var refused = false
      for number in 0..<60 where !refused { refused = try await scene.describe("guess\(number)").status == 429 }
      #expect(refused)
    }
  }

  @Test func `the database does not have the token`() async throws {
    try await Self.run { scene in
      let token = try await scene.token()
      let found = try await scene.fixture.homeserver.database.read { tx in
        try tx.first("SELECT COUNT(*) FROM invite_link WHERE hash = $1 OR link_id = $2", Array(token.utf8), ByteString(token)) {
          $0.integer(0)
        }
      }
      #expect(found == 0)
    }
  }

  @Test func `links that ended a week ago are deleted`() async throws {
    try await Self.run { scene in
      _ = try await scene.token(#","lifetime_ms":1000"#)
      _ = try await scene.token()
      scene.fixture.advance(milliseconds: 7 * 24 * 60 * 60 * 1_000)
      try await scene.fixture.homeserver.accounts.inviteLinks.forgetOld()
      #expect(try await scene.links(of: scene.ann).count == 2)
      scene.fixture.advance(milliseconds: 1_000)
      try await scene.fixture.homeserver.accounts.inviteLinks.forgetOld()
      #expect(try await scene.links(of: scene.ann).count == 1)
    }
  }
}
