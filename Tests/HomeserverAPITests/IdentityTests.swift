import JSON
import OutboundTesting
import Testing

@testable import HomeserverAPI
@testable import ServerAccounts

@Suite struct IdentityTests {
  private func request(
    _ api: APIFixture, _ path: String, email: String = "alice@example.com", secret: String = "secret", attempt: Int = 1,
    more: String = ""
  ) async throws -> APIFixture.Answer {
    try await api.call(
      .post, path + "/email/requestToken",
      #"{"client_secret":"\#(secret)","email":"\#(email)","send_attempt":\#(attempt)\#(more)}"#)
  }

  /// Follows the link in a mail and presses its button.
  @discardableResult
  private func confirm(_ api: APIFixture, _ mail: String?) async throws -> APIFixture.PageAnswer {
    let mail = try #require(mail)
    let link = try #require(MailServer.link(in: mail))
    #expect(link.hasPrefix("https://matrix.example.org/_matrix/client/unstable/martlet.identity/email/confirm?"))
    return try await api.page(.post, String(link.dropFirst("https://matrix.example.org".count)))
  }

  @Test func `one network cannot keep the others from confirming addresses`() async throws {
    try await APIFixture.runWithMail { api, mails in
      try await api.homeserver.database.write { tx in
        for number in 1..<EmailValidations.sessionsLimit {
          // The first is confirmed, the second the oldest.
          try tx.execute(
            """
            INSERT INTO email_validation(session_id, purpose, address, client_secret, send_attempt, renewed, validated, network)
            VALUES($1, 'registration', $2, 'x', 1, $3, $4, $5)
            """, "s\(number)", "a\(number)@x", api.homeserver.configuration.clock.now() + number,
            number == 1 ? number : nil, number < 9_000 ? 1 : 2)
        }
      }
      func sessions() async throws -> (count: Int64, hasFirst: Bool, hasSecond: Bool) {
        try await api.homeserver.database.read { tx in
          func has(_ id: String) throws -> Bool {
            try tx.first("SELECT 1 FROM email_validation WHERE session_id = $1", id) { _ in true } ?? false
          }
          let count = try tx.first("SELECT COUNT(*) FROM email_validation") { $0.integer(0) } ?? 0
          return (count, try has("s1"), try has("s2"))
        }
      }
      #expect(try await request(api, "register").status == 200)
      #expect(try await sessions() == (EmailValidations.sessionsLimit, true, true))
      #expect(try await request(api, "register", email: "bob@example.com").status == 200)
      #expect(try await sessions() == (EmailValidations.sessionsLimit, true, false))
      #expect(mails.mails.count == 2)
    }
  }

  private func sid(_ answer: APIFixture.Answer) throws -> String { try #require(answer.json["sid"]?.string) }

  /// Adds an address to a user's account by the whole way.
  private func add(_ email: String, to user: APIFixture.User, named name: String, _ api: APIFixture, _ mails: MailServer)
    async throws
  {
    let session = try sid(try await request(api, "account/3pid", email: email, secret: "add-" + name))
    try await confirm(api, mails.mails.last)
    let answer = try await api.call(
      .post, "account/3pid/add", as: user,
      #"{"sid":"\#(session)","client_secret":"add-\#(name)","auth":\#(APIFixture.passwordAuth(name))}"#)
    #expect(answer.status == 200)
  }

  @Test("without a mail server every request for a mail is refused, and the capability says so")
  func noMail() async throws {
    try await APIFixture.run { api in
      let alice = try await api.register("alice")
      for path in ["register", "account/3pid", "account/password"] {
        let answer = try await request(api, path)
        #expect(answer.status == 400 && answer.errorCode == "M_THREEPID_MEDIUM_NOT_SUPPORTED")
      }
      let capabilities = try await api.call(.get, "capabilities", as: alice)
      #expect(capabilities.json["capabilities"]?["m.3pid_changes"]?["enabled"]?.bool == false)
    }
  }

  @Test("phone numbers are always refused", arguments: ["register", "account/3pid", "account/password"])
  func phone(_ path: String) async throws {
    try await APIFixture.runWithMail { api, _ in
      let answer = try await api.call(
        .post, path + "/msisdn/requestToken",
        #"{"client_secret":"s","country":"GB","phone_number":"07700900001","send_attempt":1}"#)
      #expect(answer.status == 400 && answer.errorCode == "M_THREEPID_MEDIUM_NOT_SUPPORTED")
    }
  }

  @Test("an address is added once its mail is confirmed, listed, and deleted")
  func addition() async throws {
    try await APIFixture.runWithMail { api, mails in
      let alice = try await api.register("alice")
      let session = try sid(try await request(api, "account/3pid", email: "Alice@Example.com"))
      let body = #"{"sid":"\#(session)","client_secret":"secret"}"#
      let early = try await api.call(.post, "account/3pid/add", as: alice, body)
      #expect(early.status == 400 && early.errorCode == "M_THREEPID_AUTH_FAILED")

      let mail = try #require(mails.mails.first)
      #expect(mail.contains("To: <alice@example.com>"))
      let link = try #require(MailServer.link(in: mail)).dropFirst("https://matrix.example.org".count)
      let look = try await api.page(.get, String(link))
      #expect(look.status == 200 && look.text.contains("alice@example.com"))
      // Looking confirms nothing.
      #expect(try await api.call(.post, "account/3pid/add", as: alice, body).errorCode == "M_THREEPID_AUTH_FAILED")
      #expect(try await confirm(api, mail).status == 200)

      let challenge = try await api.call(.post, "account/3pid/add", as: alice, body)
      #expect(challenge.status == 401 && challenge.json["flows"] != nil)
      let wrongSecret = try await api.call(
        .post, "account/3pid/add", as: alice,
        #"{"sid":"\#(session)","client_secret":"other","auth":\#(APIFixture.passwordAuth("alice"))}"#)
      #expect(wrongSecret.errorCode == "M_THREEPID_AUTH_FAILED")
      let full = #"{"sid":"\#(session)","client_secret":"secret","auth":\#(APIFixture.passwordAuth("alice"))}"#
      #expect(try await api.call(.post, "account/3pid/add", as: alice, full).status == 200)
      // Once.
      #expect(try await api.call(.post, "account/3pid/add", as: alice, full).errorCode == "M_THREEPID_AUTH_FAILED")

      let list = try await api.call(.get, "account/3pid", as: alice).json["threepids"]
      let entry = try #require(list?.elements.first { _ in true })
      #expect(entry["medium"]?.string == "email" && entry["address"]?.string == "alice@example.com")
      #expect(entry["validated_at"]?.integer == 1_700_000_000_000 && entry["added_at"]?.integer == 1_700_000_000_000)

      let bob = try await api.register("bob")
      let deletion = #"{"medium":"email","address":"ALICE@example.com"}"#
      #expect(try await api.call(.post, "account/3pid/delete", as: bob, deletion).status == 200)
      #expect(try await count(api, alice) == 1)
      let deleted = try await api.call(.post, "account/3pid/delete", as: alice, deletion)
      #expect(deleted.json["id_server_unbind_result"]?.string == "no-support")
      #expect(try await count(api, alice) == 0)
    }
  }

  private func count(_ api: APIFixture, _ user: APIFixture.User) async throws -> Int {
    try await api.call(.get, "account/3pid", as: user).json["threepids"]!.elements.reduce(0) { count, _ in count + 1 }
  }

  @Test("what needs an identity server is refused")
  func identityServer() async throws {
    try await APIFixture.runWithMail { api, _ in
      let alice = try await api.register("alice")
      let proof = #""sid":"1","client_secret":"s","id_server":"id.example.org","id_access_token":"t""#
      let bind = try await api.call(.post, "account/3pid/bind", as: alice, "{\(proof)}")
      #expect(bind.status == 400 && bind.errorCode == "M_SERVER_NOT_TRUSTED")
      let post = try await api.call(.post, "account/3pid", as: alice, #"{"three_pid_creds":{\#(proof)}}"#)
      #expect(post.status == 403 && post.errorCode == "M_SERVER_NOT_TRUSTED")
      let unbind = try await api.call(
        .post, "account/3pid/unbind", as: alice, #"{"medium":"email","address":"alice@example.com"}"#)
      #expect(unbind.status == 200 && unbind.json["id_server_unbind_result"]?.string == "no-support")
    }
  }

  @Test("one attempt is one mail; a greater one is another, whose link ends the first")
  func attempts() async throws {
    try await APIFixture.runWithMail { api, mails in
      let first = try sid(try await request(api, "register", attempt: 1))
      #expect(try sid(try await request(api, "register", attempt: 1)) == first)
      #expect(try sid(try await request(api, "register", attempt: 0)) == first)
      #expect(mails.mails.count == 1)
      #expect(try sid(try await request(api, "register", attempt: 2)) == first)
      #expect(mails.mails.count == 2)
      #expect(try sid(try await request(api, "register", secret: "other", attempt: 1)) != first)
      #expect(mails.mails.count == 3)
      #expect(try await confirm(api, mails.mails[0]).status == 404)
      #expect(try await confirm(api, mails.mails[1]).status == 200)
    }
  }

  @Test("a link is good for an hour")
  func expiry() async throws {
    try await APIFixture.runWithMail { api, mails in
      _ = try await request(api, "register")
      _ = try await request(api, "register", secret: "b")
      api.advance(milliseconds: 3_599_999)
      #expect(try await confirm(api, mails.mails[0]).status == 200)
      api.advance(milliseconds: 1)
      #expect(try await confirm(api, mails.mails[1]).status == 404)
    }
  }

  @Test("an address gets five mails at once, then one in five minutes")
  func mailBudget() async throws {
    try await APIFixture.runWithMail { api, mails in
      for attempt in 1...5 { #expect(try await request(api, "register", attempt: attempt).status == 200) }
      let sixth = try await request(api, "register", attempt: 6)
      #expect(sixth.status == 429 && sixth.json["retry_after_ms"]?.integer == 300_000)
      #expect(try await request(api, "register", email: "bob@example.com").status == 200)
      api.advance(milliseconds: 299_999)
      #expect(try await request(api, "register", attempt: 6).status == 429)
      api.advance(milliseconds: 1)
      #expect(try await request(api, "register", attempt: 6).status == 200)
      #expect(mails.mails.count == 7)
    }
  }

  @Test("a mail that cannot be sent is said so, and the same attempt may be tried again")
  func mailFailure() async throws {
    let mails = MailServer()
    mails.close()
    let mail = try APIFixture.mailConfiguration(port: mails.port)
    try await APIFixture.run { configuration in
      configuration.identity.mail = mail
      configuration.identity.publicBaseURL = "https://matrix.example.org"
    } _: { api in
      for _ in 1...2 {
        let answer = try await request(api, "register")
        #expect(answer.status == 502 && answer.errorCode == "M_UNKNOWN")
      }
    }
  }

  @Test(
    "what is not as the specification wants it is refused",
    arguments: [
      (#"{"email":"a@b.c","send_attempt":1}"#, "M_MISSING_PARAM"),
      (#"{"client_secret":"s","send_attempt":1}"#, "M_MISSING_PARAM"),
      (#"{"client_secret":"s","email":"a@b.c"}"#, "M_MISSING_PARAM"),
      (#"{"client_secret":"","email":"a@b.c","send_attempt":1}"#, "M_INVALID_PARAM"),
      (#"{"client_secret":"a b","email":"a@b.c","send_attempt":1}"#, "M_INVALID_PARAM"),
      (#"{"client_secret":"s","email":"a","send_attempt":1}"#, "M_INVALID_PARAM"),
      (#"{"client_secret":"s","email":"a@b.c\r\nBcc: d@e.f","send_attempt":1}"#, "M_INVALID_PARAM"),
      (#"{"client_secret":"s","email":"a@b.c","send_attempt":"1"}"#, "M_BAD_JSON"),
      (#"{"client_secret":"s","email":"a@b.c","send_attempt":1,"next_link":"https://evil.example"}"#, "M_INVALID_PARAM"),
      (#"{"client_secret":"s","email":"a@b.c","send_attempt":1,"next_link":"javascript:alert(1)"}"#, "M_INVALID_PARAM"),
      (
        #"{"client_secret":"s","email":"a@b.c","send_attempt":1,"next_link":"https://app.example.com@evil.example"}"#,
        "M_INVALID_PARAM"
      )
    ])
  func badRequest(_ body: String, _ code: String) async throws {
    try await APIFixture.runWithMail { api, mails in
      let answer = try await api.call(.post, "register/email/requestToken", body)
      #expect(answer.status == 400 && answer.errorCode == code)
      #expect(mails.mails.isEmpty)
    }
  }

  @Test("a confirmation leads on to a client that is trusted, and its page lets the browser go there only")
  func nextLink() async throws {
    try await APIFixture.runWithMail { api, mails in
      _ = try await request(api, "register", more: #","next_link":"https://app.example.com/#/done""#)
      let link = try #require(MailServer.link(in: mails.mails[0])).dropFirst("https://matrix.example.org".count)
      let look = try await api.page(.get, String(link))
      let policy = try #require(look.headers["Content-Security-Policy"])
      #expect(policy.contains("form-action 'self' https://app.example.com;") && policy.contains("default-src 'none'"))
      #expect(!look.text.contains("<script"))
      let done = try await confirm(api, mails.mails[0])
      #expect(done.status == 303 && done.headers["Location"] == "https://app.example.com/#/done")
    }
  }

  @Test("only the reader of the mail learns whether an address is in use")
  func silence() async throws {
    try await APIFixture.runWithMail { api, mails in
      let alice = try await api.register("alice")
      try await add("alice@example.com", to: alice, named: "alice", api, mails)
      for path in ["register", "account/3pid"] {
        #expect(try await request(api, path, secret: "x").status == 200)
        let mail = try #require(mails.mails.last)
        #expect(mail.contains("in use already") && MailServer.link(in: mail) == nil)
      }
      #expect(try await request(api, "account/password", email: "nobody@example.com").status == 200)
      let mail = try #require(mails.mails.last)
      #expect(mail.contains("no account") && MailServer.link(in: mail) == nil)
    }
  }

  @Test("an operator may have it told")
  func telling() async throws {
    try await APIFixture.runWithMail {
      $0.identity.tellsKnownAddresses = true
    } _: { api, mails in
      let alice = try await api.register("alice")
      try await add("alice@example.com", to: alice, named: "alice", api, mails)
      for path in ["register", "account/3pid"] {
        let answer = try await request(api, path, secret: "x")
        #expect(answer.status == 400 && answer.errorCode == "M_THREEPID_IN_USE")
      }
      let unknown = try await request(api, "account/password", email: "nobody@example.com")
      #expect(unknown.status == 400 && unknown.errorCode == "M_THREEPID_NOT_FOUND")
      #expect(mails.mails.count == 1)
    }
  }
}
