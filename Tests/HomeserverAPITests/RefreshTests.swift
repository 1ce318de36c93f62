import JSON
import ServerAccounts
import Testing

@Suite struct RefreshTests {
  private static let minute: Int64 = 60_000

  private static func run(_ body: (APIFixture) async throws -> Void) async throws {
    try await APIFixture.run(
      configure: {
        $0.registration = .open
        $0.accessTokenLifetimeMilliseconds = minute
      }, body)
  }

  private struct Tokens {
    let access: String
    let refresh: String
  }

  private static func tokens(_ answer: APIFixture.Answer) throws -> Tokens {
    #expect(answer.status == 200)
    #expect(answer.json["expires_in_ms"]?.integer == minute)
    return Tokens(
      access: try #require(answer.json["access_token"]?.string), refresh: try #require(answer.json["refresh_token"]?.string)
    )
  }

  private static func logIn(_ fixture: APIFixture) async throws -> Tokens {
    _ = try await fixture.register("ann")
    return try tokens(try await fixture.logIn("ann", more: #","refresh_token":true"#))
  }

  private static func refresh(_ fixture: APIFixture, _ token: String) async throws -> APIFixture.Answer {
    try await fixture.call(.post, "refresh", #"{"refresh_token":"\#(token)"}"#)
  }

  private static func works(_ fixture: APIFixture, _ token: String) async throws -> Bool {
    try await fixture.call(.get, "account/whoami", token: token).status == 200
  }

  @Test func `a token expires to the millisecond, with a soft logout, and a refreshed one goes on`() async throws {
    try await Self.run { fixture in
      let first = try await Self.logIn(fixture)
      fixture.advance(milliseconds: Self.minute - 1)
      #expect(try await Self.works(fixture, first.access))
      fixture.advance(milliseconds: 1)
      let expired = try await fixture.call(.get, "account/whoami", token: first.access)
      #expect(expired.status == 401)
      #expect(expired.errorCode == "M_UNKNOWN_TOKEN")
      #expect(expired.json["soft_logout"]?.bool == true)
      let second = try Self.tokens(try await Self.refresh(fixture, first.refresh))
      #expect(second.access != first.access && second.refresh != first.refresh)
      let who = try await fixture.call(.get, "account/whoami", token: second.access)
      #expect(who.json["user_id"]?.string == "@ann:example.org")
    }
  }

  @Test func `only who asks for it gets a token that expires`() async throws {
    try await Self.run { fixture in
      let ann = try await fixture.register("ann")
      let plain = try await fixture.logIn("ann")
      #expect(plain.json["refresh_token"] == nil && plain.json["expires_in_ms"] == nil)
      fixture.advance(milliseconds: 1_000 * Self.minute)
      #expect(try await Self.works(fixture, ann.token))
      let registered = try await fixture.call(
        .post, "register",
        #"{"username":"bob","password":"correct horse","refresh_token":true,"auth":{"type":"m.login.dummy"}}"#)
      _ = try Self.tokens(registered)
    }
    try await APIFixture.run { fixture in
      _ = try await fixture.register("ann")
      let answer = try await fixture.logIn("ann", more: #","refresh_token":true"#)
      #expect(answer.status == 200 && answer.json["refresh_token"] == nil)
    }
  }

  @Test func `the old refresh token is good until a new token is used`() async throws {
    try await Self.run { fixture in
      let first = try await Self.logIn(fixture)
      let lost = try Self.tokens(try await Self.refresh(fixture, first.refresh))
      let second = try Self.tokens(try await Self.refresh(fixture, first.refresh))
      // The answer that was lost is worth nothing once it was asked for again.
      #expect(try await !Self.works(fixture, lost.access))
      #expect(try await Self.refresh(fixture, lost.refresh).status == 401)
      #expect(try await Self.works(fixture, first.access))
      #expect(try await Self.works(fixture, second.access))
      // Used: what came before has ended.
      let reused = try await Self.refresh(fixture, first.refresh)
      #expect(reused.status == 401)
      #expect(reused.errorCode == "M_UNKNOWN_TOKEN")
      #expect(reused.json["soft_logout"]?.bool == false)
      #expect(try await !Self.works(fixture, first.access))
      #expect(try await Self.works(fixture, second.access))
    }
  }

  @Test func `using the new refresh token ends the old one too`() async throws {
    try await Self.run { fixture in
      let first = try await Self.logIn(fixture)
      let second = try Self.tokens(try await Self.refresh(fixture, first.refresh))
      let third = try Self.tokens(try await Self.refresh(fixture, second.refresh))
      #expect(try await Self.refresh(fixture, first.refresh).status == 401)
      #expect(try await !Self.works(fixture, first.access))
      #expect(try await Self.works(fixture, third.access))
      #expect(try await Self.refresh(fixture, second.refresh).status == 401)
    }
  }

  @Test func `of refreshes at once, exactly one pair is left`() async throws {
    try await Self.run { fixture in
      let first = try await Self.logIn(fixture)
      let answers = try await withThrowingTaskGroup(of: APIFixture.Answer.self) { group in
        for _ in 0..<8 { group.addTask { try await Self.refresh(fixture, first.refresh) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      var working = 0
      for answer in answers {
        if try await Self.works(fixture, try Self.tokens(answer).access) { working += 1 }
      }
      #expect(working == 1)
      let rows = try await fixture.homeserver.database.read { tx in
        try tx.first("SELECT COUNT(*) FROM refresh_token") { $0.integer(0) }
      }
      #expect(rows == 1)
    }
  }

  @Test func `logging out ends the refresh token, and so does a new login of the device`() async throws {
    try await Self.run { fixture in
      let first = try await Self.logIn(fixture)
      #expect(try await fixture.call(.post, "logout", token: first.access).status == 200)
      #expect(try await Self.refresh(fixture, first.refresh).status == 401)
      let second = try Self.tokens(try await fixture.logIn("ann", more: #","device_id":"A","refresh_token":true"#))
      _ = try await fixture.logIn("ann", more: #","device_id":"A""#)
      #expect(try await Self.refresh(fixture, second.refresh).status == 401)
      let third = try Self.tokens(try await fixture.logIn("ann", more: #","refresh_token":true"#))
      #expect(try await fixture.call(.post, "logout/all", token: third.access).status == 200)
      #expect(try await Self.refresh(fixture, third.refresh).status == 401)
    }
  }

  @Test func `tokens are not each other, nothing is not a token, and the locked refresh nothing`() async throws {
    try await Self.run { fixture in
      let first = try await Self.logIn(fixture)
      #expect(try await Self.refresh(fixture, first.access).status == 401)
      #expect(try await !Self.works(fixture, first.refresh))
      #expect(try await Self.refresh(fixture, "").status == 401)
      #expect(try await fixture.call(.post, "refresh", "{}").errorCode == "M_MISSING_PARAM")
      let user = try #require(try await fixture.homeserver.accounts.list(AccountQuery()).accounts.first?.userID)
      try await fixture.homeserver.accounts.setLocked(user, true)
      let locked = try await Self.refresh(fixture, first.refresh)
      #expect(locked.errorCode == "M_USER_LOCKED")
      try await fixture.homeserver.accounts.setLocked(user, false)
      #expect(try await Self.refresh(fixture, first.refresh).status == 200)
    }
  }
}
