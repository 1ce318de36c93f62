import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct SignInTests {
  static func fresh() -> Host {
    var host = Host()
    host.handle(.start)
    return host
  }

  @Test func `an empty store means signed out`() {
    #expect(Self.fresh().client.sessionState == .signedOut)
  }

  @Test func `a password login stores the session and begins to sync`() {
    var host = Self.fresh()
    host.command(.session(.logIn(user: "me", password: "secret")))
    #expect(host.client.sessionState == .signingIn)
    let body = host.body("/login")
    #expect(body?["type"]?.string == "m.login.password")
    #expect(body?["identifier"]?["user"]?.string == "me")
    #expect(host.request("/login")?.request.accessToken == nil)
    host.answer("/login", #"{"user_id":"@me:test","device_id":"D","access_token":"T"}"#)
    #expect(host.client.sessionState == .signedIn)
    #expect(host.restarted().client.session?.userID.string == "@me:test")
  }

  @Test func `a wrong password is told with the server's words`() {
    var host = Self.fresh()
    host.command(.session(.logIn(user: "me", password: "wrong")))
    host.answer("/login", status: 403, #"{"errcode":"M_FORBIDDEN","error":"Invalid password"}"#)
    #expect(host.client.sessionState == .signedOut)
    guard case .refused(403, .forbidden, let message, _)? = host.client.signIn.error else {
      return #expect(Bool(false), "no error")
    }
    #expect(message == "Invalid password")
  }

  @Test func `the flows are as the server announces them`() {
    var host = Self.fresh()
    host.command(.session(.loadFlows))
    host.answer("/login", #"{"flows":[{"type":"m.login.sso"},{"type":"m.login.password"}]}"#)
    #expect(host.client.signIn.allowsPasswordLogin == true)
    // Nobody wants to register yet: the server is not asked to refuse one.
    #expect(host.client.signIn.registration == .unknown && host.request("/register") == nil)
    host.command(.session(.loadRegistration))
    host.answer("/register", status: 401, #"{"session":"x","flows":[{"stages":["m.login.registration_token"]}]}"#)
    #expect(host.client.signIn.registration == .withToken)
  }

  @Test(arguments: [
    ("open", SignIn.Registration.open), ("token", .withToken), ("closed", .closed), ("other", .unsupported), ("new", .unknown)
  ]) func `a server that says how to register is not asked by a try`(word: String, expected: SignIn.Registration) {
    var host = Self.fresh()
    host.command(.session(.loadFlows))
    host.answer("/login", #"{"flows":[{"type":"m.login.password"}],"martlet.registration":"\#(word)"}"#)
    #expect(host.client.signIn.registration == expected)
    host.command(.session(.loadRegistration))
    #expect((host.request("/register") == nil) == (expected != .unknown))
  }

  @Test func `where registration is told to be open its stage goes out at once`() {
    var host = Self.fresh()
    host.command(.session(.loadFlows))
    host.answer("/login", #"{"flows":[{"type":"m.login.password"}],"martlet.registration":"open"}"#)
    host.command(.session(.register(username: "me", password: "secret", token: nil)))
    #expect(host.body("/register")?["auth"]?["type"]?.string == "m.login.dummy")
    host.answer("/register", #"{"user_id":"@me:test","device_id":"D","access_token":"T"}"#)
    #expect(host.client.sessionState == .signedIn)
  }

  @Test(arguments: [
    (401, #"{"session":"x","flows":[{"stages":["m.login.dummy"]}]}"#, SignIn.Registration.open),
    (401, #"{"session":"x","flows":[{"stages":[]}]}"#, .open),
    (401, #"{"session":"x","flows":[{"stages":["m.login.registration_token","m.login.dummy"]}]}"#, .withToken),
    (401, #"{"session":"x","flows":[{"stages":["m.login.recaptcha"]}]}"#, .unsupported),
    (403, #"{"errcode":"M_FORBIDDEN"}"#, .closed),
    (500, "", .unknown)
  ]) func `what a refusal without a stage says about registration`(
    status: Int, body: String, expected: SignIn.Registration
  ) {
    var host = Self.fresh()
    host.command(.session(.loadRegistration))
    host.answer("/register", status: status, body)
    #expect(host.client.signIn.registration == expected)
  }

  @Test func `registration goes through the stages`() {
    var host = Self.fresh()
    host.command(.session(.register(username: "me", password: "secret", token: "tok")))
    let flows = #""session":"S","flows":[{"stages":["m.login.registration_token","m.login.dummy"]}]"#
    host.answer("/register", status: 401, "{" + flows + "}")
    #expect(host.body("/register")?["auth"]?["type"]?.string == "m.login.registration_token")
    #expect(host.body("/register")?["auth"]?["token"]?.string == "tok")
    #expect(host.body("/register")?["auth"]?["session"]?.string == "S")
    #expect(host.body("/register")?["username"]?.string == "me")
    host.answer("/register", status: 401, #"{"completed":["m.login.registration_token"],"# + flows + "}")
    #expect(host.body("/register")?["auth"]?["type"]?.string == "m.login.dummy")
    host.answer("/register", #"{"user_id":"@me:test","device_id":"D","access_token":"T"}"#)
    #expect(host.client.sessionState == .signedIn)
  }

  @Test func `a server whose registration is closed gets the token of an invite link at once`() {
    var host = Self.fresh()
    host.command(.session(.loadRegistration))
    host.answer("/register", status: 403, #"{"errcode":"M_FORBIDDEN"}"#)
    host.command(.session(.register(username: "me", password: "secret", token: "tok")))
    #expect(host.body("/register")?["auth"]?["token"]?.string == "tok")
    #expect(host.body("/register")?["auth"]?["session"] == nil)
    host.answer("/register", #"{"user_id":"@me:test","device_id":"D","access_token":"T"}"#)
    #expect(host.client.sessionState == .signedIn)
  }

  @Test func `a token that is wanted and missing is asked for, a wrong one is told`() {
    var host = Self.fresh()
    host.command(.session(.register(username: "me", password: "secret", token: nil)))
    let flows = #""session":"S","flows":[{"stages":["m.login.registration_token"]}]"#
    host.answer("/register", status: 401, "{" + flows + "}")
    #expect(host.result() == "registrationTokenNeeded")
    #expect(host.client.signIn.needsRegistrationToken)
    host.command(.session(.register(username: "me", password: "secret", token: "bad")))
    host.answer("/register", status: 401, "{" + flows + "}")
    host.answer("/register", status: 401, #"{"errcode":"M_UNAUTHORIZED","error":"Unknown token","# + flows + "}")
    #expect(host.client.sessionState == .signedOut)
    guard case .refused(401, .unauthorized, _, _)? = host.client.signIn.error else {
      return #expect(Bool(false), "no error")
    }
  }

  @Test func `stages this client does not have are told`() {
    var host = Self.fresh()
    host.command(.session(.register(username: "me", password: "secret", token: nil)))
    host.answer("/register", status: 401, #"{"session":"S","flows":[{"stages":["m.login.recaptcha"]}]}"#)
    guard case .failed(.authenticationNeeded(let needed))? = host.finished[9] else {
      return #expect(Bool(false), "\(host.result())")
    }
    #expect(needed.nextStages == ["m.login.recaptcha"])
    #expect(host.client.sessionState == .signedOut)
  }

  @Test(arguments: [true, false]) func `logging out empties the store whatever the server says`(answers: Bool) {
    var host = Host.inRoom()
    host.command(.session(.logOut))
    if answers { host.answer("/logout", "{}") } else { host.respond("/logout", .networkError) }
    #expect(host.client.sessionState == .signedOut)
    #expect(host.store.isEmpty)
    #expect(host.result() == "done")
    #expect(host.restarted().client.sessionState == .signedOut)
  }

  // Proves T16, T17
  @Test func `commands without a session are refused`() {
    var host = Self.fresh()
    host.command(.timeline(.openRoom(.test)))
    #expect(host.result() == "notSignedIn")
  }
}
