import JSON
import MatrixModel
import Testing

@testable import ServerAccounts

@Suite struct JSONWebTokenLoginTests {
  private static let signer = TokenSigner(.edDSA)

  private static func run(_ body: (APIFixture) async throws -> Void) async throws {
    let key = try #require(JSONWebKey(pem: Array(signer.pem.utf8), .edDSA))
    try await APIFixture.run(
      configure: {
        var login = JSONWebTokenLogin(keys: [key])
        login.expectation.issuer = "app"
        login.expectation.audiences = ["chat"]
        $0.jsonWebTokens = login
      }, body)
  }

  private static func token(_ subject: String, _ more: String = "", issuer: String = "app") -> String {
    signer.token(#"{"sub":"\#(subject)","iss":"\#(issuer)","aud":"chat","exp":1700000300\#(more)}"#)
  }

  private static func logIn(_ fixture: APIFixture, _ token: String) async throws -> APIFixture.Answer {
    try await fixture.call(.post, "login", #"{"type":"org.matrix.login.jwt","token":"\#(token)"}"#)
  }

  @Test func `the first login makes the account with its name and avatar, the next ones change nothing`() async throws {
    try await Self.run { fixture in
      let picture = "mxc://example.org/abc"
      let ann = try fixture.user(
        try await Self.logIn(fixture, Self.token("ann", #","name":"Ann A.","picture":"\#(picture)""#)))
      #expect(ann.userID.string == "@ann:example.org")
      let profile = try await fixture.call(.get, "profile/@ann:example.org").json
      #expect(profile["displayname"]?.string == "Ann A." && profile["avatar_url"]?.string == picture)
      _ = try fixture.user(try await Self.logIn(fixture, Self.token("ann", #","name":"Other""#)))
      #expect(try await fixture.call(.get, "profile/@ann:example.org").json["displayname"]?.string == "Ann A.")
      let bob = try await Self.logIn(fixture, Self.token("bob", #","name":"","picture":"https://example.org/a.png""#))
      #expect(bob.status == 200)
      let plain = try await fixture.call(.get, "profile/@bob:example.org").json
      #expect(plain["displayname"]?.string == "bob" && plain["avatar_url"] == nil)
      let flows = try await fixture.call(.get, "login").json["flows"]?.elements.map { $0["type"]?.string } ?? []
      #expect(flows.contains("org.matrix.login.jwt"))
    }
  }

  @Test func `names that no localpart can have are mapped, each to its own`() async throws {
    try await Self.run { fixture in
      let names = [("Ann", "=41nn"), ("a@b.c", "a=40b.c"), ("=41nn", "=3d41nn"), ("ä", "=c3=a4"), ("a_b", "a_b")]
      for (name, localpart) in names {
        let answer = try await Self.logIn(fixture, Self.token(name))
        #expect(answer.json["user_id"]?.string == "@\(localpart):example.org")
      }
      let long = String(repeating: "x", count: 255 - 13)
      for (name, status) in [("", 403), (long, 200), (long + "x", 403)] {
        let answer = try await Self.logIn(fixture, Self.token(name))
        #expect(answer.status == status)
      }
    }
  }

  @Test func `a token that is not right lets nobody in`() async throws {
    try await Self.run { fixture in
      let good = Self.token("ann")
      let other = try await Self.logIn(fixture, Self.token("ann", issuer: "other"))
      #expect(other.errorCode == "M_FORBIDDEN")
      #expect(try await Self.logIn(fixture, TokenSigner(.edDSA).token(#"{"sub":"ann"}"#)).status == 403)
      // An HMAC made with the public key.
      let forged = TokenSigner.token(
        #"{"sub":"ann","iss":"app","aud":"chat","exp":1700000300}"#, secret: Array(Self.signer.pem.utf8))
      #expect(try await Self.logIn(fixture, forged).status == 403)
      let none = TokenSigner.encode(Array(#"{"alg":"none"}"#.utf8)) + "." + good.split(separator: ".")[1] + "."
      #expect(try await Self.logIn(fixture, none).status == 403)
      #expect(try await fixture.homeserver.accounts.list(AccountQuery()).total == 0)
      fixture.advance(milliseconds: 300_000 + JSONWebToken.leewaySeconds * 1_000)
      #expect(try await Self.logIn(fixture, good).status == 403)
    }
    try await APIFixture.run { fixture in
      let unknown = try await Self.logIn(fixture, Self.token("ann"))
      #expect(unknown.errorCode == "M_UNKNOWN")
    }
  }

  @Test func `a first login that comes twice at once makes one account`() async throws {
    try await Self.run { fixture in
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<6 { group.addTask { try await Self.logIn(fixture, Self.token("ann")).status } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses == [200, 200, 200, 200, 200, 200])
      #expect(try await fixture.homeserver.accounts.list(AccountQuery()).total == 1)
    }
  }

  @Test func `who has no password proves themselves by a token of the app`() async throws {
    try await Self.run { fixture in
      let ann = try fixture.user(try await Self.logIn(fixture, Self.token("ann")))
      let challenge = try await fixture.call(.post, "delete_devices", as: ann, #"{"devices":["X"]}"#)
      #expect(challenge.json["flows"]?.count == 2)
      func delete(_ token: String) async throws -> Int {
        try await fixture.call(
          .post, "delete_devices", as: ann,
          #"{"devices":["X"],"auth":{"type":"org.matrix.login.jwt","token":"\#(token)"}}"#
        ).status
      }
      #expect(try await delete(Self.token("bob")) == 401)
      #expect(try await delete(Self.token("ann")) == 200)
      #expect(try await fixture.logIn("ann").status == 403)
    }
  }

  @Test func `the locked and the deactivated stay out`() async throws {
    try await Self.run { fixture in
      let ann = try fixture.user(try await Self.logIn(fixture, Self.token("ann")))
      try await fixture.homeserver.accounts.setLocked(ann.userID, true)
      #expect(try await Self.logIn(fixture, Self.token("ann")).errorCode == "M_USER_LOCKED")
      try await fixture.homeserver.accounts.deactivate(ann.userID, erase: false)
      #expect(try await Self.logIn(fixture, Self.token("ann")).errorCode == "M_USER_DEACTIVATED")
    }
  }
}
