import JSON
import MatrixModel
import Testing

@testable import HomeserverAPI
@testable import ServerRooms

/// Up to where messages have reached the devices of members.
@Suite struct DeliveredReceiptTests {
  private struct Chat {
    let scene: RelationRouteTests.Scene
    var fixture: APIFixture { scene.fixture }

    func deliver(_ event: String, as user: APIFixture.User, _ kind: String = "martlet.delivered", _ body: String = "{}")
      async throws -> APIFixture.Answer
    {
      try await fixture.call(.post, "rooms/\(scene.room)/receipt/\(kind)/\(event)", as: user, body)
    }

    /// All receipts of a kind that a user is shown: event by user.
    func shown(to user: APIFixture.User, _ kind: ByteString = "martlet.delivered") async throws -> [String: String] {
      let answer = try await fixture.call(.get, "sync", as: user)
      let room = answer.json["rooms"]?["join"]?[ByteString(scene.room)]
      var shown: [String: String] = [:]
      for event in room?["ephemeral"]?["events"]?.elements.map({ $0 }) ?? [] {
        for receipt in event["content"]?.members.map({ $0 }) ?? [] {
          for entry in receipt.value[kind]?.members.map({ $0 }) ?? [] { shown[entry.key.string] = receipt.key.string }
        }
      }
      return shown
    }

    func unread(of user: APIFixture.User) async throws -> Int64? {
      let answer = try await fixture.call(.get, "sync", as: user)
      return answer.json["rooms"]?["join"]?[ByteString(scene.room)]?["unread_notifications"]?["notification_count"]?.integer
    }
  }

  private static func run(_ body: (Chat) async throws -> Void) async throws {
    try await APIFixture.run { try await body(Chat(scene: try await RelationRouteTests.Scene($0))) }
  }

  @Test func `a message that reached a device is told to the members, counts as unread, and only moves forward`() async throws {
    try await Self.run { chat in
      let (ann, bob) = (chat.scene.ann, chat.scene.bob)
      let first = try await chat.scene.say("1", as: ann)
      let second = try await chat.scene.say("2", as: ann)
      let third = try await chat.scene.say("3", as: ann)
      #expect(try await chat.deliver(second, as: bob).status == 200)
      #expect(try await chat.shown(to: ann) == [bob.userID.string: second])
      #expect(try await chat.unread(of: bob) == 3)
      // Another device that is behind changes nothing, one that is ahead does.
      let tablet = try chat.fixture.user(try await chat.fixture.logIn("bob"))
      #expect(try await chat.deliver(first, as: tablet).status == 200)
      #expect(try await chat.shown(to: ann) == [bob.userID.string: second])
      #expect(try await chat.deliver(third, as: tablet).status == 200)
      #expect(try await chat.shown(to: ann) == [bob.userID.string: third])
      #expect(try await chat.unread(of: bob) == 3)
      let counts = try await chat.fixture.call(
        .get, "/_matrix/client/unstable/martlet.read_counts/rooms/\(chat.scene.room)?event_id=\(first)", as: ann)
      #expect(counts.json["counts"]?[ByteString(first)]?["read"]?.integer == 0)
      // Marking everything as read is not kept from it by what was delivered.
      _ = try await chat.fixture.call(.post, "/_matrix/client/unstable/martlet.read_all", as: bob, "{}")
      #expect(try await chat.unread(of: bob) == 0)
      #expect(try await chat.shown(to: ann, "m.read") == [bob.userID.string: third])
    }
  }

  @Test func `what is read publicly is delivered without saying so`() async throws {
    try await Self.run { chat in
      let (ann, bob) = (chat.scene.ann, chat.scene.bob)
      let first = try await chat.scene.say("1", as: ann)
      #expect(try await chat.deliver(first, as: bob, "m.read").status == 200)
      let before = chat.fixture.homeserver.database.committedPosition
      #expect(try await chat.deliver(first, as: bob).status == 200)
      #expect(chat.fixture.homeserver.database.committedPosition == before)
      #expect(try await chat.shown(to: ann) == [:])
      // One that nobody may see says nothing about delivery.
      let second = try await chat.scene.say("2", as: ann)
      #expect(try await chat.deliver(second, as: bob, "m.read.private").status == 200)
      #expect(try await chat.deliver(second, as: bob).status == 200)
      #expect(try await chat.shown(to: ann) == [bob.userID.string: second])
    }
  }

  @Test func `who does not want it told is not told of`() async throws {
    try await Self.run { chat in
      let (ann, bob) = (chat.scene.ann, chat.scene.bob)
      let event = try await chat.scene.say("1", as: ann)
      func set(_ content: String) async throws {
        let path = APIFixture.own(bob, "account_data/martlet.delivery_receipts")
        #expect(try await chat.fixture.call(.put, path, as: bob, content).status == 200)
      }
      try await set(#"{"send":false}"#)
      #expect(try await chat.deliver(event, as: bob).status == 200)
      #expect(try await chat.shown(to: ann) == [:])
      try await set(#"{"send":true}"#)
      #expect(try await chat.deliver(event, as: bob).status == 200)
      #expect(try await chat.shown(to: ann) == [bob.userID.string: event])
    }
  }

  @Test func `it needs a member, an event of the room, and no thread`() async throws {
    try await Self.run { chat in
      let eve = try await chat.fixture.register("eve")
      let event = try await chat.scene.say("1", as: chat.scene.ann)
      #expect(try await chat.deliver(event, as: eve).errorCode == "M_FORBIDDEN")
      #expect(try await chat.deliver("$none", as: chat.scene.bob).errorCode == "M_NOT_FOUND")
      let threaded = try await chat.deliver(event, as: chat.scene.bob, "martlet.delivered", #"{"thread_id":"main"}"#)
      #expect(threaded.errorCode == "M_INVALID_PARAM")
      #expect(try await chat.deliver(event, as: chat.scene.bob, "martlet.other").errorCode == "M_INVALID_PARAM")
      let capabilities = try await chat.fixture.call(.get, "capabilities", as: eve)
      #expect(capabilities.json["capabilities"]?["martlet.delivered"]?["enabled"]?.bool == true)
    }
  }

  @Test func `a room of a hundred members tells it, one of more does not`() async throws {
    try await Self.run { chat in
      let (ann, bob) = (chat.scene.ann, chat.scene.bob)
      let room = RoomID(trusted: ByteString(chat.scene.room))
      func fill(_ count: Int) async throws {
        for index in 0..<count {
          let user = try await chat.fixture.register("u\(index)-of-\(count)").userID
          try await chat.fixture.homeserver.rooms.join(room, by: Rooms.Actor(userID: user, deviceID: nil))
        }
      }
      try await fill(Receipts.deliveredMembersLimit - 2)
      let first = try await chat.scene.say("1", as: ann)
      #expect(try await chat.deliver(first, as: bob).status == 200)
      #expect(try await chat.shown(to: ann) == [bob.userID.string: first])
      try await fill(1)
      let second = try await chat.scene.say("2", as: ann)
      #expect(try await chat.deliver(second, as: bob).status == 200)
      #expect(try await chat.shown(to: ann) == [bob.userID.string: first])
    }
  }
}
