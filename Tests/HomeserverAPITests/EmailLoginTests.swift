import JSON
import OutboundTesting
import Testing

@testable import Homeserver
@testable import HomeserverAPI

/// What a confirmed e-mail address lets one do.
@Suite struct EmailLoginTests {
  /// A session that has confirmed the address for what `path` is for.
  private func confirmed(
    _ api: APIFixture, _ mails: MailServer, _ path: String, _ email: String = "alice@example.com", secret: String = "s",
    isConfirmed: Bool = true
  ) async throws -> String {
    let answer = try await api.call(
      .post, path + "/email/requestToken", #"{"client_secret":"\#(secret)","email":"\#(email)","send_attempt":1}"#)
    let mail = try #require(mails.mails.last)
    if isConfirmed, let link = MailServer.link(in: mail) {
      #expect(try await api.page(.post, String(link.dropFirst("https://matrix.example.org".count))).status == 200)
    }
    let sid = try #require(answer.json["sid"]?.string)
    return
      #"{"type":"m.login.email.identity","threepid_creds":{"sid":"\#(sid)","client_secret":"\#(secret)","id_server":"x"}}"#
  }

  private func registration(_ name: String, _ auth: String) -> String {
    #"{"username":"\#(name)","password":"correct horse","auth":\#(auth)}"#
  }

  private func stages(_ answer: APIFixture.Answer) -> [[String]] {
    answer.json["flows"]?.elements.map { $0["stages"]!.elements.compactMap(\.string) } ?? []
  }

  @Test("an account is made with a confirmed address, which is its own from then on")
  func registration() async throws {
    try await APIFixture.runWithMail { api, mails in
      let first = try await api.call(.post, "register", #"{"username":"alice","password":"correct horse"}"#)
      #expect(stages(first) == [["m.login.dummy"], ["m.login.email.identity"]])
      let early = try await confirmed(api, mails, "register", isConfirmed: false)
      #expect(try await api.call(.post, "register", registration("alice", early)).status == 401)
      let auth = try await confirmed(api, mails, "register", secret: "t")
      let alice = try api.user(try await api.call(.post, "register", registration("alice", auth)))
      let list = try await api.call(.get, "account/3pid", as: alice).json["threepids"]
      #expect(list?.elements.compactMap { $0["address"]?.string } == ["alice@example.com"])
      // The proof is used up.
      #expect(try await api.call(.post, "register", registration("bob", auth)).status == 401)
    }
  }

  @Test("an operator may want an address of everyone")
  func needed() async throws {
    try await APIFixture.runWithMail {
      $0.identity.registrationNeedsEmail = true
    } _: { api, mails in
      let dummy = try await api.call(.post, "register", registration("alice", #"{"type":"m.login.dummy"}"#))
      #expect(dummy.status == 401 && stages(dummy) == [["m.login.email.identity"]])
      let auth = try await confirmed(api, mails, "register")
      #expect(try await api.call(.post, "register", registration("alice", auth)).status == 200)
    }
  }

  @Test("with registration tokens the address comes second")
  func tokenAndAddress() async throws {
    try await APIFixture.runWithMail {
      $0.registration = .token
      $0.registrationTokens = ["come-in"]
      $0.identity.registrationNeedsEmail = true
    } _: { api, mails in
      let first = try await api.call(
        .post, "register", registration("alice", #"{"type":"m.login.registration_token","token":"come-in"}"#))
      #expect(first.status == 401 && stages(first) == [["m.login.registration_token", "m.login.email.identity"]])
      let session = try #require(first.json["session"]?.string)
      let auth = try await confirmed(api, mails, "register").dropLast() + #","session":"\#(session)"}"#
      #expect(try await api.call(.post, "register", registration("alice", String(auth))).status == 200)
    }
  }

  /// alice, with an address.
  private func alice(_ api: APIFixture, _ mails: MailServer) async throws -> APIFixture.User {
    let auth = try await confirmed(api, mails, "register", secret: "alice")
    return try api.user(try await api.call(.post, "register", registration("alice", auth)))
  }

  @Test("the address is a name to log in by, in any case of letters; one that nobody has is 403 like a wrong password")
  func login() async throws {
    try await APIFixture.runWithMail { api, mails in
      let alice = try await alice(api, mails)
      func body(_ who: String, _ password: String = "correct horse") -> String {
        #"{"type":"m.login.password",\#(who),"password":"\#(password)"}"#
      }
      func email(_ address: String) -> String {
        #""identifier":{"type":"m.id.thirdparty","medium":"email","address":"\#(address)"}"#
      }
      for who in [email("alice@example.com"), email("Alice@Example.COM"), #""medium":"email","address":"alice@example.com""#] {
        let answer = try await api.call(.post, "login", body(who))
        #expect(answer.json["user_id"]?.string == "@alice:example.org")
      }
      let refused = [
        body(email("bob@example.com")), body(email("alice@example.com"), "wrong horse"), body(email("")),
        body(#""identifier":{"type":"m.id.phone","country":"GB","phone":"07700900001"}"#)
      ]
      for body in refused {
        let answer = try await api.call(.post, "login", body)
        #expect(answer.status == 403 && answer.errorCode == "M_FORBIDDEN")
      }
      let device = "devices/\(alice.deviceID)"
      let auth = #"{"auth":{\#(body(email("alice@example.com")).dropFirst())}"#
      #expect(try await api.call(.delete, device, as: alice, auth).status == 200)
    }
  }

  @Test("who has forgotten the password sets another by the address, and every device is logged out")
  func reset() async throws {
    try await APIFixture.runWithMail { api, mails in
      let alice = try await alice(api, mails)
      func body(_ auth: String, _ more: String = "") -> String {
        #"{"new_password":"battery staple","auth":\#(auth)\#(more)}"#
      }
      let challenge = try await api.call(.post, "account/password", #"{"new_password":"battery staple"}"#)
      #expect(challenge.status == 401 && stages(challenge) == [["m.login.email.identity"]])
      let early = try await confirmed(api, mails, "account/password", secret: "e", isConfirmed: false)
      #expect(try await api.call(.post, "account/password", body(early)).status == 401)
      #expect(try await api.logIn("alice").status == 200)

      let auth = try await confirmed(api, mails, "account/password")
      #expect(mails.mails.last?.contains("asked for a new password") == true)
      #expect(try await api.call(.post, "account/password", body(auth)).status == 200)
      #expect(try await api.logIn("alice").status == 403)
      #expect(try await api.logIn("alice", password: "battery staple").status == 200)
      #expect(try await api.call(.get, "account/whoami", as: alice).status == 401)
      #expect(try await api.call(.post, "account/password", body(auth)).status == 401)
    }
  }

  @Test("devices stay where that is asked for")
  func resetKeepingDevices() async throws {
    try await APIFixture.runWithMail { api, mails in
      let alice = try await alice(api, mails)
      let auth = try await confirmed(api, mails, "account/password")
      let answer = try await api.call(
        .post, "account/password", #"{"new_password":"battery staple","logout_devices":false,"auth":\#(auth)}"#)
      #expect(answer.status == 200)
      #expect(try await api.call(.get, "account/whoami", as: alice).status == 200)
    }
  }

  @Test("a confirmation for another purpose sets no password")
  func otherPurpose() async throws {
    try await APIFixture.runWithMail { api, mails in
      // Confirmed for a new account, before the address has one.
      let auth = try await confirmed(api, mails, "register", secret: "thief")
      _ = try await alice(api, mails)
      let answer = try await api.call(.post, "account/password", #"{"new_password":"battery staple","auth":\#(auth)}"#)
      #expect(answer.status == 401)
      #expect(try await api.logIn("alice").status == 200)
      // And nobody gets the address twice.
      let second = try await api.call(.post, "register", registration("thief", auth))
      #expect(second.status == 400 && second.errorCode == "M_THREEPID_IN_USE")
    }
  }

  @Test("without a mail server a new password needs an access token")
  func noMail() async throws {
    try await APIFixture.run { api in
      let answer = try await api.call(.post, "account/password", #"{"new_password":"battery staple"}"#)
      #expect(answer.status == 401 && answer.errorCode == "M_MISSING_TOKEN")
    }
  }

  @Test("a deactivated account gives its address back")
  func deactivation() async throws {
    try await APIFixture.runWithMail { api, mails in
      let alice = try await alice(api, mails)
      let auth = #"{"auth":\#(APIFixture.passwordAuth("alice"))}"#
      #expect(try await api.call(.post, "account/deactivate", as: alice, auth).status == 200)
      let again = try await confirmed(api, mails, "register", secret: "new")
      #expect(try await api.call(.post, "register", registration("alice2", again)).status == 200)
    }
  }
}
