import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct SessionTests {
  static let session = Session(
    userID: UserID(trusted: "@me:test"), deviceID: DeviceID(trusted: "D"), accessToken: "T", refreshToken: "R",
    homeserver: ServerURL("https://example.org/base"), expiresAtMilliseconds: 1_800_000_000_000)

  // Proves J2
  @Test(arguments: [
    (
      Login.password("p", user: .user("me")),
      #"{"type":"m.login.password","identifier":{"type":"m.id.user","user":"me"},"password":"p""#
    ),
    (
      .password("p", user: .email("a@b.c")),
      #"{"type":"m.login.password","identifier":{"type":"m.id.thirdparty","medium":"email","address":"a@b.c"},"password":"p""#
    ),
    (
      .password("p", user: .phone(country: "GB", number: "0771")),
      #"{"type":"m.login.password","identifier":{"type":"m.id.phone","country":"GB","phone":"0771"},"password":"p""#
    ),
    (.token("t"), #"{"type":"m.login.token","token":"t""#), (.jwt("j"), #"{"type":"org.matrix.login.jwt","token":"j""#),
    (.other(type: "x.y", members: Array(#"{"z":1}"#.utf8)), #"{"type":"x.y","z":1"#)
  ]) func `each kind of login is written as the spec has it`(login: Login, start: String) {
    var host = SignInTests.fresh()
    host.command(.session(.logIn(login, deviceID: DeviceID(trusted: "OLD"))))
    let body = String(decoding: host.request("/login")?.request.body ?? [], as: UTF8.self)
    #expect(body == start + #","initial_device_display_name":"Test","refresh_token":true,"device_id":"OLD"}"#)
  }

  @Test func `the user's name and picture are available offline, as they were last set`() {
    var host = Host.signedIn()
    host.answer("/profile/", #"{"displayname":"Me","avatar_url":"mxc://test/me"}"#)
    var offline = host.restarted()
    offline.handle(.networkChanged(isOnline: false))
    #expect(offline.client.ownDisplayName == "Me")
    #expect(offline.client.ownAvatar == MediaURI("mxc://test/me"))
    host.command(.account(.setDisplayName("Myself")))
    host.answer("/profile/", "{}")
    #expect(host.restarted().client.ownDisplayName == "Myself")
    host.command(.session(.logOut))
    host.answer("/logout", "{}")
    #expect(host.client.ownDisplayName == nil)
    #expect(host.store.isEmpty)
  }

  @Test func `a session given as values is stored and syncs at once`() {
    var host = SignInTests.fresh()
    host.command(.session(.restore(Self.session)))
    #expect(host.result() == "done")
    #expect(host.request("/sync?")?.request.accessToken == "T")
    #expect(host.restarted().client.session == Self.session)
  }

  @Test func `where the homeserver is goes with the login`() {
    var host = Host()
    host.client = Client(randomSeed: 1, deviceDisplayName: "Test", homeserver: ServerURL("https://h.test/"))
    host.handle(.start)
    host.command(.session(.logIn(user: "me", password: "secret")))
    host.answer("/login", #"{"user_id":"@me:test","device_id":"D","access_token":"T"}"#)
    #expect(host.restarted().client.session?.homeserver?.string == "https://h.test")
  }

  @Test func `a session is not restored over another, but of the same device`() {
    var host = Host.signedIn()
    let user = UserID(trusted: "@me:test")
    host.command(.session(.restore(Session(userID: user, deviceID: DeviceID(trusted: "E"), accessToken: "U"))))
    #expect(host.result() == "alreadySignedIn(@me:test)")
    host.command(.session(.restore(Session(userID: user, deviceID: DeviceID(trusted: "D"), accessToken: "U"))))
    #expect(host.result() == "done" && host.client.session?.accessToken == "U")
    #expect(host.request("/sync")?.request.accessToken == "U")
  }

  @Test func `sessions are equal by their values`() {
    var other = Self.session
    #expect(other == Self.session)
    #expect(other.hashValue == Self.session.hashValue)
    other.accessToken = "U"
    #expect(other != Self.session)
  }

  @Test func `logging out everywhere happens once the server says so`() {
    var host = Host.inRoom()
    host.command(.session(.logOutEverywhere))
    host.answer("/logout/all", status: 500, "{}")
    #expect(host.client.sessionState == .signedIn)
    #expect(host.result().hasPrefix("refused"))
    host.command(.session(.logOutEverywhere))
    host.answer("/logout/all", "{}")
    #expect(host.client.sessionState == .signedOut)
    #expect(host.store.isEmpty)
    #expect(host.result() == "done")
  }

  @Test func `a sync that is refused while one logs out everywhere takes nothing from how that ends`() {
    let refusal = #"{"errcode":"M_UNKNOWN_TOKEN","error":""}"#
    var host = Host.inRoom()
    host.command(.session(.logOutEverywhere))
    host.answer("/sync", status: 401, refusal)
    #expect(host.client.sessionState == .signedIn)
    host.answer("/logout/all", "{}")
    #expect(host.client.sessionState == .signedOut && host.result() == "done")
    host = Host.inRoom()
    host.command(.session(.logOutEverywhere))
    host.answer("/sync", status: 401, refusal)
    host.answer("/logout/all", status: 500, "{}")
    #expect(host.client.sessionState == .signedIn && host.result().hasPrefix("refused"))
    host.answer("/sync", status: 401, refusal)
    #expect(host.client.sessionState == .signedOut)
  }

  // Proves J1
  @Test func `a guest has no name`() {
    var host = SignInTests.fresh()
    host.command(.session(.registerGuest))
    #expect(host.request("/register")?.request.target.hasSuffix("/register?kind=guest") == true)
    host.answer("/register", #"{"user_id":"@17:test","device_id":"G","access_token":"T"}"#)
    #expect(host.client.session?.userID.string == "@17:test")
  }

  // MARK: Registration

  @Test func `a person goes through the stages that the program cannot`() {
    var host = SignInTests.fresh()
    host.command(.session(.register(username: "me", password: "secret", token: nil)))
    let flows = #""session":"S","flows":[{"stages":["m.login.recaptcha","m.login.terms","m.login.dummy"]}]"#
    host.answer("/register", status: 401, "{\(flows)}")
    guard case .failed(.authenticationNeeded(let first))? = host.finished[9] else {
      return #expect(Bool(false), "\(host.result())")
    }
    #expect(first.nextStages == ["m.login.recaptcha"])
    host.command(.session(.continueRegistration(.recaptcha(response: "r"))))
    #expect(host.body("/register")?["username"]?.string == "me")
    #expect(host.body("/register")?["auth"]?["session"]?.string == "S")
    host.answer("/register", status: 401, #"{\#(flows),"completed":["m.login.recaptcha"]}"#)
    guard case .failed(.authenticationNeeded(let second))? = host.finished[9] else {
      return #expect(Bool(false), "\(host.result())")
    }
    #expect(second.nextStages == ["m.login.terms"])
    host.command(.session(.continueRegistration(.terms)))
    // The last stage needs nobody.
    host.answer("/register", status: 401, #"{\#(flows),"completed":["m.login.recaptcha","m.login.terms"]}"#)
    #expect(host.body("/register")?["auth"]?["type"]?.string == "m.login.dummy")
    host.answer("/register", #"{"user_id":"@me:test","device_id":"D","access_token":"T"}"#)
    #expect(host.result() == "done")
    #expect(host.client.sessionState == .signedIn)
    host.command(.session(.continueRegistration(.terms)))
    #expect(host.result() == "unsupportedFlow")
  }

  @Test func `a name that is taken ends the registration`() {
    var host = SignInTests.fresh()
    host.command(.session(.register(username: "me", password: "secret", token: nil)))
    host.answer("/register", status: 400, #"{"errcode":"M_USER_IN_USE","error":"Taken"}"#)
    guard case .failed(.refused(400, .userInUse, _, _))? = host.finished[9] else {
      return #expect(Bool(false), "\(host.result())")
    }
    host.command(.session(.continueRegistration(.dummy)))
    #expect(host.result() == "unsupportedFlow")
  }

  // MARK: Single sign-on

  @Test func `the page to sign in on, and the token that it comes back with`() throws {
    let server = try #require(ServerURL("https://example.org"))
    #expect(
      SingleSignOn.url(server, redirect: "app://x?y=1")
        == "https://example.org/_matrix/client/v3/login/sso/redirect?redirectUrl=app%3A%2F%2Fx%3Fy%3D1&action=login")
    #expect(
      SingleSignOn.url(server, redirect: "a", provider: "oidc/1", action: .register)
        == "https://example.org/_matrix/client/v3/login/sso/redirect/oidc%2F1?redirectUrl=a&action=register")
    #expect(SingleSignOn.loginToken(in: "app://x?y=1&loginToken=a%2Bb#z") == "a+b" as ByteString)
    #expect(SingleSignOn.loginToken(in: "app://x?loginTokens=1") == nil)
    #expect(SingleSignOn.loginToken(in: "app://x?loginToken=%2") == nil)
    #expect(SingleSignOn.loginToken(in: "app://x") == nil)
  }
}
