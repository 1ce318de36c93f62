import JSON
import MatrixModel
import Testing

@testable import ServerCore
@testable import ServerRooms
@testable import ServerSync

/// Where v3 sync draws the line between sections.
@Suite struct SyncSectionTests {
  @Test func `rooms and not_rooms of a section keep a room out of that section alone`() async throws {
    let fixture = try SyncFixture()
    let (kept, left) = (try await fixture.room(of: "ann", "bob"), try await fixture.room(of: "ann", "bob"))
    let bob = try fixture.client("bob", filter: #"{"room":{"timeline":{"not_rooms":["\#(left)"]}}}"#)
    for room in [kept, left] { try await fixture.base.send("hi", to: room, by: "ann") }
    let first = try await bob.sync()
    #expect(first.room(kept)?.bodies == ["hi"])
    let other = try #require(first.room(left))
    #expect(other.timeline.isEmpty && !other.isLimited && other.state.contains("m.room.create|"))
    _ = try await fixture.rooms.setState(.topic, "", json(#"{"topic":"T"}"#), in: left, by: RoomsFixture.actor("ann"))
    let next = try #require(try await bob.sync().room(left))
    #expect(next.timeline.isEmpty && next.state == ["m.room.topic|"])
  }

  @Test func `a timeline whose filter drops nearly all ends where it was looked, and says that there is more`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    let rare = try await fixture.rooms.send(
      "m.rare", json("{}"), to: room, by: RoomsFixture.actor("ann"), transactionID: TransactionID(trusted: "rare"))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<20 {
        group.addTask { for number in 0..<255 { try await fixture.base.send("\(lane) \(number)", to: room, by: "ann") } }
      }
      try await group.waitForAll()
    }
    let filter = #"{"room":{"timeline":{"types":["m.rare"]}}}"#
    let answer = try #require(try await fixture.client("bob", filter: filter).sync().room(room))
    #expect(answer.timeline.isEmpty && answer.isLimited)
    let page = try await fixture.rooms.messages(
      of: room, for: RoomsFixture.user("bob"), from: answer.previous, to: nil, .backward, limit: 10,
      EventFilter(try json(#"{"types":["m.rare"]}"#)))
    #expect(page.events.map(\.eventID) == [rare])
  }

  @Test func `device_lists names as left who was in the room, also who went before or since, and nobody who came after`()
    async throws
  {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob", "cid", "dan", "flo")
    _ = try await fixture.rooms.setState(
      .encryption, "", json(#"{"algorithm":"m.megolm.v1.aes-sha2"}"#), in: room, by: RoomsFixture.actor("ann"))
    let bob = try fixture.client("bob")
    try await bob.sync()
    let start = fixture.database.committedPosition
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("flo"))
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("bob"))
    try await fixture.rooms.join(room, by: RoomsFixture.actor("eve"))
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("cid"))
    try await fixture.rooms.updateProfile(of: RoomsFixture.user("dan"))
    let left = try await bob.sync().json["device_lists"]?["left"]?.elements.compactMap(\.string)
    let expected = ["@ann:example.org", "@cid:example.org", "@dan:example.org", "@flo:example.org"]
    #expect(left == expected)
    let changes = try await fixture.deviceLists.changes(
      for: RoomsFixture.user("bob"), after: start, upTo: fixture.database.committedPosition)
    #expect(changes.left.map { $0.text.string } == expected && changes.changed.isEmpty)
  }

  /// A client that believes `device_lists`, asked late: rooms have changed since the position up to which it is answered.
  @Test(arguments: [false, true])
  func `whoever shares a room is followed, and nobody else, also where rooms change while an answer is made`(isSliding: Bool)
    async throws
  {
    let fixture = try SyncFixture()
    try await upload(fixture, by: "bob")
    let names = ["bob", "ann", "cid", "dan"]
    var rooms: [RoomID] = []
    for name in names.dropFirst() { rooms.append(try await fixture.room(of: name)) }
    let watch = try await fixture.engine.watch(of: RoomsFixture.user("bob"))
    var members = rooms.indices.map { Set([names[$0 + 1]]) }
    var random = Dice(seed: 7)
    func sharing() -> Set<UserID> {
      Set(members.filter { $0.contains("bob") }.joined().filter { $0 != "bob" }.map(RoomsFixture.user))
    }
    var history: [(position: Int64, sharing: Set<UserID>)] = [(fixture.database.committedPosition, sharing())]
    var (followed, told) = (sharing(), 0)
    for step in 1...400 {
      let (room, name) = (Int.random(in: rooms.indices, using: &random), names.randomElement(using: &random)!)
      if members[room].remove(name) != nil {
        // The last of a room stays: nobody could let others in again.
        guard !members[room].isEmpty else { members[room].insert(name); continue }
        try await fixture.rooms.leave(rooms[room], by: RoomsFixture.actor(name))
      } else {
        try await fixture.rooms.join(rooms[room], by: RoomsFixture.actor(name))
        members[room].insert(name)
      }
      history.append((fixture.database.committedPosition, sharing()))
      guard step == 400 || Bool.random(using: &random) else { continue }
      let end = step == 400 ? history.count - 1 : Int.random(in: told..<history.count, using: &random)
      let lists = try await deviceLists(
        fixture, watch, from: history[told].position, to: history[end].position, isSliding: isSliding)
      followed.subtract(lists.left)
      followed.formUnion(lists.changed.subtracting([RoomsFixture.user("bob")]))
      // Who has come or gone since may be told early.
      let since = history[end...].map(\.sharing)
      #expect(followed.isSuperset(of: since.reduce(since[0]) { $0.intersection($1) }), "step \(step)")
      #expect(followed.isSubset(of: since.reduce(since[0]) { $0.union($1) }), "step \(step)")
      told = end
    }
    #expect(followed == sharing())
  }

  private func deviceLists(
    _ fixture: SyncFixture, _ watch: UserWatch, from: Int64, to: Int64, isSliding: Bool
  ) async throws -> DeviceListStream {
    let (from, to) = (SyncPosition(position: from, typing: 0), SyncPosition(position: to, typing: 0))
    return try await fixture.database.read { transaction in
      let context = SyncContext(
        request: SyncRequest(userID: RoomsFixture.user("bob"), deviceID: DeviceID(trusted: "DEVICE")), from: from, to: to,
        toDeviceFrom: 0,
        hasOwnNews: true, delivery: watch.delivery(to: DeviceID(trusted: "DEVICE")), sources: fixture.engine.sources,
        rows: SyncRows(transaction, completeUpTo: to.position))
      _ = try KeyCountStream.read(context, watch)
      return isSliding
        ? try context.deviceLists(watch)
        : try SyncChanges.gather(context, watch, roomsWithNews: watch.rooms(withNewsAfter: from)).deviceLists
    }
  }

  private func upload(_ fixture: SyncFixture, by name: String) async throws {
    let session = try await fixture.session(name)
    let keys = #"{"user_id":"@\#(name):example.org","device_id":"DEVICE","algorithms":[],"keys":{},"signatures":{}}"#
    _ = try await fixture.deviceKeys.upload(.init(json(#"{"device_keys":\#(keys)}"#)), from: session)
  }

  @Test func `for users with keys device_lists names people of unencrypted rooms, for others it does not`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob", "cid")
    try await upload(fixture, by: "bob")
    let (bob, cid) = (try fixture.client("bob"), try fixture.client("cid"))
    func told(_ client: SyncClient, _ list: StaticString) async throws -> [String] {
      try await client.sync().json["device_lists"]?[list]?.elements.compactMap(\.string) ?? []
    }
    for client in [bob, cid] { try await client.sync() }
    try await fixture.rooms.join(room, by: RoomsFixture.actor("dan"))
    #expect(try await told(bob, "changed") == ["@dan:example.org"])
    #expect(try await told(cid, "changed").isEmpty)
    try await fixture.base.send("hi", to: room, by: "dan")
    #expect(try await told(bob, "changed").isEmpty)
    // Who still shares a room has not left.
    _ = try await fixture.room(of: "ann", "bob")
    for client in [bob, cid] { try await client.sync() }
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("dan"))
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("ann"))
    #expect(try await told(bob, "left") == ["@dan:example.org"])
    #expect(try await told(cid, "left").isEmpty)
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("bob"))
    #expect(try await told(bob, "left") == ["@cid:example.org"])
    let other = try await fixture.room(of: "eve", "ann")
    try await fixture.rooms.join(other, by: RoomsFixture.actor("bob"))
    #expect(try await told(bob, "changed") == ["@ann:example.org", "@eve:example.org"])
  }

  @Test func `a first sync with include_leave has the archived timeline, and forgotten rooms are gone`() async throws {
    let fixture = try SyncFixture()
    let room = try await fixture.room(of: "ann", "bob")
    try await fixture.base.send("before", to: room, by: "ann")
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("bob"))
    try await fixture.base.send("after", to: room, by: "ann")
    #expect(try await fixture.client("bob").sync().room(room, "leave") == nil)
    let filter = #"{"room":{"include_leave":true}}"#
    #expect(try await fixture.client("bob", filter: filter).sync().room(room, "leave")?.bodies == ["before"])
    try await fixture.rooms.forget(room, by: RoomsFixture.actor("bob"))
    #expect(try await fixture.client("bob", filter: filter).sync().room(room, "leave") == nil)
  }
}
