import CCrypto
import Homeserver
import JSON
import MatrixModel
import ServerRooms
import Testing

@testable import ServerAccounts

@Suite struct RegistrationTests {
  @Test func `registering takes a challenge and its session, then gives a working token`() async throws {
    try await APIFixture.run { fixture in
      let body =
        #"{"username":"ann","password":"correct horse","device_id":"PHONE","initial_device_display_name":"Phone""#
      let challenge = try await fixture.call(.post, "register", body + "}")
      #expect(challenge.status == 401)
      #expect(
        challenge.json["flows"]?.elements.first(where: { _ in true })?["stages"]?.bytes.elementsEqual(
          #"["m.login.dummy"]"#.utf8) == true)
      #expect(challenge.errorCode == nil)
      let session = try #require(challenge.json["session"]?.string)
      let done = try await fixture.call(
        .post, "register", body + #","auth":{"type":"m.login.dummy","session":"\#(session)"}}"#)
      #expect(done.status == 200)
      let user = try fixture.user(done)
      #expect(user.userID.string == "@ann:example.org")
      #expect(user.deviceID.string == "PHONE")
      let who = try await fixture.call(.get, "account/whoami", as: user)
      #expect(who.json["user_id"]?.string == "@ann:example.org")
      #expect(who.json["device_id"]?.string == "PHONE")
    }
  }

  @Test func `a session of user-interactive authentication works once`() async throws {
    try await APIFixture.run { fixture in
      let challenge = try await fixture.call(.post, "register", #"{"username":"ann","password":"correct horse"}"#)
      let session = try #require(challenge.json["session"]?.string)
      func body(_ name: String) -> String {
        #"{"username":"\#(name)","password":"correct horse","auth":{"type":"m.login.dummy","session":"\#(session)"}}"#
      }
      #expect(try await fixture.call(.post, "register", body("ann")).status == 200)
      let again = try await fixture.call(.post, "register", body("bob"))
      #expect(again.status == 401)
      #expect(again.json["session"]?.string != session)
    }
  }

  @Test func `a request with auth alone uses what the first of its session said`() async throws {
    try await APIFixture.run { fixture in
      let first =
        #"{"username":"ann","password":"correct horse","device_id":"PHONE","initial_device_display_name":"Phone"}"#
      let session = try #require(try await fixture.call(.post, "register", first).json["session"]?.string)
      let auth = #""auth":{"type":"m.login.dummy","session":"\#(session)"}"#
      let made = try await fixture.call(.post, "register", "{\(auth)}")
      #expect(made.status == 200 && made.json["user_id"]?.string == "@ann:example.org")
      #expect(made.json["device_id"]?.string == "PHONE")
      #expect(try await fixture.logIn("ann").status == 200)
      let device = try await fixture.call(.get, "devices/PHONE", as: try fixture.user(made))
      #expect(device.json["display_name"]?.string == "Phone")
      #expect(fixture.homeserver.accounts.interactiveAuthentication.keptRegistrations == 0)
      // What a later request says counts.
      let second = try #require(
        try await fixture.call(.post, "register", #"{"username":"bob","password":"correct horse"}"#).json["session"]?.string)
      let other = #"{"username":"cyn","inhibit_login":true,"auth":{"type":"m.login.dummy","session":"\#(second)"}}"#
      let cyn = try await fixture.call(.post, "register", other)
      #expect(cyn.json["user_id"]?.string == "@cyn:example.org" && cyn.json["access_token"] == nil)
      #expect(try await fixture.logIn("cyn").status == 200)
    }
  }

  @Test func `what a registration said is kept no longer than its session`() async throws {
    try await APIFixture.run { fixture in
      let authentication = fixture.homeserver.accounts.interactiveAuthentication
      let body = #"{"username":"ann","password":"correct horse"}"#
      let session = try #require(try await fixture.call(.post, "register", body).json["session"]?.string)
      fixture.advance(milliseconds: 30 * 60_000 - 1)
      authentication.sweep()
      #expect(authentication.keptRegistrations == 1)
      fixture.advance(milliseconds: 1)
      authentication.sweep()
      #expect(authentication.keptRegistrations == 0)
      let auth = #"{"auth":{"type":"m.login.dummy","session":"\#(session)"}}"#
      #expect(try await fixture.call(.post, "register", auth).status == 401)
      let missing = try await fixture.call(.post, "register", #"{"auth":{"type":"m.login.dummy"}}"#)
      #expect(missing.errorCode == "M_MISSING_PARAM")
      let long = String(repeating: "x", count: 257)
      let tooLong = try await fixture.call(.post, "register", #"{"username":"ann","initial_device_display_name":"\#(long)"}"#)
      #expect(tooLong.errorCode == "M_INVALID_PARAM")
    }
  }

  @Test func `a session ends after thirty minutes`() async throws {
    try await APIFixture.run { fixture in
      for (wait, status) in [(30 * 60_000 - 1, 200), (30 * 60_000, 401)] {
        let challenge = try await fixture.call(.post, "register", "{}")
        let session = try #require(challenge.json["session"]?.string)
        fixture.advance(milliseconds: Int64(wait))
        let body =
          #"{"username":"u\#(status)","password":"correct horse","auth":{"type":"m.login.dummy","session":"\#(session)"}}"#
        #expect(try await fixture.call(.post, "register", body).status == status)
      }
    }
  }

  @Test(arguments: [
    ("Änn", "M_INVALID_USERNAME"), ("@", "M_INVALID_USERNAME"), ("", "M_INVALID_USERNAME"), ("a b", "M_INVALID_USERNAME"),
    ("a:b", "M_INVALID_USERNAME"),
    ("taken", "M_USER_IN_USE"), ("TAKEN", "M_USER_IN_USE"), (" @Taken ", "M_USER_IN_USE"), ("free", nil), ("FREE", nil)
  ]) func `a name is available or says why not`(name: String, code: String?) async throws {
    try await APIFixture.run { fixture in
      _ = try await fixture.register("taken")
      let encoded = name.replacing(" ", with: "%20").replacing("Ä", with: "%C3%84")
      let answer = try await fixture.call(.get, "register/available?username=\(encoded)")
      #expect(answer.status == (code == nil ? 200 : 400))
      #expect(answer.errorCode == code)
      let registered = try await fixture.call(
        .post, "register", #"{"username":"\#(name)","password":"correct horse","auth":{"type":"m.login.dummy"}}"#)
      #expect(registered.errorCode == code)
    }
  }

  @Test func `an account is named in small letters and found however its name is typed`() async throws {
    try await APIFixture.run { fixture in
      let registered = try await fixture.call(
        .post, "register", #"{"username":"Alice","password":"correct horse","auth":{"type":"m.login.dummy"}}"#)
      #expect(registered.json["user_id"]?.string == "@alice:example.org")
      #expect(try await fixture.call(.get, "profile/@alice:example.org").json["displayname"]?.string == "alice")
      for name in ["ALICE", " alice ", "@alice", "@Alice:example.org"] {
        #expect(try await fixture.logIn(name).json["user_id"]?.string == "@alice:example.org", "\(name)")
      }
      for name in ["@alice:Example.org", "al ice", "@@alice"] {
        #expect(try await fixture.logIn(name).status == 403, "\(name)")
      }
    }
  }

  @Test(arguments: [(7, "M_WEAK_PASSWORD"), (8, nil), (512, nil), (513, "M_WEAK_PASSWORD")])
  func `a password has 8 to 512 bytes`(count: Int, code: String?) async throws {
    try await APIFixture.run { fixture in
      let password = String(repeating: "x", count: count)
      let answer = try await fixture.call(
        .post, "register", #"{"username":"ann","password":"\#(password)","auth":{"type":"m.login.dummy"}}"#)
      #expect(answer.errorCode == code)
    }
  }

  @Test func `closed registration refuses everyone, before asking for anything`() async throws {
    try await APIFixture.run(configure: { $0.registration = .closed }) { fixture in
      let answer = try await fixture.call(.post, "register", #"{"username":"ann","password":"correct horse"}"#)
      #expect(answer.status == 403)
      #expect(answer.errorCode == "M_FORBIDDEN")
      let token = try await fixture.call(
        .get, "/_matrix/client/v1/register/m.login.registration_token/validity?token=x")
      #expect(token.status == 403)
    }
  }

  @Test func `registration by token takes a valid token only`() async throws {
    let configure: (inout HomeserverConfiguration) -> Void = {
      $0.registration = .token
      $0.registrationTokens = ["letmein"]
    }
    try await APIFixture.run(configure: configure) { fixture in
      func register(_ name: String, _ auth: String) async throws -> APIFixture.Answer {
        try await fixture.call(
          .post, "register", #"{"username":"\#(name)","password":"correct horse","auth":\#(auth)}"#)
      }
      #expect(try await register("a", #"{"type":"m.login.dummy"}"#).status == 401)
      let wrong = try await register("a", #"{"type":"m.login.registration_token","token":"letmeim"}"#)
      #expect(wrong.status == 401)
      #expect(wrong.errorCode == "M_FORBIDDEN")
      #expect(try await register("a", #"{"type":"m.login.registration_token","token":"letmein"}"#).status == 200)
      let path = "/_matrix/client/v1/register/m.login.registration_token/validity?token="
      #expect(try await fixture.call(.get, path + "letmein").json["valid"]?.bool == true)
      #expect(try await fixture.call(.get, path + "letme").json["valid"]?.bool == false)
    }
  }

  @Test func `without a name the server chooses one, and inhibit_login makes no device`() async throws {
    try await APIFixture.run { fixture in
      let answer = try await fixture.call(
        .post, "register", #"{"password":"correct horse","inhibit_login":true,"auth":{"type":"m.login.dummy"}}"#)
      #expect(answer.status == 200)
      #expect(answer.json["user_id"]?.string?.hasSuffix(":example.org") == true)
      #expect(answer.json["access_token"] == nil)
      #expect(answer.json["device_id"] == nil)
    }
  }

  @Test func `guests are not admitted`() async throws {
    try await APIFixture.run { fixture in
      for (kind, code) in [("guest", "M_FORBIDDEN"), ("king", "M_INVALID_PARAM")] {
        let answer = try await fixture.call(.post, "register?kind=\(kind)", "{}")
        #expect(answer.errorCode == code)
      }
    }
  }

  @Test func `who knows the shared secret makes accounts on a closed server`() async throws {
    let path = "/_synapse/admin/v1/register"
    try await APIFixture.run { fixture in
      let answer = try await fixture.call(.get, path)
      #expect(answer.errorCode == "M_UNRECOGNIZED")
    }
    try await APIFixture.run(configure: { $0.registrationSharedSecret = "the secret" }) { fixture in
      func body(_ name: String, nonce: String, secret: String = "the secret") -> String {
        let mac = hmacSHA1(secret, "\(nonce)\0\(name)\0correct horse\0notadmin")
        return #"{"nonce":"\#(nonce)","username":"\#(name)","password":"correct horse","admin":false,"mac":"\#(mac)"}"#
      }
      func nonce() async throws -> String { try #require(try await fixture.call(.get, path).json["nonce"]?.string) }
      let first = try await nonce()
      let made = try await fixture.call(.post, path, body("ann", nonce: first))
      #expect(made.json["user_id"]?.string == "@ann:example.org")
      #expect(try await fixture.call(.get, "account/whoami", as: fixture.user(made)).status == 200)
      #expect(try await fixture.call(.post, path, body("bob", nonce: first)).status == 400)
      #expect(try await fixture.call(.post, path, body("bob", nonce: nonce(), secret: "another")).status == 403)
      for (wait, status) in [(59_999, 200), (60_000, 400)] {
        let late = try await nonce()
        fixture.advance(milliseconds: Int64(wait))
        #expect(try await fixture.call(.post, path, body("u\(wait)", nonce: late)).status == status)
      }
    }
  }

  @Test func `the shared secret vouches for administrators, user types and names as Synapse's tools send them`()
    async throws
  {
    let path = "/_synapse/admin/v1/register"
    try await APIFixture.run(configure: { $0.registrationSharedSecret = "the secret" }) { fixture in
      func register(_ name: String, mac parts: [String], _ more: String) async throws -> APIFixture.Answer {
        let nonce = try #require(try await fixture.call(.get, path).json["nonce"]?.string)
        let mac = hmacSHA1("the secret", ([nonce, name, "correct horse"] + parts).joined(separator: "\0"))
        return try await fixture.call(
          .post, path, #"{"nonce":"\#(nonce)","username":"\#(name)","password":"correct horse","mac":"\#(mac)"\#(more)}"#)
      }
      let accounts = fixture.homeserver.accounts
      let admin = try await register("ann", mac: ["admin"], #","admin":true,"user_type":null,"displayname":"Ann A.""#)
      #expect(admin.status == 200)
      let ann = try await accounts.existing(try fixture.user(admin).userID)
      #expect(ann.standing.isAdmin && ann.userType == nil)
      #expect(try await fixture.call(.get, "profile/@ann:example.org").json["displayname"]?.string == "Ann A.")
      // The name is proven as it was sent.
      let capital = try await register("Cyn", mac: ["notadmin"], "")
      #expect(capital.json["user_id"]?.string == "@cyn:example.org")
      let bot = try await register("bot", mac: ["notadmin", "bot"], #","admin":false,"user_type":"bot""#)
      #expect(try await accounts.existing(try fixture.user(bot).userID).userType == "bot")
      // What the mac does not say is not believed.
      #expect(try await register("eve", mac: ["notadmin"], #","admin":true"#).status == 403)
      #expect(try await register("eve", mac: ["notadmin"], #","user_type":"bot""#).status == 403)
      #expect(try await register("ann", mac: ["notadmin"], "").errorCode == "M_USER_IN_USE")
    }
  }

  @Test func `asking for nonces uses none up, and a forged nonce is refused`() async throws {
    let path = "/_synapse/admin/v1/register"
    try await APIFixture.run(configure: { $0.registrationSharedSecret = "the secret" }) { fixture in
      for _ in 0..<2_000 { #expect(try await fixture.call(.get, path).status == 200) }
      let real = try #require(try await fixture.call(.get, path).json["nonce"]?.string)
      let later = "1700000000001" + real.dropFirst(13)
      for nonce in ["", "x", "1-2-3", String(real.dropLast()), later] {
        let mac = hmacSHA1("the secret", "\(nonce)\0ann\0correct horse\0notadmin")
        let answer = try await fixture.call(
          .post, path, #"{"nonce":"\#(nonce)","username":"ann","password":"correct horse","mac":"\#(mac)"}"#)
        #expect(answer.status == 400 && answer.errorCode == "M_UNKNOWN")
      }
    }
  }

  private struct Bridge: RoomObserver, AccountObserver {
    func willRegister(_ userID: UserID) throws {
      guard !userID.string.hasPrefix("@_bridge_") else { throw MatrixError(status: 400, .exclusive, "It is a bridge's.") }
    }
  }

  @Test func `a name that an application service claims is exclusive`() async throws {
    try await APIFixture.run(follower: Bridge()) { fixture in
      #expect(try await fixture.call(.get, "register/available?username=_bridge_a").errorCode == "M_EXCLUSIVE")
      let registered = try await fixture.call(
        .post, "register", #"{"username":"_bridge_a","password":"correct horse","auth":{"type":"m.login.dummy"}}"#)
      #expect(registered.status == 400 && registered.errorCode == "M_EXCLUSIVE")
      #expect(try await fixture.call(.get, "register/available?username=bridge").status == 200)
    }
  }

  func hmacSHA1(_ key: String, _ message: String) -> String {
    var digest = [UInt8](repeating: 0, count: 20)
    let bytes = Array(message.utf8)
    _ = HMAC(EVP_sha1(), key, Int32(key.utf8.count), bytes, bytes.count, &digest, nil)
    return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
