import Homeserver
import JSON
import MatrixModel
import ServerRooms
import Testing

@testable import HomeserverAPI

@Suite struct PagingTests {
  private static let prefix = "/_matrix/client/unstable/martlet.paging/"

  private static func ids(_ answer: APIFixture.Answer, _ key: ByteString) -> [String] {
    answer.json[key]?.elements.map { $0["user_id"]?.string ?? "-" } ?? []
  }

  @Test func `member pages keep to the moment of the first one`() async throws {
    try await APIFixture.run { fixture in
      var users: [APIFixture.User] = []
      for name in ["ann", "bob", "cyn", "dan"] { users.append(try await fixture.register(name)) }
      let room = try await fixture.call(.post, "createRoom", as: users[0], #"{"preset":"public_chat"}"#)
      let roomID = path(try #require(room.json["room_id"]?.string))
      for user in users[1...] { _ = try await fixture.call(.post, "join/\(roomID)", as: user, "{}") }
      func page(_ query: String, _ user: APIFixture.User = users[0]) async throws -> APIFixture.Answer {
        try await fixture.call(.get, Self.prefix + "rooms/\(roomID)/members?\(query)", as: user)
      }
      let first = try await page("limit=2")
      #expect(Self.ids(first, "members") == ["@ann:example.org", "@bob:example.org"])
      #expect(first.json["has_next"]?.bool == true)
      #expect(first.json["members"]?.elements.first { _ in true }?["display_name"]?.string == "ann")
      // One comes between, one goes: neither is news to the list that was begun.
      _ = try await fixture.call(.post, "join/\(roomID)", as: try await fixture.register("carl"), "{}")
      _ = try await fixture.call(.post, "rooms/\(roomID)/leave", as: users[3], "{}")
      let token = path(try #require(first.json["next_batch"]?.string))
      let second = try await page("limit=2&from=\(token)")
      #expect(Self.ids(second, "members") == ["@cyn:example.org", "@dan:example.org"])
      #expect(second.json["has_next"]?.bool == false && second.json["next_batch"] == nil)
      #expect(Self.ids(try await page("limit=9"), "members").count == 4)
      #expect(Self.ids(try await page("membership=leave"), "members") == ["@dan:example.org"])
      let stranger = try await fixture.register("eve")
      #expect(try await page("", stranger).errorCode == "M_FORBIDDEN")
      for query in ["from=x", "from=99999999_%40ann%3Aexample.org", "limit=0", "membership=guest"] {
        #expect(try await page(query).errorCode == "M_INVALID_PARAM")
      }
    }
  }

  // Proves J48
  @Test func `user pages show neither who registers later nor anyone twice`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      for name in ["bob", "cyn", "dan"] { _ = try await fixture.register(name) }
      func page(_ query: String) async throws -> APIFixture.Answer {
        try await fixture.call(.get, Self.prefix + "users?\(query)", as: ann)
      }
      let first = try await page("limit=2")
      #expect(Self.ids(first, "users") == ["@ann:example.org", "@bob:example.org"] && first.json["has_next"]?.bool == true)
      fixture.advance(milliseconds: 1)
      _ = try await fixture.register("carl")
      let second = try await page("limit=2&from=\(path(try #require(first.json["next_batch"]?.string)))")
      #expect(Self.ids(second, "users") == ["@cyn:example.org", "@dan:example.org"] && second.json["has_next"]?.bool == false)
      #expect(Self.ids(try await page(""), "users").count == 5)
      #expect(Self.ids(try await page("search=CA"), "users") == ["@carl:example.org"])
      for query in ["from=x", "from=1_x", "limit=0"] { #expect(try await page(query).errorCode == "M_INVALID_PARAM") }
    }
  }

  @Test func `the capability is announced`() async throws {
    try await APIFixture.run { fixture in
      let answer = try await fixture.call(.get, "capabilities", as: try await fixture.register("ann"))
      #expect(answer.json["capabilities"]?["martlet.paging"]?["enabled"]?.bool == true)
    }
  }

  @Test func `where the directory shows only who is visible, a search finds who shares a room or is in an open one`()
    async throws
  {
    let configure: (inout HomeserverConfiguration) -> Void = {
      $0.registration = .open
      $0.userDirectoryScope = .visible
    }
    try await APIFixture.run(configure: configure) { fixture in
      let (ann, bob, cyn) = (
        try await fixture.register("ann"), try await fixture.register("bob"), try await fixture.register("cyn")
      )
      func found(_ user: APIFixture.User) async throws -> [String] {
        let answer = try await fixture.call(.post, "user_directory/search", as: user, #"{"search_term":"example.org"}"#)
        let paged = try await fixture.call(.get, Self.prefix + "users", as: user)
        let ids = Self.ids(paged, "users")
        // A search never finds the searcher.
        #expect(Self.ids(answer, "results") == ids.filter { $0 != user.userID.string })
        return ids.map { String($0.dropFirst().prefix(3)) }
      }
      #expect(try await found(ann) == ["ann"])
      let room = try await fixture.call(
        .post, "createRoom", as: bob, #"{"preset":"private_chat","invite":["@ann:example.org"]}"#)
      let roomID = path(try #require(room.json["room_id"]?.string))
      #expect(try await found(ann) == ["ann"])
      _ = try await fixture.call(.post, "join/\(roomID)", as: ann, "{}")
      #expect(try await found(ann) == ["ann", "bob"])
      #expect(try await found(cyn) == ["cyn"])
      let rule = #"{"join_rule":"public"}"#
      #expect(try await fixture.call(.put, "rooms/\(roomID)/state/m.room.join_rules", as: bob, rule).status == 200)
      #expect(try await found(cyn) == ["ann", "bob", "cyn"])
      #expect(
        try await fixture.call(.put, "rooms/\(roomID)/state/m.room.join_rules", as: bob, #"{"join_rule":"invite"}"#).status
          == 200)
      #expect(try await found(cyn) == ["cyn"])
    }
  }

  @Test func `rooms in common are told in pages`() async throws {
    try await APIFixture.run { fixture in
      let (ann, bob) = (try await fixture.register("ann"), try await fixture.register("bob"))
      func mutual(_ query: String) async throws -> APIFixture.Answer {
        try await fixture.call(.get, "/_matrix/client/v1/mutual_rooms?\(query)", as: ann)
      }
      var rooms: [String] = []
      for number in 0...Rooms.mutualRoomsLimit {
        let room = try await fixture.call(.post, "createRoom", as: ann, #"{"preset":"public_chat","name":"\#(number)"}"#)
        rooms.append(try #require(room.json["room_id"]?.string))
        _ = try await fixture.call(.post, "join/\(path(rooms[number]))", as: bob, "{}")
      }
      _ = try await fixture.call(.post, "createRoom", as: ann, #"{"invite":["@bob:example.org"]}"#)
      let other = "user_id=" + path("@bob:example.org")
      let first = try await mutual(other)
      #expect(first.json["joined"]?.elements.compactMap { $0.string } == Array(rooms.dropLast()))
      #expect(first.json["count"]?.integer == Int64(rooms.count))
      let second = try await mutual(other + "&from=\(try #require(first.json["next_batch"]?.string))")
      #expect(second.json["joined"]?.elements.compactMap { $0.string } == [rooms[rooms.count - 1]])
      #expect(second.json["next_batch"] == nil)
      let nobody = try await mutual("user_id=" + path("@nobody:example.org"))
      #expect(nobody.json["joined"]?.count == 0 && nobody.json["count"]?.integer == 0)
      for (query, code) in [
        ("", "M_MISSING_PARAM"), ("user_id=bob", "M_INVALID_PARAM"), (other + "&from=x", "M_INVALID_PARAM"),
        ("user_id=" + path("@ann:example.org"), "M_INVALID_PARAM")
      ] {
        let answer = try await mutual(query)
        #expect(answer.status == 400 && answer.errorCode == code)
      }
    }
  }
}
