import JSON
import MatrixModel
import Telemetry
import Testing

@testable import ServerAccounts
@testable import ServerPush

@Suite struct AppServiceIdentityTests {
  @Test func `an application service syncs as its users`() async throws {
    try await AppServiceFixture.run { service in
      #expect(try await service.register("_tea_1").status == 200)
      let first = try await service.call(.get, "sync", as: "_tea_1")
      #expect(first.status == 200)
      let since = try #require(first.json["next_batch"]?.string)
      #expect(try await service.call(.get, "sync?timeout=1&since=\(since)", as: "_tea_1").status == 200)
    }
  }

  @Test func `a service is its sender, or who of its users it says`() async throws {
    try await AppServiceFixture.run { service in
      let bot = try await service.call(.get, "account/whoami")
      #expect(bot.json["user_id"]?.string == "@_tea_bot:example.org" && bot.json["device_id"] == nil)
      #expect(try await service.register("_tea_pot").json["access_token"] == nil)
      #expect(try await service.call(.get, "account/whoami", as: "_tea_pot").json["user_id"]?.string == "@_tea_pot:example.org")
      #expect(try await service.call(.get, "account/whoami", as: "_tea_cup").errorCode == "M_FORBIDDEN")
      #expect(try await service.call(.get, "account/whoami", as: "ann").errorCode == "M_FORBIDDEN")
    }
  }

  @Test func `a service acts on devices that it makes, and without one on none`() async throws {
    try await AppServiceFixture.run { service in
      _ = try await service.register("_tea_pot")
      let unknown = try await service.call(.get, "account/whoami?device_id=POT", as: "_tea_pot")
      #expect(unknown.status == 400 && unknown.errorCode == "M_UNKNOWN_DEVICE")
      #expect(try await service.call(.put, "devices/POT", as: "_tea_pot", #"{"display_name":"Pot"}"#).status == 201)
      let known = try await service.call(.get, "account/whoami?device_id=POT", as: "_tea_pot")
      #expect(known.json["device_id"]?.string == "POT")
      #expect(try await service.call(.post, "keys/upload", as: "_tea_pot", "{}").errorCode == "M_MISSING_PARAM")
      #expect(try await service.call(.post, "keys/upload?device_id=POT", as: "_tea_pot", "{}").status == 200)
      // It needs no password, because the account has none.
      #expect(try await service.call(.delete, "devices/POT", as: "_tea_pot", "{}").status == 200)
    }
  }

  @Test func `a service logs its users in`() async throws {
    try await AppServiceFixture.run { service in
      let registered = try await service.call(
        .post, "register", as: nil, #"{"type":"m.login.application_service","username":"_tea_pot","device_id":"D"}"#)
      let user = try service.fixture.user(registered)
      #expect(try await service.fixture.call(.get, "account/whoami", as: user).json["device_id"]?.string == "D")
      func logIn(_ name: String, _ token: String?) async throws -> APIFixture.Answer {
        try await service.fixture.call(
          .post, "login", token: token,
          #"{"type":"m.login.application_service","identifier":{"type":"m.id.user","user":"\#(name)"}}"#)
      }
      #expect(try await logIn("_tea_pot", AppServiceFixture.token).status == 200)
      #expect(try await logIn("ann", AppServiceFixture.token).errorCode == "M_EXCLUSIVE")
      let none = try await logIn("_tea_pot", nil)
      #expect(none.status == 401 && none.errorCode == "M_MISSING_TOKEN")
      let wrong = try await logIn("_tea_pot", "wrong")
      #expect(wrong.status == 401 && wrong.errorCode == "M_UNKNOWN_TOKEN")
      let flows = try await service.fixture.call(.get, "login").json["flows"]
      #expect(flows?.elements.contains { $0["type"]?.string == "m.login.application_service" } == true)
    }
  }

  @Test func `reserved names are the service's alone, and others are not the service's`() async throws {
    try await AppServiceFixture.run { service in
      let taken = try await service.fixture.call(
        .post, "register", #"{"username":"_tea_x","password":"correct horse","auth":{"type":"m.login.dummy"}}"#)
      #expect(taken.status == 400 && taken.errorCode == "M_EXCLUSIVE")
      #expect(try await service.fixture.call(.get, "register/available?username=_tea_x").errorCode == "M_EXCLUSIVE")
      #expect(try await service.fixture.call(.get, "register/available?username=tea").status == 200)
      #expect(try await service.register("tea").errorCode == "M_EXCLUSIVE")
      #expect(try await service.register("_tea_x").status == 200)
      #expect(try await service.register("_tea_x").errorCode == "M_USER_IN_USE")

      let room = try await service.room()
      let body = #"{"room_id":"\#(PercentDecoding.text(room))"}"#
      func alias(_ name: String) -> String { "directory/room/%23\(name)%3Aexample.org" }
      #expect(try await service.fixture.call(.put, alias("_tea_r"), as: service.ann, body).errorCode == "M_EXCLUSIVE")
      #expect(try await service.fixture.call(.put, alias("free"), as: service.ann, body).status == 200)
      _ = try await service.call(.post, "rooms/\(room)/join", as: nil, "{}")
      #expect(try await service.call(.put, alias("other"), as: nil, body).errorCode == "M_EXCLUSIVE")
      #expect(try await service.call(.put, alias("_tea_r"), as: nil, body).status == 200)
      #expect(try await service.fixture.call(.delete, alias("_tea_r"), as: service.ann).errorCode == "M_EXCLUSIVE")
      #expect(try await service.call(.delete, alias("_tea_r")).status == 200)
      let created = try await service.fixture.call(
        .post, "createRoom", as: service.ann, #"{"room_alias_name":"_tea_mine"}"#)
      #expect(created.errorCode == "M_EXCLUSIVE")
    }
  }

  @Test func `however an account comes about, it gets no name of a service`() async throws {
    let signer = TokenSigner(.edDSA)
    let key = try #require(JSONWebKey(pem: Array(signer.pem.utf8), .edDSA))
    var registration = AppServiceRegistration(
      id: "tea", url: nil, serviceToken: AppServiceFixture.token, serverToken: "another-token", senderLocalpart: "_tea_bot")
    registration.users = [.init(isExclusive: true, expression: "@(_tea_|tea).*:example\\.org")]
    try await APIFixture.run(configure: { [registration] in
      $0.registrationSharedSecret = "the secret"
      $0.appServices = [registration]
      $0.jsonWebTokens = JSONWebTokenLogin(keys: [key])
    }) { fixture in
      func secret(_ name: String) async throws -> APIFixture.Answer {
        let path = "/_synapse/admin/v1/register"
        let nonce = try #require(try await fixture.call(.get, path).json["nonce"]?.string)
        let mac = RegistrationTests().hmacSHA1("the secret", "\(nonce)\0\(name)\0correct horse\0notadmin")
        return try await fixture.call(
          .post, path, #"{"nonce":"\#(nonce)","username":"\#(name)","password":"correct horse","mac":"\#(mac)"}"#)
      }
      func token(_ name: String) async throws -> APIFixture.Answer {
        let token = signer.token(#"{"sub":"\#(name)","exp":1700000300}"#)
        return try await fixture.call(.post, "login", #"{"type":"org.matrix.login.jwt","token":"\#(token)"}"#)
      }
      for (name, status, code) in [("tea", 400, "M_EXCLUSIVE"), ("_tea_x", 400, "M_EXCLUSIVE"), ("coffee", 200, nil)] {
        for answer in [try await secret(name), try await token(name + "pot")] {
          #expect(answer.status == status && answer.errorCode == code, "\(name)")
        }
      }
      let refusal = await #expect(throws: MatrixError.self) {
        _ = try await fixture.homeserver.accounts.create("teapot", password: Redacted("correct horse"))
      }
      #expect(refusal?.code == .exclusive)
      let people = SingleSignOnPeople(database: fixture.homeserver.database, accounts: fixture.homeserver.accounts)
      let person = OpenIDClient.Person(subject: "1", localpart: "tea", displayName: nil, picture: nil, email: nil)
      let provider = SingleSignOnProvider(id: "p", name: "P", issuer: "https://p", clientID: "c")
      let made = try await people.account(of: person, at: provider)
      #expect(made.isNew && !made.userID.localpart.hasPrefix("tea"))
    }
  }

  @Test func `a guest gets no name of a service`() async throws {
    var registration = AppServiceRegistration(
      id: "all", url: nil, serviceToken: AppServiceFixture.token, serverToken: "another-token", senderLocalpart: "bot")
    registration.users = [.init(isExclusive: true, expression: "@[a-z0-9]*:example\\.org")]
    try await APIFixture.run(configure: { [registration] in
      $0.registration = .open
      $0.allowsGuests = true
      $0.appServices = [registration]
    }) { fixture in
      let guest = try await fixture.call(.post, "register?kind=guest", "{}")
      #expect(guest.status == 400 && guest.errorCode == "M_EXCLUSIVE")
    }
  }

  @Test func `a service says when its messages were written; people cannot`() async throws {
    try await AppServiceFixture.run { service in
      let room = try await service.room()
      _ = try await service.call(.post, "rooms/\(room)/join", as: nil, "{}")
      func time(_ answer: APIFixture.Answer) async throws -> Int64? {
        let event = PercentEncoding.encode(ByteString(try #require(answer.json["event_id"]?.string)))
        return try await service.call(.get, "rooms/\(room)/event/\(event)").json["origin_server_ts"]?.integer
      }
      let content = #"{"msgtype":"m.text","body":"then"}"#
      let old = try await service.call(.put, "rooms/\(room)/send/m.room.message/t1?ts=1000", as: nil, content)
      #expect(try await time(old) == 1_000)
      let again = try await service.call(.put, "rooms/\(room)/send/m.room.message/t1?ts=1000", as: nil, content)
      #expect(again.json["event_id"]?.string == old.json["event_id"]?.string)
      let state = try await service.call(.put, "rooms/\(room)/state/org.example/x?ts=2000", as: nil, "{}")
      // The service's sender has no power to set state there.
      #expect(state.errorCode == "M_FORBIDDEN")
      #expect(
        try await service.call(.put, "rooms/\(room)/send/m.room.message/t2?ts=-1", as: nil, content).errorCode
          == "M_INVALID_PARAM")
      let person = try await service.fixture.call(
        .put, "rooms/\(room)/send/m.room.message/t3?ts=1000", as: service.ann, content)
      #expect(try await time(person) == 1_700_000_000_000)
    }
  }

  @Test func `a service that is unlike the others in nothing is refused`() {
    func registration(_ change: (inout AppServiceRegistration) -> Void = { _ in }) -> AppServiceRegistration {
      var registration = AppServiceRegistration(
        id: "a", url: nil, serviceToken: "token-one", serverToken: "token-two", senderLocalpart: "bot")
      change(&registration)
      return registration
    }
    func problem(_ registrations: [AppServiceRegistration]) -> String? {
      do {
        _ = try AppServices(registrations, server: ServerName(trusted: "example.org"))
        return nil
      } catch {
        return error.message
      }
    }
    func other(_ change: (inout AppServiceRegistration) -> Void = { _ in }) -> AppServiceRegistration {
      registration {
        $0.id = "b"
        $0.serviceToken = "token-three"
        $0.serverToken = "token-four"
        $0.senderLocalpart = "bat"
        change(&$0)
      }
    }
    #expect(problem([registration(), other()]) == nil)
    #expect(problem([registration(), other { $0.id = "a" }])?.contains("id a") == true)
    #expect(problem([registration(), other { $0.serviceToken = "token-one" }])?.contains("as_token") == true)
    #expect(problem([registration(), other { $0.serverToken = "token-two" }])?.contains("hs_token") == true)
    #expect(problem([registration(), other { $0.senderLocalpart = "bot" }])?.contains("sender_localpart") == true)
    #expect(problem([registration { $0.users = [.init(isExclusive: true, expression: "@(")] }])?.contains("@(") == true)
    #expect(problem([registration { $0.url = "ftp://x" }])?.contains("url") == true)
    #expect(problem([registration { $0.serviceToken = "short" }])?.contains("as_token") == true)
  }

  @Test func `a pattern that could take for ever is given up`() throws {
    let pattern = try #require(NamespacePattern("@(a+)+$"))
    #expect(pattern.matches("@aaaa"))
    #expect(!pattern.matches(ByteString("@" + String(repeating: "a", count: 200) + "!")))
    let beginning = try #require(NamespacePattern("@_irc_"))
    #expect(beginning.matches("@_irc_anyone:example.org"))
    let middle = try #require(NamespacePattern("_irc_"))
    #expect(!middle.matches("@_irc_anyone:example.org"))
    #expect(NamespacePattern(ByteString(String(repeating: "a", count: NamespacePattern.bytesLimit))) != nil)
    #expect(NamespacePattern(ByteString(String(repeating: "a", count: NamespacePattern.bytesLimit + 1))) == nil)
  }
}

enum PercentDecoding {
  /// Of what `PercentEncoding` has made of an identifier in ASCII.
  static func text(_ encoded: String) -> String {
    var bytes: [UInt8] = []
    var rest = Array(encoded.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%"), let high = rest.popFirst(), let low = rest.popFirst() else {
        bytes.append(byte)
        continue
      }
      bytes.append(UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16) ?? 0)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
