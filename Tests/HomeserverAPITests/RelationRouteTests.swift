import JSON
import MatrixModel
import Testing

@testable import HomeserverAPI

/// Relations, aggregations and threads as clients ask for them.
@Suite struct RelationRouteTests {
  /// Two users in one room, and what they do there.
  struct Scene {
    let fixture: APIFixture
    let ann: APIFixture.User
    let bob: APIFixture.User
    let room: String
    let count = Counter()

    final class Counter { var value = 0 }

    init(_ fixture: APIFixture, _ settings: String = #"{"preset":"public_chat"}"#) async throws {
      self.fixture = fixture
      ann = try await fixture.register("ann")
      bob = try await fixture.register("bob")
      room = try #require(try await fixture.call(.post, "createRoom", as: ann, settings).json["room_id"]?.string)
      #expect(try await fixture.call(.post, "rooms/\(room)/join", as: bob, "{}").status == 200)
    }

    func put(_ type: String, as user: APIFixture.User, _ content: String) async throws -> APIFixture.Answer {
      count.value += 1
      return try await fixture.call(.put, "rooms/\(room)/send/\(type)/t\(count.value)", as: user, content)
    }

    func say(_ text: String, as user: APIFixture.User, _ relation: String? = nil, more: String = "") async throws -> String {
      let relation = relation.map { #","m.relates_to":\#($0)"# } ?? ""
      let answer = try await put(
        "m.room.message", as: user, #"{"msgtype":"m.text","body":"\#(text)"\#(more)\#(relation)}"#)
      return try #require(answer.json["event_id"]?.string)
    }

    func edit(_ event: String, to text: String, as user: APIFixture.User) async throws -> String {
      try await say(
        "* " + text, as: user, Self.relation("m.replace", event),
        more: #","m.new_content":{"msgtype":"m.text","body":"\#(text)"}"#)
    }

    func react(_ event: String, _ key: String, as user: APIFixture.User) async throws -> APIFixture.Answer {
      try await put("m.reaction", as: user, #"{"m.relates_to":\#(Self.relation("m.annotation", event, #","key":"\#(key)""#))}"#)
    }

    func redact(_ event: String, as user: APIFixture.User) async throws {
      count.value += 1
      let answer = try await fixture.call(.put, "rooms/\(room)/redact/\(event)/t\(count.value)", as: user, "{}")
      #expect(answer.status == 200)
    }

    func ignore(_ other: APIFixture.User, as user: APIFixture.User) async throws {
      let path = APIFixture.own(user, "account_data/m.ignored_user_list")
      _ = try await fixture.call(.put, path, as: user, #"{"ignored_users":{"\#(other.userID)":{}}}"#)
    }

    func get(_ path: String, as user: APIFixture.User) async throws -> APIFixture.Answer {
      try await fixture.call(.get, path, as: user)
    }

    func event(_ id: String, as user: APIFixture.User) async throws -> JSON {
      try await get("rooms/\(room)/event/\(id)", as: user).json
    }

    func relations(_ rest: String, as user: APIFixture.User) async throws -> APIFixture.Answer {
      try await get("/_matrix/client/v1/rooms/\(room)/relations/\(rest)", as: user)
    }

    func threads(_ query: String = "", as user: APIFixture.User) async throws -> APIFixture.Answer {
      try await get("/_matrix/client/v1/rooms/\(room)/threads\(query)", as: user)
    }

    static func relation(_ kind: String, _ event: String, _ more: String = "") -> String {
      #"{"rel_type":"\#(kind)","event_id":"\#(event)"\#(more)}"#
    }
  }

  private func scene(_ body: (Scene) async throws -> Void) async throws {
    try await APIFixture.run { try await body(try await Scene($0)) }
  }

  @Test func `the most recent valid edit comes along wherever an event is told`() async throws {
    try await scene { scene in
      let original = try await scene.say("one", as: scene.ann)
      _ = try await scene.edit(original, to: "foreign", as: scene.bob)
      _ = try await scene.edit(original, to: "two", as: scene.ann)
      scene.fixture.advance(milliseconds: 5)
      let last = try await scene.edit(original, to: "three", as: scene.ann)
      _ = try await scene.edit(last, to: "an edit of an edit", as: scene.ann)
      _ = try await scene.say("no new content", as: scene.ann, Scene.relation("m.replace", original))
      func replacement(_ event: JSON?) -> String? {
        event?["unsigned"]?["m.relations"]?["m.replace"]?["event_id"]?.string
      }
      let event = try await scene.event(original, as: scene.bob)
      #expect(replacement(event) == last && event["content"]?["body"]?.string == "one")
      #expect(event["unsigned"]?["m.relations"]?["m.replace"]?["content"]?["m.new_content"]?["body"]?.string == "three")
      #expect(try await scene.event(last, as: scene.bob)["unsigned"]?["m.relations"] == nil)
      func find(_ events: JSON?) -> JSON? { events?.elements.first { $0["event_id"]?.string == original } }
      let messages = try await scene.get("rooms/\(scene.room)/messages?dir=b&limit=20", as: scene.bob)
      #expect(replacement(find(messages.json["chunk"])) == last)
      let context = try await scene.get("rooms/\(scene.room)/context/\(original)", as: scene.bob)
      #expect(replacement(context.json["event"]) == last)
      let filter = #"{"room":{"timeline":{"limit":6}}}"#
      let sync = try await scene.get("sync?filter=\(PercentEncoding.encode(ByteString(filter)))", as: scene.bob)
      let timeline = sync.json["rooms"]?["join"]?[ByteString(scene.room)]?["timeline"]
      #expect(timeline?["limited"]?.bool ?? false)
      #expect(replacement(find(timeline?["events"])) == last)
      try await scene.redact(last, as: scene.ann)
      #expect(
        try await scene.event(original, as: scene.bob)["unsigned"]?["m.relations"]?["m.replace"]?["content"]?["m.new_content"]?[
          "body"]?.string == "two")
      try await scene.redact(original, as: scene.ann)
      let redacted = try await scene.event(original, as: scene.bob)
      #expect(redacted["unsigned"]?["m.relations"] == nil && redacted["unsigned"]?["redacted_because"] != nil)
    }
  }

  @Test func `references are listed, annotations and ignored users' events are not`() async throws {
    try await scene { scene in
      let parent = try await scene.say("parent", as: scene.ann)
      let first = try await scene.say("ref", as: scene.ann, Scene.relation("m.reference", parent))
      let second = try await scene.say("ref", as: scene.bob, Scene.relation("m.reference", parent))
      #expect(try await scene.react(parent, "+", as: scene.bob).status == 200)
      func relations() async throws -> JSON? {
        try await scene.event(parent, as: scene.ann)["unsigned"]?["m.relations"]
      }
      func references() async throws -> [String] {
        try await relations()?["m.reference"]?["chunk"]?.elements.compactMap { $0["event_id"]?.string } ?? []
      }
      #expect(try await references() == [first, second])
      #expect(try await relations()?["m.annotation"] == nil)
      try await scene.ignore(scene.bob, as: scene.ann)
      #expect(try await references() == [first])
      try await scene.redact(first, as: scene.ann)
      #expect(try await relations() == nil)
    }
  }

  @Test func `a second annotation with the same key is refused until the first is redacted`() async throws {
    try await scene { scene in
      let parent = try await scene.say("parent", as: scene.ann)
      let first = try await scene.react(parent, "👍", as: scene.bob)
      let again = try await scene.react(parent, "👍", as: scene.bob)
      #expect(again.status == 400 && again.errorCode == "M_DUPLICATE_ANNOTATION")
      #expect(try await scene.react(parent, "👎", as: scene.bob).status == 200)
      #expect(try await scene.react(parent, "👍", as: scene.ann).status == 200)
      try await scene.redact(try #require(first.json["event_id"]?.string), as: scene.bob)
      #expect(try await scene.react(parent, "👍", as: scene.bob).status == 200)
    }
  }

  @Test func `a thread tells its latest event, its length and who takes part`() async throws {
    try await scene { scene in
      let root = try await scene.say("root", as: scene.ann)
      let first = try await scene.say("1", as: scene.bob, Scene.relation("m.thread", root))
      let latest = try await scene.say("2", as: scene.ann, Scene.relation("m.thread", root))
      let edit = try await scene.edit(latest, to: "2b", as: scene.ann)
      let nested = try await scene.put(
        "m.room.message", as: scene.bob, #"{"body":"x","m.relates_to":\#(Scene.relation("m.thread", first))}"#)
      #expect(nested.status == 400 && nested.errorCode == "M_UNKNOWN")
      func thread(_ user: APIFixture.User) async throws -> JSON? {
        try await scene.event(root, as: user)["unsigned"]?["m.relations"]?["m.thread"]
      }
      let told = try #require(try await thread(scene.bob))
      #expect(told["count"]?.integer == 2 && told["current_user_participated"]?.bool == true)
      #expect(told["latest_event"]?["event_id"]?.string == latest && told["latest_event"]?["room_id"]?.string == scene.room)
      #expect(told["latest_event"]?["unsigned"]?["m.relations"]?["m.replace"]?["event_id"]?.string == edit)
      let cat = try await scene.fixture.register("cat")
      _ = try await scene.fixture.call(.post, "rooms/\(scene.room)/join", as: cat, "{}")
      #expect(try await thread(cat)?["current_user_participated"]?.bool == false)
      try await scene.ignore(scene.bob, as: cat)
      let without = try #require(try await thread(cat))
      #expect(without["count"]?.integer == 1 && without["latest_event"]?["event_id"]?.string == latest)
      try await scene.redact(latest, as: scene.ann)
      #expect(try await thread(scene.bob)?["latest_event"]?["event_id"]?.string == first)
      try await scene.redact(first, as: scene.bob)
      #expect(try await thread(cat) == nil)
      #expect(try await scene.threads(as: cat).json["chunk"]?.count == 0)
    }
  }

  @Test func `children are listed by kind and type, paged both ways`() async throws {
    try await scene { scene in
      let parent = try await scene.say("parent", as: scene.ann)
      var children: [String] = []
      for number in 0..<7 {
        children.append(try await scene.say("\(number)", as: scene.bob, Scene.relation("m.reference", parent)))
      }
      _ = try await scene.react(parent, "+", as: scene.bob)
      #expect(try await scene.relations(parent, as: scene.ann).json["chunk"]?.count == 8)
      #expect(try await scene.relations("\(parent)/m.annotation", as: scene.ann).json["chunk"]?.count == 1)
      #expect(try await scene.relations("\(parent)/m.annotation/m.reaction", as: scene.ann).json["chunk"]?.count == 1)
      #expect(try await scene.relations("\(parent)/m.annotation/m.room.message", as: scene.ann).json["chunk"]?.count == 0)
      for direction in ["b", "f"] {
        var seen: [String] = []
        var token = ""
        repeat {
          let page = try await scene.relations(
            "\(parent)/m.reference?dir=\(direction)&limit=3\(token.isEmpty ? "" : "&from=" + token)", as: scene.ann
          ).json
          seen += page["chunk"]?.elements.compactMap { $0["event_id"]?.string } ?? []
          #expect((page["prev_batch"] == nil) == token.isEmpty)
          token = page["next_batch"]?.string ?? ""
        } while !token.isEmpty
        #expect(seen == (direction == "f" ? children : children.reversed()))
      }
      #expect(try await scene.relations("\(parent)?from=x", as: scene.ann).errorCode == "M_INVALID_PARAM")
      #expect(try await scene.relations("\(parent)?dir=x", as: scene.ann).errorCode == "M_INVALID_PARAM")
      let eve = try await scene.fixture.register("eve")
      #expect(try await scene.relations(parent, as: eve).errorCode == "M_NOT_FOUND")
      #expect(try await scene.relations("$nothing", as: scene.ann).status == 404)
    }
  }

  @Test func `recursion tells indirect relations three levels deep`() async throws {
    try await scene { scene in
      var chain = [try await scene.say("0", as: scene.ann)]
      for level in 1...4 {
        chain.append(try await scene.say("\(level)", as: scene.ann, Scene.relation("m.reference", chain[level - 1])))
      }
      let direct = try await scene.relations(chain[0], as: scene.bob)
      #expect(direct.json["chunk"]?.count == 1 && direct.json["recursion_depth"] == nil)
      let deep = try await scene.relations("\(chain[0])?recurse=true", as: scene.bob)
      #expect(deep.json["recursion_depth"]?.integer == 3)
      #expect(deep.json["chunk"]?.elements.compactMap { $0["event_id"]?.string } == [chain[3], chain[2], chain[1]])
      #expect(try await scene.relations("\(chain[0])/m.annotation?recurse=true", as: scene.bob).json["chunk"]?.count == 0)
      #expect(try await scene.relations("\(chain[0])?recurse=x", as: scene.bob).errorCode == "M_INVALID_PARAM")
    }
  }

  @Test func `threads are listed by their latest event, all or the user's own, in pages`() async throws {
    try await scene { scene in
      let roots = [
        try await scene.say("a", as: scene.ann), try await scene.say("b", as: scene.ann),
        try await scene.say("c", as: scene.bob)
      ]
      for root in [roots[0], roots[2], roots[1], roots[0]] {
        _ = try await scene.say("m", as: scene.ann, Scene.relation("m.thread", root))
      }
      func ids(_ answer: APIFixture.Answer) -> [String] {
        answer.json["chunk"]?.elements.compactMap { $0["event_id"]?.string } ?? []
      }
      let all = try await scene.threads(as: scene.bob)
      #expect(ids(all) == [roots[0], roots[1], roots[2]] && all.json["next_batch"] == nil)
      #expect(all.json["chunk"]?.elements.allSatisfy { $0["unsigned"]?["m.relations"]?["m.thread"]?["count"] != nil } ?? false)
      #expect(ids(try await scene.threads("?include=participated", as: scene.bob)) == [roots[2]])
      let page = try await scene.threads("?limit=2", as: scene.bob)
      #expect(ids(page) == [roots[0], roots[1]])
      let token = try #require(page.json["next_batch"]?.string)
      #expect(ids(try await scene.threads("?limit=2&from=\(token)", as: scene.bob)) == [roots[2]])
      for query in ["?include=some", "?limit=0", "?from=x"] {
        #expect(try await scene.threads(query, as: scene.bob).errorCode == "M_INVALID_PARAM")
      }
      let eve = try await scene.fixture.register("eve")
      #expect(try await scene.threads(as: eve).errorCode == "M_FORBIDDEN")
      try await scene.ignore(scene.bob, as: scene.ann)
      let last = try await scene.threads(as: scene.ann).json["chunk"]?.elements.first { $0["event_id"]?.string == roots[2] }
      #expect(last?["content"]?.count == 0 && last?["unsigned"]?["m.relations"]?["m.thread"]?["count"]?.integer == 1)
    }
  }

  @Test func `who may not see a child is not told of it`() async throws {
    let settings =
      #"{"preset":"public_chat","initial_state":[{"type":"m.room.history_visibility","content":{"history_visibility":"joined"}}]}"#
    try await APIFixture.run { fixture in
      let scene = try await Scene(fixture, settings)
      let root = try await scene.say("root", as: scene.ann)
      let seen = try await scene.say("1", as: scene.ann, Scene.relation("m.thread", root))
      _ = try await fixture.call(.post, "rooms/\(scene.room)/leave", as: scene.bob, "{}")
      _ = try await scene.say("2", as: scene.ann, Scene.relation("m.thread", root))
      _ = try await scene.edit(root, to: "secret", as: scene.ann)
      let relations = try await scene.event(root, as: scene.bob)["unsigned"]?["m.relations"]
      #expect(relations?["m.replace"] == nil && relations?["m.thread"]?["count"]?.integer == 1)
      #expect(relations?["m.thread"]?["latest_event"]?["event_id"]?.string == seen)
      #expect(try await scene.relations(root, as: scene.bob).json["chunk"]?.count == 1)
    }
  }

  @Test func `unread events count for their thread, also what relates to it by others`() async throws {
    try await scene { scene in
      let root = try await scene.say("root", as: scene.ann)
      let message = try await scene.say("1", as: scene.ann, Scene.relation("m.thread", root))
      let edit = try await scene.edit(message, to: "2", as: scene.ann)
      _ = try await scene.say("reference", as: scene.ann, Scene.relation("m.reference", edit))
      _ = try await scene.say("to the root", as: scene.ann, Scene.relation("m.reference", root))
      let filter = PercentEncoding.encode(ByteString(#"{"room":{"timeline":{"unread_thread_notifications":true}}}"#))
      func counts() async throws -> [Int64?] {
        let room = try await scene.get("sync?filter=\(filter)", as: scene.bob).json["rooms"]?["join"]?[ByteString(scene.room)]
        return [
          room?["unread_notifications"]?["notification_count"]?.integer,
          room?["unread_thread_notifications"]?[ByteString(root)]?["notification_count"]?.integer
        ]
      }
      // An edit does not notify by the default rules; the reference to it does, in the thread.
      #expect(try await counts() == [2, 2])
      let receipt = "rooms/\(scene.room)/receipt/m.read/\(edit)"
      let wrong = try await scene.fixture.call(.post, receipt, as: scene.bob, #"{"thread_id":"main"}"#)
      #expect(wrong.errorCode == "M_INVALID_PARAM")
      #expect(try await scene.fixture.call(.post, receipt, as: scene.bob, #"{"thread_id":"\#(root)"}"#).status == 200)
      #expect(try await counts() == [2, 1])
    }
  }

  @Test func `a context is filtered, its members are those who speak in it`() async throws {
    try await scene { scene in
      for number in 0..<4 { _ = try await scene.say("before \(number)", as: scene.ann) }
      let middle = try await scene.say("middle", as: scene.bob)
      for number in 0..<4 { _ = try await scene.say("after \(number)", as: scene.ann) }
      _ = try await scene.fixture.call(.put, "rooms/\(scene.room)/state/m.room.topic/", as: scene.ann, #"{"topic":"later"}"#)
      func context(_ query: String) async throws -> JSON {
        try await scene.get("rooms/\(scene.room)/context/\(middle)?\(query)", as: scene.ann).json
      }
      func bodies(_ events: JSON?) -> [String] { events?.elements.compactMap { $0["content"]?["body"]?.string } ?? [] }
      let four = try await context("limit=4")
      #expect(
        bodies(four["events_before"]) == ["before 3", "before 2"] && bodies(four["events_after"]) == ["after 0", "after 1"])
      #expect(four["state"]?.elements.contains { $0["type"]?.string == "m.room.topic" } == false)
      let start = try #require(four["start"]?.string), end = try #require(four["end"]?.string)
      let earlier = try await scene.get("rooms/\(scene.room)/messages?dir=b&limit=1&from=\(start)", as: scene.ann)
      #expect(bodies(earlier.json["chunk"]) == ["before 1"])
      let later = try await scene.get("rooms/\(scene.room)/messages?dir=f&limit=1&from=\(end)", as: scene.ann)
      #expect(bodies(later.json["chunk"]) == ["after 2"])
      let none = try await context("limit=0")
      #expect(
        none["events_before"]?.count == 0 && none["events_after"]?.count == 0 && none["event"]?["event_id"]?.string == middle)
      let filter = PercentEncoding.encode(ByteString(#"{"senders":["\#(scene.bob.userID)"],"lazy_load_members":true}"#))
      let filtered = try await context("limit=4&filter=\(filter)")
      #expect(bodies(filtered["events_before"]).isEmpty && filtered["event"]?["event_id"]?.string == middle)
      #expect(filtered["state"]?.elements.allSatisfy { $0["sender"]?.string == scene.bob.userID.string } ?? false)
      #expect(try await scene.get("rooms/\(scene.room)/context/$no", as: scene.ann).status == 404)
    }
  }

  /// More hidden ones in a row than are read at once, which each page passes over.
  @Test func `visible relations are found behind many hidden ones, page by page, in both directions`() async throws {
    try await APIFixture.run { fixture in
      let scene = try await Scene(fixture)
      let root = try await scene.say("root", as: scene.bob)
      let first = try await scene.say("first", as: scene.bob, Scene.relation("m.reference", root))
      let below = try await scene.say("below", as: scene.bob, Scene.relation("m.reference", first))
      for _ in 0..<510 { _ = try await scene.say("hidden", as: scene.ann, Scene.relation("m.reference", root)) }
      let last = try await scene.say("last", as: scene.bob, Scene.relation("m.reference", root))
      try await scene.ignore(scene.ann, as: scene.bob)
      for (direction, expected) in [("b", [last, below, first]), ("f", [first, below, last])] {
        let path = "/_matrix/client/v1/rooms/\(scene.room)/relations/\(root)?recurse=true&limit=1&dir=\(direction)"
        var found: [String] = []
        var next: String? = ""
        while let from = next, found.count < 5 {
          let page = try await scene.get(path + (from.isEmpty ? "" : "&from=" + from), as: scene.bob)
          #expect(page.status == 200 && page.json["chunk"]?.count ?? 9 <= 1)
          found += page.json["chunk"]?.elements.compactMap { $0["event_id"]?.string } ?? []
          next = page.json["next_batch"]?.string
        }
        #expect(found == expected)
      }
    }
  }
}
