import JSON
import MatrixModel
import Testing

@testable import Homeserver

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
        let erasures = Erasures()
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
