import Homeserver
import JSON
import MatrixModel
import Testing

@Suite struct RoomAdministrationTests {
  @Test func `administrators list, search, order and page all rooms`() async throws {
    try await AdministrationFixture.run { server in
      let zoo = try await server.room(by: server.ann, #"{"name":"Zoo","preset":"public_chat","visibility":"public"}"#)
      let bar = try await server.room(by: server.bob, #"{"name":"bar","room_alias_name":"pub","room_version":"10"}"#)
      let none = try await server.room(by: server.bob)
      try await server.join(zoo, by: server.bob)
      func rooms(_ query: String) async throws -> [String] {
        try await server.ask(.get, "/v1/rooms?\(query)").json.texts("rooms", "room_id")
      }
      #expect(try await rooms("") == [none, bar, zoo])
      #expect(try await rooms("dir=b") == [zoo, bar, none])
      #expect(try await rooms("order_by=joined_members").first == zoo)
      #expect(try await rooms("order_by=version&dir=b").first == bar)
      #expect(try await rooms("search_term=BAR") == [bar])
      #expect(try await rooms("search_term=pub") == [bar])
      #expect(try await rooms("public_rooms=true") == [zoo])
      #expect(try await rooms("empty_rooms=true") == [])
      let page = try await server.ask(.get, "/v1/rooms?limit=2&from=1").json
      #expect(page.texts("rooms", "room_id") == [bar, zoo] && page["total_rooms"]?.integer == 3)
      #expect(page["prev_batch"]?.integer == 0 && page["next_batch"] == nil && page["offset"]?.integer == 1)
      #expect(try await server.ask(.get, "/v1/rooms?limit=1").json["next_batch"]?.integer == 1)
      #expect(try await server.ask(.get, "/v1/rooms?order_by=color").errorCode == "M_INVALID_PARAM")
      let one = try await server.ask(.get, "/v1/rooms/\(zoo)").json
      #expect(one["name"]?.string == "Zoo" && one["joined_members"]?.integer == 2 && one["joined_local_devices"]?.integer == 2)
      #expect(one["public"]?.bool == true && one["creator"]?.string == "@ann:example.org" && one["encryption"]?.isNull == true)
      #expect(one["join_rules"]?.string == "public" && one["forgotten"]?.bool == false && one["version"]?.string == "12")
      let members = try await server.ask(.get, "/v1/rooms/\(zoo)/members").json
      #expect(members.texts("members") == ["@ann:example.org", "@bob:example.org"] && members["total"]?.integer == 2)
      let aliases = try await server.fixture.call(.get, "rooms/\(bar)/aliases", as: server.admin).json
      #expect(aliases.texts("aliases") == ["#pub:example.org"])
      #expect(try await server.fixture.call(.get, "rooms/\(bar)/aliases", as: server.ann).status == 403)
      let state = try await server.ask(.get, "/v1/rooms/\(zoo)/state").json
      #expect(state.texts("state", "type").contains("m.room.create"))
      let named = try await server.ask(.get, "/v1/rooms/\(zoo)/state?type=m.room.name").json
      #expect(named.texts("state", "type") == ["m.room.name"])
    }
  }

  @Test func `a deleted room is empty, then gone, and cannot be entered where it is blocked`() async throws {
    try await AdministrationFixture.run { server in
      let room = try await server.room(by: server.ann, #"{"preset":"public_chat","room_alias_name":"bad"}"#)
      try await server.join(room, by: server.bob)
      try await server.say("x", in: room, by: server.bob)
      let started = try await server.ask(.delete, "/v2/rooms/\(room)", #"{"block":true,"message":"No more of this"}"#)
      let id = try #require(started.json["delete_id"]?.string)
      await server.settle()
      let status = try await server.ask(.get, "/v2/rooms/delete_status/\(id)").json
      #expect(status["status"]?.string == "complete")
      let shutdown = status["shutdown_room"]
      #expect(shutdown?.texts("kicked_users").sorted() == ["@ann:example.org", "@bob:example.org"])
      #expect(shutdown?.texts("local_aliases") == ["#bad:example.org"])
      #expect(try await server.ask(.get, "/v2/rooms/\(room)/delete_status").json.texts("results", "delete_id") == [id])
      #expect(try await server.ask(.get, "/v1/rooms/\(room)").errorCode == "M_NOT_FOUND")
      #expect(try await server.ask(.delete, "/v2/rooms/\(room)", "{}").errorCode == "M_NOT_FOUND")
      #expect(try await server.ask(.get, "/v1/rooms/\(room)/block").json["user_id"]?.string == "@admin:example.org")
      #expect(try await server.ask(.get, "/v2/rooms/!none/delete_status").errorCode == "M_NOT_FOUND")
      #expect(try await server.ask(.get, "/v2/rooms/delete_status/none").errorCode == "M_NOT_FOUND")
      #expect(try await server.audit() == ["room.delete done", "room.delete M_NOT_FOUND"])
    }
  }

  @Test func `a room that is only emptied keeps its history`() async throws {
    try await AdministrationFixture.run { server in
      let room = try await server.room(by: server.ann, #"{"preset":"public_chat"}"#)
      let instead = #"{"purge":false,"new_room_user_id":"@ann:example.org"}"#
      #expect(try await server.ask(.delete, "/v2/rooms/\(room)", instead).errorCode == "M_UNRECOGNIZED")
      #expect(try await server.ask(.delete, "/v2/rooms/\(room)", #"{"purge":false}"#).status == 200)
      await server.settle()
      let one = try await server.ask(.get, "/v1/rooms/\(room)").json
      #expect(one["joined_members"]?.integer == 0)
      #expect(try await server.ask(.get, "/v1/rooms?empty_rooms=true").json.texts("rooms", "room_id") == [room])
    }
  }

  @Test func `a history is deleted up to an event or a time`() async throws {
    try await AdministrationFixture.run { server in
      let room = try await server.room(by: server.ann)
      let first = try await server.say("one", in: room, by: server.ann)
      let second = try await server.say("two", in: room, by: server.ann)
      server.fixture.advance(milliseconds: 10_000)
      let third = try await server.say("three", in: room, by: server.ann)
      func exists(_ event: String) async throws -> Bool {
        try await server.fixture.call(.get, "rooms/\(room)/event/\(event)", as: server.ann).status == 200
      }
      let refused = try await server.ask(.post, "/v1/purge_history/\(room)/\(second)", "{}")
      #expect(refused.errorCode == "M_INVALID_PARAM")
      let started = try await server.ask(.post, "/v1/purge_history/\(room)/\(second)", #"{"delete_local_events":true}"#)
      let id = try #require(started.json["purge_id"]?.string)
      await server.settle()
      let status = try await server.ask(.get, "/v1/purge_history_status/\(id)").json
      #expect(status["status"]?.string == "complete" && status["martlet.deleted"]?.integer == 1)
      #expect(try await !exists(first))
      #expect(try await exists(second))
      let body = #"{"delete_local_events":true,"purge_up_to_ts":1700000005000}"#
      #expect(try await server.ask(.post, "/v1/purge_history/\(room)", body).status == 200)
      await server.settle()
      #expect(try await !exists(second))
      #expect(try await exists(third))
      for body in [#"{"delete_local_events":true}"#, #"{"delete_local_events":true,"purge_up_to_event_id":"x"}"#] {
        #expect(try await server.ask(.post, "/v1/purge_history/\(room)", body).status == 400)
      }
      let unknown = try await server.ask(.post, "/v1/purge_history/\(room)/$none", #"{"delete_local_events":true}"#)
      #expect(unknown.errorCode == "M_NOT_FOUND")
      #expect(try await server.ask(.get, "/v1/purge_history_status/none").errorCode == "M_NOT_FOUND")
    }
  }

  @Test func `a blocked room lets nobody in until it is unblocked`() async throws {
    try await AdministrationFixture.run { server in
      let room = try await server.room(by: server.ann, #"{"preset":"public_chat"}"#)
      #expect(try await server.ask(.get, "/v1/rooms/\(room)/block").json["block"]?.bool == false)
      #expect(try await server.ask(.put, "/v1/rooms/\(room)/block", #"{"block":true}"#).json["block"]?.bool == true)
      #expect(try await server.fixture.call(.post, "join/\(room)", as: server.bob, "{}").status == 403)
      #expect(try await server.ask(.put, "/v1/rooms/\(room)/block", #"{"block":false}"#).status == 200)
      try await server.join(room, by: server.bob)
    }
  }

  @Test(arguments: ["11", "12"])
  func `an administrator becomes a room's, and has others join`(version: String) async throws {
    try await AdministrationFixture.run { server in
      let room = try await server.room(by: server.ann, #"{"room_version":"\#(version)"}"#)
      #expect(try await server.ask(.post, "/v1/rooms/\(room)/make_room_admin", "{}").status == 200)
      try await server.join(room, by: server.admin)
      let levels = try await server.fixture.call(.get, "rooms/\(room)/state/m.room.power_levels", as: server.admin).json
      #expect(levels["users"]?["@admin:example.org"]?.integer == 100)
      let name = try await server.fixture.call(.put, "rooms/\(room)/state/m.room.name", as: server.admin, #"{"name":"Mine"}"#)
      #expect(name.status == 200)
      #expect(
        try await server.ask(.post, "/v1/join/\(room)", #"{"user_id":"@bob:example.org"}"#).json["room_id"]?.string == room)
      #expect(try await server.ask(.get, "/v1/rooms/\(room)/members").json["total"]?.integer == 3)
      #expect(try await server.ask(.post, "/v1/join/\(room)", #"{"user_id":"@bob:elsewhere.org"}"#).status == 400)
      #expect(try await server.ask(.post, "/v1/join/!none", #"{"user_id":"@bob:example.org"}"#).status == 404)
      let nobody = #"{"user_id":"@nobody:example.org"}"#
      #expect(try await server.ask(.post, "/v1/rooms/\(room)/make_room_admin", nobody).errorCode == "M_NOT_FOUND")
    }
  }
}
