import JSON
import MatrixModel
import Telemetry
import Testing

@testable import Homeserver
@testable import HomeserverAPI
@testable import ServerCore
@testable import ServerDirectory

/// Events that are sent later. Spec: MSC4140.
@Suite(.timeLimit(.minutes(2))) struct DelayedEventTests {
  private static let base = "/_matrix/client/unstable/org.matrix.msc4140/"

  /// Two users in one room.
  private struct Scene {
    let fixture: APIFixture
    let ann: APIFixture.User
    let bob: APIFixture.User
    let room: String

    init(_ fixture: APIFixture) async throws {
      self.fixture = fixture
      ann = try await fixture.register("ann")
      bob = try await fixture.register("bob")
      room = try #require(
        try await fixture.call(.post, "createRoom", as: ann, #"{"preset":"public_chat"}"#).json["room_id"]?.string)
      #expect(try await fixture.call(.post, "rooms/\(room)/join", as: bob, "{}").status == 200)
    }

    func schedule(
      _ type: String = "m.room.message", after delay: Int64 = 1_000, as user: APIFixture.User, key: String? = nil,
      content: String = #"{"msgtype":"m.text","body":"later"}"#, transaction: String = RandomText.name(length: 12)
    ) async throws -> APIFixture.Answer {
      let key = key.map { #","state_key":"\#($0)""# } ?? ""
      return try await fixture.call(
        .put, DelayedEventTests.base + "rooms/\(room)/delayed_event/\(type)/\(transaction)", as: user,
        #"{"delay_ms":\#(delay),"content":\#(content)\#(key)}"#)
    }

    func scheduled(
      _ type: String = "m.room.message", after delay: Int64 = 1_000, as user: APIFixture.User, key: String? = nil,
      content: String = #"{"msgtype":"m.text","body":"later"}"#
    ) async throws -> String {
      let answer = try await schedule(type, after: delay, as: user, key: key, content: content)
      #expect(answer.status == 200)
      #expect(answer.json["event_id"] == nil)
      return try #require(answer.json["delay_id"]?.string)
    }

    func act(_ action: String, _ id: String) async throws -> APIFixture.Answer {
      try await fixture.call(.post, DelayedEventTests.base + "delayed_events/\(id)/\(action)", "{}")
    }

    func get(_ id: String, as user: APIFixture.User) async throws -> APIFixture.Answer {
      try await fixture.call(.get, DelayedEventTests.base + "delayed_events/\(id)", as: user)
    }

    func list(_ query: String = "", as user: APIFixture.User) async throws -> APIFixture.Answer {
      try await fixture.call(.get, DelayedEventTests.base + "delayed_events" + query, as: user)
    }

    func bodies() async throws -> [String] { try await messages(as: ann).compactMap { $0["content"]?["body"]?.string } }

    func messages(as user: APIFixture.User) async throws -> [JSON] {
      try await fixture.call(.get, "rooms/\(room)/messages?dir=b&limit=100", as: user).json["chunk"]?.elements
        .map { $0 } ?? []
    }

    func pass(_ milliseconds: Int64) async throws {
      fixture.advance(milliseconds: milliseconds)
      try await fixture.homeserver.delayedEvents.sendDue()
    }
  }

  private static func run(
    configure: (inout HomeserverConfiguration) -> Void = { _ in }, _ body: (Scene) async throws -> Void
  ) async throws {
    try await APIFixture.run(configure: {
      $0.registration = .open
      configure(&$0)
    }) { try await body(Scene($0)) }
  }

  private static func ids(_ answer: APIFixture.Answer) -> [String] {
    answer.json["delayed_events"]?.elements.compactMap { $0["delay_id"]?.string } ?? []
  }

  // MARK: Sending

  @Test func `an event is sent when its time has come, once, and its sender sees which it was`() async throws {
    try await Self.run { scene in
      let id = try await scene.scheduled(as: scene.ann)
      let waiting = try await scene.get(id, as: scene.ann)
      #expect(waiting.status == 200)
      #expect(waiting.json["room_id"]?.string == scene.room)
      #expect(waiting.json["type"]?.string == "m.room.message")
      #expect(waiting.json["state_key"] == nil)
      #expect(waiting.json["delay_ms"]?.integer == 1_000)
      #expect(waiting.json["delayed_since_ts"]?.integer == 1_700_000_000_000)
      #expect(waiting.json["running_since"]?.integer == 1_700_000_000_000)
      #expect(waiting.json["content"]?["body"]?.string == "later")
      #expect(waiting.json["finalised"] == nil)
      try await scene.pass(999)
      #expect(try await scene.bodies() == [])
      try await scene.pass(1)
      try await scene.pass(10_000)
      #expect(try await scene.bodies() == ["later"])
      let sent = try #require(try await scene.messages(as: scene.ann).first)
      #expect(sent["unsigned"]?["org.matrix.msc4140.delay_id"]?.string == id)
      #expect(sent["unsigned"]?["transaction_id"] == nil)
      #expect(sent["origin_server_ts"]?.integer == 1_700_000_001_000)
      let other = try #require(try await scene.messages(as: scene.bob).first)
      #expect(other["unsigned"]?["org.matrix.msc4140.delay_id"] == nil)
      let end = try await scene.get(id, as: scene.ann)
      #expect(end.json["finalised"]?["event_id"]?.string == sent["event_id"]?.string)
      #expect(end.json["finalised"]?["finalised_ts"]?.integer == 1_700_000_001_000)
      #expect(try await scene.get(id, as: scene.bob).errorCode == "M_NOT_FOUND")
    }
  }

  @Test func `the query of send and state schedules as well`() async throws {
    try await Self.run { scene in
      let message = try await scene.fixture.call(
        .put, "rooms/\(scene.room)/send/m.room.message/t1?org.matrix.msc4140.delay=500", as: scene.bob,
        #"{"msgtype":"m.text","body":"soon"}"#)
      #expect(message.json["delay_id"]?.string != nil)
      #expect(message.json["event_id"] == nil)
      let state = try await scene.fixture.call(
        .put, "rooms/\(scene.room)/state/m.room.topic/?org.matrix.msc4140.delay=600", as: scene.ann, #"{"topic":"Tea"}"#)
      #expect(state.json["delay_id"]?.string != nil)
      try await scene.pass(500)
      #expect(try await scene.bodies() == ["soon"])
      let early = try await scene.fixture.call(.get, "rooms/\(scene.room)/state/m.room.topic", as: scene.ann)
      #expect(early.status == 404)
      try await scene.pass(100)
      let topic = try await scene.fixture.call(.get, "rooms/\(scene.room)/state/m.room.topic", as: scene.ann)
      #expect(topic.json["topic"]?.string == "Tea")
      let bad = try await scene.fixture.call(
        .put, "rooms/\(scene.room)/send/m.room.message/t2?org.matrix.msc4140.delay=soon", as: scene.bob, "{}")
      #expect(bad.errorCode == "M_INVALID_PARAM")
    }
  }

  @Test func `a redaction can wait as well`() async throws {
    try await Self.run { scene in
      let sent = try await scene.fixture.call(
        .put, "rooms/\(scene.room)/send/m.room.message/t1", as: scene.bob, #"{"msgtype":"m.text","body":"gone in a second"}"#)
      let event = try #require(sent.json["event_id"]?.string)
      _ = try await scene.scheduled("m.room.redaction", as: scene.bob, content: #"{"redacts":"\#(event)"}"#)
      #expect(try await scene.bodies() == ["gone in a second"])
      try await scene.pass(1_000)
      #expect(try await scene.bodies() == [])
      let nothing = try await scene.schedule("m.room.redaction", as: scene.bob, content: "{}")
      #expect(nothing.errorCode == "M_BAD_JSON")
    }
  }

  @Test func `a repeated request schedules one event, another room or device another`() async throws {
    try await Self.run { scene in
      let first = try await scene.schedule(as: scene.ann, transaction: "t")
      let second = try await scene.schedule(as: scene.ann, transaction: "t")
      #expect(first.json["delay_id"]?.string != nil)
      #expect(first.json["delay_id"]?.string == second.json["delay_id"]?.string)
      let other = try await scene.schedule(as: scene.bob, transaction: "t")
      #expect(first.json["delay_id"]?.string != other.json["delay_id"]?.string)
      try await scene.pass(1_000)
      #expect(try await scene.bodies() == ["later", "later"])
      // Also when it was sent meanwhile.
      let again = try await scene.schedule(as: scene.ann, transaction: "t")
      #expect(first.json["delay_id"]?.string == again.json["delay_id"]?.string)
    }
  }

  @Test func `what is due while the server does not run is sent with its next start, once`() async throws {
    try await Self.run { scene in
      let id = try await scene.scheduled(as: scene.ann)
      await scene.fixture.homeserver.shutdown()
      scene.fixture.advance(milliseconds: 5_000)
      for _ in 0..<2 {
        let restarted = try Homeserver(scene.fixture.homeserver.configuration, log: Log("test"))
        try await restarted.delayedEvents.sendDue()
        let count = try await restarted.database.read { transaction in
          try transaction.first("SELECT COUNT(*) FROM event WHERE type = 'm.room.message'") { $0.integer(0) }
        }
        #expect(count == 1)
        let event = try await restarted.delayedEvents.event(DelayedEvent.ID(trusted: ByteString(id)), of: scene.ann.userID)
        guard case .sent = event.finalised?.outcome else {
          Issue.record("it was not sent")
          return
        }
        await restarted.shutdown()
      }
    }
  }

  @Test func `the timer sends by itself`() async throws {
    try await Self.run(configure: { $0.clock = .system }) { scene in
      scene.fixture.homeserver.delayedEvents.start()
      let token = try await scene.fixture.call(.get, "sync", as: scene.bob).json["next_batch"]?.string ?? ""
      _ = try await scene.scheduled(after: 600_000, as: scene.ann, content: #"{"body":"much later"}"#)
      _ = try await scene.scheduled(after: 1, as: scene.ann)
      let news = try await scene.fixture.call(.get, "sync?timeout=60000&since=\(token)", as: scene.bob)
      let events = news.json["rooms"]?["join"]?[ByteString(scene.room)]?["timeline"]?["events"]
      #expect(events?.elements.compactMap { $0["content"]?["body"]?.string } == ["later"])
    }
  }

  @Test func `many that are due at once, sent from two sides, are sent once each`() async throws {
    try await Self.run(configure: { $0.delayedEvents.scheduledCount = 500 }) { scene in
      var ids: [String] = []
      for number in 0..<150 { ids.append(try await scene.scheduled(after: Int64(1 + number % 7), as: scene.ann)) }
      scene.fixture.advance(milliseconds: 10)
      let delayed = scene.fixture.homeserver.delayedEvents
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<3 { group.addTask { try await delayed.sendDue() } }
        for id in ids.prefix(50) { group.addTask { _ = try await scene.act("send", id) } }
        try await group.waitForAll()
      }
      let count = try await scene.fixture.homeserver.database.read { transaction in
        try transaction.first("SELECT COUNT(*) FROM event WHERE type = 'm.room.message'") { $0.integer(0) }
      }
      #expect(count == 150)
    }
  }

  // MARK: Rights

  @Test func `the sender's rights are those of the moment of sending`() async throws {
    try await Self.run { scene in
      // Bob may not set the topic when he schedules, and may when it is sent; with the name it is the other way round.
      let topic = try await scene.scheduled("m.room.topic", as: scene.bob, key: "", content: #"{"topic":"Tea"}"#)
      let name = try await scene.scheduled("m.room.name", after: 3_000, as: scene.bob, key: "", content: #"{"name":"Tea"}"#)
      func setLevel(_ level: Int) async throws {
        let path = "rooms/\(scene.room)/state/m.room.power_levels"
        let content = #"{"users":{"\#(scene.bob.userID)":\#(level)}}"#
        #expect(try await scene.fixture.call(.put, path, as: scene.ann, content).status == 200)
      }
      try await setLevel(50)
      try await scene.pass(1_000)
      #expect(try await scene.get(topic, as: scene.bob).json["finalised"]?["event_id"]?.string != nil)
      try await setLevel(0)
      try await scene.pass(2_000)
      let failed = try await scene.get(name, as: scene.bob)
      #expect(failed.json["finalised"]?["error"]?["errcode"]?.string == "M_FORBIDDEN")
      #expect(failed.json["finalised"]?["event_id"] == nil)
    }
  }

  @Test func `who has left or lost the account sends nothing`() async throws {
    try await Self.run { scene in
      let left = try await scene.scheduled(as: scene.bob)
      let cat = try await scene.fixture.register("cat")
      #expect(try await scene.schedule(as: cat).errorCode == "M_FORBIDDEN")
      #expect(try await scene.fixture.call(.post, "rooms/\(scene.room)/join", as: cat, "{}").status == 200)
      let gone = try await scene.scheduled(as: cat)
      #expect(try await scene.fixture.call(.post, "rooms/\(scene.room)/leave", as: scene.bob, "{}").status == 200)
      try await scene.fixture.homeserver.accounts.deactivate(cat.userID, erase: false)
      try await scene.pass(1_000)
      #expect(try await scene.bodies() == [])
      #expect(try await scene.get(left, as: scene.bob).json["finalised"]?["error"]?["errcode"]?.string == "M_FORBIDDEN")
      let event = try await scene.fixture.homeserver.delayedEvents.event(
        DelayedEvent.ID(trusted: ByteString(gone)), of: cat.userID)
      guard case .failed = event.finalised?.outcome else {
        Issue.record("it did not fail")
        return
      }
    }
  }

  @Test func `state that another user sets meanwhile cancels the event, the user's own does not`() async throws {
    try await Self.run { scene in
      let first = try await scene.scheduled("m.room.topic", as: scene.ann, key: "", content: #"{"topic":"Tea"}"#)
      let other = try await scene.scheduled("m.room.topic", as: scene.ann, key: "x", content: #"{"topic":"Tea"}"#)
      func set(_ topic: String, as user: APIFixture.User) async throws {
        let path = "rooms/\(scene.room)/state/m.room.topic"
        #expect(try await scene.fixture.call(.put, path, as: user, #"{"topic":"\#(topic)"}"#).status == 200)
      }
      try await set("Coffee", as: scene.ann)
      #expect(try await scene.get(first, as: scene.ann).json["finalised"] == nil)
      let levels = #"{"users":{"\#(scene.bob.userID)":50}}"#
      let path = "rooms/\(scene.room)/state/m.room.power_levels"
      #expect(try await scene.fixture.call(.put, path, as: scene.ann, levels).status == 200)
      try await set("Water", as: scene.bob)
      let cancelled = try await scene.get(first, as: scene.ann)
      #expect(cancelled.json["finalised"]?["error"]?["errcode"]?.string == "M_UNKNOWN")
      try await scene.pass(1_000)
      let topic = try await scene.fixture.call(.get, "rooms/\(scene.room)/state/m.room.topic", as: scene.ann)
      #expect(topic.json["topic"]?.string == "Water")
      #expect(try await scene.get(other, as: scene.ann).json["finalised"]?["event_id"]?.string != nil)
    }
  }

  // MARK: Acting on it

  @Test func `it can be cancelled, restarted and sent at once, by who knows its ID`() async throws {
    try await Self.run { scene in
      let (a, b, c) = (
        try await scene.scheduled(as: scene.ann), try await scene.scheduled(as: scene.ann),
        try await scene.scheduled(as: scene.ann, content: #"{"body":"now"}"#)
      )
      #expect(try await scene.act("cancel", a).status == 200)
      scene.fixture.advance(milliseconds: 999)
      #expect(try await scene.act("restart", b).status == 200)
      #expect(try await scene.act("send", c).status == 200)
      #expect(try await scene.bodies() == ["now"])
      try await scene.pass(999)
      #expect(try await scene.bodies() == ["now"])
      #expect(try await scene.get(b, as: scene.ann).json["delayed_since_ts"]?.integer == 1_700_000_000_999)
      try await scene.pass(1)
      #expect(try await scene.bodies() == ["later", "now"])
      let cancelled = try await scene.get(a, as: scene.ann)
      #expect(cancelled.json["finalised"]?["finalised_ts"]?.integer == 1_700_000_000_000)
      #expect(cancelled.json["finalised"]?["error"] == nil)
      // The same once more is no error, another is.
      #expect(try await scene.act("cancel", a).status == 200)
      #expect(try await scene.act("send", c).status == 200)
      for (action, id) in [("send", a), ("restart", a), ("cancel", b), ("restart", c)] {
        let refused = try await scene.act(action, id)
        #expect(refused.status == 409)
        #expect(refused.errorCode == "M_UNKNOWN")
      }
      #expect(try await scene.act("send", "mld_none").errorCode == "M_NOT_FOUND")
      #expect(try await scene.act("eat", a).errorCode == "M_INVALID_PARAM")
    }
  }

  @Test func `the action can be in the body`() async throws {
    try await Self.run { scene in
      let id = try await scene.scheduled(as: scene.ann)
      let path = Self.base + "delayed_events/\(id)"
      #expect(try await scene.fixture.call(.post, path, as: scene.ann, #"{"action":"restart"}"#).status == 200)
      #expect(try await scene.fixture.call(.post, path, as: scene.ann, "{}").errorCode == "M_MISSING_PARAM")
      #expect(try await scene.fixture.call(.post, path, as: scene.ann, #"{"action":"x"}"#).errorCode == "M_INVALID_PARAM")
      #expect(try await scene.fixture.call(.post, path, as: scene.ann, #"{"action":"cancel"}"#).status == 200)
      #expect(Self.ids(try await scene.list("?status=scheduled", as: scene.ann)) == [])
    }
  }

  @Test func `sending at once that fails leaves it waiting`() async throws {
    try await Self.run { scene in
      let id = try await scene.scheduled("m.room.topic", as: scene.bob, key: "", content: #"{"topic":"Tea"}"#)
      #expect(try await scene.act("send", id).errorCode == "M_FORBIDDEN")
      #expect(try await scene.get(id, as: scene.bob).json["finalised"] == nil)
    }
  }

  // MARK: Lists and limits

  @Test func `the list is in the order of sending, by pages, of what waits and of what does not`() async throws {
    try await Self.run(configure: { $0.delayedEvents.scheduledCount = 200 }) { scene in
      var ids: [String] = []
      for number in 0..<DelayedEvents.pageLimit + 10 {
        ids.append(try await scene.scheduled(after: Int64(10_000 + number), as: scene.ann))
      }
      _ = try await scene.scheduled(as: scene.bob)
      let first = try await scene.list(as: scene.ann)
      #expect(Self.ids(first) == Array(ids.prefix(DelayedEvents.pageLimit)))
      let next = try #require(first.json["next_batch"]?.string)
      let second = try await scene.list("?from=\(next)", as: scene.ann)
      #expect(Self.ids(second) == Array(ids.suffix(10)))
      #expect(second.json["next_batch"] == nil)
      #expect(try await scene.act("cancel", ids[3]).status == 200)
      #expect(Self.ids(try await scene.list("?status=finalised", as: scene.ann)) == [ids[3]])
      #expect(!Self.ids(try await scene.list("?status=scheduled", as: scene.ann)).contains(ids[3]))
      for bad in ["?status=x", "?from=x", "?from=1"] {
        #expect(try await scene.list(bad, as: scene.ann).errorCode == "M_INVALID_PARAM")
      }
      #expect(try await scene.fixture.call(.get, Self.base + "delayed_events").errorCode == "M_MISSING_TOKEN")
    }
  }

  @Test func `the limits hold on both sides and are announced`() async throws {
    try await Self.run(configure: {
      $0.delayedEvents.delayMilliseconds = 60_000
      $0.delayedEvents.scheduledCount = 2
    }) { scene in
      let tooLong = try await scene.schedule(after: 60_001, as: scene.ann)
      #expect(tooLong.status == 400)
      #expect(tooLong.errorCode == "M_UNKNOWN")
      #expect(tooLong.json["org.matrix.msc4140.errcode"]?.string == "M_MAX_DELAY_EXCEEDED")
      #expect(tooLong.json["org.matrix.msc4140.max_delay"]?.integer == 60_000)
      #expect(try await scene.schedule(after: 60_000, as: scene.ann).status == 200)
      #expect(try await scene.schedule(after: 0, as: scene.ann).errorCode == "M_INVALID_PARAM")
      #expect(try await scene.schedule(after: -1, as: scene.ann).errorCode == "M_INVALID_PARAM")
      let last = try await scene.scheduled(after: 1, as: scene.ann)
      let tooMany = try await scene.schedule(as: scene.ann)
      #expect(tooMany.status == 429)
      #expect(tooMany.errorCode == "M_LIMIT_EXCEEDED")
      #expect(try await scene.act("cancel", last).status == 200)
      #expect(try await scene.schedule(as: scene.ann).status == 200)
      let path = Self.base + "rooms/\(scene.room)/delayed_event/m.room.message/t"
      #expect(try await scene.fixture.call(.put, path, as: scene.ann, #"{"content":{}}"#).errorCode == "M_MISSING_PARAM")
      #expect(try await scene.fixture.call(.put, path, as: scene.ann, #"{"delay_ms":1}"#).errorCode == "M_MISSING_PARAM")
      let long = String(repeating: "x", count: 65_536)
      #expect(try await scene.schedule(as: scene.bob, content: #"{"body":"\#(long)"}"#).errorCode == "M_TOO_LARGE")
      let versions = try await scene.fixture.call(.get, "/_matrix/client/versions")
      #expect(versions.json["unstable_features"]?["org.matrix.msc4140"]?.bool == true)
      let capability = try await scene.fixture.call(.get, "capabilities", as: scene.ann)
        .json["capabilities"]?["org.matrix.msc4140.delayed_events"]
      #expect(capability?["max_delay_ms"]?.integer == 60_000)
      #expect(capability?["max_scheduled"]?.integer == 2)
    }
  }

  @Test func `what came to its end is forgotten after a week, and beyond a thousand the oldest`() async throws {
    try await Self.run { scene in
      let id = try await scene.scheduled(as: scene.ann)
      let waiting = try await scene.scheduled(after: 30 * 24 * 3_600_000, as: scene.ann)
      #expect(try await scene.act("cancel", id).status == 200)
      scene.fixture.advance(milliseconds: DelayedEvents.finalisedLifetimeMilliseconds)
      try await scene.fixture.homeserver.delayedEvents.forgetFinalised()
      #expect(try await scene.get(id, as: scene.ann).status == 200)
      scene.fixture.advance(milliseconds: 1)
      try await scene.fixture.homeserver.delayedEvents.forgetFinalised()
      #expect(try await scene.get(id, as: scene.ann).status == 404)
      let now = scene.fixture.homeserver.configuration.clock.now()
      _ = try await scene.fixture.homeserver.database.write { transaction in
        for number in 0..<DelayedEvents.finalisedCountLimit + 3 {
          try transaction.execute(
            """
            INSERT INTO delayed_event(delay_id, user_id, device_id, transaction_id, room, type, content, delay, since, send_at,
              finalised)
            VALUES ($1, $2, '', '', 1, 'x', $3, 1, $4, $4, $4)
            """, "d\(number)", scene.ann.userID, Array("{}".utf8), now + number)
        }
      }
      try await scene.fixture.homeserver.delayedEvents.forgetFinalised()
      let count = try await scene.fixture.homeserver.database.read { transaction in
        try transaction.first("SELECT COUNT(*) FROM delayed_event WHERE finalised IS NOT NULL") { $0.integer(0) }
      }
      #expect(count == DelayedEvents.finalisedCountLimit)
      #expect(try await scene.get("d2", as: scene.ann).status == 404)
      #expect(try await scene.get("d3", as: scene.ann).status == 200)
      #expect(try await scene.get(waiting, as: scene.ann).status == 200)
    }
  }

  @Test func `a deleted room takes its delayed events with it`() async throws {
    try await Self.run { scene in
      let id = try await scene.scheduled(as: scene.ann)
      try await scene.fixture.homeserver.rooms.purge(RoomID(trusted: ByteString(scene.room)))
      #expect(try await scene.get(id, as: scene.ann).errorCode == "M_NOT_FOUND")
      try await scene.pass(1_000)
    }
  }
}
