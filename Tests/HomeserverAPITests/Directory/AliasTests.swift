import JSON
import MatrixModel
import ServerRooms
import Testing

@testable import HomeserverAPI

@Suite struct AliasTests {
  private static let lobby = "directory/room/" + PercentEncoding.encode("#lobby:example.org")

  private static func room(_ fixture: APIFixture, by user: APIFixture.User, _ body: String = "{}") async throws -> String {
    try #require(try await fixture.call(.post, "createRoom", as: user, body).json["room_id"]?.string)
  }

  @Test func `an alias is made by members, found by anyone and removed by its maker`() async throws {
    try await APIFixture.run { fixture in
      let (ann, bob) = (try await fixture.register("ann"), try await fixture.register("bob"))
      let roomID = try await Self.room(fixture, by: ann, #"{"preset":"public_chat"}"#)
      let body = #"{"room_id":"\#(roomID)"}"#
      #expect(try await fixture.call(.put, Self.lobby, as: bob, body).errorCode == "M_FORBIDDEN")
      #expect(try await fixture.call(.put, Self.lobby, as: ann, "{}").errorCode == "M_MISSING_PARAM")
      #expect(try await fixture.call(.put, Self.lobby, as: ann, body).status == 200)
      #expect(try await fixture.call(.put, Self.lobby, as: ann, body).status == 409)
      let elsewhere = "directory/room/" + PercentEncoding.encode("#lobby:other.example")
      #expect(try await fixture.call(.put, elsewhere, as: ann, body).errorCode == "M_INVALID_PARAM")
      #expect(try await fixture.call(.get, "directory/room/lobby").errorCode == "M_INVALID_PARAM")
      let found = try await fixture.call(.get, Self.lobby)
      #expect(found.json["room_id"]?.string == roomID && found.json["servers"]?.count == 1)
      let listed = try await fixture.call(.get, "rooms/\(path(roomID))/aliases", as: ann)
      #expect(listed.json["aliases"]?.elements.map { $0.string } == ["#lobby:example.org"])
      #expect(try await fixture.call(.get, "rooms/\(path(roomID))/aliases", as: bob).errorCode == "M_FORBIDDEN")
      #expect(try await fixture.call(.delete, Self.lobby, as: bob).errorCode == "M_FORBIDDEN")
      #expect(try await fixture.call(.delete, Self.lobby, as: ann).status == 200)
      #expect(try await fixture.call(.delete, Self.lobby, as: ann).errorCode == "M_NOT_FOUND")
      #expect(try await fixture.call(.get, Self.lobby).errorCode == "M_NOT_FOUND")
    }
  }

  @Test func `the world may list the aliases of a room it may read`() async throws {
    try await APIFixture.run { fixture in
      let (ann, bob) = (try await fixture.register("ann"), try await fixture.register("bob"))
      let roomID = try await Self.room(
        fixture, by: ann,
        #"{"room_alias_name":"lobby","initial_state":[{"type":"m.room.history_visibility","content":{"history_visibility":"world_readable"}}]}"#
      )
      #expect(try await fixture.call(.get, "rooms/\(path(roomID))/aliases", as: bob).json["aliases"]?.count == 1)
    }
  }

  @Test func `the main address may only name aliases that point to the room`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let roomID = try await Self.room(fixture, by: ann, #"{"room_alias_name":"lobby"}"#)
      _ = try await Self.room(fixture, by: ann, #"{"room_alias_name":"other"}"#)
      func set(_ content: String) async throws -> APIFixture.Answer {
        try await fixture.call(.put, "rooms/\(path(roomID))/state/m.room.canonical_alias", as: ann, content)
      }
      #expect(try await set(##"{"alias":"#other:example.org"}"##).errorCode == "M_BAD_ALIAS")
      #expect(try await set(##"{"alias":"#none:example.org"}"##).errorCode == "M_BAD_ALIAS")
      #expect(
        try await set(##"{"alias":"#lobby:example.org","alt_aliases":["#none:example.org"]}"##).errorCode == "M_BAD_ALIAS")
      #expect(try await set(#"{"alias":"lobby"}"#).errorCode == "M_INVALID_PARAM")
      #expect(try await set(##"{"alt_aliases":["#lobby:example.org"]}"##).status == 200)
    }
  }

  @Test func `who removes an alias and may set the main address takes it from the room's state too`() async throws {
    try await APIFixture.run { fixture in
      let (ann, bob) = (try await fixture.register("ann"), try await fixture.register("bob"))
      let roomID = try await Self.room(fixture, by: ann, #"{"preset":"public_chat","room_alias_name":"lobby"}"#)
      _ = try await fixture.call(.post, "join/\(path(roomID))", as: bob, "{}")
      let second = "directory/room/" + PercentEncoding.encode("#second:example.org")
      _ = try await fixture.call(.put, second, as: bob, #"{"room_id":"\#(roomID)"}"#)
      let state = "rooms/\(path(roomID))/state/m.room.canonical_alias"
      _ = try await fixture.call(
        .put, state, as: ann, ##"{"alias":"#lobby:example.org","alt_aliases":["#second:example.org"],"x":1}"##)
      // Bob made it and has no power: it goes, the state stays.
      #expect(try await fixture.call(.delete, second, as: bob).status == 200)
      #expect(try await fixture.call(.get, state, as: ann).json["alt_aliases"]?.count == 1)
      #expect(try await fixture.call(.delete, Self.lobby, as: ann).status == 200)
      let content = try await fixture.call(.get, state, as: ann).json
      #expect(content["alias"] == nil && content["alt_aliases"]?.count == 1 && content["x"]?.integer == 1)
    }
  }

  @Test func `an administrator removes any alias`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      _ = try await Self.room(fixture, by: ann, #"{"room_alias_name":"lobby"}"#)
      let administrator = Rooms.Actor(userID: UserID(trusted: "@root:example.org"), deviceID: nil, isAdministrator: true)
      try await fixture.homeserver.rooms.removeAlias(RoomAlias(trusted: "#lobby:example.org"), by: administrator)
      #expect(try await fixture.call(.get, Self.lobby).errorCode == "M_NOT_FOUND")
    }
  }
}
