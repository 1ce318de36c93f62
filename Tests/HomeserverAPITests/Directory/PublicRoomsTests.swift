import JSON
import MatrixModel
import Testing

@testable import Homeserver
@testable import HomeserverAPI
@testable import ServerPush
@testable import ServerRooms

@Suite struct PublicRoomsTests {
  /// Makes a published room with as many members beside its creator as `members`.
  @discardableResult
  private static func room(
    _ fixture: APIFixture, by user: APIFixture.User, _ body: String, members: [APIFixture.User] = []
  ) async throws -> String {
    let answer = try await fixture.call(
      .post, "createRoom", as: user, #"{"visibility":"public","preset":"public_chat",\#(body)}"#)
    let roomID = try #require(answer.json["room_id"]?.string)
    for member in members { _ = try await fixture.call(.post, "join/\(path(roomID))", as: member, "{}") }
    return roomID
  }

  private static func names(_ answer: APIFixture.Answer) -> [String] {
    answer.json["chunk"]?.elements.map { $0["name"]?.string ?? "-" } ?? []
  }

  @Test func `rooms come with most members first, in pages that lead forth and back`() async throws {
    try await APIFixture.run { fixture in
      let (ann, bob, cyn) = (
        try await fixture.register("ann"), try await fixture.register("bob"), try await fixture.register("cyn")
      )
      for (name, members) in [("one", []), ("three", [bob, cyn]), ("two", [bob]), ("also one", [])] {
        try await Self.room(fixture, by: ann, #""name":"\#(name)""#, members: members)
      }
      _ = try await fixture.call(.post, "createRoom", as: ann, #"{"name":"hidden"}"#)
      let all = try await fixture.call(.get, "publicRooms")
      #expect(Self.names(all) == ["three", "two", "also one", "one"])
      #expect(all.json["chunk"]?.elements.map { $0["num_joined_members"]?.integer ?? 0 } == [3, 2, 1, 1])
      #expect(all.json["next_batch"] == nil && all.json["prev_batch"] == nil)
      #expect(all.json["total_room_count_estimate"]?.integer == 4)

      let first = try await fixture.call(.get, "publicRooms?limit=2")
      #expect(Self.names(first) == ["three", "two"] && first.json["prev_batch"] == nil)
      let forth = try #require(first.json["next_batch"]?.string)
      // A new room elsewhere in the order does not move the next page.
      try await Self.room(fixture, by: ann, #""name":"late three""#, members: [bob, cyn])
      let second = try await fixture.call(.get, "publicRooms?limit=2&since=\(forth)")
      #expect(Self.names(second) == ["also one", "one"] && second.json["next_batch"] == nil)
      let back = try #require(second.json["prev_batch"]?.string)
      let again = try await fixture.call(.get, "publicRooms?limit=2&since=\(back)")
      #expect(Self.names(again) == ["three", "two"])
      #expect(again.json["next_batch"]?.string == forth)
      let newest = try await fixture.call(.get, "publicRooms?limit=2&since=\(try #require(again.json["prev_batch"]?.string))")
      #expect(Self.names(newest) == ["late three"] && newest.json["prev_batch"] == nil)
    }
  }

  @Test func `a listing follows the room's state and members`() async throws {
    try await APIFixture.run { fixture in
      let (ann, bob) = (try await fixture.register("ann"), try await fixture.register("bob"))
      let roomID = try await Self.room(
        fixture, by: ann, #""name":"old","topic":"about","room_alias_name":"lobby","creation_content":{"type":"m.space"}"#)
      _ = try await fixture.call(.put, "rooms/\(path(roomID))/state/m.room.name", as: ann, #"{"name":"new"}"#)
      _ = try await fixture.call(
        .put, "rooms/\(path(roomID))/state/m.room.history_visibility", as: ann, #"{"history_visibility":"world_readable"}"#)
      _ = try await fixture.call(
        .put, "rooms/\(path(roomID))/state/m.room.avatar", as: ann, #"{"url":"mxc://example.org/a"}"#)
      _ = try await fixture.call(.post, "join/\(path(roomID))", as: bob, "{}")
      var room = try #require(try await fixture.call(.get, "publicRooms").json["chunk"]?.elements.first { _ in true })
      #expect(room["room_id"]?.string == roomID && room["name"]?.string == "new" && room["topic"]?.string == "about")
      #expect(room["canonical_alias"]?.string == "#lobby:example.org" && room["room_type"]?.string == "m.space")
      #expect(room["world_readable"]?.bool == true && room["guest_can_join"]?.bool == false)
      #expect(room["avatar_url"]?.string == "mxc://example.org/a")
      #expect(room["join_rule"]?.string == "public" && room["num_joined_members"]?.integer == 2)
      _ = try await fixture.call(.post, "rooms/\(path(roomID))/leave", as: bob, "{}")
      room = try #require(try await fixture.call(.get, "publicRooms").json["chunk"]?.elements.first { _ in true })
      #expect(room["num_joined_members"]?.integer == 1)
    }
  }

  @Test func `a search looks through name, topic and aliases without case, and types narrow it`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      try await Self.room(fixture, by: ann, #""name":"Ärger 100%""#)
      try await Self.room(fixture, by: ann, #""name":"b","topic":"Talk of BIRDS""#)
      try await Self.room(fixture, by: ann, #""name":"c","room_alias_name":"lobby","creation_content":{"type":"m.space"}"#)
      func search(_ filter: String) async throws -> [String] {
        let answer = try await fixture.call(.post, "publicRooms", as: ann, #"{"filter":{\#(filter)}}"#)
        #expect(answer.status == 200)
        return Self.names(answer).sorted()
      }
      for (term, found) in [("ärger", ["Ärger 100%"]), ("birds", ["b"]), ("LOBBY", ["c"]), ("0%", ["Ärger 100%"]), ("zz", [])] {
        #expect(try await search(#""generic_search_term":"\#(term)""#) == found)
      }
      #expect(try await search(#""room_types":["m.space"]"#) == ["c"])
      #expect(try await search(#""room_types":[null]"#) == ["b", "Ärger 100%"])
      #expect(try await search(#""room_types":[null,"m.space"]"#).count == 3)
      #expect(try await search(#""room_types":[]"#) == [])
    }
  }

  @Test(arguments: [
    ("?server=other.example", "{}", "M_FORBIDDEN"), ("", #"{"since":"x1"}"#, "M_INVALID_PARAM"),
    ("", #"{"since":"n1"}"#, "M_INVALID_PARAM"), ("", #"{"limit":-1}"#, "M_INVALID_PARAM"),
    ("", #"{"filter":{"room_types":[1]}}"#, "M_BAD_JSON"), ("", #"{"filter":[]}"#, "M_BAD_JSON"),
    ("", #"{"include_all_networks":true,"third_party_instance_id":"irc"}"#, "M_INVALID_PARAM")
  ]) func `a query that cannot be answered is refused`(query: String, body: String, code: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      #expect(try await fixture.call(.post, "publicRooms\(query)", as: ann, body).errorCode == code)
      #expect(try await fixture.call(.post, "publicRooms?server=example.org", as: ann, "{}").status == 200)
    }
  }

  @Test func `publishing takes membership and the power to set the main address`() async throws {
    try await APIFixture.run { fixture in
      let (ann, bob) = (try await fixture.register("ann"), try await fixture.register("bob"))
      let room = try await fixture.call(.post, "createRoom", as: ann, #"{"preset":"public_chat"}"#)
      let roomID = path(try #require(room.json["room_id"]?.string))
      func set(_ visibility: String, _ user: APIFixture.User) async throws -> APIFixture.Answer {
        try await fixture.call(.put, "directory/list/room/\(roomID)", as: user, visibility)
      }
      func visibility() async throws -> String? {
        try await fixture.call(.get, "directory/list/room/\(roomID)").json["visibility"]?.string
      }
      #expect(try await visibility() == "private")
      #expect(try await set(#"{"visibility":"public"}"#, bob).errorCode == "M_FORBIDDEN")
      _ = try await fixture.call(.post, "join/\(roomID)", as: bob, "{}")
      #expect(try await set(#"{"visibility":"public"}"#, bob).errorCode == "M_FORBIDDEN")
      #expect(try await set("{}", ann).status == 200)
      #expect(try await visibility() == "public")
      #expect(try await set(#"{"visibility":"shown"}"#, ann).errorCode == "M_INVALID_PARAM")
      #expect(try await set(#"{"visibility":"private"}"#, ann).status == 200)
      #expect(try await visibility() == "private")
      #expect(try await fixture.call(.get, "publicRooms").json["chunk"]?.count == 0)
      #expect(try await fixture.call(.get, "directory/list/room/!none").errorCode == "M_NOT_FOUND")
      #expect(try await fixture.call(.put, "directory/list/room/!none", as: ann, "{}").errorCode == "M_NOT_FOUND")
    }
  }

  @Test func `where publishing is the administrators', members cannot`() async throws {
    let configure: (inout HomeserverConfiguration) -> Void = {
      $0.registration = .open
      $0.publishing = .administrators
    }
    try await APIFixture.run(configure: configure) { fixture in
      let ann = try await fixture.register("ann")
      #expect(try await fixture.call(.post, "createRoom", as: ann, #"{"visibility":"public"}"#).errorCode == "M_FORBIDDEN")
      let room = try await fixture.call(.post, "createRoom", as: ann, "{}")
      let roomID = RoomID(trusted: try #require(room.json["room_id"]?.text))
      #expect(
        try await fixture.call(.put, "directory/list/room/\(path(roomID.string))", as: ann, "{}").errorCode == "M_FORBIDDEN")
      let administrator = Rooms.Actor(userID: UserID(trusted: "@root:example.org"), deviceID: nil, isAdministrator: true)
      try await fixture.homeserver.publicRooms.setPublished(true, roomID, by: administrator)
      #expect(try await fixture.call(.get, "publicRooms").json["chunk"]?.count == 1)
    }
  }

  @Test func `a network's rooms are in its own list and in the list of all`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let own = try await Self.room(fixture, by: ann, #""name":"own""#)
      let made = try await fixture.call(.post, "createRoom", as: ann, #"{"name":"bridged"}"#)
      let bridged = RoomID(trusted: try #require(made.json["room_id"]?.text))
      let publicRooms = fixture.homeserver.publicRooms
      var registration = AppServiceRegistration(
        id: "irc", url: nil, serviceToken: "token-one", serverToken: "token-two", senderLocalpart: "bot")
      registration.rooms = [.init(isExclusive: false, expression: "!.*")]
      let service = try AppService(registration, server: ServerName(trusted: "example.org"))
      try await publicRooms.setListed(true, bridged, network: "irc", by: service)
      try await publicRooms.setListed(true, RoomID(trusted: ByteString(own)), network: "irc", by: service)
      func list(_ body: String) async throws -> [String] {
        Self.names(try await fixture.call(.post, "publicRooms", as: ann, body)).sorted()
      }
      #expect(try await list("{}") == ["own"])
      #expect(try await list(#"{"third_party_instance_id":"irc"}"#) == ["bridged", "own"])
      #expect(try await list(#"{"third_party_instance_id":"sms"}"#) == [])
      #expect(try await list(#"{"include_all_networks":true}"#) == ["bridged", "own"])
      try await publicRooms.setListed(false, bridged, network: "irc", by: service)
      #expect(try await list(#"{"include_all_networks":true}"#) == ["own"])
      try await publicRooms.setListed(false, RoomID(trusted: ByteString(own)), network: "irc", by: service)
      #expect(try await list("{}") == ["own"])
    }
  }
}

/// A room ID or user ID as one segment of a path.
func path(_ id: String) -> String { PercentEncoding.encode(ByteString(id)) }
