import JSON
import MatrixModel
import RoomRules
import Testing

@testable import ServerRooms

@Suite struct RoomsTests {
  @Test(arguments: ["6", "7", "8", "9", "10", "11", "12"]) func `a room of each version takes members and messages`(
    version: String
  ) async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(
      by: "ann", #"{"room_version":"\#(version)","name":"R","topic":"T","invite":["@bob:example.org"],"room_alias_name":"x"}"#)
    try await fixture.rooms.join(room, by: RoomsFixture.actor("bob"))
    try await fixture.send("hello", to: room, by: "bob")
    #expect(try await fixture.bodies(of: room, for: "ann") == ["hello"])
    let state = try await fixture.rooms.state(of: room, for: RoomsFixture.user("bob"))
    let types = Set(state.map(\.type.string))
    #expect(
      types == [
        "m.room.create", "m.room.member", "m.room.power_levels", "m.room.canonical_alias", "m.room.join_rules",
        "m.room.history_visibility", "m.room.guest_access", "m.room.name", "m.room.topic"
      ])
    #expect(try await fixture.rooms.room(of: RoomAlias(trusted: "#x:example.org")) == room)
  }

  @Test func `the same transaction gives the same event, also after a restart`() async throws {
    var fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann")
    let first = try await fixture.send("once", to: room, by: "ann", transaction: "a")
    #expect(try await fixture.send("once", to: room, by: "ann", transaction: "a") == first)
    fixture = try fixture.reopened()
    #expect(try await fixture.send("once", to: room, by: "ann", transaction: "a") == first)
    #expect(try await fixture.bodies(of: room, for: "ann") == ["once"])
  }

  @Test func `nothing is kept for a device that was deleted while its request was under way`() async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann")
    try await fixture.send("last words", to: room, by: "ann")
    let kept = try await fixture.database.read { try $0.first("SELECT COUNT(*) FROM sent_transaction") { $0.integer(0) } }
    #expect(kept == 0)
    #expect(try await fixture.bodies(of: room, for: "ann") == ["last words"])
  }

  @Test func `requests are forgotten when they are a day old, not before`() async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann")
    let first = try await fixture.send("once", to: room, by: "ann", transaction: "a")
    let sent = fixture.configuration.clock.now()
    fixture.setTime(sent + Rooms.transactionLifetimeMilliseconds - 1_000)
    try await fixture.rooms.forgetOldTransactions()
    #expect(try await fixture.send("once", to: room, by: "ann", transaction: "a") == first)
    fixture.setTime(sent + Rooms.transactionLifetimeMilliseconds + 1_000)
    try await fixture.rooms.forgetOldTransactions()
    #expect(try await fixture.send("once", to: room, by: "ann", transaction: "a") != first)
  }

  @Test func `rooms made alike in the same millisecond are different rooms`() async throws {
    let fixture = try RoomsFixture()
    var rooms: Set<RoomID> = []
    for _ in 0..<5 { rooms.insert(try await fixture.createRoom(by: "ann")) }
    #expect(rooms.count == 5)
  }

  @Test func `rooms made alike at a given time are different rooms, each a millisecond later`() async throws {
    let fixture = try RoomsFixture()
    let version = try #require(RoomVersion("12"))
    let create = RoomEditor.Draft(
      type: .create, sender: RoomsFixture.user("ann"), stateKey: "", content: try json(#"{"room_version":"12"}"#), timestamp: 5)
    let times = try await fixture.database.write { transaction in
      try (0..<3).map { _ in
        var editor = RoomEditor(founding: version, roomID: nil, in: transaction, of: fixture.rooms)
        return try editor.append(create).timestamp
      }
    }
    #expect(times == [5, 6, 7])
  }

  @Test func `a restart changes nothing that can be read`() async throws {
    var fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann", #"{"preset":"public_chat","name":"before"}"#)
    try await fixture.rooms.join(room, by: RoomsFixture.actor("bob"))
    for number in 0..<100 { try await fixture.send("m\(number)", to: room, by: "bob") }
    _ = try await fixture.rooms.setState(.name, "", json(#"{"name":"after"}"#), in: room, by: RoomsFixture.actor("ann"))
    let before = try #require(fixture.rooms.cache.cachedSnapshot(of: room))
    fixture = try fixture.reopened()
    #expect(try await fixture.bodies(of: room, for: "ann").first == "m99")
    let after = try #require(fixture.rooms.cache.cachedSnapshot(of: room))
    #expect(before.position == after.position)
    #expect(before.extremities.map(\.eventID) == after.extremities.map(\.eventID))
    #expect(before.tail.map(\.eventID) == after.tail.map(\.eventID))
    #expect(before.tail.map(\.shared) == after.tail.map(\.shared))
    #expect(Set(before.state.values.map(\.eventID)) == Set(after.state.values.map(\.eventID)))
    #expect(after[.name]?.replaced?.eventID == before[.name]?.replaced?.eventID)
    #expect(after.joinedCount == 2)
    try await fixture.send("goes on", to: room, by: "ann")
  }

  @Test func `a message of someone outside is refused and leaves nothing`() async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann")
    #expect(await errorCode { try await fixture.send("x", to: room, by: "eve") } == .forbidden)
    #expect(await errorCode { try await fixture.send("x", to: RoomID(trusted: "!none"), by: "eve") } == .forbidden)
    try await fixture.send("y", to: room, by: "ann")
    #expect(try await fixture.bodies(of: room, for: "ann") == ["y"])
  }

  @Test func `concurrent sends all arrive, each once, in one order`() async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 { group.addTask { try await fixture.send("\(number)", to: room, by: "ann") } }
      try await group.waitForAll()
    }
    let page = try await fixture.rooms.messages(
      of: room, for: RoomsFixture.user("ann"), from: nil, to: nil, .forward, limit: 1_000, EventFilter())
    #expect(Set(page.events.compactMap { $0.content["body"]?.string }).count == 200)
    for (earlier, later) in zip(page.events, page.events.dropFirst()) {
      #expect(earlier.position < later.position && earlier.depth < later.depth)
    }
  }

  @Test func `paging back and forth meets every event once, and ends with an empty page`() async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann")
    for number in 0..<30 { try await fixture.send("\(number)", to: room, by: "ann") }
    for direction in [Rooms.Direction.backward, .forward] {
      var seen: [EventID] = []
      var token: TimelineToken?
      repeat {
        let page = try await fixture.rooms.messages(
          of: room, for: RoomsFixture.user("ann"), from: token, to: nil, direction, limit: 7, EventFilter())
        seen += page.events.map(\.eventID)
        #expect((page.end == nil) == page.events.isEmpty)
        token = page.end
      } while token != nil
      #expect(seen.count == 36 && Set(seen).count == 36)
    }
  }

  @Test func `a redaction empties the event for everyone and for good`() async throws {
    var fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann", #"{"preset":"public_chat"}"#)
    try await fixture.rooms.join(room, by: RoomsFixture.actor("bob"))
    let event = try await fixture.send("secret", to: room, by: "ann")
    let body = try json(#"{"reason":"oops"}"#)
    #expect(
      await errorCode {
        _ = try await fixture.rooms.redact(
          event, in: room, body, by: RoomsFixture.actor("bob"), transactionID: TransactionID(trusted: "r"))
      } == .forbidden)
    _ = try await fixture.rooms.redact(
      event, in: room, body, by: RoomsFixture.actor("ann"), transactionID: TransactionID(trusted: "r"))
    for _ in 0..<2 {
      let redacted = try await fixture.rooms.event(event, in: room, for: RoomsFixture.user("bob"))
      #expect(redacted.content.count == 0)
      #expect(redacted.redactedBecause != nil)
      fixture = try fixture.reopened()
    }
  }
}

@Suite struct MembershipTests {
  @Test func `an invitation is needed and can be declined`() async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann")
    #expect(await errorCode { try await fixture.rooms.join(room, by: RoomsFixture.actor("bob")) } == .forbidden)
    try await fixture.rooms.invite(RoomsFixture.user("bob"), to: room, by: RoomsFixture.actor("ann"))
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("bob"))
    #expect(await errorCode { try await fixture.rooms.join(room, by: RoomsFixture.actor("bob")) } == .forbidden)
    #expect(
      await errorCode { try await fixture.rooms.invite(RoomsFixture.user("nobody"), to: room, by: RoomsFixture.actor("ann")) }
        == .notFound)
    #expect(
      await errorCode { try await fixture.rooms.join(RoomID(trusted: "!no"), by: RoomsFixture.actor("bob")) } == .notFound)
  }

  @Test func `who was banned stays out until unbanned`() async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann", #"{"preset":"public_chat"}"#)
    let ann = RoomsFixture.actor("ann"), bob = RoomsFixture.actor("bob")
    try await fixture.rooms.join(room, by: bob)
    #expect(await errorCode { try await fixture.rooms.kick(ann.userID, from: room, by: bob) } == .forbidden)
    try await fixture.rooms.ban(bob.userID, from: room, by: ann, reason: "spam")
    #expect(await errorCode { try await fixture.rooms.join(room, by: bob) } == .forbidden)
    try await fixture.rooms.unban(bob.userID, in: room, by: ann)
    try await fixture.rooms.join(room, by: bob)
    #expect(try await fixture.rooms.joinedMembers(of: room, for: bob.userID).count == 2)
  }

  @Test func `who left reads up to that and, after forgetting, nothing`() async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann", #"{"preset":"public_chat"}"#)
    let bob = RoomsFixture.actor("bob")
    try await fixture.rooms.join(room, by: bob)
    try await fixture.send("seen", to: room, by: "ann")
    #expect(await errorCode { try await fixture.rooms.forget(room, by: bob) } == .unknown)
    try await fixture.rooms.leave(room, by: bob)
    try await fixture.send("unseen", to: room, by: "ann")
    #expect(try await fixture.bodies(of: room, for: "bob") == ["seen"])
    try await fixture.rooms.forget(room, by: bob)
    #expect(await errorCode { _ = try await fixture.bodies(of: room, for: "bob") } == .forbidden)
  }

  @Test(arguments: [
    ("world_readable", ["early", "late"]), ("shared", ["early", "late"]), ("invited", ["late"]), ("joined", ["late"])
  ])
  func `history visibility decides what a newcomer reads`(visibility: String, expected: [String]) async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(
      by: "ann",
      #"""
      {"preset":"public_chat","initial_state":[{"type":"m.room.history_visibility","content":{"history_visibility":"\#(visibility)"}}]}
      """#)
    try await fixture.send("early", to: room, by: "ann")
    try await fixture.rooms.join(room, by: RoomsFixture.actor("bob"))
    try await fixture.send("late", to: room, by: "ann")
    #expect(try await fixture.bodies(of: room, for: "bob").sorted() == expected)
    let outsider = await errorCode { _ = try await fixture.bodies(of: room, for: "eve") }
    #expect(outsider == (visibility == "world_readable" ? nil : .forbidden))
  }
}
