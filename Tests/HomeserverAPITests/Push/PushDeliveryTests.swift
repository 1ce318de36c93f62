import JSON
import MatrixModel
import Telemetry
import Testing

@testable import Homeserver
@testable import ServerCore
@testable import ServerPush

@Suite struct PushDeliveryTests {
  @Test func `a message is pushed with all that the gateway may show of it`() async throws {
    try await PushFixture.run(data: #","brand":"tea""#) { push in
      let eventID = try await push.say("Hello")
      let notification = try #require(try await push.pushed().first)
      #expect(notification["event_id"]?.string == eventID)
      #expect(notification["room_id"]?.string != nil)
      #expect(notification["type"]?.string == "m.room.message")
      #expect(notification["sender"]?.string == "@bob:example.org")
      #expect(notification["sender_display_name"]?.string == "bob")
      #expect(notification["room_name"]?.string == "Tea")
      #expect(notification["room_alias"]?.string == "#tea:example.org")
      #expect(notification["content"]?["body"]?.string == "Hello")
      #expect(notification["counts"]?["unread"]?.integer == 1)
      #expect(notification["counts"]?["missed_calls"] == nil)
      // One to one it sounds.
      #expect(notification["prio"]?.string == "high")
      let device = try #require(notification["devices"]?.elements.first { _ in true })
      #expect(device["app_id"]?.string == "org.example.app" && device["pushkey"]?.string == "key")
      #expect(device["pushkey_ts"]?.integer == 1_700_000_000)
      #expect(device["data"]?["brand"]?.string == "tea" && device["data"]?["url"] == nil)
      #expect(device["tweaks"]?["sound"]?.string == "default")
    }
  }

  @Test func `no name turns around or breaks what a gateway shows`() async throws {
    try await PushFixture.run { push in
      let name = #""b\u202eo\u2067b\nby\u0000law""#
      let (fixture, ann, bob) = (push.fixture, push.ann, push.bob)
      let profile = "profile/@bob:example.org/displayname"
      #expect(try await fixture.call(.put, profile, as: bob, #"{"displayname":\#(name)}"#).status == 200)
      #expect(
        try await fixture.call(.put, "rooms/\(push.room)/state/m.room.name", as: ann, #"{"name":\#(name)}"#).status == 200)
      try await push.say("Hello")
      let notification = try #require(try await push.pushed().last)
      #expect(notification["sender_display_name"]?.string == "bob bylaw" && notification["room_name"]?.string == "bob bylaw")
    }
  }

  @Test func `who wants IDs only gets no more`() async throws {
    try await PushFixture.run(data: #","format":"event_id_only""#) { push in
      let eventID = try await push.say("secret")
      let notification = try #require(try await push.pushed().first)
      #expect(notification["event_id"]?.string == eventID)
      let names = Set(notification.members.map { $0.key.string })
      #expect(names == ["event_id", "room_id", "prio", "counts", "devices"])
    }
  }

  @Test func `a mention is a highlight, in a crowd too; other messages there are quiet`() async throws {
    try await PushFixture.run { push in
      let carl = try await push.fixture.register("carl")
      _ = try await push.fixture.call(.post, "rooms/\(push.room)/join", as: carl, "{}")
      try await push.say("quiet")
      try await push.say("you", more: #","m.mentions":{"user_ids":["@ann:example.org"]}"#)
      let notifications = try await push.pushed()
      #expect(notifications.map { $0["prio"]?.string } == ["low", "high"])
      let tweaks = notifications.map { $0["devices"]?.elements.first { _ in true }?["tweaks"] }
      #expect(tweaks[0]?.count == 0)
      #expect(tweaks[1]?["highlight"]?.bool == true)
      // What is unread now, not what was when the first came.
      #expect(notifications.map { $0["counts"]?["unread"]?.integer } == [2, 2])
    }
  }

  @Test func `an invitation is pushed to who is not in the room yet`() async throws {
    try await PushFixture.run { push in
      let created = try await push.fixture.call(.post, "createRoom", as: push.bob, #"{"invite":["@ann:example.org"]}"#)
      let notification = try #require(try await push.pushed().first)
      #expect(notification["room_id"]?.string == created.json["room_id"]?.string)
      #expect(notification["user_is_target"]?.bool == true)
      #expect(notification["membership"]?.string == "invite")
    }
  }

  @Test func `nothing is pushed of what the rules, the user or their ignoring keep quiet`() async throws {
    try await PushFixture.run { push in
      try await push.say("mine", as: push.ann)
      _ = try await push.fixture.call(
        .put, "rooms/\(push.room)/send/m.room.message/t", as: push.bob, #"{"msgtype":"m.notice","body":"robot"}"#)
      #expect(try await push.pushed().isEmpty)
      _ = try await push.fixture.call(
        .put, APIFixture.own(push.ann, "account_data/m.ignored_user_list"), as: push.ann,
        #"{"ignored_users":{"@bob:example.org":{}}}"#)
      try await push.say("ignored")
      #expect(try await push.pushed().compactMap { $0["event_id"]?.string }.isEmpty)
    }
  }

  @Test func `what a gateway refuses comes later, in order and once`() async throws {
    try await PushFixture.run { push in
      push.peer.answers { _ in (500, "{}") }
      let first = try await push.say("one")
      #expect(try await push.pushed().count == 1)
      let second = try await push.say("two")
      // Not before its time.
      #expect(try await push.pushed().isEmpty)
      push.fixture.advance(milliseconds: 1_000)
      #expect(try await push.pushed().compactMap { $0["event_id"]?.string } == [first])
      push.peer.answers { _ in (200, #"{"rejected":[]}"#) }
      push.fixture.advance(milliseconds: 2_000)
      #expect(try await push.pushed().compactMap { $0["event_id"]?.string } == [first, second])
      #expect(try await push.pushed().isEmpty)
    }
  }

  @Test func `a restart neither loses nor repeats a push`() async throws {
    try await PushFixture.run { push in
      let first = try await push.say("one")
      #expect(try await push.pushed().compactMap { $0["event_id"]?.string } == [first])
      push.peer.answers { _ in (500, "{}") }
      let second = try await push.say("two")
      _ = try await push.pushed()
      let third = try await push.say("three")
      push.peer.answers { _ in (200, #"{"rejected":[]}"#) }
      push.fixture.advance(milliseconds: 1_000)
      await push.fixture.homeserver.shutdown()
      let restarted = try Homeserver(push.fixture.homeserver.configuration, log: Log("test"))
      try await restarted.push.catchUp()
      #expect(push.peer.take().compactMap { $0.json["notification"]?["event_id"]?.string } == [second, third])
      try await restarted.push.catchUp()
      #expect(push.peer.take().isEmpty)
      await restarted.shutdown()
    }
  }

  @Test func `a rejected key loses its pusher`() async throws {
    try await PushFixture.run { push in
      push.peer.answers { _ in (200, #"{"rejected":["other"]}"#) }
      try await push.say("one")
      _ = try await push.pushed()
      #expect(try await push.pushers(of: push.ann).count == 1)
      push.peer.answers { _ in (200, #"{"rejected":["key"]}"#) }
      try await push.say("two")
      _ = try await push.pushed()
      #expect(try await push.pushers(of: push.ann).isEmpty)
      try await push.say("three")
      #expect(try await push.pushed().isEmpty)
    }
  }

  @Test func `what could not be pushed for a day is given up, and what is newer is pushed`() async throws {
    try await PushFixture.run { push in
      push.peer.answers { _ in (502, "{}") }
      try await push.say("old")
      _ = try await push.pushed()
      push.fixture.advance(milliseconds: PushDelivery.ageMillisecondsLimit - 1)
      let new = try await push.say("new")
      #expect(try await push.pushed().compactMap { $0["content"]?["body"]?.string } == ["old"])
      push.peer.answers { _ in (200, #"{"rejected":[]}"#) }
      push.fixture.advance(milliseconds: 3_600_000)
      #expect(try await push.pushed().compactMap { $0["event_id"]?.string } == [new])
    }
  }

  @Test func `reading elsewhere pushes the new number alone`() async throws {
    try await PushFixture.run { push in
      let eventID = try await push.say("one")
      #expect(try await push.pushed().first?["counts"]?["unread"]?.integer == 1)
      let id = PercentEncoding.encode(ByteString(eventID))
      #expect(try await push.fixture.call(.post, "rooms/\(push.room)/receipt/m.read/\(id)", as: push.ann, "{}").status == 200)
      let numbers = try await push.pushed()
      #expect(numbers.count == 1)
      #expect(numbers.first?["event_id"] == nil)
      #expect(numbers.first?["counts"]?["unread"] == nil)
      #expect(try await push.pushed().isEmpty)
    }
  }

  @Test func `a number alone is not pushed before the message that it counts`() async throws {
    try await PushFixture.run { push in
      try await push.say("one")
      await push.fixture.homeserver.push.deliver()
      #expect(push.peer.take().isEmpty)
      let notifications = try await push.pushed()
      #expect(notifications.count == 1 && notifications[0]["event_id"] != nil)
    }
  }

  @Test func `who read it before it could be pushed is not told`() async throws {
    try await PushFixture.run { push in
      let eventID = PercentEncoding.encode(ByteString(try await push.say("one")))
      _ = try await push.fixture.call(.post, "rooms/\(push.room)/receipt/m.read/\(eventID)", as: push.ann, "{}")
      #expect(try await push.pushed().isEmpty)
    }
  }

  @Test func `every device is told, each by its own key`() async throws {
    try await PushFixture.run { push in
      #expect(try await push.set(as: push.ann, pushkey: "second").status == 200)
      push.peer.answers { call in
        let key = call.json["notification"]?["devices"]?.elements.first { _ in true }?["pushkey"]?.string
        return key == "key" ? (500, "{}") : (200, #"{"rejected":[]}"#)
      }
      try await push.say("one")
      #expect(try await push.pushed().count == 2)
      try await push.say("two")
      // The one does not wait for the other.
      #expect(try await push.pushed().compactMap { $0["content"]?["body"]?.string } == ["two"])
    }
  }

  @Test func `a missed call is counted`() async throws {
    try await PushFixture.run { push in
      func send(_ type: String, _ content: String) async throws {
        _ = try await push.fixture.call(
          .put, "rooms/\(push.room)/send/\(type)/\(RandomText.name(length: 12))", as: push.bob, content)
      }
      try await send("m.call.invite", #"{"call_id":"c","version":"1","lifetime":60000,"party_id":"p","offer":{}}"#)
      let ringing = try #require(try await push.pushed().first)
      #expect(ringing["counts"]?["missed_calls"] == nil)
      #expect(ringing["devices"]?.elements.first { _ in true }?["tweaks"]?["sound"]?.string == "ring")
      try await send("m.call.hangup", #"{"call_id":"c","version":"1","party_id":"p"}"#)
      try await push.say("call me back")
      #expect(try await push.pushed().last?["counts"]?["missed_calls"]?.integer == 1)
    }
  }

  @Test func `a locked account is not told`() async throws {
    try await PushFixture.run { push in
      _ = try await push.fixture.homeserver.database.write { tx in
        try tx.execute("UPDATE account SET is_locked = 1 WHERE user_id = $1", push.ann.userID)
      }
      try await push.say("one")
      #expect(try await push.pushed().isEmpty)
    }
  }
}
