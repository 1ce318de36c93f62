import JSON
import MatrixModel
import Testing

@testable import ServerCore

/// What is pushed beyond the push rules, and what not. Documentation/Extensions.md
@Suite struct PushWishesTests {
  private static func told(_ push: PushFixture) async throws -> [String] {
    try await push.pushed().compactMap { $0["event_id"]?.string }
  }

  private static func keep(_ type: String, _ content: String, _ push: PushFixture, room: Bool = false) async throws {
    let path = (room ? "rooms/\(push.room)/" : "") + "account_data/" + type
    #expect(
      try await push.fixture.call(.put, APIFixture.own(push.ann, path), as: push.ann, content).status == 200)
  }

  private static func react(to event: String, as user: APIFixture.User, _ push: PushFixture) async throws -> String {
    let answer = try await push.fixture.call(
      .put, "rooms/\(push.room)/send/m.reaction/\(RandomText.name(length: 12))", as: user,
      #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"\#(event)","key":"👍"}}"#)
    return try #require(answer.json["event_id"]?.string)
  }

  @Test func `what is sent silently is not pushed, a mention neither, and is unread all the same`() async throws {
    try await PushFixture.run { push in
      try await push.say("sh", more: #","martlet.silent":true,"m.mentions":{"user_ids":["@ann:example.org"]}"#)
      let numbers = try await push.pushed()
      #expect(numbers.map { $0["event_id"] == nil } == [true])
      #expect(numbers.first?["counts"]?["unread"]?.integer == 1)
      // What does not say true says nothing.
      let loud = try await push.say("loud", more: #","martlet.silent":"true""#)
      let notifications = try await push.pushed()
      #expect(notifications.compactMap { $0["event_id"]?.string } == [loud])
      #expect(notifications.first?["counts"]?["unread"]?.integer == 2)
    }
  }

  @Test func `nothing of a room is pushed while it is snoozed, until its time is over`() async throws {
    try await PushFixture.run { push in
      try await Self.keep("martlet.snooze", #"{"until":1700000060000}"#, push, room: true)
      try await push.say("hush", more: #","m.mentions":{"user_ids":["@ann:example.org"]}"#)
      #expect(try await Self.told(push).isEmpty)
      push.fixture.advance(milliseconds: 60_000)
      let event = try await push.say("good morning")
      let notifications = try await push.pushed()
      #expect(notifications.compactMap { $0["event_id"]?.string } == [event])
      #expect(notifications.first?["counts"]?["unread"]?.integer == 2)
      try await Self.keep("martlet.snooze", #"{"until":1700003600000}"#, push, room: true)
      try await push.say("hush")
      #expect(try await Self.told(push).isEmpty)
      try await Self.keep("martlet.snooze", #"{"until":0}"#, push, room: true)
      let woken = try await push.say("awake?")
      #expect(try await Self.told(push) == [woken])
    }
  }

  @Test func `nothing is pushed to a user who set do not disturb, until it ends`() async throws {
    try await PushFixture.run { push in
      try await Self.keep("martlet.snooze", #"{"until":1700000060000}"#, push)
      try await push.say("hush")
      #expect(try await Self.told(push).isEmpty)
      push.fixture.advance(milliseconds: 60_000)
      let event = try await push.say("good morning")
      #expect(try await Self.told(push) == [event])
    }
  }

  @Test func `what waited for its gateway is not pushed into a snooze`() async throws {
    try await PushFixture.run { push in
      push.peer.answers { _ in (500, "{}") }
      try await push.say("late")
      #expect(try await push.pushed().count == 1)
      try await Self.keep("martlet.snooze", #"{"until":1700003600000}"#, push, room: true)
      push.peer.answers { _ in (200, #"{"rejected":[]}"#) }
      push.fixture.advance(milliseconds: 2_000)
      #expect(try await Self.told(push).isEmpty)
    }
  }

  @Test func `nothing is pushed in the quiet hours of the account, by its own clock`() async throws {
    try await PushFixture.run { push in
      // It is 22:13 UTC.
      try await Self.keep("martlet.quiet_hours", #"{"from":1320,"to":420,"utc_offset":0}"#, push)
      try await push.say("asleep?")
      #expect(try await Self.told(push).isEmpty)
      try await Self.keep("martlet.quiet_hours", #"{"from":1320,"to":420,"utc_offset":600}"#, push)
      let morning = try await push.say("good morning")
      #expect(try await Self.told(push) == [morning])
      try await Self.keep("martlet.quiet_hours", #"{"from":1320,"to":420,"utc_offset":0}"#, push)
      push.fixture.advance(milliseconds: 9 * 3_600_000)
      let later = try await push.say("breakfast?")
      #expect(try await Self.told(push) == [later])
    }
  }

  @Test func `a reaction to the user's message is pushed if they want that, and is never counted`() async throws {
    try await PushFixture.run { push in
      let own = try await push.say("tea?", as: push.ann)
      let others = try await push.say("hot")
      _ = try await push.pushed()
      _ = try await Self.react(to: own, as: push.bob, push)
      #expect(try await Self.told(push).isEmpty)
      try await Self.keep("martlet.reaction_notifications", #"{"enabled":true}"#, push)
      _ = try await Self.react(to: others, as: push.bob, push)
      _ = try await Self.react(to: "$unknown", as: push.bob, push)
      let second = try await push.say("more?", as: push.ann)
      _ = try await Self.react(to: second, as: push.ann, push)
      let reaction = try await Self.react(to: second, as: push.bob, push)
      let notifications = try await push.pushed().filter { $0["event_id"] != nil }
      #expect(notifications.compactMap { $0["event_id"]?.string } == [reaction])
      #expect(notifications.first?["type"]?.string == "m.reaction")
      #expect(notifications.first?["prio"]?.string == "low")
      #expect(notifications.first?["counts"]?["unread"] == nil)
    }
  }

  @Test func `a reaction in a muted room, or by somebody ignored, is not pushed`() async throws {
    try await PushFixture.run { push in
      try await Self.keep("martlet.reaction_notifications", #"{"enabled":true}"#, push)
      let own = try await push.say("tea?", as: push.ann)
      let mute = "pushrules/global/override/mute"
      #expect(
        try await push.fixture.call(
          .put, mute, as: push.ann,
          #"{"actions":[],"conditions":[{"kind":"event_match","key":"room_id","pattern":"!*"}]}"#
        ).status == 200)
      _ = try await Self.react(to: own, as: push.bob, push)
      #expect(try await Self.told(push).isEmpty)
      #expect(try await push.fixture.call(.delete, mute, as: push.ann).status == 200)
      try await Self.keep("m.ignored_user_list", #"{"ignored_users":{"@bob:example.org":{}}}"#, push)
      let second = try await push.say("more?", as: push.ann)
      _ = try await Self.react(to: second, as: push.bob, push)
      #expect(try await Self.told(push).isEmpty)
    }
  }
}
