import JSON
import MatrixModel
import Testing

@testable import Homeserver
@testable import HomeserverAPI

/// The one room of two users, and coming back into rooms.
@Suite struct DirectRoomTests {
  private static let path = "/_matrix/client/unstable/martlet.direct"

  private struct Pair {
    let fixture: APIFixture
    let ann: APIFixture.User
    let bob: APIFixture.User

    init(_ fixture: APIFixture) async throws {
      self.fixture = fixture
      ann = try await fixture.register("ann")
      bob = try await fixture.register("bob")
    }

    func open(as user: APIFixture.User, with other: APIFixture.User, more: String = "") async throws -> APIFixture.Answer {
      try await fixture.call(.post, DirectRoomTests.path, as: user, #"{"user_id":"\#(other.userID)"\#(more)}"#)
    }

    /// Ann's room with Bob, in which both are.
    func joinedRoom() async throws -> String {
      let room = try #require(try await open(as: ann, with: bob).json["room_id"]?.string)
      #expect(try await act("join", room, as: bob).status == 200)
      return room
    }

    @discardableResult
    func act(_ verb: String, _ room: String, as user: APIFixture.User, _ body: String = "{}") async throws
      -> APIFixture.Answer
    {
      try await fixture.call(.post, "rooms/\(PercentEncoding.encode(ByteString(room)))/\(verb)", as: user, body)
    }

    func state(_ room: String, _ type: String, _ key: String = "", as user: APIFixture.User? = nil) async throws -> JSON {
      let path = "rooms/\(PercentEncoding.encode(ByteString(room)))/state/\(type)/\(PercentEncoding.encode(ByteString(key)))"
      return try await fixture.call(.get, path, as: user ?? ann).json
    }

    func membership(of user: APIFixture.User, in room: String, as reader: APIFixture.User? = nil) async throws -> String? {
      try await state(room, "m.room.member", user.userID.string, as: reader)["membership"]?.string
    }

    func direct(of user: APIFixture.User) async throws -> [String: [String]] {
      let answer = try await fixture.call(.get, APIFixture.own(user, "account_data/m.direct"), as: user)
      guard answer.status == 200 else { return [:] }
      return Dictionary(
        uniqueKeysWithValues: answer.json.members.map { ($0.key.string, $0.value.elements.compactMap(\.string)) })
    }

    func accountData(_ type: String, _ content: String, of user: APIFixture.User) async throws {
      let answer = try await fixture.call(.put, APIFixture.own(user, "account_data/\(type)"), as: user, content)
      #expect(answer.status == 200)
    }
  }

  private static func run(_ body: (Pair) async throws -> Void) async throws {
    try await APIFixture.run { try await body(Pair($0)) }
  }

  @Test func `a pair has one room, from whichever side it is asked for`() async throws {
    try await Self.run { pair in
      let first = try await pair.open(
        as: pair.ann, with: pair.bob,
        more: #","name":"Us","initial_state":[{"type":"m.room.encryption","content":{"algorithm":"m.megolm.v1.aes-sha2"}}]"#)
      #expect(first.status == 200)
      #expect(first.json["created"]?.bool == true)
      let room = try #require(first.json["room_id"]?.string)
      #expect(try await pair.membership(of: pair.bob, in: room) == "invite")
      #expect(try await pair.state(room, "m.room.member", pair.bob.userID.string)["is_direct"]?.bool == true)
      #expect(try await pair.state(room, "m.room.name")["name"]?.string == "Us")
      #expect(try await pair.state(room, "m.room.encryption")["algorithm"]?.string == "m.megolm.v1.aes-sha2")
      #expect(try await pair.state(room, "martlet.rejoin")["allow"]?.bool == true)
      #expect(try await pair.direct(of: pair.ann) == [pair.bob.userID.string: [room]])
      #expect(try await pair.direct(of: pair.bob) == [:])

      let second = try await pair.open(as: pair.bob, with: pair.ann)
      #expect(second.json["room_id"]?.string == room)
      #expect(second.json["created"]?.bool == false)
      #expect(try await pair.membership(of: pair.bob, in: room) == "join")
      #expect(try await pair.direct(of: pair.bob) == [pair.ann.userID.string: [room]])
      #expect(try await pair.open(as: pair.ann, with: pair.bob).json["room_id"]?.string == room)

      let cat = try await pair.fixture.register("cat")
      #expect(try await pair.open(as: pair.ann, with: cat).json["room_id"]?.string != room)
      let capabilities = try await pair.fixture.call(.get, "capabilities", as: pair.ann).json["capabilities"]
      for name in ["martlet.direct", "martlet.rejoin"] {
        #expect(capabilities?[ByteString(name)]?["enabled"]?.bool == true)
      }
    }
  }

  @Test func `an invitation that is accepted by the usual way lists the room for the other as well`() async throws {
    try await Self.run { pair in
      try await pair.accountData("m.direct", #"{"@cat:example.org":["!other"]}"#, of: pair.bob)
      let room = try await pair.joinedRoom()
      #expect(
        try await pair.direct(of: pair.bob) == ["@cat:example.org": ["!other"], pair.ann.userID.string: [room]])
    }
  }

  @Test func `fifty who ask at once from both sides get one room`() async throws {
    try await Self.run { pair in
      let answers = try await withThrowingTaskGroup(of: (String?, Bool?).self) { group in
        for index in 0..<50 {
          group.addTask {
            let (user, other) = index % 2 == 0 ? (pair.ann, pair.bob) : (pair.bob, pair.ann)
            let answer = try await pair.open(as: user, with: other)
            return (answer.json["room_id"]?.string, answer.json["created"]?.bool)
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(answers.map(\.0)).count == 1)
      #expect(answers.count { $0.1 == true } == 1)
      let room = try #require(answers[0].0)
      let rooms = try await pair.fixture.homeserver.database.read { transaction in
        try transaction.first("SELECT COUNT(*) FROM room") { $0.integer(0) }
      }
      #expect(rooms == 1)
      #expect(try await pair.membership(of: pair.ann, in: room) == "join")
      #expect(try await pair.membership(of: pair.bob, in: room) == "join")
    }
  }

  @Test func `who has left is let back into the same room`() async throws {
    try await Self.run { pair in
      let room = try await pair.joinedRoom()
      // The other has left: they are invited again.
      try await pair.act("leave", room, as: pair.bob)
      #expect(try await pair.open(as: pair.ann, with: pair.bob).json["room_id"]?.string == room)
      #expect(try await pair.membership(of: pair.bob, in: room) == "invite")
      try await pair.act("join", room, as: pair.bob)
      // Who asks has left: they are in again at once.
      try await pair.act("leave", room, as: pair.bob)
      let again = try await pair.open(as: pair.bob, with: pair.ann)
      #expect(again.json["room_id"]?.string == room)
      #expect(again.json["created"]?.bool == false)
      #expect(try await pair.membership(of: pair.bob, in: room) == "join")
      // Nobody is left who could let anyone in.
      try await pair.act("leave", room, as: pair.ann)
      try await pair.act("leave", room, as: pair.bob)
      let fresh = try await pair.open(as: pair.bob, with: pair.ann)
      #expect(fresh.json["created"]?.bool == true)
      #expect(fresh.json["room_id"]?.string != room)
    }
  }

  @Test func `who was removed or banned is not let back`() async throws {
    try await Self.run { pair in
      // In a room version without creators above all others, who could not be removed.
      let created = try await pair.fixture.call(
        .post, "createRoom", as: pair.ann,
        #"{"preset":"private_chat","is_direct":true,"room_version":"11","invite":["\#(pair.bob.userID)"]}"#)
      let room = try #require(created.json["room_id"]?.string)
      try await pair.act("join", room, as: pair.bob)
      try await pair.accountData("m.direct", #"{"\#(pair.bob.userID)":["\#(room)"]}"#, of: pair.ann)
      // A room that the two have already is taken over.
      let adopted = try await pair.open(as: pair.bob, with: pair.ann)
      #expect(adopted.json["room_id"]?.string == room)
      #expect(adopted.json["created"]?.bool == false)
      let allow = try await pair.fixture.call(
        .put, "rooms/\(PercentEncoding.encode(ByteString(room)))/state/martlet.rejoin", as: pair.ann, #"{"allow":true}"#)
      #expect(allow.status == 200)
      for verb in ["kick", "ban"] {
        #expect(try await pair.act(verb, room, as: pair.ann, #"{"user_id":"\#(pair.bob.userID)"}"#).status == 200)
        #expect(try await pair.open(as: pair.bob, with: pair.ann).errorCode == "M_FORBIDDEN")
        let rejoin = try await pair.fixture.call(.post, Self.rejoin(room), as: pair.bob)
        #expect(rejoin.errorCode == "M_FORBIDDEN")
        if verb == "kick" {
          // Invited once more, declined: they were removed all the same.
          #expect(try await pair.act("invite", room, as: pair.ann, #"{"user_id":"\#(pair.bob.userID)"}"#).status == 200)
          #expect(try await pair.act("leave", room, as: pair.bob).status == 200)
          #expect(try await pair.fixture.call(.post, Self.rejoin(room), as: pair.bob).errorCode == "M_FORBIDDEN")
          #expect(try await pair.act("invite", room, as: pair.ann, #"{"user_id":"\#(pair.bob.userID)"}"#).status == 200)
          #expect(try await pair.act("join", room, as: pair.bob).status == 200)
        }
      }
    }
  }

  @Test func `a deleted or closed room gives a new one, a replaced one its successor`() async throws {
    try await Self.run { pair in
      let first = try await pair.joinedRoom()
      try await pair.fixture.homeserver.rooms.purge(RoomID(trusted: ByteString(first)))
      let second = try await pair.open(as: pair.bob, with: pair.ann)
      #expect(second.json["created"]?.bool == true)
      let room = try #require(second.json["room_id"]?.string)
      try await pair.act("join", room, as: pair.ann)
      try await pair.fixture.homeserver.rooms.block(RoomID(trusted: ByteString(room)), by: pair.ann.userID)
      let third = try await pair.open(as: pair.ann, with: pair.bob)
      #expect(third.json["created"]?.bool == true)
      let open = try #require(third.json["room_id"]?.string)
      try await pair.act("join", open, as: pair.bob)
      let upgrade = try await pair.act("upgrade", open, as: pair.ann, #"{"new_version":"11"}"#)
      let successor = try #require(upgrade.json["replacement_room"]?.string)
      let fourth = try await pair.open(as: pair.ann, with: pair.bob)
      #expect(fourth.json["room_id"]?.string == successor)
      #expect(fourth.json["created"]?.bool == false)
      #expect(try await pair.membership(of: pair.bob, in: successor) == "invite")
      #expect(try await pair.open(as: pair.bob, with: pair.ann).json["room_id"]?.string == successor)
      #expect(try await pair.membership(of: pair.bob, in: successor) == "join")
    }
  }

  @Test func `invitations that nobody wants are not made`() async throws {
    try await Self.run { pair in
      #expect(try await pair.open(as: pair.ann, with: pair.ann).errorCode == "M_INVALID_PARAM")
      let missing = try await pair.fixture.call(.post, Self.path, as: pair.ann, "{}")
      #expect(missing.errorCode == "M_MISSING_PARAM")
      let nobody = try await pair.fixture.call(.post, Self.path, as: pair.ann, #"{"user_id":"@nobody:example.org"}"#)
      #expect(nobody.errorCode == "M_NOT_FOUND")
      try await pair.accountData("m.ignored_user_list", #"{"ignored_users":{"\#(pair.bob.userID)":{}}}"#, of: pair.ann)
      #expect(try await pair.open(as: pair.ann, with: pair.bob).errorCode == "M_FORBIDDEN")
      try await pair.accountData("m.ignored_user_list", #"{"ignored_users":{}}"#, of: pair.ann)
      try await pair.accountData("m.invite_permission_config", #"{"default_action":"block"}"#, of: pair.bob)
      #expect(try await pair.open(as: pair.ann, with: pair.bob).errorCode == "M_INVITE_BLOCKED")
      #expect(try await pair.direct(of: pair.ann) == [:])
      try await pair.accountData("m.invite_permission_config", "{}", of: pair.bob)
      let room = try await pair.joinedRoom()
      // Who is ignored is not let in in the name of who ignores them.
      try await pair.act("leave", room, as: pair.bob)
      try await pair.accountData("m.ignored_user_list", #"{"ignored_users":{"\#(pair.bob.userID)":{}}}"#, of: pair.ann)
      #expect(try await pair.open(as: pair.bob, with: pair.ann).errorCode == "M_FORBIDDEN")
    }
  }

  // MARK: Coming back

  private static func rejoin(_ room: String) -> String {
    "/_matrix/client/unstable/martlet.rejoin/\(PercentEncoding.encode(ByteString(room)))"
  }

  @Test func `a room that allows it takes back who left by themselves`() async throws {
    try await Self.run { pair in
      let created = try await pair.fixture.call(
        .post, "createRoom", as: pair.ann,
        #"{"invite":["\#(pair.bob.userID)"],"initial_state":[{"type":"martlet.rejoin","content":{"allow":false}}]}"#)
      let room = try #require(created.json["room_id"]?.string)
      try await pair.act("join", room, as: pair.bob)
      try await pair.act("leave", room, as: pair.bob)
      #expect(try await pair.fixture.call(.post, Self.rejoin(room), as: pair.bob).errorCode == "M_FORBIDDEN")
      _ = try await pair.fixture.call(
        .put, "rooms/\(PercentEncoding.encode(ByteString(room)))/state/martlet.rejoin", as: pair.ann, #"{"allow":true}"#)
      let answer = try await pair.fixture.call(.post, Self.rejoin(room), as: pair.bob, #"{"reason":"I forgot my hat"}"#)
      #expect(answer.status == 200)
      #expect(answer.json["room_id"]?.string == room)
      #expect(try await pair.membership(of: pair.bob, in: room) == "join")
      // What other servers see: an invitation by who may invite, then the join.
      let messages = try await pair.fixture.call(
        .get, "rooms/\(PercentEncoding.encode(ByteString(room)))/messages?dir=b&limit=2", as: pair.ann)
      let events = messages.json["chunk"]?.elements.map { $0 } ?? []
      #expect(events.compactMap { $0["content"]?["membership"]?.string } == ["join", "invite"])
      #expect(events.compactMap { $0["sender"]?.string } == [pair.bob.userID.string, pair.ann.userID.string])
      #expect(events.first?["content"]?["reason"]?.string == "I forgot my hat")
      #expect(try await pair.fixture.call(.post, Self.rejoin(room), as: pair.bob).status == 200)

      let eve = try await pair.fixture.register("eve")
      #expect(try await pair.fixture.call(.post, Self.rejoin(room), as: eve).errorCode == "M_FORBIDDEN")
      #expect(try await pair.fixture.call(.post, Self.rejoin("!none:example.org"), as: eve).errorCode == "M_NOT_FOUND")
      // Nobody is there who could let them in.
      try await pair.act("leave", room, as: pair.bob)
      try await pair.act("leave", room, as: pair.ann)
      #expect(try await pair.fixture.call(.post, Self.rejoin(room), as: pair.bob).errorCode == "M_FORBIDDEN")
    }
  }
}
