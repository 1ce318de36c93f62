import JSON
import MatrixModel
import ServerPush
import Testing

@Suite struct PusherTests {
  private static func body(_ members: String) -> String {
    #"""
    {"app_id":"org.example.app","pushkey":"key","app_display_name":"App","device_display_name":"Phone","lang":"en",\#(members)}
    """#
  }

  private static let url = "https://push.example.org/_matrix/push/v1/notify"

  @Test func `a pusher is listed as it was set, changed in place, and deleted`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      func set(_ members: String) async throws -> APIFixture.Answer {
        try await fixture.call(.post, "pushers/set", as: ann, Self.body(members))
      }
      func all() async throws -> [JSON] {
        try await fixture.call(.get, "pushers", as: ann).json["pushers"]?.elements.map { $0 } ?? []
      }
      #expect(try await all().isEmpty)
      let data = #"{"url":"\#(Self.url)","format":"event_id_only","brand":"tea"}"#
      #expect(try await set(#""kind":"http","profile_tag":"t","data":\#(data)"#).status == 200)
      let pusher = try #require(try await all().first)
      #expect(pusher["pushkey"]?.string == "key" && pusher["kind"]?.string == "http")
      #expect(pusher["profile_tag"]?.string == "t" && pusher["data"]?["brand"]?.string == "tea")
      #expect(try await set(#""kind":"http","data":{"url":"\#(Self.url)?up=1"}"#).status == 200)
      #expect(try await all().count == 1)
      #expect(try await all().first?["data"]?["url"]?.string == Self.url + "?up=1")
      #expect(try await set(#""kind":null"#).status == 200)
      #expect(try await all().isEmpty)
      #expect(try await set(#""kind":null"#).status == 200)
    }
  }

  @Test(arguments: [
    (#""kind":"http","data":{"url":"http://push.example.org/_matrix/push/v1/notify"}"#, "M_INVALID_PARAM"),
    (#""kind":"http","data":{"url":"https://push.example.org/notify"}"#, "M_INVALID_PARAM"),
    (#""kind":"http","data":{"url":"https://a:b@push.example.org/_matrix/push/v1/notify"}"#, "M_INVALID_PARAM"),
    (#""kind":"http","data":{"url":"https:///_matrix/push/v1/notify"}"#, "M_INVALID_PARAM"),
    (#""kind":"http","data":{"url":"https://h/_matrix/push/v1/notify#x"}"#, "M_INVALID_PARAM"),
    (#""kind":"http","data":{"url":7}"#, "M_BAD_JSON"), (#""kind":"http","data":{}"#, "M_MISSING_PARAM"),
    (#""kind":"http""#, "M_MISSING_PARAM"), (#""kind":"pigeon","data":{}"#, "M_INVALID_PARAM"),
    (#""kind":7,"data":{}"#, "M_BAD_JSON"), (#""data":{}"#, "M_MISSING_PARAM"),
    (#""kind":"http","data":{"url":"https://h/_matrix/push/v1/notify","format":"all"}"#, "M_INVALID_PARAM")
  ])
  func `an invalid pusher is refused`(_ members: String, _ code: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let answer = try await fixture.call(.post, "pushers/set", as: ann, Self.body(members))
      #expect(answer.status == 400 && answer.errorCode == code, "\(members)")
    }
  }

  @Test func `app IDs and push keys are as long as they may be and no longer`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      func set(_ appID: Int, _ pushkey: Int) async throws -> Int {
        try await fixture.call(
          .post, "pushers/set", as: ann,
          #"""
          {"app_id":"\#(String(repeating: "a", count: appID))","pushkey":"\#(String(repeating: "k", count: pushkey))",
           "kind":"http","app_display_name":"","device_display_name":"","lang":"en","data":{"url":"\#(Self.url)"}}
          """#
        ).status
      }
      #expect(try await set(64, 512) == 200)
      #expect(try await set(65, 1) == 400)
      #expect(try await set(1, 513) == 400)
      #expect(try await set(0, 1) == 400)
      for number in 1..<Pushers.countLimit { #expect(try await set(1, number) == 200) }
      #expect(try await set(1, 200) == 413)
      #expect(try await set(64, 512) == 200)
    }
  }

  @Test func `a key goes to its new owner, unless both are to have it`() async throws {
    try await APIFixture.run { fixture in
      let (ann, bob) = (try await fixture.register("ann"), try await fixture.register("bob"))
      func count(_ user: APIFixture.User) async throws -> Int? {
        try await fixture.call(.get, "pushers", as: user).json["pushers"]?.count
      }
      let body = Self.body(#""kind":"http","data":{"url":"\#(Self.url)"}"#)
      _ = try await fixture.call(.post, "pushers/set", as: ann, body)
      _ = try await fixture.call(
        .post, "pushers/set", as: bob, Self.body(#""kind":"http","append":true,"data":{"url":"\#(Self.url)"}"#))
      #expect(try await count(ann) == 1)
      #expect(try await count(bob) == 1)
      _ = try await fixture.call(.post, "pushers/set", as: bob, body)
      #expect(try await count(ann) == 0)
      #expect(try await count(bob) == 1)
    }
  }

  @Test func `a pusher goes with its device`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let phone = try fixture.user(try await fixture.logIn("ann"))
      _ = try await fixture.call(
        .post, "pushers/set", as: phone, Self.body(#""kind":"http","data":{"url":"\#(Self.url)"}"#))
      #expect(try await fixture.call(.get, "pushers", as: ann).json["pushers"]?.count == 1)
      #expect(try await fixture.call(.post, "logout", as: phone, "{}").status == 200)
      #expect(try await fixture.call(.get, "pushers", as: ann).json["pushers"]?.count == 0)
    }
  }
}
