import Database
import JSON
import MatrixModel
import Testing

@testable import ServerCore
@testable import ServerRooms

@Suite struct RoomPurgeTests {
  private let ann = RoomsFixture.actor("ann")
  private let bob = RoomsFixture.actor("bob")
  private let roomTables: [StaticString] = [
    "SELECT COUNT(*) FROM event WHERE room = $1", "SELECT COUNT(*) FROM state_change WHERE room = $1",
    "SELECT COUNT(*) FROM current_state WHERE room = $1", "SELECT COUNT(*) FROM membership WHERE room = $1",
    "SELECT COUNT(*) FROM receipt WHERE room = $1",
    "SELECT COUNT(*) FROM unread_checkpoint WHERE room = $1 AND user_id = '@ann:example.org'",
    "SELECT COUNT(*) FROM room_alias WHERE room = $1", "SELECT COUNT(*) FROM room WHERE room = $1",
    "SELECT COUNT(*) FROM slow_mode_send WHERE room = $1", "SELECT COUNT(*) FROM hidden_room WHERE room = $1",
    "SELECT COUNT(*) FROM event_relation WHERE room = $1", "SELECT COUNT(*) FROM room_thread WHERE room = $1",
    "SELECT COUNT(*) FROM public_room WHERE room = $1", "SELECT COUNT(*) FROM public_room_list WHERE room = $1",
    "SELECT COUNT(*) FROM open_room WHERE room = $1", "SELECT COUNT(*) FROM full_text WHERE scope = 's' || $1"
  ]

  private func rows(_ fixture: SyncFixture, of room: RoomNumber) async throws -> [Int64] {
    try await fixture.database.read { transaction in
      try roomTables.map { try transaction.first($0, room) { $0.integer(0) } ?? 0 }
    }
  }

  @Test func `a purged room is gone for everyone, with its rows, also after a restart`() async throws {
    var fixture = try SyncFixture()
    let room = try await fixture.room(
      of: "ann", "bob", settings: #"{"preset":"public_chat","visibility":"public","room_alias_name":"a"}"#)
    let other = try await fixture.room(of: "ann", "bob")
    _ = try await fixture.rooms.setState(.slowMode, "", json(#"{"interval_ms":1}"#), in: room, by: ann)
    for number in 0..<(Rooms.purgeBatchRows + 20) { try await fixture.base.send("\(number)", to: room, by: "ann") }
    let last = try await fixture.base.send("last", to: room, by: "bob")
    try await fixture.base.send("stays", to: other, by: "ann")
    try await fixture.receipts.move(.init(read: last), of: ann.userID, in: room)
    try await fixture.accountData.set("x.y", json("{}"), of: bob.userID, in: room)
    let number = try #require(fixture.rooms.cache.cachedSnapshot(of: room)).number
    _ = try await fixture.rooms.send(
      .message, json(#"{"msgtype":"m.text","body":"r","m.relates_to":{"rel_type":"m.thread","event_id":"\#(last)"}}"#),
      to: room, by: ann, transactionID: TransactionID(trusted: "thread"))
    try await fixture.hidden.hide([room], of: bob.userID)
    _ = try await fixture.database.write { transaction in
      try transaction.addFullText("word", document: 1, scope: number.value)
    }
    // Of one who does not sync here: a sync writes its own when it has time.
    _ = try await fixture.database.write { transaction in
      try transaction.execute(
        "INSERT INTO unread_checkpoint(user_id, room, position, rules, receipts, counts) VALUES ($1, $2, 1, 0, '', $3)",
        RoomsFixture.user("ann"), number, [UInt8]())
    }
    let client = try fixture.client("bob")
    try await client.sync()
    let before = try await rows(fixture, of: number)
    #expect(before.allSatisfy { $0 > 0 }, "\(before)")

    try await fixture.rooms.purge(room)
    #expect(try await rows(fixture, of: number).allSatisfy { $0 == 0 })
    #expect(await errorCode { try await fixture.base.send("x", to: room, by: "ann") } == .forbidden)
    #expect(await errorCode { try await fixture.rooms.join(room, by: self.bob) } == .notFound)
    #expect(await errorCode { try await fixture.rooms.purge(room) } == .notFound)
    #expect(await errorCode { _ = try await fixture.accountData.content(of: "x.y", self.bob.userID, in: room) } == .notFound)
    #expect(try await fixture.rooms.joinedRooms(of: bob.userID) == [other])
    // A client that was away learns of it once.
    let answer = try await client.sync()
    #expect(answer.room(room, "leave") != nil && answer.room(room) == nil)
    #expect(try await client.sync().isIdle)
    #expect(try await fixture.base.bodies(of: other, for: "bob") == ["stays"])
    fixture = try fixture.reopened()
    #expect(await errorCode { try await fixture.base.send("x", to: room, by: "ann") } == .forbidden)
    #expect(try await fixture.client("bob").sync().room(room) == nil)
  }

  @Test func `sliding sync tells of a purge, once, and an old purge is no news any more`() async throws {
    let fixture = try SyncFixture()
    let (room, other) = (try await fixture.room(of: "ann", "bob"), try await fixture.room(of: "ann", "bob"))
    let client = SlidingClient(fixture, "bob", SlidingClient.list())
    let sleeper = SlidingClient(fixture, "bob", device: "SLEEPER", SlidingClient.list())
    for client in [client, sleeper] { #expect(try await client.sync().rooms == [room.string, other.string]) }
    try await fixture.rooms.purge(room)
    let answer = try await client.sync()
    #expect(answer.room(room)?.json["membership"]?.string == "leave" && answer.count == 1)
    #expect(try await client.sync().room(room) == nil)

    func rows() async throws -> [Int64] {
      try await fixture.database.read { transaction in
        let counts: [StaticString] = ["SELECT COUNT(*) FROM purged_membership", "SELECT COUNT(*) FROM purged_room"]
        return try counts.map { try transaction.first($0) { $0.integer(0) } ?? 0 }
      }
    }
    fixture.base.setTime(1_700_000_000_000 + Rooms.purgeNewsMilliseconds)
    try await fixture.rooms.forgetOldPurges()
    #expect(try await rows() == [2, 1])
    fixture.base.setTime(1_700_000_000_001 + Rooms.purgeNewsMilliseconds)
    try await fixture.rooms.forgetOldPurges()
    #expect(try await rows() == [0, 0])
    #expect(try await sleeper.sync().rooms == [])
  }

  @Test func `a thread whose messages are gone is no thread any more`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    // A state event stays, whatever is deleted.
    let root = try await fixture.rooms.setState(.topic, "", json(#"{"topic":"T"}"#), in: room, by: ann)
    let thread = #""m.relates_to":{"rel_type":"m.thread","event_id":"\#(root)"}"#
    var replies: [EventID] = []
    for text in ["a", "b"] {
      replies.append(
        try await fixture.rooms.send(
          .message, json(#"{"msgtype":"m.text","body":"\#(text)",\#(thread)}"#), to: room, by: ann,
          transactionID: TransactionID(trusted: ByteString(text))))
    }
    let last = try await fixture.base.send("last", to: room, by: "ann")
    func threads() async throws -> [Int64] {
      try await fixture.database.read { try $0.all("SELECT messages FROM room_thread") { $0.integer(0) } }
    }
    #expect(try await threads() == [2])
    try await fixture.rooms.purgeHistory(of: room, before: .event(replies[1]))
    #expect(try await threads() == [1])
    try await fixture.rooms.purgeHistory(of: room, before: .event(last))
    #expect(try await threads() == [])
  }

  @Test func `a purge that was interrupted is finished after the restart`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let number = try #require(fixture.rooms.cache.cachedSnapshot(of: room)).number
    // As the first step of a purge leaves it.
    _ = try await fixture.database.write { transaction in
      for statement in RoomRows.atOnce { try transaction.execute(statement, number) }
      try transaction.execute("DELETE FROM room WHERE room = $1", number)
      try transaction.execute(
        "INSERT INTO purged_room(room, room_id, purged, complete) VALUES ($1, $2, 0, 0)", number, room)
    }
    let later = try fixture.reopened()
    try await later.rooms.resumePurges()
    #expect(try await rows(later, of: number).allSatisfy { $0 == 0 })
  }

  @Test func `a parked sync is woken by a purge`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let client = try fixture.client("bob")
    try await client.sync()
    async let answer = client.sync(timeout: 60_000)
    try await fixture.rooms.purge(room)
    #expect(try await answer.room(room, "leave") != nil)
  }

  @Test func `shutting a room down takes everyone out and, blocked, lets nobody in`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob", settings: #"{"preset":"public_chat","room_alias_name":"a"}"#)
    try await fixture.rooms.invite(RoomsFixture.user("eve"), to: room, by: ann)
    let shutdown = try await fixture.rooms.shutDown(room, blockedBy: RoomsFixture.user("admin"), reason: "closed")
    #expect(Set(shutdown.removed) == [ann.userID, bob.userID, RoomsFixture.user("eve")])
    #expect(shutdown.aliases.map(\.string) == ["#a:example.org"])
    let snapshot = try #require(fixture.rooms.cache.cachedSnapshot(of: room))
    #expect(snapshot.joinedCount == 0 && snapshot.invitedCount == 0)
    #expect(snapshot.members[bob.userID]?.event.content["reason"]?.string == "closed")
    #expect(await errorCode { try await fixture.rooms.join(room, by: self.bob) } == .forbidden)
    #expect(try await fixture.rooms.blocker(of: room) == RoomsFixture.user("admin"))
    try await fixture.rooms.unblock(room)
    try await fixture.rooms.join(room, by: bob)
  }

  @Test func `what was sent before a moment is deleted, the state and what came later stay`() async throws {
    var fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    for number in 0..<30 { try await fixture.base.send("old\(number)", to: room, by: "ann") }
    _ = try await fixture.rooms.setState(.name, "", json(#"{"name":"N"}"#), in: room, by: ann)
    let end = try await fixture.base.send("kept", to: room, by: "ann")
    try await fixture.base.send("new", to: room, by: "bob")
    #expect(try await fixture.rooms.purgeHistory(of: room, before: .event(end)) == 30)
    #expect(try await fixture.rooms.purgeHistory(of: room, before: .event(end)) == 0)
    for _ in 0..<2 {
      #expect(try await fixture.base.bodies(of: room, for: "bob") == ["new", "kept"])
      #expect(try await fixture.rooms.state(.name, "", of: room, for: bob.userID).content["name"]?.string == "N")
      let page = try await fixture.rooms.messages(
        of: room, for: ann.userID, from: nil, to: nil, .backward, limit: 100, EventFilter())
      #expect(page.events.last?.type == .create)
      let beyond = try await fixture.rooms.messages(
        of: room, for: ann.userID, from: page.end, to: nil, .backward, limit: 100, EventFilter())
      #expect(page.end != nil && beyond.events.isEmpty && beyond.end == nil)
      fixture = try fixture.reopened()
    }
    try await fixture.base.send("goes on", to: room, by: "bob")
  }

  @Test func `history ends at a position or a time too, and the newest event stays`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann")
    fixture.base.setTime(1_700_000_100_000)
    try await fixture.base.send("first", to: room, by: "ann")
    fixture.base.setTime(1_700_000_200_000)
    try await fixture.base.send("second", to: room, by: "ann")
    #expect(try await fixture.rooms.purgeHistory(of: room, before: .timestamp(1_700_000_100_000)) == 0)
    #expect(try await fixture.rooms.purgeHistory(of: room, before: .timestamp(1_700_000_100_001)) == 1)
    #expect(try await fixture.rooms.purgeHistory(of: room, before: .position(.max)) == 0)
    #expect(try await fixture.base.bodies(of: room, for: "ann") == ["second"])
    #expect(
      await errorCode { try await fixture.rooms.purgeHistory(of: room, before: .event(EventID(trusted: "$no"))) }
        == .notFound)
  }

  @Test func `a room that all have forgotten may go`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    try await fixture.rooms.invite(RoomsFixture.user("eve"), to: room, by: ann)
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("eve"))
    for actor in [ann, bob] {
      #expect(try await !fixture.rooms.isForgottenByAll(room))
      try await fixture.rooms.leave(room, by: actor)
      #expect(try await !fixture.rooms.isForgottenByAll(room))
      try await fixture.rooms.forget(room, by: actor)
    }
    #expect(try await fixture.rooms.isForgottenByAll(room))
  }
}
