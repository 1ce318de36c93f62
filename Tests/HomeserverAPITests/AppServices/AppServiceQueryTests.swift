import JSON
import MatrixModel
import Testing

@testable import ServerPush

@Suite struct AppServiceQueryTests {
  @Test func `a ping goes there and back, with its errors`() async throws {
    try await AppServiceFixture.run { service in
      let path = "/_matrix/client/v1/appservice/tea/ping"
      let good = try await service.call(.post, path, as: nil, #"{"transaction_id":"meow"}"#)
      #expect(good.status == 200 && (good.json["duration_ms"]?.integer ?? -1) >= 0)
      let ping = try #require(service.peer.take().first)
      #expect(ping.path == "/_matrix/app/v1/ping" && ping.json["transaction_id"]?.string == "meow")
      #expect(ping.authorization == "Bearer " + AppServiceFixture.serverToken)
      service.peer.answers { _ in (403, #"{"errcode":"M_FORBIDDEN"}"#) }
      let bad = try await service.call(.post, path, as: nil, "{}")
      #expect(bad.status == 502 && bad.errorCode == "M_BAD_STATUS" && bad.json["status"]?.integer == 403)
      #expect(bad.json["body"]?.string == #"{"errcode":"M_FORBIDDEN"}"#)
      #expect(
        try await service.call(.post, "/_matrix/client/v1/appservice/other/ping", as: nil, "{}").errorCode == "M_FORBIDDEN")
      #expect(try await service.fixture.call(.post, path, as: service.ann, "{}").errorCode == "M_FORBIDDEN")
    }
  }

  @Test func `a ping to nowhere says so`() async throws {
    for (url, code, status) in [(nil, "M_URL_NOT_SET", 400), ("http://127.0.0.1:1", "M_CONNECTION_FAILED", 502)]
      as [(String?, String, Int)]
    {
      try await APIFixture.run(configure: {
        $0.appServices = [
          AppServiceRegistration(
            id: "tea", url: url, serviceToken: AppServiceFixture.token, serverToken: AppServiceFixture.serverToken,
            senderLocalpart: "bot")
        ]
      }) { fixture in
        let answer = try await fixture.call(
          .post, "/_matrix/client/v1/appservice/tea/ping", token: AppServiceFixture.token, "{}")
        #expect(answer.status == status && answer.errorCode == code)
      }
    }
  }

  @Test func `a room is made when its alias is asked for, a user when they are invited`() async throws {
    try await AppServiceFixture.run { service in
      let fixture = service.fixture
      let room = try await service.room()
      _ = try await service.call(.post, "rooms/\(room)/join", as: nil, "{}")
      service.peer.answers { call in
        if call.path.contains("_tea_none") { return (404, #"{"errcode":"M_NOT_FOUND"}"#) }
        let token = AppServiceFixture.token
        if call.path.contains("/rooms/") {
          _ = try await fixture.call(
            .put, "directory/room/%23_tea_new%3Aexample.org", token: token,
            #"{"room_id":"\#(PercentDecoding.text(room))"}"#)
        } else if call.path.contains("/users/") {
          _ = try await fixture.call(
            .post, "register", token: token,
            #"{"type":"m.login.application_service","username":"_tea_guest","inhibit_login":true}"#)
        }
        return (200, "{}")
      }
      let found = try await fixture.call(.get, "directory/room/%23_tea_new%3Aexample.org", as: service.ann)
      #expect(found.json["room_id"]?.string == PercentDecoding.text(room))
      #expect(
        try await fixture.call(.get, "directory/room/%23_tea_none%3Aexample.org", as: service.ann).errorCode == "M_NOT_FOUND")
      let invited = try await fixture.call(
        .post, "rooms/\(room)/invite", as: service.ann, #"{"user_id":"@_tea_guest:example.org"}"#)
      #expect(invited.status == 200)
      let unknown = try await fixture.call(
        .post, "rooms/\(room)/invite", as: service.ann, #"{"user_id":"@_tea_none:example.org"}"#)
      #expect(unknown.errorCode == "M_NOT_FOUND")
    }
  }

  @Test func `a service that does not answer is a timeout of the request that asked`() async throws {
    try await AppServiceFixture.run { service in
      service.peer.answers { _ in (500, "{}") }
      let answer = try await service.fixture.call(.get, "directory/room/%23_tea_x%3Aexample.org", as: service.ann)
      #expect(answer.status == 408)
      #expect(service.peer.take().count == AppServiceQueries.attempts)
    }
  }

  @Test func `third-party networks are what the services know of them`() async throws {
    try await AppServiceFixture.run({ $0.protocols = ["irc"] }) { service in
      service.peer.answers { call in
        switch call.path {
        case "/_matrix/app/v1/thirdparty/protocol/irc":
          return (
            200,
            #"""
            {"user_fields":["nick"],"location_fields":["channel"],"icon":"mxc://x/y","field_types":{},
             "instances":[{"desc":"Net","network_id":"net","fields":{}},{"desc":"broken"}]}
            """#
          )
        case "/_matrix/app/v1/thirdparty/location/irc":
          return call.query["channel"] == "#tea" && call.query["access_token"] == nil
            ? (200, ##"[{"alias":"#_tea_a:example.org","protocol":"irc","fields":{}},{"broken":1}]"##) : (404, "{}")
        case "/_matrix/app/v1/thirdparty/user":
          return (200, #"[{"userid":"@_tea_a:example.org","protocol":"irc","fields":{}}]"#)
        case "/_matrix/app/v1/thirdparty/user/irc":
          return (200, #"[{"userid":"@_tea_b:example.org","protocol":"irc","fields":{}}]"#)
        case "/_matrix/app/v1/thirdparty/location":
          return (200, ##"[{"alias":"#_tea_b:example.org","protocol":"irc","fields":{}}]"##)
        default: return (404, "{}")
        }
      }
      func get(_ path: String) async throws -> APIFixture.Answer {
        try await service.fixture.call(.get, "thirdparty/" + path, as: service.ann)
      }
      let all = try await get("protocols")
      let instances = all.json["irc"]?["instances"]
      #expect(instances?.count == 1)
      #expect(instances?.elements.first { _ in true }?["instance_id"]?.string == "tea|net")
      #expect(try await get("protocol/irc").json["user_fields"]?.count == 1)
      #expect(try await get("protocol/xmpp").errorCode == "M_NOT_FOUND")
      #expect(try await get("location/irc?channel=%23tea").json.count == 1)
      #expect(try await get("location/irc?channel=%23coffee").errorCode == "M_NOT_FOUND")
      #expect(try await get("user/irc?nick=a").json.elements.first { _ in true }?["userid"]?.string == "@_tea_b:example.org")
      #expect(try await get("location?alias=%23_tea_b%3Aexample.org").json.count == 1)
      #expect(try await get("user?userid=%40_tea_a%3Aexample.org").json.count == 1)
      #expect(try await get("location").errorCode == "M_MISSING_PARAM")
    }
  }

  @Test func `a service keeps a list of rooms of its network`() async throws {
    try await AppServiceFixture.run({ $0.protocols = ["irc"] }) { service in
      let room = try await service.room()
      let path = "directory/list/appservice/net/\(room)"
      _ = try await service.call(.post, "rooms/\(room)/join", as: nil, "{}")
      #expect(
        try await service.fixture.call(.put, path, as: service.ann, #"{"visibility":"public"}"#).errorCode == "M_FORBIDDEN")
      #expect(try await service.call(.put, path, as: nil, #"{"visibility":"some"}"#).errorCode == "M_INVALID_PARAM")
      #expect(try await service.call(.put, path, as: nil, #"{"visibility":"public"}"#).status == 200)
      func listed() async throws -> Int? {
        try await service.fixture.call(
          .post, "publicRooms", as: service.ann, #"{"third_party_instance_id":"tea|net"}"#
        ).json["chunk"]?.count
      }
      #expect(try await listed() == 1)
      #expect(try await service.call(.put, path, as: nil, #"{"visibility":"private"}"#).status == 200)
      #expect(try await listed() == 0)
    }
  }

  @Test func `a service lists the rooms that concern it, no others`() async throws {
    try await AppServiceFixture.run { service in
      let room = try await service.room(#","name":"secret""#)
      let path = "directory/list/appservice/net/\(room)"
      func list(_ visibility: String = "public") async throws -> APIFixture.Answer {
        try await service.call(.put, path, as: nil, #"{"visibility":"\#(visibility)"}"#)
      }
      #expect(try await list().errorCode == "M_FORBIDDEN")
      let all = #"{"include_all_networks":true}"#
      #expect(try await service.fixture.call(.post, "publicRooms", as: service.ann, all).json["chunk"]?.count == 0)

      _ = try await service.register("_tea_pot")
      let invitation = #"{"user_id":"@_tea_pot:example.org"}"#
      _ = try await service.fixture.call(.post, "rooms/\(room)/invite", as: service.ann, invitation)
      #expect(try await list().errorCode == "M_FORBIDDEN")
      _ = try await service.call(.post, "rooms/\(room)/join", as: "_tea_pot", "{}")
      #expect(try await list().status == 200)
      _ = try await service.call(.post, "rooms/\(room)/leave", as: "_tea_pot", "{}")
      #expect(try await list().errorCode == "M_FORBIDDEN")
      #expect(try await list("private").status == 200)

      _ = try await service.call(.post, "rooms/\(room)/join", as: "_tea_pot", "{}")
      _ = try await service.call(
        .put, "directory/room/%23_tea_cup%3Aexample.org", as: "_tea_pot",
        #"{"room_id":"\#(PercentDecoding.text(room))"}"#)
      _ = try await service.call(.post, "rooms/\(room)/leave", as: "_tea_pot", "{}")
      #expect(try await list().status == 200)
    }
  }

  @Test func `a service names and lists a room that it is not in, by an alias that is its own`() async throws {
    try await AppServiceFixture.run({
      $0.aliases.append(.init(isExclusive: false, expression: "#shared_.*:example\\.org"))
    }) { service in
      let room = try await service.room()
      let path = "directory/list/appservice/net/\(room)"
      func alias(_ name: String) -> String { "directory/room/%23\(name)%3Aexample.org" }
      let body = #"{"room_id":"\#(PercentDecoding.text(room))"}"#
      _ = try await service.register("_tea_pot")
      let list = #"{"visibility":"public"}"#
      #expect(try await service.call(.put, path, as: nil, list).errorCode == "M_FORBIDDEN")
      // Everyone may have this alias, so that the room's members decide.
      #expect(try await service.call(.put, alias("shared_cup"), as: nil, body).errorCode == "M_FORBIDDEN")
      #expect(
        try await service.call(.put, alias("_tea_cup"), as: nil, #"{"room_id":"!none:example.org"}"#).errorCode == "M_FORBIDDEN"
      )
      #expect(try await service.call(.put, alias("_tea_cup"), as: nil, body).status == 200)
      #expect(try await service.call(.put, alias("_tea_can"), as: "_tea_pot", body).status == 200)
      #expect(try await service.call(.put, alias("_tea_cup"), as: nil, body).status == 409)
      #expect(try await service.call(.put, path, as: nil, list).status == 200)
      #expect(try await service.call(.delete, alias("_tea_can"), as: nil).status == 200)
      #expect(try await service.call(.delete, alias("_tea_cup"), as: "_tea_pot").status == 200)
    }
  }

  @Test(arguments: [(true, "_tea_pot", true), (false, "_tea_pot", false), (true, nil, false)] as [(Bool, String?, Bool)])
  func `rate limits hold the service's users unless it is exempt, and never its sender`(
    _ isRateLimited: Bool, _ user: String?, _ isHeld: Bool
  ) throws {
    var registration = AppServiceRegistration(
      id: "tea", url: nil, serviceToken: "token-one", serverToken: "token-two", senderLocalpart: "_tea_bot")
    registration.isRateLimited = isRateLimited
    let services = try AppServices([registration], server: ServerName(trusted: "example.org"))
    let service = try #require(services["tea"])
    let name = user.map { UserID(trusted: ByteString("@\($0):example.org")) } ?? service.sender
    #expect(service.isRateLimited(as: name) == isHeld)
  }
}
