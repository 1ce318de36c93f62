import JSON
import MatrixModel
import ServerAccounts
import Testing

@Suite struct LoginTokenTests {
  private static func run(_ body: (APIFixture, APIFixture.User) async throws -> Void) async throws {
    try await APIFixture.run(
      configure: {
        $0.registration = .open
        $0.issuesLoginTokens = true
      }
    ) { fixture in try await body(fixture, try await fixture.register("ann")) }
  }

  private static let path = "/_matrix/client/v1/login/get_token"

  private static func token(_ fixture: APIFixture, _ user: APIFixture.User) async throws -> String {
    let answer = try await fixture.call(.post, path, as: user, #"{"auth":\#(APIFixture.passwordAuth("ann"))}"#)
    #expect(answer.json["expires_in_ms"]?.integer == 120_000)
    return try #require(answer.json["login_token"]?.string)
  }

  private static func logIn(_ fixture: APIFixture, _ token: String) async throws -> APIFixture.Answer {
    try await fixture.call(.post, "login", #"{"type":"m.login.token","token":"\#(token)"}"#)
  }

  @Test func `a token is given for the password and logs in once`() async throws {
    try await Self.run { fixture, ann in
      #expect(try await fixture.call(.post, Self.path, as: ann, "{}").json["flows"] != nil)
      let token = try await Self.token(fixture, ann)
      let second = try fixture.user(try await Self.logIn(fixture, token))
      #expect(second.userID == ann.userID && second.deviceID != ann.deviceID)
      #expect(try await fixture.call(.get, "account/whoami", as: second).status == 200)
      let again = try await Self.logIn(fixture, token)
      #expect(again.status == 403 && again.errorCode == "M_FORBIDDEN")
    }
  }

  @Test func `of uses at once, one logs in`() async throws {
    try await Self.run { fixture, ann in
      let token = try await Self.token(fixture, ann)
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<8 { group.addTask { try await Self.logIn(fixture, token).status } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.count { $0 == 200 } == 1)
      #expect(statuses.count { $0 == 403 } == 7)
      #expect(try await fixture.call(.get, "devices", as: ann).json["devices"]?.count == 2)
    }
  }

  @Test(arguments: [(119_999, 200), (120_000, 403)]) func `a token lasts two minutes`(wait: Int64, status: Int) async throws {
    try await Self.run { fixture, ann in
      let token = try await Self.token(fixture, ann)
      fixture.advance(milliseconds: wait)
      #expect(try await Self.logIn(fixture, token).status == status)
    }
  }

  @Test func `the eleventh token ends the first, and a deactivated user's end`() async throws {
    try await Self.run { fixture, ann in
      let tokens = fixture.homeserver.accounts.loginTokens
      var issued: [String] = []
      for _ in 0...ExpiringTokens.Kind.login.countLimit {
        issued.append(try await tokens.issue(for: ann.userID).text.string)
        fixture.advance(milliseconds: 1)
      }
      #expect(try await Self.logIn(fixture, issued[0]).status == 403)
      #expect(try await Self.logIn(fixture, issued[1]).status == 200)
      try await fixture.homeserver.accounts.deactivate(ann.userID, erase: false)
      #expect(try await Self.logIn(fixture, issued[2]).status == 403)
    }
  }

  @Test func `a new password and logging out everywhere end the tokens that are out`() async throws {
    try await Self.run { fixture, ann in
      let before = try await Self.token(fixture, ann)
      try await fixture.homeserver.accounts.resetPassword(ann.userID, to: .init("correct horse"), loggingOut: false)
      #expect(try await Self.logIn(fixture, before).status == 403)
      let second = try await Self.token(fixture, ann)
      #expect(try await fixture.call(.post, "logout/all", as: ann).status == 200)
      #expect(try await Self.logIn(fixture, second).status == 403)
    }
  }

  @Test func `a token says nothing of itself where it is printed`() async throws {
    let token = AccessToken.random()
    var dumped = ""
    dump(token, to: &dumped)
    for text in ["\(token)", String(reflecting: token), dumped] { #expect(!text.contains(token.text.string)) }
  }

  @Test func `it is announced only where it is switched on`() async throws {
    try await Self.run { fixture, ann in
      let flows = try await fixture.call(.get, "login").json["flows"]?.elements.map { $0["type"]?.string } ?? []
      #expect(flows.contains("m.login.token"))
      let flow = try await fixture.call(.get, "login").json["flows"]?.elements.first { $0["type"]?.string == "m.login.token" }
      #expect(flow?["get_login_token"]?.bool == true)
      let capabilities = try await fixture.call(.get, "capabilities", as: ann).json["capabilities"]
      #expect(capabilities?["m.get_login_token"]?["enabled"]?.bool == true)
    }
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      #expect(try await fixture.call(.get, "login").json["flows"]?.count == 1)
      let capabilities = try await fixture.call(.get, "capabilities", as: ann).json["capabilities"]
      #expect(capabilities?["m.get_login_token"]?["enabled"]?.bool == false)
      let refused = try await fixture.call(
        .post, Self.path, as: ann, #"{"auth":\#(APIFixture.passwordAuth("ann"))}"#)
      #expect(refused.status == 404 && refused.errorCode == "M_UNRECOGNIZED")
    }
  }

  @Test func `an OpenID token tells a third party who the user is, for an hour, and nothing else`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let path = APIFixture.own(ann, "openid/request_token")
      #expect(try await fixture.call(.post, path, as: bob, "{}").status == 403)
      let answer = try await fixture.call(.post, path, as: ann, "{}")
      #expect(answer.json["token_type"]?.string == "Bearer")
      #expect(answer.json["matrix_server_name"]?.string == "example.org")
      #expect(answer.json["expires_in"]?.integer == 3_600)
      let token = try #require(answer.json["access_token"]?.string)
      #expect(try await fixture.call(.get, "account/whoami", token: token).status == 401)
      let info = "/_matrix/federation/v1/openid/userinfo"
      #expect(try await fixture.call(.get, info + "?access_token=\(token)").json["sub"]?.string == "@ann:example.org")
      #expect(try await fixture.call(.get, info + "?access_token=\(ann.token)").status == 401)
      #expect(try await fixture.call(.get, info).errorCode == "M_MISSING_TOKEN")
      fixture.advance(milliseconds: 3_599_999)
      #expect(try await fixture.call(.get, info + "?access_token=\(token)").status == 200)
      fixture.advance(milliseconds: 1)
      let expired = try await fixture.call(.get, info + "?access_token=\(token)")
      #expect(expired.status == 401 && expired.errorCode == "M_UNKNOWN_TOKEN")
    }
  }

  @Test func `a token of one kind is not valid as another, and each kind has its own limit`() async throws {
    try await Self.run { fixture, ann in
      let (logins, openIDs) = (fixture.homeserver.accounts.loginTokens, fixture.homeserver.accounts.openIDTokens)
      let openID = try await openIDs.issue(for: ann.userID)
      let login = try await logins.issue(for: ann.userID)
      #expect(try await Self.logIn(fixture, openID.text.string).status == 403)
      #expect(try await logins.owner(of: openID.hash) == nil)
      #expect(try await openIDs.owner(of: login.hash) == nil)
      for _ in 1..<ExpiringTokens.Kind.openID.countLimit {
        fixture.advance(milliseconds: 1)
        _ = try await openIDs.issue(for: ann.userID)
      }
      #expect(try await openIDs.owner(of: openID.hash) == ann.userID)
      #expect(try await Self.logIn(fixture, login.text.string).status == 200)
      _ = try await openIDs.issue(for: ann.userID)
      #expect(try await openIDs.owner(of: openID.hash) == nil)
    }
  }

  @Test func `OAuth 2 is not announced`() async throws {
    try await APIFixture.run { fixture in
      let answer = try await fixture.call(.get, "/_matrix/client/v1/auth_metadata")
      #expect(answer.status == 404 && answer.errorCode == "M_UNRECOGNIZED")
    }
  }
}
