import Homeserver
import JSON
import MatrixModel
import Testing

@Suite struct NotificationTests {
  private static func page(
    _ fixture: APIFixture, _ user: APIFixture.User, _ query: String = ""
  ) async throws -> (bodies: [String], next: String?, entries: [JSON]) {
    let answer = try await fixture.call(.get, "notifications" + query, as: user)
    #expect(answer.status == 200)
    let entries = answer.json["notifications"]?.elements.map { $0 } ?? []
    return (
      entries.compactMap { $0["event"]?["content"]?["body"]?.string }, answer.json["next_token"]?.string, entries
    )
  }

  @Test func `notifications are listed newest first, page by page, over all rooms`() async throws {
    try await PushFixture.run { push in
      let other = try await push.fixture.call(.post, "createRoom", as: push.bob, #"{"preset":"public_chat"}"#)
      let otherRoom = PercentEncoding.encode(ByteString(try #require(other.json["room_id"]?.string)))
      _ = try await push.fixture.call(
        .put, "rooms/\(otherRoom)/send/m.room.message/t0", as: push.bob, #"{"msgtype":"m.text","body":"before I came"}"#)
      _ = try await push.fixture.call(.post, "rooms/\(otherRoom)/join", as: push.ann, "{}")
      for number in 0..<5 {
        try await push.say("a\(number)")
        _ = try await push.fixture.call(
          .put, "rooms/\(otherRoom)/send/m.room.message/t\(number + 1)", as: push.bob,
          #"{"msgtype":"m.text","body":"b\#(number)"}"#)
        try await push.say("mine", as: push.ann)
      }
      let first = try await Self.page(push.fixture, push.ann, "?limit=4")
      #expect(first.bodies == ["b4", "a4", "b3", "a3"])
      let second = try await Self.page(push.fixture, push.ann, "?limit=4&from=\(try #require(first.next))")
      #expect(second.bodies == ["b2", "a2", "b1", "a1"])
      let third = try await Self.page(push.fixture, push.ann, "?limit=4&from=\(try #require(second.next))")
      #expect(third.bodies == ["b0", "a0"])
      #expect(third.next == nil)
    }
  }

  @Test func `an entry says what was done and whether it was read; highlights can be had alone`() async throws {
    try await PushFixture.run { push in
      let read = try await push.say("read", more: #","m.mentions":{"user_ids":["@ann:example.org"]}"#)
      _ = try await push.fixture.call(
        .post, "rooms/\(push.room)/receipt/m.read/\(PercentEncoding.encode(ByteString(read)))", as: push.ann, "{}")
      try await push.say("plain")
      let all = try await Self.page(push.fixture, push.ann)
      #expect(all.bodies == ["plain", "read"])
      #expect(all.entries.map { $0["read"]?.bool } == [false, true])
      #expect(all.entries[0]["room_id"]?.string?.hasPrefix("!") == true)
      #expect(all.entries[0]["ts"]?.integer == 1_700_000_000_000)
      #expect(all.entries[0]["actions"]?.elements.first { _ in true }?.isString("notify") == true)
      #expect(try await Self.page(push.fixture, push.ann, "?only=highlight").bodies == ["read"])
    }
  }

  @Test func `old notifications fall out of the list`() async throws {
    try await PushFixture.run { push in
      try await push.say("old")
      push.fixture.advance(milliseconds: 30 * 24 * 3_600_000)
      #expect(try await Self.page(push.fixture, push.ann).bodies == ["old"])
      push.fixture.advance(milliseconds: 1)
      #expect(try await Self.page(push.fixture, push.ann).bodies.isEmpty)
    }
  }

  @Test(arguments: ["?from=here", "?from=-1", "?from=0", "?only=some", "?limit=x", "?limit=-1"])
  func `what is no parameter is refused`(_ query: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      #expect(try await fixture.call(.get, "notifications" + query, as: ann).errorCode == "M_INVALID_PARAM")
    }
  }
}
