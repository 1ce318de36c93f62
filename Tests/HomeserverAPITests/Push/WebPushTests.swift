import HTTPServer
import JSON
import MatrixModel
import RoomRules
import Telemetry
import Testing

@testable import Homeserver
@testable import ServerPush

/// Pushers of kind `webpush`: MSC4174. That a browser can read what is pushed is for Tests/EndToEnd/test_web_push.py.
@Suite struct WebPushTests {
  /// Ann, who has subscribed with a browser, and Bob, who writes to her.
  private struct Fixture {
    let push: PushFixture
    let pushkey = Self.base64(P256KeyPair().publicKey)
    let auth = Self.base64([UInt8](repeating: 7, count: 16))

    static func base64(_ bytes: [UInt8]) -> String { String(decoding: UnpaddedBase64.encode(bytes, .urlSafe), as: UTF8.self) }

    static func run(_ body: (Fixture) async throws -> Void) async throws {
      try await PushFixture.run { push in
        let answer = try await push.fixture.call(
          .post, "pushers/set", as: push.ann, #"{"app_id":"org.example.app","pushkey":"key","kind":null}"#)
        #expect(answer.status == 200)
        push.peer.answers { _ in (201, "") }
        try await body(Fixture(push: push))
      }
    }

    func set(_ kind: String = "webpush", url: String? = nil, auth: String? = nil, pushkey: String? = nil, data: String = "")
      async throws -> APIFixture.Answer
    {
      try await push.fixture.call(
        .post, "pushers/set", as: push.ann,
        #"""
        {"kind":"\#(kind)","app_id":"org.example.web","pushkey":"\#(pushkey ?? self.pushkey)","app_display_name":"Web",
         "lang":"en","device_display_name":"Browser",
         "data":{"url":"\#(url ?? push.peer.url + "/resource/1")","auth":"\#(auth ?? self.auth)"\#(data)}}
        """#)
    }

    func acknowledge(_ token: String, app: String = "org.example.web", at path: String = "pushers/ack") async throws
      -> APIFixture.Answer
    {
      try await push.fixture.call(.post, path, as: push.ann, #"{"app_id":"\#(app)","ack_token":"\#(token)"}"#)
    }

    /// Everything that is due is pushed; the requests that came of it.
    func pushed() async throws -> [PeerServer.Call] {
      try await push.fixture.homeserver.push.catchUp()
      return push.peer.take()
    }

    /// What the browser would read in the first push.
    func token() async throws -> String? {
      try await push.fixture.homeserver.database.read { tx in
        try tx.first("SELECT activation FROM pusher WHERE kind = 'webpush'") { $0.optionalText(0) } ?? nil
      }
    }

    func activate() async throws {
      #expect(try await set().status == 201)
      _ = try await pushed()
      #expect(try await acknowledge(try #require(try await token())).status == 200)
    }

    func queueCount() async throws -> Int64? {
      try await push.fixture.homeserver.database.read { tx in
        try tx.first("SELECT COUNT(*) FROM push_queue") { $0.integer(0) }
      }
    }

    var isActivated: Bool? {
      get async throws { try await push.pushers(of: push.ann).first?["activated"]?.bool }
    }
  }

  @Test func `the server says by which key it can be known, and keeps it`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let capabilities = try await fixture.call(.get, "capabilities", as: ann).json["capabilities"]
      let key = try #require(capabilities?["m.webpush"]?["vapid"]?.string)
      #expect(capabilities?["m.webpush"]?["enabled"]?.bool == true)
      #expect(capabilities?["org.matrix.msc4174.webpush"]?["vapid"]?.string == key)
      #expect(UnpaddedBase64.decode(key.utf8).map { P256KeyPair.isPublicKey($0) } == true)
      await fixture.homeserver.shutdown()
      let restarted = try Homeserver(fixture.homeserver.configuration, log: Log("test"))
      #expect(restarted.pushers.vapidKey?.publicKey == key)
      await restarted.shutdown()
    }
  }

  @Test func `where it is switched off, nothing is announced and nothing set`() async throws {
    try await APIFixture.run(configure: {
      $0.registration = .open
      $0.sendsWebPush = false
    }) { fixture in
      let ann = try await fixture.register("ann")
      let capabilities = try await fixture.call(.get, "capabilities", as: ann).json["capabilities"]
      #expect(capabilities?["m.webpush"] == nil && capabilities?["org.matrix.msc4174.webpush"] == nil)
      let answer = try await fixture.call(
        .post, "pushers/set", as: ann,
        #"""
        {"kind":"webpush","app_id":"a","pushkey":"\#(Fixture.base64(P256KeyPair().publicKey))","app_display_name":"",
         "device_display_name":"","lang":"","data":{"url":"https://push.example.org/1","auth":"BTBZMqHH6r4Tts7J_aSIgg"}}
        """#)
      #expect(answer.status == 400 && answer.errorCode == "M_INVALID_PARAM")
    }
  }

  @Test func `nothing is pushed but a token until the browser has sent it back, and then what comes from there on`()
    async throws
  {
    try await Fixture.run { web in
      #expect(try await web.set().status == 201)
      #expect(try await web.isActivated == false)
      try await web.push.say("too early")
      let first = try await web.pushed()
      #expect(first.count == 1)
      let call = try #require(first.first)
      #expect(call.path == "/resource/1" && call.body.count == 4_096)
      #expect(call.headers["content-encoding"] == "aes128gcm" && call.headers["ttl"] == "172800")
      #expect(call.headers["urgency"] == "high" && call.headers["topic"] == nil)
      #expect(call.authorization?.hasPrefix("vapid t=") == true)
      try await web.push.say("still too early")
      #expect(try await web.pushed().isEmpty)
      // Nobody keeps what may never be pushed.
      #expect(try await web.queueCount() == 0)
      let token = try #require(try await web.token())
      #expect(try await web.acknowledge("another").errorCode == "M_UNKNOWN_ACTIVATION_TOKEN")
      let nowhere = try await web.acknowledge(token, app: "org.example.other")
      #expect(nowhere.status == 404 && nowhere.errorCode == "M_NOT_FOUND")
      #expect(try await web.acknowledge(token).status == 200)
      #expect(try await web.isActivated == true)
      // An answer that got lost.
      let again = "/_matrix/client/unstable/org.matrix.msc4174/pushers/ack"
      #expect(try await web.acknowledge(token, at: again).status == 200)
      _ = try await web.pushed()
      try await web.push.say("now")
      #expect(try await web.pushed().count == 1)
      #expect(try await web.queueCount() == 0)
    }
  }

  @Test func `a token is good for five minutes; setting the pusher again brings another`() async throws {
    try await Fixture.run { web in
      #expect(try await web.set().status == 201)
      let old = try #require(try await web.token())
      web.push.fixture.advance(milliseconds: PusherActivation.lifetimeMilliseconds)
      let late = try await web.acknowledge(old)
      #expect(late.status == 400 && late.errorCode == "M_EXPIRED_ACTIVATION_TOKEN")
      // It is not worth a push any more either.
      #expect(try await web.pushed().isEmpty)
      #expect(try await web.set().status == 201)
      let new = try #require(try await web.token())
      #expect(new != old)
      #expect(try await web.acknowledge(old).errorCode == "M_UNKNOWN_ACTIVATION_TOKEN")
      #expect(try await web.acknowledge(new).status == 200)
    }
  }

  @Test func `only who leads elsewhere is activated anew`() async throws {
    try await Fixture.run { web in
      try await web.activate()
      #expect(try await web.set().status == 200)
      #expect(try await web.isActivated == true)
      #expect(try await web.set(url: web.push.peer.url + "/resource/2").status == 201)
      #expect(try await web.isActivated == false)
      #expect(try await web.set(auth: Fixture.base64([UInt8](repeating: 8, count: 16))).status == 201)
    }
  }

  @Test func `messages are more urgent than numbers, of which only the last counts`() async throws {
    try await Fixture.run { web in
      try await web.activate()
      let event = try await web.push.say("Hello")
      let message = try #require(try await web.pushed().first)
      #expect(message.headers["urgency"] == "high" && message.headers["topic"] == nil)
      let id = PercentEncoding.encode(ByteString(event))
      _ = try await web.push.fixture.call(.post, "rooms/\(web.push.room)/receipt/m.read/\(id)", as: web.push.ann, "{}")
      let numbers = try await web.pushed()
      #expect(numbers.count == 1)
      #expect(numbers.first?.headers["urgency"] == "normal" && numbers.first?.headers["topic"] == "counts")
    }
  }

  @Test func `who cannot have pushes that show nothing is told of events only`() async throws {
    try await Fixture.run { web in
      try await web.activate()
      #expect(try await web.set(data: #","events_only":true"#).status == 200)
      let event = PercentEncoding.encode(ByteString(try await web.push.say("Hello")))
      #expect(try await web.pushed().count == 1)
      _ = try await web.push.fixture.call(.post, "rooms/\(web.push.room)/receipt/m.read/\(event)", as: web.push.ann, "{}")
      #expect(try await web.pushed().isEmpty)
    }
  }

  @Test(arguments: [403, 404, 410])
  func `a subscription that is over takes its pusher along`(_ status: UInt16) async throws {
    try await Fixture.run { web in
      try await web.activate()
      web.push.peer.answers { _ in (status, "") }
      try await web.push.say("one")
      #expect(try await web.pushed().count == 1)
      #expect(try await web.push.pushers(of: web.push.ann).isEmpty)
    }
  }

  @Test(arguments: [301, 307, 400, 429, 500] as [UInt16])
  func `a push service that fails is asked again, later, and a redirect is not followed`(_ status: UInt16) async throws {
    try await Fixture.run { web in
      try await web.activate()
      web.push.peer.answers { _ in (status, "") }
      try await web.push.say("one")
      #expect(try await web.pushed().count == 1)
      #expect(try await web.pushed().isEmpty)
      web.push.fixture.advance(milliseconds: 1_000)
      web.push.peer.answers { _ in (201, "") }
      #expect(try await web.pushed().count == 1)
      #expect(try await web.pushed().isEmpty)
    }
  }

  @Test func `a push service says how long it wants to be left alone`() async throws {
    try await Fixture.run { web in
      try await web.activate()
      web.push.peer.answers { _ in (429, "") }
      web.push.peer.retryAfter.withLock { $0 = 60 }
      try await web.push.say("one")
      #expect(try await web.pushed().count == 1)
      web.push.fixture.advance(milliseconds: 59_000)
      #expect(try await web.pushed().isEmpty)
      web.push.fixture.advance(milliseconds: 1_000)
      #expect(try await web.pushed().count == 1)
    }
  }

  @Test func `what a push service will never take does not hold up what comes after it`() async throws {
    try await Fixture.run { web in
      try await web.activate()
      web.push.peer.answers { _ in (413, "") }
      try await web.push.say("one")
      #expect(try await web.pushed().count == 1)
      web.push.peer.answers { _ in (201, "") }
      try await web.push.say("two")
      #expect(try await web.pushed().count == 1)
    }
  }

  @Test(arguments: [
    "http://push.example.org/1", "https://127.0.0.1/1", "https://10.0.0.1:8443/1", "https://[::1]/1", "https://[fe80::1]/1",
    "https://[::ffff:192.168.0.1]/1", "https://169.254.169.254/latest", "https://a:b@push.example.org/1",
    "https://push.example.org/#x", "ftp://push.example.org/1", "https://", "push.example.org", "", "https://push example.org/"
  ])
  func `a push service is https and public, or the operator's`(_ url: String) async throws {
    try await Fixture.run { web in
      let answer = try await web.set(url: url)
      #expect(answer.status == 400 && answer.errorCode == "M_INVALID_PARAM", "\(url)")
      #expect(try await web.push.pushers(of: web.push.ann).isEmpty)
    }
  }

  /// A name may lead anywhere: it is looked at when it is connected to.
  @Test func `a name that leads into a private network is not connected to`() async throws {
    try await Fixture.run { web in
      let answer = try await web.set(url: "https://localhost:\(web.push.peer.port)/resource/1")
      #expect(answer.status == 201)
      #expect(try await web.pushed().isEmpty)
    }
  }

  @Test func `keys that are none are refused with the reason`() async throws {
    try await Fixture.run { web in
      let key = P256KeyPair().publicKey
      var off = key
      off[64] ^= 1
      let pushkeys = [
        "", "key", Fixture.base64(off), Fixture.base64(Array(key.dropLast())), Fixture.base64(key + [0]),
        Fixture.base64([2] + key[1..<33]), web.pushkey + "="
      ]
      for pushkey in pushkeys {
        let answer = try await web.set(pushkey: pushkey)
        #expect(answer.status == 400 && answer.errorCode == "M_INVALID_PARAM", "\(pushkey)")
      }
      for auth in ["", "short", Fixture.base64([UInt8](repeating: 7, count: 15)), web.auth + "==", "+/+/+/+/+/+/+/+/+/+/+A"] {
        let answer = try await web.set(auth: auth)
        #expect(answer.status == 400 && answer.json["error"]?.string?.contains("auth") == true, "\(auth)")
      }
      #expect(try await web.set(data: #","format":"all""#).errorCode == "M_INVALID_PARAM")
      #expect(try await web.set("org.matrix.msc4174.webpush").status == 201)
      #expect(try await web.push.pushers(of: web.push.ann).first?["kind"]?.string == "webpush")
    }
  }

  @Test func `a pusher goes with its device, and what is not its own stays`() async throws {
    try await Fixture.run { web in
      try await web.activate()
      #expect(try await web.push.fixture.call(.post, "logout", as: web.push.ann, "{}").status == 200)
      try await web.push.say("one")
      #expect(try await web.pushed().isEmpty)
      #expect(try await web.queueCount() == 0)
    }
  }
}
