import JSON
import MatrixModel
import ServerAccounts
import Testing

@Suite struct RegistrationTokenTests {
  private static func run(_ body: (APIFixture, RegistrationTokens) async throws -> Void) async throws {
    try await APIFixture.run(
      configure: {
        $0.registration = .token
        $0.registrationTokens = ["configured"]
      }
    ) { fixture in try await body(fixture, fixture.homeserver.accounts.registrationTokens) }
  }

  private static func register(_ fixture: APIFixture, _ name: String, _ token: String) async throws -> Int {
    try await fixture.call(
      .post, "register",
      #"{"username":"\#(name)","password":"correct horse","auth":{"type":"m.login.registration_token","token":"\#(token)"}}"#
    ).status
  }

  private static func isValid(_ fixture: APIFixture, _ token: String) async throws -> Bool? {
    try await fixture.call(.get, "/_matrix/client/v1/register/m.login.registration_token/validity?token=\(token)")
      .json["valid"]?.bool
  }

  @Test func `a token of the database registers as many as it allows`() async throws {
    try await Self.run { fixture, tokens in
      _ = try await tokens.create("twice", usesAllowed: 2, expires: nil)
      #expect(try await Self.register(fixture, "a", "twice") == 200)
      #expect(try await Self.isValid(fixture, "twice") == true)
      #expect(try await Self.register(fixture, "b", "twice") == 200)
      #expect(try await Self.isValid(fixture, "twice") == false)
      #expect(try await Self.register(fixture, "c", "twice") == 401)
      let token = try await tokens.token("twice")
      #expect(token.completed == 2 && token.pending == 0)
      for name in ["d", "e", "f"] { #expect(try await Self.register(fixture, name, "configured") == 200) }
    }
  }

  @Test func `of registrations at once, no more succeed than are allowed`() async throws {
    try await Self.run { fixture, tokens in
      _ = try await tokens.create("once", usesAllowed: 1, expires: nil)
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<6 { group.addTask { try await Self.register(fixture, "u\(number)", "once") } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.count { $0 == 200 } == 1)
      #expect(try await tokens.token("once").completed == 1)
      #expect(try await fixture.homeserver.accounts.list(AccountQuery()).total == 1)
    }
  }

  @Test func `a registration that failed uses no token up`() async throws {
    try await Self.run { fixture, tokens in
      _ = try await tokens.create("once", usesAllowed: 1, expires: nil)
      let failed = try await fixture.call(
        .post, "register", #"{"username":"a","auth":{"type":"m.login.registration_token","token":"once"}}"#)
      #expect(failed.errorCode == "M_MISSING_PARAM")
      #expect(try await Self.register(fixture, "a b", "once") == 400)
      #expect(try await Self.register(fixture, "a", "once") == 200)
    }
  }

  @Test func `a token ends to the millisecond`() async throws {
    try await Self.run { fixture, tokens in
      let now = fixture.homeserver.configuration.clock.now()
      _ = try await tokens.create("late", usesAllowed: nil, expires: now + 1_000)
      fixture.advance(milliseconds: 999)
      #expect(try await Self.isValid(fixture, "late") == true)
      fixture.advance(milliseconds: 1)
      #expect(try await Self.isValid(fixture, "late") == false)
      #expect(try await Self.register(fixture, "a", "late") == 401)
      #expect(try await tokens.list(isValid: false).map(\.token) == ["late"])
      #expect(try await tokens.list(isValid: true).isEmpty)
    }
  }

  @Test func `administrators make, change and delete tokens`() async throws {
    try await Self.run { fixture, tokens in
      let chosen = try await tokens.create(nil, usesAllowed: nil, expires: nil)
      #expect(chosen.token.count == 16)
      #expect(try await Self.isValid(fixture, chosen.token.string) == true)
      let limited = try await tokens.update(chosen.token, usesAllowed: .some(0), expires: nil)
      #expect(limited.usesAllowed == 0)
      #expect(try await Self.isValid(fixture, chosen.token.string) == false)
      let free = try await tokens.update(chosen.token, usesAllowed: .some(nil), expires: .some(nil))
      #expect(free.usesAllowed == nil && free.expires == nil)
      try await tokens.delete(chosen.token)
      #expect(try await Self.isValid(fixture, chosen.token.string) == false)
      await #expect(throws: MatrixError.self) { try await tokens.delete(chosen.token) }
      await #expect(throws: MatrixError.self) { try await tokens.update("none", usesAllowed: nil, expires: nil) }
      _ = try await tokens.create("x", usesAllowed: nil, expires: nil)
      for (name, uses, expires) in [
        ("x", nil, nil), ("a b", nil, nil), ("", nil, nil), (String(repeating: "x", count: 65), nil, nil), ("y", -1, nil),
        ("y", nil, 1)
      ] as [(String, Int64?, Int64?)] {
        await #expect(throws: MatrixError.self) {
          try await tokens.create(ByteString(name), usesAllowed: uses, expires: expires)
        }
      }
      _ = try await tokens.create(ByteString(String(repeating: "x", count: 64)), usesAllowed: nil, expires: nil)
    }
  }
}
