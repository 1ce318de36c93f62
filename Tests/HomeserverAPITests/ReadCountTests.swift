import JSON
import MatrixModel
import Testing

@testable import HomeserverAPI
@testable import ServerRooms

/// How many members have read an event.
@Suite struct ReadCountTests {
  @Test func `members count by their public receipts, the sender does not`() async throws {
    try await APIFixture.run { fixture in
      let scene = try await RelationRouteTests.Scene(fixture)
      let cat = try await fixture.register("cat")
      _ = try await fixture.call(.post, "rooms/\(scene.room)/join", as: cat, "{}")
      let first = try await scene.say("1", as: scene.ann)
      let reply = try await scene.say("t", as: scene.ann, RelationRouteTests.Scene.relation("m.thread", first))
      let second = try await scene.say("2", as: scene.ann)
      func counts(_ events: String...) async throws -> [[Int64]] {
        let query = events.map { "event_id=" + PercentEncoding.encode(ByteString($0)) }.joined(separator: "&")
        let answer = try await fixture.call(
          .get, "/_matrix/client/unstable/martlet.read_counts/rooms/\(scene.room)?\(query)", as: scene.ann)
        return events.map { event in
          let count = answer.json["counts"]?[ByteString(event)]
          return ["read", "unread", "total"].compactMap { count?[ByteString($0)]?.integer }
        }
      }
      func read(_ event: String, as user: APIFixture.User, _ kind: String = "m.read", _ body: String = "{}") async throws {
        #expect(try await fixture.call(.post, "rooms/\(scene.room)/receipt/\(kind)/\(event)", as: user, body).status == 200)
      }
      #expect(try await counts(first, second) == [[0, 2, 2], [0, 2, 2]])
      try await read(first, as: scene.bob)
      #expect(try await counts(first, second) == [[1, 1, 2], [0, 2, 2]])
      try await read(second, as: cat, "m.read.private")
      try await read(second, as: scene.ann)
      #expect(try await counts(first, second) == [[1, 1, 2], [0, 2, 2]])
      try await read(reply, as: cat, "m.read", #"{"thread_id":"\#(first)"}"#)
      #expect(try await counts(first, reply, second) == [[1, 1, 2], [1, 1, 2], [0, 2, 2]])
      try await read(second, as: cat, "m.read", #"{"thread_id":"main"}"#)
      #expect(try await counts(first, reply, second) == [[2, 0, 2], [1, 1, 2], [1, 1, 2]])
      _ = try await fixture.call(.post, "rooms/\(scene.room)/leave", as: cat, "{}")
      #expect(try await counts(first, reply, second) == [[1, 0, 1], [0, 1, 1], [0, 1, 1]])
      _ = try await fixture.call(.post, "rooms/\(scene.room)/join", as: cat, "{}")
      #expect(try await counts(first, "$unknown") == [[2, 0, 2], []])
    }
  }

  // Proves J41
  @Test func `what was said since one joined is counted anew after each joining, without edits, deleted messages and state`()
    async throws
  {
    try await APIFixture.run { fixture in
      let scene = try await RelationRouteTests.Scene(fixture)
      func count(_ user: APIFixture.User) async throws -> Int64? {
        try await scene.get("/_matrix/client/unstable/martlet.since_joined/rooms/\(scene.room)", as: user)
          .json["messages"]?.integer
      }
      let cat = try await fixture.register("cat")
      let refused = try await scene.get("/_matrix/client/unstable/martlet.since_joined/rooms/\(scene.room)", as: cat)
      #expect(refused.errorCode == "M_FORBIDDEN")
      #expect(try await count(scene.ann) == 0)
      let first = try await scene.say("one", as: scene.ann)
      let second = try await scene.say("two", as: scene.bob)
      _ = try await scene.say("aside", as: scene.bob, RelationRouteTests.Scene.relation("m.thread", first))
      _ = try await scene.edit(first, to: "uno", as: scene.ann)
      _ = try await scene.react(first, "👍", as: scene.bob)
      for type in ["m.room.encrypted", "m.sticker", "org.matrix.msc3381.poll.start", "m.poll.start", "a.b"] {
        #expect(try await scene.put(type, as: scene.ann, #"{"body":"x"}"#).status == 200)
      }
      #expect(try await count(scene.ann) == 7)
      #expect(try await count(scene.bob) == 7)
      try await scene.redact(second, as: scene.bob)
      #expect(try await count(scene.ann) == 6)
      _ = try await fixture.call(.post, "rooms/\(scene.room)/join", as: cat, "{}")
      _ = try await scene.say("hello", as: cat)
      // Another name is no other joining.
      let profile = "profile/\(cat.userID)/displayname"
      #expect(try await fixture.call(.put, profile, as: cat, #"{"displayname":"Cat"}"#).status == 200)
      #expect(try await count(cat) == 1)
      _ = try await fixture.call(.post, "rooms/\(scene.room)/leave", as: cat, "{}")
      _ = try await fixture.call(.post, "rooms/\(scene.room)/join", as: cat, "{}")
      #expect(try await count(cat) == 0)
      #expect(try await count(scene.ann) == 7)
      // What is looked at is bounded, messages or not: the newest two are a leaving and a joining.
      let room = try #require(RoomID(ByteString(scene.room)))
      for (limit, said) in [(2, 0), (4, 1), (1_000, 7)] as [(Int, Int64)] {
        #expect(try await fixture.homeserver.rooms.messagesSinceJoined(room, by: scene.ann.userID, among: limit) == said)
      }
      let capabilities = try await fixture.call(.get, "capabilities", as: scene.ann)
      #expect(capabilities.json["capabilities"]?["martlet.since_joined"]?["enabled"]?.bool ?? false)
    }
  }

  @Test func `only members may ask, for a hundred events at once, and it is announced`() async throws {
    try await APIFixture.run { fixture in
      let scene = try await RelationRouteTests.Scene(fixture)
      let path = "/_matrix/client/unstable/martlet.read_counts/rooms/\(scene.room)"
      let eve = try await fixture.register("eve")
      #expect(try await fixture.call(.get, path + "?event_id=$x", as: eve).errorCode == "M_FORBIDDEN")
      #expect(try await fixture.call(.get, path, as: scene.ann).errorCode == "M_MISSING_PARAM")
      #expect(try await fixture.call(.get, path + "?event_id=x", as: scene.ann).errorCode == "M_INVALID_PARAM")
      func many(_ count: Int) -> String { path + "?" + (0..<count).map { "event_id=$\($0)" }.joined(separator: "&") }
      #expect(try await fixture.call(.get, many(100), as: scene.ann).status == 200)
      #expect(try await fixture.call(.get, many(101), as: scene.ann).errorCode == "M_INVALID_PARAM")
      let capabilities = try await fixture.call(.get, "capabilities", as: scene.ann)
      #expect(capabilities.json["capabilities"]?["martlet.read_counts"]?["enabled"]?.bool ?? false)
    }
  }

  @Test func `the sorted positions equal a count from scratch over random histories`() {
    var dice = SystemRandomNumberGenerator()
    let users = (0..<12).map { UserID(trusted: ByteString("@u\($0):example.org")) }
    var receipts = Dictionary(uniqueKeysWithValues: users.map { ($0, ReadPositions()) })
    var members = Set(users.prefix(6))
    var index = ReadIndex(members: members, asOf: 0)
    let threads: [ByteString] = ["main", "$a", "$b"]
    for _ in 0..<3_000 {
      let user = users[Int.random(in: 0..<12, using: &dice)]
      let old = receipts[user] ?? ReadPositions()
      switch Int.random(in: 0..<3, using: &dice) {
      case 0:
        let isMember = Bool.random(using: &dice)
        if isMember { members.insert(user) } else { members.remove(user) }
        index.set(user, isMember: isMember, old)
      default:
        var new = old
        let position = Int64.random(in: 1...50, using: &dice)
        if Bool.random(using: &dice) {
          new.all = max(new.all, position)
        } else {
          let thread = threads[Int.random(in: 0..<3, using: &dice)]
          new.threads[thread] = max(new.threads[thread] ?? 0, position)
        }
        receipts[user] = new
        index.move(user, from: old, to: new)
      }
      let thread = threads[Int.random(in: 0..<3, using: &dice)]
      let position = Int64.random(in: 1...51, using: &dice)
      let expected = members.count { receipts[$0]?.hasRead(position, in: thread) ?? false }
      #expect(index.readers(of: position, in: thread) { receipts[$0] ?? ReadPositions() } == expected)
    }
  }
}
