import Homeserver
import JSON
import MatrixModel
import Testing

/// A shadow-banned user is answered like any other, and nobody hears of them.
@Suite struct ShadowBanTests {
  private struct Scene {
    let server: AdministrationFixture
    /// A room of bob's with ann in it, percent-encoded.
    let room: String
    var fixture: APIFixture { server.fixture }
    var ann: APIFixture.User { server.ann }
    var bob: APIFixture.User { server.bob }

    func ann(_ method: HTTPMethod, _ path: String, _ body: String? = "{}") async throws -> APIFixture.Answer {
      try await fixture.call(method, path, as: ann, body)
    }

    func send(_ text: String, _ transaction: String) async throws -> APIFixture.Answer {
      try await ann(.put, "rooms/\(room)/send/m.room.message/\(transaction)", #"{"msgtype":"m.text","body":"\#(text)"}"#)
    }

    func ban(_ isBanned: Bool) async throws {
      let answer = try await server.ask(isBanned ? .post : .delete, "/v1/users/@ann:example.org/shadow_ban")
      #expect(answer.status == 200 && answer.json.count == 0)
    }

    /// Types and bodies of the room's events, the newest first, as a user sees them.
    func events(as user: APIFixture.User) async throws -> [String] {
      let page = try await fixture.call(.get, "rooms/\(room)/messages?dir=b&limit=50", as: user)
      return page.json["chunk"]?.elements.map { $0["content"]?["body"]?.string ?? $0["type"]?.string ?? "" } ?? []
    }
  }

  private static func run(_ body: (Scene) async throws -> Void) async throws {
    try await AdministrationFixture.run { server in
      let made = try await server.fixture.call(
        .post, "createRoom", as: server.bob,
        #"""
        {"preset":"public_chat","room_version":"11",
         "power_level_content_override":{"users":{"@bob:example.org":100,"@ann:example.org":100},"invite":0}}
        """#)
      let room = path(try #require(made.json["room_id"]?.string))
      _ = try await server.fixture.call(.post, "rooms/\(room)/join", as: server.ann, "{}")
      try await body(Scene(server: server, room: room))
    }
  }

  @Test func `it is an administrator's to say, is shown, and ends`() async throws {
    try await Self.run { scene in
      let path = "/_synapse/admin/v1/users/@bob:example.org/shadow_ban"
      #expect(try await scene.ann(.post, path).errorCode == "M_FORBIDDEN")
      #expect(try await scene.server.ask(.post, "/v1/users/@none:example.org/shadow_ban").errorCode == "M_NOT_FOUND")
      func isShown() async throws -> Bool? {
        try await scene.server.ask(.get, "/v2/users/@ann:example.org").json["shadow_banned"]?.bool
      }
      #expect(try await isShown() == false)
      try await scene.ban(true)
      #expect(try await isShown() == true)
      let listed = try await scene.server.ask(.get, "/v2/users?order_by=shadow_banned&dir=b&limit=1")
      #expect(listed.json["users"]?.elements.first { _ in true }?["name"]?.string == "@ann:example.org")
      #expect(try await scene.send("lost", "1").status == 200)
      try await scene.ban(false)
      #expect(try await isShown() == false)
      #expect(try await scene.send("back", "2").status == 200)
      #expect(try await scene.events(as: scene.bob).prefix(2) == ["back", "m.room.member"])
    }
  }

  // Proves P25
  @Test func `what they send and set in rooms is answered and is nowhere`() async throws {
    try await Self.run { scene in
      let cyn = try await scene.fixture.register("cyn")
      _ = try await scene.fixture.call(.post, "rooms/\(scene.room)/join", as: cyn, "{}")
      let old = try #require(try await scene.send("before", "0").json["event_id"]?.string)
      try await scene.ban(true)
      let before = try await scene.events(as: scene.bob)
      let sent = try await scene.send("spam", "1")
      #expect(sent.status == 200 && sent.json["event_id"]?.string?.hasPrefix("$") == true)
      for (method, path, body) in [
        (.put, "state/m.room.topic", #"{"topic":"spam"}"#), (.put, "redact/\(old)/2", "{}"),
        (.post, "invite", #"{"user_id":"@admin:example.org"}"#), (.post, "kick", #"{"user_id":"@cyn:example.org"}"#),
        (.post, "ban", #"{"user_id":"@eve:example.org"}"#), (.post, "upgrade", #"{"new_version":"12"}"#),
        (.put, "state/m.room.member/@ann:example.org", #"{"membership":"join","displayname":"spam"}"#)
      ] as [(HTTPMethod, String, String)] {
        #expect(try await scene.ann(method, "rooms/\(scene.room)/\(path)", body).status == 200, "\(path)")
      }
      #expect(try await scene.events(as: scene.bob) == before)
      #expect(try await scene.events(as: scene.ann) == before)
      #expect(try await scene.fixture.call(.get, "sync", as: scene.server.admin).json["rooms"]?["invite"] == nil)
      // Nobody else's event suffers by it.
      _ = try await scene.fixture.call(.put, "rooms/\(scene.room)/send/m.room.message/b", as: scene.bob, #"{"body":"fine"}"#)
      #expect(try await scene.events(as: scene.bob) == ["fine"] + before)
    }
  }

  @Test func `errors are those of anyone`() async throws {
    try await Self.run { scene in
      try await scene.ban(true)
      let other = try await scene.fixture.call(.post, "createRoom", as: scene.bob, "{}")
      let room = path(try #require(other.json["room_id"]?.string))
      #expect(try await scene.ann(.put, "rooms/\(room)/send/m.room.message/1").errorCode == "M_FORBIDDEN")
      #expect(try await scene.send(String(repeating: "x", count: 70_000), "2").errorCode == "M_TOO_LARGE")
      let nobody = try await scene.ann(.post, "rooms/\(scene.room)/invite", #"{"user_id":"@none:example.org"}"#)
      #expect(nobody.errorCode == "M_NOT_FOUND")
    }
  }

  @Test func `they come and go as themselves, and make rooms that nobody is asked into`() async throws {
    try await Self.run { scene in
      try await scene.ban(true)
      #expect(try await scene.ann(.post, "rooms/\(scene.room)/leave", #"{"reason":"spam"}"#).status == 200)
      #expect(
        try await scene.fixture.call(.get, "rooms/\(scene.room)/joined_members", as: scene.bob).json["joined"]?.count == 1)
      #expect(try await scene.ann(.post, "rooms/\(scene.room)/join", #"{"reason":"spam"}"#).status == 200)
      for membership in ["leave", "join"] {
        let content = #"{"membership":"\#(membership)","reason":"spam","displayname":"spam"}"#
        #expect(try await scene.ann(.put, "rooms/\(scene.room)/state/m.room.member/@ann:example.org", content).status == 200)
      }
      let said = try await scene.fixture.call(.get, "rooms/\(scene.room)/messages?dir=b", as: scene.bob)
      #expect(said.json["chunk"]?.count ?? 0 > 4 && !String(decoding: said.json.bytes, as: UTF8.self).contains("spam"))
      #expect(
        try await scene.fixture.call(.get, "rooms/\(scene.room)/joined_members", as: scene.bob).json["joined"]?.count == 2)
      let made = try await scene.ann(
        .post, "createRoom",
        #"{"visibility":"public","name":"spam","invite":["@bob:example.org"],"preset":"trusted_private_chat"}"#)
      let own = path(try #require(made.json["room_id"]?.string))
      #expect(try await scene.ann(.get, "rooms/\(own)/members", nil).json["chunk"]?.count == 1)
      #expect(try await scene.ann(.put, "directory/list/room/\(own)").status == 200)
      let direct = "/_matrix/client/unstable/martlet.direct"
      _ = try await scene.ann(.post, direct, #"{"user_id":"@bob:example.org"}"#)
      let list = try await scene.fixture.call(.get, "publicRooms", as: scene.bob)
      #expect(list.json["chunk"]?.count == 0)
      #expect(try await scene.fixture.call(.get, "sync", as: scene.bob).json["rooms"]?["invite"] == nil)
    }
  }

  @Test func `typing, messages to devices, knocks, delayed events and a new name reach nobody`() async throws {
    try await Self.run { scene in
      try await scene.ban(true)
      let first = try await scene.fixture.call(.get, "sync", as: scene.bob)
      let since = try #require(first.json["next_batch"]?.string)
      let closed = try await scene.fixture.call(
        .post, "createRoom", as: scene.bob,
        #"{"initial_state":[{"type":"m.room.join_rules","content":{"join_rule":"knock"}}]}"#)
      let own = APIFixture.own(scene.ann, "")
      #expect(own.hasPrefix("user/"))
      let delayed = "rooms/\(scene.room)/send/m.room.message/d?org.matrix.msc4140.delay=1"
      for (method, path, body) in [
        (.put, "rooms/\(scene.room)/typing/@ann:example.org", #"{"typing":true}"#),
        (.put, "sendToDevice/spam/1", #"{"messages":{"@bob:example.org":{"*":{}},"@ann:example.org":{"*":{}}}}"#),
        (.post, "knock/\(path(try #require(closed.json["room_id"]?.string)))", #"{"reason":"spam"}"#),
        (.put, delayed, #"{"body":"spam"}"#), (.put, "profile/@ann:example.org/displayname", #"{"displayname":"spam"}"#)
      ] as [(HTTPMethod, String, String)] {
        #expect(try await scene.ann(method, path, body).status == 200, "\(path)")
      }
      scene.fixture.advance(milliseconds: 1)
      #expect(try await scene.fixture.homeserver.delayedEvents.sendDue() == 1)
      let news = try await scene.fixture.call(.get, "sync?since=\(since)", as: scene.bob)
      #expect(news.json["to_device"] == nil)
      let told = String(decoding: news.json.bytes, as: UTF8.self)
      #expect(!told.contains("spam") && !told.contains("m.typing"))
      let mine = try await scene.fixture.call(.get, "sync", as: scene.ann)
      #expect(mine.json["to_device"]?["events"]?.count == 1)
      #expect(try await scene.ann(.get, "profile/@ann:example.org/displayname", nil).json["displayname"]?.string == "spam")
    }
  }

  @Test func `an administrator sees a user's pushers`() async throws {
    try await AdministrationFixture.run { server in
      let path = "/v1/users/@ann:example.org/pushers"
      #expect(try await server.ask(.get, path).json["total"]?.integer == 0)
      let set = try await server.fixture.call(
        .post, "pushers/set", as: server.ann,
        #"""
        {"app_id":"app","pushkey":"key","kind":"http","app_display_name":"App","device_display_name":"Phone","lang":"en",
         "data":{"url":"https://push.example.org/_matrix/push/v1/notify"}}
        """#)
      #expect(set.status == 200)
      let answer = try await server.ask(.get, path)
      let pusher = answer.json["pushers"]?.elements.first { _ in true }
      #expect(answer.json["total"]?.integer == 1 && pusher?["pushkey"]?.string == "key" && pusher?["kind"]?.string == "http")
      #expect(pusher?["data"]?["url"]?.string == "https://push.example.org/_matrix/push/v1/notify")
      #expect(try await server.ask(.get, "/v1/users/@none:example.org/pushers").errorCode == "M_NOT_FOUND")
      #expect(
        try await server.fixture.call(.get, "/_synapse/admin" + path, as: server.ann).errorCode == "M_FORBIDDEN")
    }
  }
}
