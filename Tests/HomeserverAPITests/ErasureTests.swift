import JSON
import MatrixModel
import Testing

@testable import ServerRooms

@Suite struct ErasureTests {
  private static func body(_ fixture: APIFixture, _ user: APIFixture.User, _ room: String, _ event: String) async throws
    -> (status: Int, text: String?)
  {
    let answer = try await fixture.call(.get, "rooms/\(room)/event/\(event)", as: user)
    return (answer.status, answer.json["content"]?["body"]?.string)
  }

  @Test func `what an erased user wrote is whole for who was there, and reduced for who comes later`() async throws {
    try await APIFixture.run { fixture in
      let (ann, bob) = (try await fixture.register("ann"), try await fixture.register("bob"))
      let cat = try await fixture.register("cat")
      let room = try #require(
        try await fixture.call(.post, "createRoom", as: bob, #"{"preset":"public_chat"}"#).json["room_id"]?.string)
      #expect(try await fixture.call(.post, "join/\(room)", as: ann, "{}").status == 200)
      func send(_ user: APIFixture.User, _ text: String) async throws -> String {
        let sent = try await fixture.call(
          .put, "rooms/\(room)/send/m.room.message/1", as: user, #"{"msgtype":"m.text","body":"\#(text)"}"#)
        return try #require(sent.json["event_id"]?.string)
      }
      let (secret, other) = (try await send(ann, "secret"), try await send(bob, "open"))
      _ = try await fixture.call(
        .put, APIFixture.own(ann, "account_data/org.example.x"), as: ann, #"{"a":1}"#)
      _ = try await fixture.call(.post, "/_matrix/client/unstable/martlet.hide/rooms/\(room)", as: ann, "{}")
      try await fixture.homeserver.accounts.deactivate(ann.userID, erase: true)
      let traces = try await fixture.homeserver.database.read { tx in
        try tx.first(
          "SELECT (SELECT COUNT(*) FROM hidden_room) + (SELECT COUNT(*) FROM account_data WHERE user_id = $1)", ann.userID
        ) { $0.integer(0) }
      }
      #expect(traces == 0)
      #expect(try await fixture.call(.post, "join/\(room)", as: cat, "{}").status == 200)

      #expect(try await Self.body(fixture, bob, room, secret).text == "secret")
      let hidden = try await Self.body(fixture, cat, room, secret)
      #expect(hidden.status == 200 && hidden.text == nil)
      #expect(try await Self.body(fixture, cat, room, other).text == "open")
      // A new name is a new member event, but no new arrival.
      _ = try await fixture.call(.put, "profile/@bob:example.org/displayname", as: bob, #"{"displayname":"B"}"#)
      #expect(try await Self.body(fixture, bob, room, secret).text == "secret")

      for (user, isWhole) in [(bob, true), (cat, false)] {
        for path in ["rooms/\(room)/messages?dir=b&limit=100", "rooms/\(room)/context/\(secret)?limit=100", "sync"] {
          let answer = try await fixture.call(.get, path, as: user)
          let text = String(decoding: answer.json.bytes, as: UTF8.self)
          #expect(answer.status == 200 && text.contains(secret) && text.contains("open"), "\(path)")
          #expect(text.contains(#""body":"secret""#) == isWhole, "\(path)")
        }
      }
      // As after a restart, when all is known from the database only.
      let rooms = fixture.homeserver.rooms
      let event = try await rooms.event(
        EventID(trusted: ByteString(secret)), in: RoomID(trusted: ByteString(room)), for: bob.userID)
      let bodies = try await fixture.homeserver.database.read { tx in
        let erasures = Erasures(fixture.homeserver.database)
        try erasures.load(tx)
        let snapshot = try #require(try rooms.cache.snapshot(of: event.room, in: tx))
        return try [bob, cat].map { user in
          try erasures.shown([event], to: user.userID, in: snapshot) { RoomLoader(transaction: tx) }.first?.content["body"]?
            .string
        }
      }
      #expect(bodies == ["secret", nil])
      let rows = try await fixture.homeserver.database.read { tx in
        try tx.first("SELECT COUNT(*) FROM account_data WHERE user_id = $1", ann.userID) { $0.integer(0) }
      }
      #expect(rows == 0)
      #expect(try await fixture.call(.get, "profile/@ann:example.org").json["displayname"] == nil)
    }
  }

  /// A room with an erased user's thread, reaction target and edit; `bob` was there before, `cat` came after.
  private static func scene(_ body: (RelationRouteTests.Scene, _ cat: APIFixture.User) async throws -> Void) async throws {
    try await APIFixture.run { fixture in
      let scene = try await RelationRouteTests.Scene(fixture)
      try await body(scene, try await fixture.register("cat"))
    }
  }

  private static func erase(_ scene: RelationRouteTests.Scene, _ cat: APIFixture.User) async throws {
    try await scene.fixture.homeserver.accounts.deactivate(scene.ann.userID, erase: true)
    #expect(try await scene.fixture.call(.post, "join/\(scene.room)", as: cat, "{}").status == 200)
  }

  private static func text(_ answer: APIFixture.Answer) -> String {
    #expect(answer.status == 200)
    return String(decoding: answer.json.bytes, as: UTF8.self)
  }

  @Test func `relations and threads show nothing of an erased user to who comes later`() async throws {
    try await Self.scene { scene, cat in
      let root = try await scene.say("rootsecret", as: scene.ann)
      let thread = RelationRouteTests.Scene.relation("m.thread", root)
      _ = try await scene.say("childopen", as: scene.bob, thread)
      let child = try await scene.say("childsecret", as: scene.ann, thread)
      _ = try await scene.edit(root, to: "editsecret", as: scene.ann)
      try await Self.erase(scene, cat)
      for (user, isWhole) in [(scene.bob, true), (cat, false)] {
        let answers = [
          Self.text(try await scene.relations(root, as: user)), Self.text(try await scene.threads(as: user)),
          Self.text(try await scene.get("rooms/\(scene.room)/event/\(root)", as: user))
        ]
        #expect(answers[0].contains(child) && answers[0].contains("childopen"))
        #expect(answers[1].contains(root) && answers[2].contains(root))
        for (answer, secrets) in zip(answers, [["childsecret"], ["rootsecret", "childsecret"], ["rootsecret", "childsecret"]]) {
          for secret in secrets { #expect(answer.contains(secret) == isWhole, "\(secret)") }
          if !isWhole { #expect(!answer.contains("secret")) }
        }
      }
    }
  }

  @Test func `a search finds nothing of an erased user for who comes later, nor shows it around a match`() async throws {
    try await Self.scene { scene, cat in
      let secret = try await scene.say("walnut secret", as: scene.ann)
      let open = try await scene.say("walnut open", as: scene.bob)
      try await Self.erase(scene, cat)
      let body = #"{"search_categories":{"room_events":{"search_term":"walnut","event_context":{"before_limit":5}}}}"#
      for (user, isWhole) in [(scene.bob, true), (cat, false)] {
        let answer = try await scene.fixture.call(.post, "search", as: user, body)
        let results = answer.json["search_categories"]?["room_events"]?["results"]?.elements.compactMap {
          $0["result"]?["event_id"]?.string
        }
        #expect(Set(results ?? []) == (isWhole ? [secret, open] : [open]))
        #expect(Self.text(answer).contains("walnut secret") == isWhole)
      }
    }
  }

  @Test func `sliding sync shows nothing of an erased user to who comes later`() async throws {
    try await Self.scene { scene, cat in
      let secret = try await scene.say("secret", as: scene.ann)
      try await Self.erase(scene, cat)
      let path = "/_matrix/client/unstable/org.matrix.simplified_msc3575/sync"
      let body = #"{"lists":{"all":{"ranges":[[0,9]],"timeline_limit":20,"required_state":[]}}}"#
      for (user, isWhole) in [(scene.bob, true), (cat, false)] {
        let text = Self.text(try await scene.fixture.call(.post, path, as: user, body))
        #expect(text.contains(secret) && text.contains(#""body":"secret""#) == isWhole)
      }
    }
  }

  @Test func `notifications begin where the user came, so that they show nothing from before, under any name`() async throws {
    try await Self.scene { scene, cat in
      _ = try await scene.say("secret", as: scene.ann)
      try await Self.erase(scene, cat)
      // Another name is a new member event, but no new arrival.
      let profile = try await scene.fixture.call(
        .put, "profile/\(cat.userID)/displayname", as: cat, #"{"displayname":"C"}"#)
      #expect(profile.status == 200)
      _ = try await scene.say("news", as: scene.bob)
      let text = Self.text(try await scene.get("notifications", as: cat))
      #expect(text.contains("news") && !text.contains("secret"))
      #expect(Self.text(try await scene.get("notifications", as: scene.bob)).contains("secret"))
    }
  }

  @Test func `a time leads to an event by its ID alone`() async throws {
    try await Self.scene { scene, cat in
      let secret = try await scene.say("secret", as: scene.ann)
      try await Self.erase(scene, cat)
      let path = "/_matrix/client/v1/rooms/\(scene.room)/timestamp_to_event?ts=1700000000000&dir=b"
      for user in [scene.bob, cat] {
        let answer = try await scene.get(path, as: user)
        #expect(answer.status == 200 && answer.json["content"] == nil && answer.json.count == 2)
        #expect(!Self.text(answer).contains("secret\""))
      }
      #expect(try await scene.event(secret, as: cat)["content"]?["body"] == nil)
    }
  }

  @Test func `who is only deactivated keeps what they wrote`() async throws {
    try await APIFixture.run { fixture in
      let (ann, bob) = (try await fixture.register("ann"), try await fixture.register("bob"))
      try await fixture.homeserver.accounts.deactivate(ann.userID, erase: false)
      #expect(try await fixture.homeserver.accounts.existing(ann.userID).isErased == false)
      try await fixture.homeserver.accounts.deactivate(bob.userID, erase: true)
      #expect(try await fixture.homeserver.accounts.existing(bob.userID).isErased)
    }
  }
}
