import HTTPServer
import JSON
import MatrixModel
import RoomRules
import Testing

@testable import Homeserver
@testable import HomeserverAPI

/// Making rooms, coming and going, replacing rooms, and what is refused, as clients ask for it.
@Suite struct RoomLifeRouteTests {
  private func room(_ fixture: APIFixture, _ user: APIFixture.User, _ body: String = "{}") async throws -> String {
    let answer = try await fixture.call(.post, "createRoom", as: user, body)
    #expect(answer.status == 200)
    return try #require(answer.json["room_id"]?.string)
  }

  private func state(
    _ fixture: APIFixture, _ room: String, _ type: String, as user: APIFixture.User
  ) async throws -> JSON {
    try await fixture.call(.get, "rooms/\(room)/state/\(type)", as: user).json
  }

  // MARK: createRoom

  @Test(arguments: [
    (#"{"room_version":"5"}"#, 400, "M_UNSUPPORTED_ROOM_VERSION"), (#"{"room_version":12}"#, 400, "M_BAD_JSON"),
    (#"{"preset":"x"}"#, 400, "M_INVALID_PARAM"), (#"{"visibility":"x"}"#, 400, "M_INVALID_PARAM"),
    (#"{"invite":"@a:example.org"}"#, 400, "M_BAD_JSON"), (#"{"invite":["x"]}"#, 400, "M_INVALID_PARAM"),
    (#"{"is_direct":"yes"}"#, 400, "M_BAD_JSON"), (#"{"initial_state":{}}"#, 400, "M_BAD_JSON"),
    (#"{"initial_state":[{"type":"m.room.create","content":{}}]}"#, 400, "M_INVALID_ROOM_STATE"),
    (#"{"creation_content":{"additional_creators":"@a:example.org"}}"#, 400, "M_BAD_JSON"),
    (#"{"creation_content":{"additional_creators":["x"]}}"#, 400, "M_INVALID_PARAM"),
    (#"{"creation_content":{"m.federate":1}}"#, 400, "M_BAD_JSON"),
    (#"{"power_level_content_override":{"users":{"@ann:example.org":1}}}"#, 400, "M_INVALID_ROOM_STATE"),
    (#"{"power_level_content_override":{"ban":"50"}}"#, 400, "M_INVALID_ROOM_STATE"),
    (#"{"power_level_content_override":[]}"#, 400, "M_BAD_JSON"), (#"{"room_alias_name":"a b:c"}"#, 400, "M_INVALID_PARAM"),
    (#"{"invite_3pid":[{"medium":"email"}]}"#, 400, "M_MISSING_PARAM"),
    (
      #"{"invite_3pid":[{"id_server":"id.example","id_access_token":"t","medium":"email","address":"a@b.c"}]}"#, 400,
      "M_SERVER_NOT_TRUSTED"
    ), ("[]", 400, "M_BAD_JSON"), ("{", 400, "M_NOT_JSON")
  ]) func `what is no room is refused`(body: String, status: Int, code: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let answer = try await fixture.call(.post, "createRoom", as: ann, body)
      #expect(answer.status == status && answer.errorCode == code)
      #expect(try await fixture.call(.get, "joined_rooms", as: ann).json["joined_rooms"]?.count == 0)
    }
  }

  /// Preset; join rule, guest access, level of who is invited before version 12.
  @Test(arguments: [
    ("private_chat", "invite", "can_join", Int64(0)), ("trusted_private_chat", "invite", "can_join", 100),
    ("public_chat", "public", "forbidden", 0)
  ]) func `a preset sets rules`(preset: String, joinRule: String, guests: String, level: Int64) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      _ = try await fixture.register("bob")
      for version in ["6", "11", "12"] {
        let room = try await room(
          fixture, ann,
          #"""
          {"preset":"\#(preset)","room_version":"\#(version)","invite":["@bob:example.org"],"is_direct":true,"topic":"T",
          "creation_content":{"additional_creators":["@bob:example.org"],"type":"x"},"invite_3pid":[]}
          """#)
        #expect(try await state(fixture, room, "m.room.join_rules", as: ann)["join_rule"]?.string == joinRule)
        #expect(try await state(fixture, room, "m.room.guest_access", as: ann)["guest_access"]?.string == guests)
        #expect(
          try await state(fixture, room, "m.room.history_visibility", as: ann)["history_visibility"]?.string == "shared")
        let create = try await state(fixture, room, "m.room.create", as: ann)
        #expect(create["room_version"]?.string == version && create["type"]?.string == "x")
        #expect((create["creator"]?.string == "@ann:example.org") == (version == "6"))
        #expect(create["additional_creators"]?.count ?? 0 == (version == "12" ? 1 : 0))
        let levels = try await state(fixture, room, "m.room.power_levels", as: ann)
        #expect(levels["users"]?["@ann:example.org"]?.integer == (version == "12" ? nil : 100))
        #expect(levels["users"]?["@bob:example.org"]?.integer ?? 0 == (version == "12" ? 0 : level))
        #expect(levels["events"]?["m.room.tombstone"]?.integer == (version == "12" ? 150 : 100))
        let invitation = try await state(fixture, room, "m.room.member/@bob:example.org", as: ann)
        #expect(invitation["is_direct"]?.bool == true && invitation["membership"]?.string == "invite")
        let topic = try await state(fixture, room, "m.room.topic", as: ann)
        #expect(topic["m.topic"]?["m.text"]?.elements.first { _ in true }?["body"]?.string == "T")
      }
    }
  }

  @Test func `events of a new room come in the order of the standard`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      _ = try await fixture.register("bob")
      let room = try await room(
        fixture, ann,
        #"""
        {"room_alias_name":"a","name":"N","topic":"T","invite":["@bob:example.org"],"visibility":"public","initial_state":[
        {"type":"x.two","content":{}},{"type":"x.one","content":{}},{"type":"m.room.guest_access","content":{"guest_access":"can_join"}}],
        "power_level_content_override":{"kick":77}}
        """#)
      let page = try await fixture.call(.get, "rooms/\(room)/messages?dir=f&limit=50", as: ann)
      let types = page.json["chunk"]?.elements.compactMap { $0["type"]?.string } ?? []
      #expect(
        types == [
          "m.room.create", "m.room.member", "m.room.power_levels", "m.room.canonical_alias", "m.room.join_rules",
          "m.room.history_visibility", "m.room.guest_access", "x.two", "x.one", "m.room.name", "m.room.topic", "m.room.member"
        ])
      #expect(try await state(fixture, room, "m.room.guest_access", as: ann)["guest_access"]?.string == "can_join")
      #expect(try await state(fixture, room, "m.room.power_levels", as: ann)["kick"]?.integer == 77)
      #expect(try await fixture.call(.post, "createRoom", as: ann, #"{"room_alias_name":"a"}"#).errorCode == "M_ROOM_IN_USE")
    }
  }

  // MARK: Coming and going

  @Test func `members come and go, each with a reason, and by alias`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let room = try await room(fixture, ann, #"{"preset":"public_chat","room_alias_name":"a"}"#)
      func reason() async throws -> String? {
        try await state(fixture, room, "m.room.member/@bob:example.org", as: ann)["reason"]?.string
      }
      let alias = "%23a:example.org"
      let joined = try await fixture.call(
        .post, "join/\(alias)?via=elsewhere.org&via=b.org", as: bob, #"{"reason":"in"}"#)
      #expect(joined.json["room_id"]?.string == room)
      #expect(try await reason() == "in")
      #expect(try await fixture.call(.post, "join/%23b:example.org", as: bob, "{}").errorCode == "M_NOT_FOUND")
      #expect(try await fixture.call(.post, "rooms/\(room)/forget", as: bob, "{}").errorCode == "M_UNKNOWN")
      #expect(try await fixture.call(.post, "rooms/\(room)/leave", as: bob, #"{"reason":"out"}"#).status == 200)
      #expect(try await reason() == "out")
      #expect(try await fixture.call(.post, "rooms/\(room)/forget", as: bob, "{}").status == 200)
      #expect(try await fixture.call(.get, "rooms/\(room)/messages?dir=b", as: bob).errorCode == "M_FORBIDDEN")
      for (act, body) in [("invite", "hello"), ("kick", "go"), ("ban", "spam"), ("unban", "sorry")] {
        let done = try await fixture.call(
          .post, "rooms/\(room)/\(act)", as: ann, #"{"user_id":"@bob:example.org","reason":"\#(body)"}"#)
        #expect(done.status == 200 && done.json.count == 0)
        #expect(try await reason() == body)
      }
      for act in ["kick", "unban"] {
        let refused = try await fixture.call(.post, "rooms/\(room)/\(act)", as: ann, #"{"user_id":"@bob:example.org"}"#)
        #expect(refused.status == 403 && refused.errorCode == "M_FORBIDDEN")
      }
      #expect(try await fixture.call(.post, "rooms/\(room)/kick", as: ann, "{}").errorCode == "M_MISSING_PARAM")
    }
  }

  @Test func `where leaving forgets, the capability says so and nothing can be read after`() async throws {
    try await APIFixture.run(configure: {
      $0.registration = .open
      $0.forgetsRoomsOnLeave = true
    }) { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let room = try await room(fixture, ann, #"{"preset":"public_chat"}"#)
      let capabilities = try await fixture.call(.get, "capabilities", as: ann).json["capabilities"]
      #expect(capabilities?["m.forget_forced_upon_leave"]?["enabled"]?.bool == true)
      #expect(capabilities?["martlet.slow_mode"]?["enabled"]?.bool == true)
      #expect(capabilities?["m.room_versions"]?["available"]?.count == 7)
      _ = try await fixture.call(.post, "join/\(room)", as: bob, "{}")
      let first = try await fixture.call(.get, "sync", as: bob)
      let since = try #require(first.json["next_batch"]?.string)
      #expect(try await fixture.call(.post, "rooms/\(room)/leave", as: bob, "{}").status == 200)
      #expect(try await fixture.call(.get, "rooms/\(room)/messages?dir=b", as: bob).errorCode == "M_FORBIDDEN")
      let news = try await fixture.call(.get, "sync?since=\(since)", as: bob)
      #expect(news.json["rooms"]?["leave"]?[ByteString(room)] != nil)
      _ = try await fixture.call(.post, "join/\(room)", as: bob, "{}")
      #expect(try await fixture.call(.get, "rooms/\(room)/messages?dir=b", as: bob).status == 200)
    }
  }

  @Test func `one knocks by room or alias and is let in by an invitation`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let room = try await room(
        fixture, ann,
        #"""
        {"room_alias_name":"k","initial_state":[{"type":"m.room.join_rules","content":{"join_rule":"knock"}}]}
        """#)
      let knocked = try await fixture.call(
        .post, "knock/%23k:example.org?via=elsewhere.org", as: bob, #"{"reason":"please"}"#)
      #expect(knocked.status == 200 && knocked.json["room_id"]?.string == room)
      let sync = try await fixture.call(.get, "sync", as: bob)
      #expect(sync.json["rooms"]?["knock"]?[ByteString(room)]?["knock_state"]?["events"]?.count ?? 0 > 2)
      #expect(try await fixture.call(.post, "knock/!none", as: bob, "{}").errorCode == "M_NOT_FOUND")
      let body = #"{"user_id":"@bob:example.org"}"#
      #expect(try await fixture.call(.post, "rooms/\(room)/invite", as: ann, body).status == 200)
      #expect(try await fixture.call(.post, "knock/\(room)", as: bob, "{}").errorCode == "M_FORBIDDEN")
      #expect(try await fixture.call(.post, "rooms/\(room)/join", as: bob, "{}").status == 200)
    }
  }

  // MARK: Third-party invitations

  @Test func `an invitation by address is refused for want of an identity server`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let room = try await room(fixture, ann)
      let body = #"{"id_server":"id.example","id_access_token":"t","medium":"email","address":"a@b.example"}"#
      let refused = try await fixture.call(.post, "rooms/\(room)/invite", as: ann, body)
      #expect(refused.status == 403 && refused.errorCode == "M_SERVER_NOT_TRUSTED")
      #expect(try await fixture.call(.post, "rooms/\(room)/invite", as: bob, body).errorCode == "M_FORBIDDEN")
      let half = try await fixture.call(.post, "rooms/\(room)/invite", as: ann, #"{"medium":"email","address":"a@b.c"}"#)
      #expect(half.errorCode == "M_MISSING_PARAM")
      #expect(try await fixture.call(.post, "rooms/\(room)/invite", as: ann, "{}").errorCode == "M_MISSING_PARAM")
    }
  }

  @Test(arguments: ["join/", "rooms/"]) func `a signed token of an identity server lets in`(path: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let room = try await room(fixture, ann)
      let key = try #require(SigningKey(seed: [UInt8](repeating: 7, count: 32), version: "0"))
      let offer = #"{"display_name":"b","key_validity_url":"https://id.example/v","public_key":"\#(key.publicKeyBase64)"}"#
      #expect(try await fixture.call(.put, "rooms/\(room)/state/m.room.third_party_invite/tok", as: ann, offer).status == 200)
      let claim = Array(#"{"mxid":"@bob:example.org","sender":"@ann:example.org","token":"tok"}"#.utf8)
      let signed = String(
        decoding: try SignedJSON.sign(JSON.parse(claim), as: "id.example", with: key), as: UTF8.self)
      let target = path == "join/" ? "join/\(room)" : "rooms/\(room)/join"
      #expect(try await fixture.call(.post, target, as: bob, #"{"third_party_signed":{}}"#).errorCode == "M_INVALID_PARAM")
      #expect(try await fixture.call(.post, target, as: bob, #"{"third_party_signed":1}"#).errorCode == "M_BAD_JSON")
      let joined = try await fixture.call(.post, target, as: bob, #"{"third_party_signed":\#(signed)}"#)
      #expect(joined.status == 200 && joined.json["room_id"]?.string == room)
    }
  }

  // MARK: Upgrades

  @Test func `a room is replaced by one of another version`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let room = try await room(fixture, ann, #"{"preset":"public_chat","room_version":"9","visibility":"public"}"#)
      _ = try await fixture.call(.post, "join/\(room)", as: bob, "{}")
      _ = try await fixture.call(.put, APIFixture.own(bob, "rooms/\(room)/tags/m.favourite"), as: bob, #"{"order":0.5}"#)
      func upgrade(_ body: String, as user: APIFixture.User) async throws -> APIFixture.Answer {
        try await fixture.call(.post, "rooms/\(room)/upgrade", as: user, body)
      }
      #expect(try await upgrade(#"{"new_version":"12"}"#, as: bob).errorCode == "M_FORBIDDEN")
      #expect(try await upgrade(#"{"new_version":"1"}"#, as: ann).errorCode == "M_UNSUPPORTED_ROOM_VERSION")
      #expect(try await upgrade("{}", as: ann).errorCode == "M_MISSING_PARAM")
      #expect(
        try await upgrade(#"{"new_version":"12","additional_creators":"@bob:example.org"}"#, as: ann).errorCode == "M_BAD_JSON")
      let upgraded = try await upgrade(#"{"new_version":"12","additional_creators":["@bob:example.org"]}"#, as: ann)
      let new = try #require(upgraded.json["replacement_room"]?.string)
      #expect(try await state(fixture, room, "m.room.tombstone", as: bob)["replacement_room"]?.string == new)
      #expect(try await fixture.call(.post, "join/\(new)", as: bob, "{}").status == 200)
      let create = try await state(fixture, new, "m.room.create", as: bob)
      #expect(create["predecessor"]?["room_id"]?.string == room)
      #expect(create["additional_creators"]?.elements.compactMap(\.string) == ["@bob:example.org"])
      let tags = try await fixture.call(.get, APIFixture.own(bob, "rooms/\(new)/tags"), as: bob)
      #expect(tags.json["tags"]?["m.favourite"] != nil)
      let message = #"{"msgtype":"m.text","body":"x"}"#
      #expect(try await fixture.call(.put, "rooms/\(room)/send/m.room.message/1", as: bob, message).errorCode == "M_FORBIDDEN")
      #expect(try await fixture.call(.put, "rooms/\(new)/send/m.room.message/1", as: bob, message).status == 200)
    }
  }

  // MARK: Slow mode

  @Test func `slow mode says how long to wait`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let room = try await room(fixture, ann, #"{"preset":"public_chat"}"#)
      _ = try await fixture.call(.post, "join/\(room)", as: bob, "{}")
      let slow = #"{"interval_ms":5000}"#
      #expect(try await fixture.call(.put, "rooms/\(room)/state/martlet.slow_mode", as: bob, slow).errorCode == "M_FORBIDDEN")
      #expect(try await fixture.call(.put, "rooms/\(room)/state/martlet.slow_mode", as: ann, slow).status == 200)
      func send(_ number: Int) async throws -> APIFixture.Answer {
        try await fixture.call(
          .put, "rooms/\(room)/send/m.room.message/\(number)", as: bob, #"{"msgtype":"m.text","body":"x"}"#)
      }
      #expect(try await send(1).status == 200)
      fixture.advance(milliseconds: 2_000)
      let refused = try await send(2)
      #expect(refused.status == 429 && refused.errorCode == "M_LIMIT_EXCEEDED")
      #expect(refused.json["retry_after_ms"]?.integer == 3_000)
      fixture.advance(milliseconds: 3_000)
      #expect(try await send(2).status == 200)
    }
  }

  // MARK: What is not served

  @Test(arguments: ["events", "events?room_id=!r:example.org", "events/$x", "initialSync", "rooms/!r:example.org/initialSync"])
  func `what was replaced long ago is refused by name`(path: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let refused = try await fixture.call(.get, path, as: ann)
      #expect(refused.status == 404 && refused.errorCode == "M_UNRECOGNIZED")
      #expect(try await fixture.call(.get, path).errorCode == "M_MISSING_TOKEN")
    }
  }

  @Test func `there is no policy server`() async throws {
    try await APIFixture.run { fixture in
      let answer = try await fixture.call(.get, "/.well-known/matrix/policy_server")
      #expect(answer.status == 404 && answer.errorCode == "M_NOT_FOUND")
    }
  }

  // MARK: Events

  /// Asked for past the record of answers: an event is also an object, so that no event is just one of the two schemas that
  /// the specification gives for `format=event`.
  private func wholeEvent(_ fixture: APIFixture, _ path: String, as user: APIFixture.User) async throws -> JSON {
    let response = await fixture.router.respond(
      to: Request(
        .get, "/_matrix/client/v3/\(path)?format=event", headers: [("Authorization", "Bearer \(user.token)")], body: []))
    guard case .bytes(let bytes) = response.body else { return try JSON.parse(Array("null".utf8)) }
    return try JSON.parse(bytes)
  }

  @Test func `state and events are set, read and redacted`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let room = try await room(fixture, ann, #"{"room_version":"10"}"#)
      let set = try await fixture.call(.put, "rooms/\(room)/state/x.type/key", as: ann, #"{"a":1}"#)
      #expect(set.json["event_id"]?.string?.hasPrefix("$") == true)
      #expect(try await state(fixture, room, "x.type/key", as: ann)["a"]?.integer == 1)
      let event = try await wholeEvent(fixture, "rooms/\(room)/state/x.type/key", as: ann)
      #expect(event["state_key"]?.string == "key" && event["content"]?["a"]?.integer == 1)
      #expect(event["event_id"]?.string == set.json["event_id"]?.string)
      let sent = try await fixture.call(
        .put, "rooms/\(room)/send/m.room.message/1", as: ann, #"{"msgtype":"m.text","body":"x"}"#)
      let id = try #require(sent.json["event_id"]?.string)
      #expect(try await fixture.call(.put, "rooms/\(room)/redact/\(id)/2", as: ann, #"{"reason":"r"}"#).status == 200)
      let redacted = try await fixture.call(.get, "rooms/\(room)/event/\(id)", as: ann)
      #expect(redacted.json["content"]?.count == 0)
      let because = redacted.json["unsigned"]?["redacted_because"]
      #expect(because?["redacts"]?.string == id && because?["content"]?["reason"]?.string == "r")
      let members = try await fixture.call(.get, "rooms/\(room)/members?membership=join", as: ann)
      #expect(members.json["chunk"]?.count == 1)
      #expect(try await fixture.call(.get, "rooms/\(room)/joined_members", as: ann).json["joined"]?.count == 1)
      #expect(try await fixture.call(.get, "joined_rooms", as: ann).json["joined_rooms"]?.count == 1)
    }
  }
}
