import JSON
import MatrixModel
import Testing

@testable import ServerDirectory

@Suite struct HiddenRoomsTests {
  private func hidden(_ answer: SyncAnswer, _ room: RoomID) -> JSON? {
    answer.room(room)?.json["account_data"]?["events"]?.elements.first { $0["type"]?.string == "martlet.hidden" }?["content"]
  }

  @Test func `a hidden room is shown again by the next message of somebody else, in its commit`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob", "cid")
    let bob = try fixture.client("bob")
    try await bob.sync()
    fixture.base.setTime(1_700_000_500_000)
    #expect(try await fixture.hidden.hide([room], of: bob.user) == 1)
    #expect(try await fixture.hidden.hide([room], of: bob.user) == 0)
    #expect(hidden(try await bob.sync(), room)?["before"]?.integer == 1_700_000_500_000)
    // The user's own messages, state and reactions change nothing.
    try await fixture.base.send("mine", to: room, by: "bob")
    _ = try await fixture.rooms.setState(.topic, "", json(#"{"topic":"T"}"#), in: room, by: RoomsFixture.actor("ann"))
    _ = try await fixture.rooms.send(
      .reaction, json("{}"), to: room, by: RoomsFixture.actor("ann"), transactionID: TransactionID(trusted: "r"))
    #expect(hidden(try await bob.sync(), room) == nil)
    try await fixture.base.send("hello", to: room, by: "ann")
    let shown = try await bob.sync()
    #expect(shown.room(room)?.bodies == ["hello"] && hidden(shown, room)?.count == 0)
    try await fixture.base.send("again", to: room, by: "ann")
    #expect(hidden(try await bob.sync(), room) == nil)
  }

  @Test func `hiding outlives the process`() async throws {
    var fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    try await fixture.hidden.hide([room], of: RoomsFixture.user("bob"))
    fixture = try fixture.reopened()
    try await fixture.base.send("hello", to: room, by: "ann")
    let content = try await fixture.accountData.content(of: .hidden, RoomsFixture.user("bob"), in: room)
    #expect(content == Array("{}".utf8))
    #expect(try await fixture.hidden.show([room], of: RoomsFixture.user("bob")) == 0)
  }

  @Test func `all rooms or a list are hidden and shown together, or none`() async throws {
    let fixture = try SyncFixture()
    let rooms = [try await fixture.room(of: "ann", "bob"), try await fixture.room(of: "ann", "bob")]
    let foreign = try await fixture.room(of: "ann")
    let bob = RoomsFixture.user("bob")
    #expect(await errorCode { try await fixture.hidden.hide(rooms + [foreign], of: bob) } == .forbidden)
    #expect(try await fixture.hidden.hide(nil, of: bob) == 2)
    #expect(try await fixture.hidden.show([rooms[0]], of: bob) == 1)
    #expect(try await fixture.hidden.show(nil, of: bob) == 1)
    let many = Array(repeating: rooms[0], count: HiddenRooms.roomsLimit + 1)
    #expect(await errorCode { try await fixture.hidden.hide(many, of: bob) } == .tooLarge)
    #expect(try await fixture.hidden.hide(Array(many.dropLast()), of: bob) == 1)
  }

  @Test func `only the server writes the mark`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "bob")
    let code = await errorCode {
      try await fixture.accountData.set(.hidden, json(#"{"before":1}"#), of: RoomsFixture.user("bob"), in: room)
    }
    #expect(code == .badJSON)
  }
}

@Suite struct UnreadTotalTests {
  @Test func `the total is the sum of all rooms, and marking all as read makes it nothing`() async throws {
    let fixture = try SyncFixture()
    let rooms = [
      try await fixture.room(of: "ann", "bob"), try await fixture.room(of: "ann", "bob"),
      try await fixture.room(of: "ann", "bob")
    ]
    let bob = RoomsFixture.user("bob")
    try await fixture.base.send("one", to: rooms[0], by: "ann")
    for text in ["two", "@bob:example.org bob"] { try await fixture.base.send(text, to: rooms[1], by: "ann") }
    try await fixture.accountData.set(.markedUnread, json(#"{"unread":true}"#), of: bob, in: rooms[2])
    let total = try await fixture.engine.unreadTotal(of: bob)
    #expect(total.count.notifications == 3 && total.rooms.count == 3)
    #expect(total.rooms.first { $0.roomID == rooms[2] }?.isMarkedUnread ?? false)
    #expect(try await fixture.receipts.moveAll(.readPrivate, of: bob, in: [rooms[0]]) == 1)
    #expect(try await fixture.engine.unreadTotal(of: bob).count.notifications == 2)
    #expect(try await fixture.receipts.moveAll(.read, of: bob, in: nil) == 2)
    let after = try await fixture.engine.unreadTotal(of: bob)
    #expect(after.count.notifications == 0 && after.rooms.isEmpty)
    #expect(try await fixture.receipts.moveAll(.read, of: bob, in: nil) == 0)
    let mark = try await fixture.accountData.content(of: .markedUnread, bob, in: rooms[2])
    #expect(mark == Array(#"{"unread":false}"#.utf8))
    let fullyRead = try await fixture.accountData.content(of: .fullyRead, bob, in: rooms[1])
    let newest = try #require(fixture.rooms.cache.cachedSnapshot(of: rooms[1])?.tail.last?.eventID)
    #expect(try JSON.parse(fullyRead)["event_id"]?.text == newest.text)
  }

  @Test func `either every room of the list is marked as read or none`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let foreign = try await fixture.room(of: "ann")
    let bob = RoomsFixture.user("bob")
    try await fixture.base.send("one", to: room, by: "ann")
    #expect(await errorCode { _ = try await fixture.receipts.moveAll(.read, of: bob, in: [room, foreign]) } == .forbidden)
    #expect(try await fixture.engine.unreadTotal(of: bob).count.notifications == 1)
  }
}
