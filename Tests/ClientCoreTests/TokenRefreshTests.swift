import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct TokenRefreshTests {
  static let unknown = #"{"errcode":"M_UNKNOWN_TOKEN","error":"Expired","soft_logout":true}"#
  static let refreshed = #"{"access_token":"T2","refresh_token":"R2","expires_in_ms":600000}"#

  /// Signed in with tokens that expire in ten minutes; the first sync is under way.
  static func host(lifetime: Int? = 600_000) -> Host {
    var host = Host()
    host.handle(.start)
    host.command(.session(.logIn(user: "me", password: "secret")), id: 1)
    let expiry = lifetime.map { #","expires_in_ms":\#($0)"# } ?? ""
    host.answer("/login", #"{"user_id":"@me:test","device_id":"D","access_token":"T1","refresh_token":"R1"\#(expiry)}"#)
    return host
  }

  static func tokens(_ host: Host) -> [ByteString?] { host.waiting.map { $0.request.accessToken } }

  @Test func `a login says that the client can refresh`() {
    var host = SignInTests.fresh()
    host.command(.session(.logIn(user: "me", password: "secret")))
    #expect(host.body("/login")?["refresh_token"]?.bool == true)
  }

  @Test func `many refusals cause one refresh, and everything goes out again in order`() {
    var host = Self.host()
    host.answer("/profile", "{}")
    for id in 20..<30 { host.ask(.device(DeviceID(trusted: ByteString("X\(id)"))), id: CommandID(id)) }
    let order = host.waiting.map { $0.request.target }
    for id in 20..<30 { host.answer("/devices/X\(id)", status: 401, Self.unknown) }
    host.answer("/sync?", status: 401, Self.unknown)
    #expect(host.waiting.map { $0.request.target } == ["/_matrix/client/v3/refresh"])
    #expect(host.body("/refresh")?["refresh_token"]?.string == "R1")
    #expect(host.request("/refresh")?.request.accessToken == nil)
    host.answer("/refresh", Self.refreshed)
    // The sync was asked for first and refused last.
    #expect(host.waiting.map { $0.request.target }.sorted() == order.sorted())
    #expect(host.waiting.dropLast().map { $0.request.target } == (20..<30).map { "/_matrix/client/v3/devices/X\($0)" })
    #expect(Self.tokens(host).allSatisfy { $0 == "T2" })
    #expect(host.client.sessionState == .signedIn)
    for id in 20..<30 {
      host.answer("/devices/X\(id)", #"{"device_id":"X"}"#)
      guard case .answer? = host.ended[CommandID(id)] else { return #expect(Bool(false), "\(host.ended)") }
    }
  }

  @Test func `a refusal that comes after the refresh costs no other`() {
    var host = Self.host()
    host.ask(.devices())
    host.answer("/sync?", status: 401, Self.unknown)
    host.answer("/refresh", Self.refreshed)
    host.answer("/devices", status: 401, Self.unknown)
    #expect(host.request("/refresh") == nil)
    #expect(host.request("/devices")?.request.accessToken == "T2")
  }

  @Test func `the new token is in the store before it is used`() {
    var host = Self.host()
    host.writesAtOnce = false
    host.answer("/sync?", status: 401, Self.unknown)
    host.answer("/refresh", Self.refreshed)
    #expect(host.request("/sync?") == nil)
    #expect(host.client.session?.accessToken == "T1")
    // A crash now: the old tokens are still good, for nobody has used the new ones.
    #expect(host.restarted().client.session?.refreshToken == "R1")
    host.finishWrites()
    #expect(host.request("/sync?")?.request.accessToken == "T2")
    #expect(host.restarted().client.session?.refreshToken == "R2")
    #expect(host.restarted().client.session?.accessToken == "T2")
  }

  @Test func `a store that takes nothing does not keep one from going on`() {
    var host = Self.host()
    host.storeWorks = false
    host.answer("/sync?", status: 401, Self.unknown)
    host.answer("/refresh", Self.refreshed)
    #expect(host.request("/sync?")?.request.accessToken == "T2")
  }

  @Test(arguments: [
    (403, #"{"errcode":"M_FORBIDDEN"}"#), (401, #"{"errcode":"M_UNKNOWN_TOKEN"}"#),
    (401, #"{"errcode":"M_UNKNOWN_TOKEN","soft_logout":true}"#)
  ]) func `a refused refresh is a soft logout: everything stays`(status: Int, body: String) {
    var host = Self.host()
    host.sync(Wire.join([Wire.message("one", "$1")], state: Wire.members, extra: Wire.counts))
    host.command(.timeline(.openRoom(.test)))
    host.ask(.devices())
    host.command(.rooms(.leave(.test)), id: 30)
    host.answer("/devices", status: 401, Self.unknown)
    host.answer("/refresh", status: status, body)
    #expect(host.client.sessionState == .softLoggedOut)
    #expect(host.texts() == ["one"])
    guard case .notSignedIn? = QueryTests.error(host) else { return #expect(Bool(false), "\(host.ended)") }
    #expect(host.result(30) == "notSignedIn")
    #expect(host.waiting.isEmpty)
    host.command(.session(.logIn(user: "me", password: "secret")))
    #expect(host.body("/login")?["device_id"]?.string == "D")
    host.answer("/login", #"{"user_id":"@me:test","device_id":"D","access_token":"T9"}"#)
    #expect(host.texts() == ["one"])
    #expect(host.request("/sync?")?.request.target.contains("since=s1") == true)
  }

  @Test func `where the refresh gets no answer, what waited for it got none either`() {
    var host = Self.host()
    host.ask(.devices())
    host.answer("/devices", status: 401, Self.unknown)
    host.answer("/sync?", status: 401, Self.unknown)
    host.respond("/refresh", .networkError)
    guard case .network? = QueryTests.error(host) else { return #expect(Bool(false), "\(host.ended)") }
    #expect(host.client.sessionState == .signedIn)
    // The sync tries again, and with it the refresh.
    host.wait(2_000)
    #expect(host.request("/sync?") == nil)
    host.answer("/refresh", Self.refreshed)
    #expect(host.request("/sync?")?.request.accessToken == "T2")
  }

  @Test func `a token is refreshed a minute before it expires, and nothing waits for that`() {
    var host = Self.host()
    host.sync()
    host.now += 539_999
    host.sync()
    #expect(host.request("/refresh") == nil)
    host.now += 1
    host.sync()
    #expect(host.request("/refresh") != nil)
    #expect(host.request("/sync?")?.request.accessToken == "T1")
    host.answer("/refresh", Self.refreshed)
    host.sync()
    #expect(host.request("/sync?")?.request.accessToken == "T2")
    #expect(host.request("/refresh") == nil)
  }

  @Test func `an expired token is not tried`() {
    var host = Self.host()
    host.sync()
    host.now += 600_000
    host.sync()
    #expect(host.request("/sync?") == nil)
    host.answer("/refresh", Self.refreshed)
    #expect(host.request("/sync?")?.request.accessToken == "T2")
  }

  @Test func `short-lived tokens are not refreshed with every request`() {
    var host = Self.host(lifetime: 10_000)
    host.sync()
    host.now += 7_499
    host.sync()
    #expect(host.request("/refresh") == nil)
    host.now += 1
    host.sync()
    #expect(host.request("/refresh") != nil)
  }

  @Test func `a refresh ahead of time that fails is not repeated with every request`() {
    var host = Self.host()
    host.sync()
    host.now += 550_000
    host.sync()
    host.respond("/refresh", .networkError)
    host.ask(.devices())
    #expect(host.request("/refresh") == nil)
    #expect(host.request("/devices")?.request.accessToken == "T1")
    host.now += 2_000
    host.ask(.whoAmI(), id: 8)
    #expect(host.request("/refresh") != nil)
  }

  @Test func `a server that never takes a token ends in a soft logout`() {
    var host = Self.host()
    host.ask(.devices())
    for round in 0..<Limits.tokenRefusals {
      host.answer("/devices", status: 401, Self.unknown)
      host.answer("/refresh", #"{"access_token":"N\#(round)"}"#)
    }
    #expect(host.client.sessionState == .signedIn)
    host.answer("/devices", status: 401, Self.unknown)
    #expect(host.client.sessionState == .softLoggedOut)
  }

  @Test(arguments: [true, false]) func `who logs out with an expired token is logged out`(isRefreshed: Bool) {
    var host = Self.host()
    host.sync()
    host.now += 600_000
    host.command(.session(.logOut))
    #expect(host.request("/logout") == nil)
    if isRefreshed {
      host.answer("/refresh", Self.refreshed)
      #expect(host.request("/logout")?.request.accessToken == "T2")
      host.answer("/logout", "{}")
    } else {
      host.answer("/refresh", status: 403, #"{"errcode":"M_FORBIDDEN"}"#)
    }
    #expect(host.client.sessionState == .signedOut)
    #expect(host.store.isEmpty)
    #expect(host.result() == "done")
  }

  @Test func `two who log out both hear of the end`() {
    var host = Host.signedIn()
    host.command(.session(.logOut), id: 20)
    host.command(.session(.logOut), id: 21)
    host.answer("/logout", "{}")
    #expect(host.result(20) == "notSignedIn")
    #expect(host.result(21) == "done")
  }

  @Test func `a refresh without a new refresh token keeps the old one`() {
    var host = Self.host(lifetime: nil)
    host.answer("/sync?", status: 401, Self.unknown)
    host.answer("/refresh", #"{"access_token":"T2"}"#)
    #expect(host.client.session?.refreshToken == "R1")
    #expect(host.client.session?.expiresAtMilliseconds == nil)
  }

  @Test func `a query that is cancelled while it waits for the token does not go out`() {
    var host = Self.host()
    host.ask(.devices())
    host.answer("/devices", status: 401, Self.unknown)
    host.handle(.cancel(7))
    host.answer("/refresh", Self.refreshed)
    #expect(host.request("/devices") == nil)
  }

  @Test func `an upload goes out again as the same file`() {
    var host = Self.host()
    host.command(.account(.setAvatar(BlobHandle("picture"), mimeType: "image/png")))
    host.answer("/upload", status: 401, Self.unknown)
    host.answer("/refresh", Self.refreshed)
    #expect(host.request("/upload")?.blob?.name == "picture")
    #expect(host.request("/upload")?.request.accessToken == "T2")
    host.answer("/upload", #"{"content_uri":"mxc://test/a"}"#)
    host.answer("/avatar_url", "{}")
    #expect(host.result() == "done")
    #expect(host.releasedBlobs.count == 1)
  }

  @Test(arguments: [true, false]) func `without a refresh token a refusal ends the session at once`(isSoft: Bool) {
    var host = Host.inRoom()
    host.ask(.devices())
    host.answer("/devices", status: 401, #"{"errcode":"M_UNKNOWN_TOKEN","soft_logout":\#(isSoft)}"#)
    #expect(host.client.sessionState == (isSoft ? .softLoggedOut : .signedOut))
    #expect(host.store.isEmpty == !isSoft)
    guard case .notSignedIn? = QueryTests.error(host) else { return #expect(Bool(false), "\(host.ended)") }
  }
}
