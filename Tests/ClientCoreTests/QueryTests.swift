import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct QueryTests {
  static let limited = #"{"errcode":"M_LIMIT_EXCEEDED","error":"Slow","retry_after_ms":2000}"#
  static let wantsPassword =
    #"{"session":"S","flows":[{"stages":["m.login.password"]},{"stages":["m.login.sso"]}],"params":{}}"#

  static func error(_ host: Host, _ id: CommandID = 7) -> ClientError? {
    guard case .failed(let error)? = host.ended[id] else { return nil }
    return error
  }

  @Test func `a query goes out with the token and its answer goes to the caller only`() throws {
    var host = Host.signedIn()
    let before = host.changes.count
    host.ask(.devices())
    #expect(host.request("/devices")?.request.accessToken == "T")
    host.answer("/devices", #"{"devices":[{"device_id":"D","display_name":"Phone","last_seen_ts":5}]}"#)
    let devices = try Query<[Device]>.devices().answer(try #require(host.ended[7]))
    #expect(devices.map { $0.name } == ["Phone"])
    #expect(host.changes.count == before)
  }

  @Test func `what anyone may ask is asked without a session, the rest is not`() {
    var host = SignInTests.fresh()
    host.ask(.publicRooms())
    #expect(host.request("/publicRooms") != nil)
    host.ask(.devices(), id: 8)
    guard case .notSignedIn? = Self.error(host, 8) else { return #expect(Bool(false), "\(host.ended)") }
    #expect(host.request("/devices") == nil)
  }

  @Test func `a refusal keeps what the server said`() {
    var host = Host.signedIn()
    host.ask(.devices())
    host.answer("/devices", status: 403, #"{"errcode":"ORG_EXAMPLE","error":"No.","retry_after_ms":9}"#)
    guard case .refused(403, let code, let message, let retry)? = Self.error(host) else {
      return #expect(Bool(false), "\(host.ended)")
    }
    #expect(code.text == "ORG_EXAMPLE")
    #expect(message == "No." as ByteString)
    #expect(retry == 9)
  }

  @Test func `an answer that is not what the spec says is one`() {
    for body in [#"{"devices":7}"#, "{}"] {
      var host = Host.signedIn()
      host.ask(.publicRooms())
      host.answer("/publicRooms", body)
      #expect(throws: ClientError.self) { try Query<RoomPage>.publicRooms().answer(host.ended[7] ?? .failed(.network)) }
    }
    var host = Host.signedIn()
    host.ask(.publicRooms())
    host.answer("/publicRooms", "<html>")
    guard case .badAnswer? = Self.error(host) else { return #expect(Bool(false), "\(host.ended)") }
  }

  // MARK: Rate limits

  @Test func `a query waits as long as the server says and goes out again`() {
    var host = Host.signedIn()
    host.ask(.devices())
    host.answer("/devices", status: 429, Self.limited)
    #expect(host.ended[7] == nil)
    host.wait(1_999)
    #expect(host.request("/devices") == nil)
    host.wait(1)
    host.answer("/devices", #"{"devices":[]}"#)
    guard case .answer? = host.ended[7] else { return #expect(Bool(false), "\(host.ended)") }
  }

  @Test func `what a query waits in all is bounded`() {
    var host = Host.signedIn()
    host.ask(.devices())
    var tries = 0
    while host.ended[7] == nil, tries < 100 {
      host.answer("/devices", status: 429, Self.limited)
      tries += 1
      if host.ended[7] == nil { host.wait(2_000) }
    }
    #expect(tries == Int(Limits.queryWaitMilliseconds / 2_000) + 1)
    guard case .refused(429, .limitExceeded, _, 2_000)? = Self.error(host) else {
      return #expect(Bool(false), "\(host.ended)")
    }
  }

  @Test(arguments: [(60_000, true), (60_001, false)]) func `a wait beyond the bound is told at once`(
    milliseconds: Int, waits: Bool
  ) {
    var host = Host.signedIn()
    host.ask(.devices())
    host.answer("/devices", status: 429, #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":\#(milliseconds)}"#)
    #expect((host.ended[7] == nil) == waits)
  }

  @Test func `without a time to wait, and with none at all, a query does not hurry`() {
    var host = Host.signedIn()
    host.ask(.devices())
    host.answer("/devices", status: 429, #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":0}"#)
    host.wait(Limits.queryPauseMilliseconds - 1)
    #expect(host.request("/devices") == nil)
    host.wait(1)
    host.answer("/devices", status: 429, "{}")
    host.wait(Limits.backoffFirstMilliseconds)
    #expect(host.request("/devices") != nil)
  }

  // MARK: Cancelling

  // Proves J20
  @Test func `cancelling a query ends its request, and it ends once`() {
    var host = Host.signedIn()
    host.ask(.devices())
    let id = host.request("/devices")?.id ?? 0
    host.handle(.cancel(7))
    guard case .cancelled? = Self.error(host) else { return #expect(Bool(false), "\(host.ended)") }
    #expect(host.request("/devices") == nil)
    // What comes all the same is ignored, and so is a second cancelling.
    host.handle(.response(id, .answer(status: 200, body: Array(#"{"devices":[]}"#.utf8))))
    host.handle(.cancel(7))
  }

  @Test func `a query that waits for the server can be cancelled`() {
    var host = Host.signedIn()
    host.ask(.devices())
    host.answer("/devices", status: 429, Self.limited)
    host.handle(.cancel(7))
    guard case .cancelled? = Self.error(host) else { return #expect(Bool(false), "\(host.ended)") }
    host.wait(5_000)
    #expect(host.request("/devices") == nil)
  }

  @Test func `cancelling a command ends it and its request`() {
    var host = Host.inRoom()
    host.command(.rooms(.leave(.test)))
    host.handle(.cancel(9))
    #expect(host.result() == "cancelled")
    #expect(host.request("/leave") == nil)
    host.command(.people(.loadMembers(.test)), id: 10)
    host.handle(.cancel(10))
    #expect(host.result(10) == "cancelled")
    host.command(.timeline(.paginateBack(.test)), id: 12)
    #expect(host.request("/messages") != nil)
    host.handle(.cancel(12))
    #expect(host.result(12) == "cancelled" && host.request("/messages") == nil)
    host.command(.timeline(.paginateBack(.test)), id: 12)
    #expect(host.request("/messages") != nil)
    // Nothing is left behind: the same can be asked for again.
    host.command(.people(.loadMembers(.test)), id: 11)
    #expect(host.request("/members") != nil)
  }

  @Test func `cancelling a login leaves one signed out`() {
    var host = SignInTests.fresh()
    host.command(.session(.logIn(user: "me", password: "secret")))
    host.handle(.cancel(9))
    #expect(host.result() == "cancelled")
    #expect(host.client.sessionState == .signedOut)
  }

  @Test func `the end of the session ends queries and commands`() {
    var host = Host.inRoom()
    host.ask(.devices())
    host.ask(.whoAmI(), id: 8)
    host.answer("/whoami", status: 429, Self.limited)
    host.command(.rooms(.leave(.test)))
    host.command(.session(.logOut), id: 10)
    for id in [CommandID(7), 8] {
      guard case .notSignedIn? = Self.error(host, id) else { return #expect(Bool(false), "\(host.ended)") }
    }
    #expect(host.result() == "notSignedIn")
  }

  // MARK: Files

  @Test func `a query sends a file and reports its progress`() throws {
    var host = Host.signedIn()
    let query = Query<MediaURI>.upload(BlobHandle("picture"), mimeType: "image/png", fileName: "a b.png")
    host.ask(query)
    let waiting = try #require(host.request("/upload"))
    #expect(waiting.blob?.name == "picture" as ByteString)
    #expect(waiting.request.target == "/_matrix/media/v3/upload?filename=a%20b.png")
    #expect(waiting.request.contentType == "image/png")
    #expect(waiting.request.accessToken == "T")
    let effects = host.client.handle(.uploadProgress(waiting.id, sentBytes: 5, totalBytes: 9), now: host.now)
    guard effects.count == 1, case .queryProgress(7, sentBytes: 5, totalBytes: 9) = effects[0] else {
      return #expect(Bool(false), "\(effects)")
    }
    host.answer("/upload", #"{"content_uri":"mxc://test/a"}"#)
    #expect(try query.answer(try #require(host.ended[7])).string == "mxc://test/a")
  }

  @Test func `a file goes into a place that was reserved`() throws {
    var host = Host.signedIn()
    let place = MediaURI(trusted: "mxc://test/a")
    let query = Query<MediaURI>.upload(BlobHandle("picture"), mimeType: "image/png", into: place)
    host.ask(query)
    #expect(host.request("/upload/test/a")?.request.method == .put)
    host.answer("/upload/test/a", "{}")
    #expect(try query.answer(try #require(host.ended[7])) == place)
  }

  @Test func `a file that is gone is said to be`() {
    var host = Host.signedIn()
    host.ask(.upload(BlobHandle("picture"), mimeType: "image/png"))
    host.respond("/upload", .blobIsGone)
    guard case .attachmentIsGone? = Self.error(host) else { return #expect(Bool(false), "\(host.ended)") }
  }

  // MARK: Interactive authentication

  @Test func `the server asks who it is, and the same query with a stage goes through`() throws {
    var host = Host.signedIn()
    let query = Query<Void>.deleteDevice(DeviceID(trusted: "X"))
    host.ask(query)
    host.answer("/devices/X", status: 401, Self.wantsPassword)
    guard case .authenticationNeeded(let needed)? = Self.error(host) else {
      return #expect(Bool(false), "\(host.ended)")
    }
    #expect(needed.session == "S" as ByteString)
    #expect(needed.nextStages == ["m.login.password", "m.login.sso"])
    #expect(needed.refusal == nil)
    host.ask(query.authenticated(by: .password("secret", user: .user("@me:test")), needed))
    let auth = try #require(host.body("/devices/X")?["auth"])
    #expect(
      String(decoding: auth.bytes, as: UTF8.self)
        == #"{"type":"m.login.password","session":"S","identifier":{"type":"m.id.user","user":"@me:test"},"password":"secret"}"#
    )
    host.answer("/devices/X", "{}")
    guard case .answer? = host.ended[7] else { return #expect(Bool(false), "\(host.ended)") }
  }

  @Test func `the stage goes into the body beside what is there`() throws {
    let query = Query<Void>.deleteDevices([DeviceID(trusted: "A"), DeviceID(trusted: "B")])
    let needed = try #require(InteractiveAuthentication(try JSON.parse(Array(Self.wantsPassword.utf8))))
    let body = try JSON.parse(try #require(query.authenticated(by: .dummy, needed).request.wholeBody))
    #expect(body["devices"]?.count == 2)
    #expect(body["auth"]?["type"]?.string == "m.login.dummy")
  }

  @Test func `a refused stage says why, and what is done counts`() throws {
    let body = """
      {"errcode":"M_FORBIDDEN","error":"Wrong","session":"S","completed":["m.login.recaptcha"],
       "flows":[{"stages":["m.login.recaptcha","m.login.terms","m.login.dummy"]}],
       "params":{"m.login.terms":{"policies":{"privacy":{"version":"1","fr":{"name":"Vie","url":"f"},"en":{"name":"Privacy","url":"e"}},
         "tos":{"version":"2","de":{"name":"AGB","url":"d"}},"broken":{"version":"3"}}}}}
      """
    let needed = try #require(InteractiveAuthentication(try JSON.parse(Array(body.utf8))))
    #expect(needed.refusal?.message == "Wrong")
    #expect(needed.nextStages == ["m.login.terms"])
    #expect(needed.policies(language: "fr").map { $0.name } == ["Vie", "AGB"])
    #expect(needed.policies().map { $0.url } == ["e", "d"])
    #expect(needed.fallback(for: "m.login.sso") == "/_matrix/client/v3/auth/m.login.sso/fallback/web?session=S")
  }

  @Test(arguments: [
    (AuthenticationStage.dummy, #"{"type":"m.login.dummy","session":"S"}"#),
    (.terms, #"{"type":"m.login.terms","session":"S"}"#),
    (.registrationToken("t"), #"{"type":"m.login.registration_token","session":"S","token":"t"}"#),
    (.recaptcha(response: "r"), #"{"type":"m.login.recaptcha","session":"S","response":"r"}"#),
    (.completedElsewhere, #"{"session":"S"}"#),
    (
      .email(ValidatedAddress(sessionID: "sid", clientSecret: "c")),
      #"{"type":"m.login.email.identity","session":"S","threepid_creds":{"sid":"sid","client_secret":"c"}}"#
    ),
    (.other(type: "x.y", members: Array(#"{"a":[1]}"#.utf8)), #"{"type":"x.y","session":"S","a":[1]}"#)
  ]) func `stages are written as the spec has them`(stage: AuthenticationStage, text: String) {
    #expect(String(decoding: stage.body(session: "S"), as: UTF8.self) == text)
  }

  @Test(arguments: [true, false]) func `closing the account ends the session, whichever answer comes first`(
    syncIsFirst: Bool
  ) {
    var host = Host.inRoom()
    host.ask(.deactivateAccount())
    let unknown = #"{"errcode":"M_UNKNOWN_TOKEN"}"#
    if syncIsFirst {
      host.answer("/sync?", status: 401, unknown)
      #expect(host.client.sessionState == .signedIn)
    }
    host.answer("/deactivate", "{}")
    guard case .answer? = host.ended[7] else { return #expect(Bool(false), "\(host.ended)") }
    #expect(host.client.sessionState == .signedOut)
    #expect(host.store.isEmpty && host.waiting.isEmpty)
  }

  @Test func `an account that is not closed goes on`() {
    var host = Host.inRoom()
    host.ask(.deactivateAccount())
    host.answer("/sync?", status: 401, #"{"errcode":"M_UNKNOWN_TOKEN","soft_logout":true}"#)
    host.answer("/deactivate", status: 401, Self.wantsPassword)
    #expect(host.request("/sync?") != nil)
    host.ask(.deactivateAccount(), id: 8)
    host.answer("/deactivate", status: 401, #"{"errcode":"M_UNKNOWN_TOKEN","soft_logout":true}"#)
    guard case .notSignedIn? = Self.error(host, 8) else { return #expect(Bool(false), "\(host.ended)") }
    #expect(host.client.sessionState == .softLoggedOut)
  }

  @Test func `a 401 without flows is a refusal`() {
    var host = Host.signedIn()
    host.ask(.whoAmI())
    host.answer("/whoami", status: 401, #"{"errcode":"M_USER_LOCKED","soft_logout":true}"#)
    guard case .refused(401, .userLocked, _, _)? = Self.error(host) else { return #expect(Bool(false), "\(host.ended)") }
    #expect(host.client.sessionState == .signedIn)
  }
}
