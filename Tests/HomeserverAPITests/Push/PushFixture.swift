import JSON
import MatrixModel
import Testing

@testable import ServerCore
@testable import ServerPush

/// Two users in a room, one with a pusher to a gateway of ours.
struct PushFixture {
  let fixture: APIFixture
  let peer: PeerServer
  let ann: APIFixture.User
  let bob: APIFixture.User
  let room: String

  static func run(
    data: String = "", room settings: String = "", _ body: (PushFixture) async throws -> Void
  ) async throws {
    try await PeerServer.run { peer in
      try await APIFixture.run(configure: {
        $0.registration = .open
        $0.pushGateways = [peer.url]
        $0.pushBadgeDelay = .zero
      }) { fixture in
        let ann = try await fixture.register("ann")
        let bob = try await fixture.register("bob")
        let created = try await fixture.call(
          .post, "createRoom", as: ann, #"{"preset":"public_chat","name":"Tea","room_alias_name":"tea"\#(settings)}"#)
        let room = PercentEncoding.encode(ByteString(try #require(created.json["room_id"]?.string)))
        #expect(try await fixture.call(.post, "rooms/\(room)/join", as: bob, "{}").status == 200)
        let push = PushFixture(fixture: fixture, peer: peer, ann: ann, bob: bob, room: room)
        #expect(try await push.set(as: ann, data: data).status == 200)
        try await fixture.homeserver.push.catchUp()
        try await body(push)
      }
    }
  }

  func set(as user: APIFixture.User, pushkey: String = "key", data: String = "", more: String = "") async throws
    -> APIFixture.Answer
  {
    try await fixture.call(
      .post, "pushers/set", as: user,
      #"""
      {"kind":"http","app_id":"org.example.app","pushkey":"\#(pushkey)","app_display_name":"App","lang":"en",
       "device_display_name":"Phone","data":{"url":"\#(peer.url)/_matrix/push/v1/notify"\#(data)}\#(more)}
      """#)
  }

  @discardableResult
  func say(_ text: String, as user: APIFixture.User? = nil, more: String = "") async throws -> String {
    let answer = try await fixture.call(
      .put, "rooms/\(room)/send/m.room.message/\(RandomText.name(length: 12))", as: user ?? bob,
      #"{"msgtype":"m.text","body":"\#(text)"\#(more)}"#)
    return try #require(answer.json["event_id"]?.string)
  }

  /// Everything that is due is pushed; the notifications that came of it.
  func pushed() async throws -> [JSON] {
    try await fixture.homeserver.push.catchUp()
    return peer.take().compactMap { $0.json["notification"] }
  }

  func pushers(of user: APIFixture.User) async throws -> [JSON] {
    try await fixture.call(.get, "pushers", as: user).json["pushers"]?.elements.map { $0 } ?? []
  }
}
