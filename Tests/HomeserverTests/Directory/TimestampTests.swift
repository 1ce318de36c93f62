import Glibc
import JSON
import MatrixModel
import Testing

@testable import ServerDirectory
@testable import ServerRooms

@Suite struct TimestampTests {
  private static let start: Int64 = 1_700_000_000_000

  /// The body of the event nearest to a time; its type for one without.
  private func nearest(
    _ time: Int64, _ direction: Rooms.Direction, in room: RoomID, for name: String, _ fixture: RoomsFixture
  ) async throws -> String? {
    do {
      let event = try await fixture.rooms.event(nearest: time, direction, in: room, for: RoomsFixture.user(name))
      return event.content["body"]?.string ?? event.type.string
    } catch let error as MatrixError where error.code == .notFound {
      return nil
    }
  }

  @Test func `the nearest event at or after, at or before a time`() async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann")
    for number in 1...3 {
      fixture.setTime(Self.start + Int64(number) * 1_000)
      try await fixture.send("m\(number)", to: room, by: "ann")
    }
    // A clock that went back: order is by time.
    fixture.setTime(Self.start + 1_500)
    try await fixture.send("m1.5", to: room, by: "ann")
    for (time, forward, backward) in [
      (Int64.min, "m.room.create", nil), (0, "m.room.create", nil), (Self.start + 1, "m1", "m.room.guest_access"),
      (Self.start + 1_000, "m1", "m1"), (Self.start + 1_001, "m1.5", "m1"), (Self.start + 1_501, "m2", "m1.5"),
      (Self.start + 3_001, nil, "m3"), (Int64.max, nil, "m3")
    ] as [(Int64, String?, String?)] {
      #expect(try await nearest(time, .forward, in: room, for: "ann", fixture) == forward)
      #expect(try await nearest(time, .backward, in: room, for: "ann", fixture) == backward)
    }
    #expect(await errorCode { _ = try await nearest(0, .forward, in: room, for: "bob", fixture) } == .forbidden)
  }

  @Test func `what the user may not see is not found, however much of it there is`() async throws {
    let fixture = try RoomsFixture()
    let hidden = #"{"type":"m.room.history_visibility","content":{"history_visibility":"joined"}}"#
    let room = try await fixture.createRoom(by: "ann", #"{"preset":"public_chat","initial_state":[\#(hidden)]}"#)
    for number in 0..<(Rooms.timestampScanLimit + 200) {
      fixture.setTime(Self.start + Int64(number) + 1)
      try await fixture.send("before", to: room, by: "ann")
    }
    fixture.setTime(Self.start + 10_000)
    try await fixture.rooms.join(room, by: RoomsFixture.actor("bob"))
    fixture.setTime(Self.start + 11_000)
    try await fixture.send("seen", to: room, by: "ann")
    #expect(try await nearest(Self.start + 1, .forward, in: room, for: "bob", fixture) == "m.room.member")
    // Until the visibility was set, the default held.
    #expect(try await nearest(Self.start + 9_999, .backward, in: room, for: "bob", fixture) == "m.room.history_visibility")
    try await fixture.rooms.leave(room, by: RoomsFixture.actor("bob"))
    for number in 0..<(Rooms.timestampScanLimit + 200) {
      fixture.setTime(Self.start + 20_000 + Int64(number))
      try await fixture.send("after", to: room, by: "ann")
    }
    #expect(try await nearest(.max, .backward, in: room, for: "bob", fixture) == "m.room.member")
    #expect(try await nearest(Self.start + 10_500, .forward, in: room, for: "bob", fixture) == "seen")
    #expect(try await nearest(Self.start + 20_000, .forward, in: room, for: "bob", fixture) == nil)
  }

  @Test func `messages past their lifetime are not found`() async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann")
    let lifetime: Int64 = 24 * 60 * 60 * 1_000
    _ = try await fixture.rooms.setState(
      .retention, "", json(#"{"max_lifetime":\#(lifetime)}"#), in: room, by: RoomsFixture.actor("ann"))
    for number in 0..<(Rooms.timestampScanLimit + 200) {
      fixture.setTime(Self.start + 1 + Int64(number))
      try await fixture.send("old", to: room, by: "ann")
    }
    fixture.setTime(Self.start + lifetime + 5_000)
    try await fixture.send("new", to: room, by: "ann")
    #expect(try await nearest(Self.start + 1, .forward, in: room, for: "ann", fixture) == "new")
    #expect(try await nearest(0, .forward, in: room, for: "ann", fixture) == "m.room.create")
  }

  /// Rows are written past the rooms chapter: a hundred thousand commands would take a minute.
  @Test func `the time it takes does not grow with the room`() async throws {
    let fixture = try RoomsFixture()
    let small = try await fixture.createRoom(by: "ann")
    let large = try await fixture.createRoom(by: "ann")
    let number = try await fixture.database.read { try #require(try fixture.rooms.cache.snapshot(of: large, in: $0)).number }
    let count: Int64 = 100_000
    try await fixture.database.write { transaction in
      for index in 0..<count {
        try transaction.execute(
          """
          INSERT INTO event(position, room, event_id, type, sender, timestamp, depth, shared, federation)
          VALUES ($1, $2, $3, 'm.room.message', '@ann:example.org', $4, 1, $5, $5)
          """, transaction.nextPosition(), number, "$x\(index)", Self.start + index, Array(#""content":{"body":"x"}"#.utf8))
      }
    }
    // The least of several: other tests run beside this one.
    func seconds(_ room: RoomID) async throws -> Double {
      var least = Double.infinity
      for step in 0..<40 {
        let begin = clock()
        for offset in 0..<5 {
          _ = try? await fixture.rooms.event(
            nearest: Self.start + Int64(step * 5 + offset) * count / 200, step % 2 == 0 ? .forward : .backward, in: room,
            for: RoomsFixture.user("ann"))
        }
        least = min(least, Double(clock() - begin))
      }
      return least
    }
    var ratio = Double.infinity
    // What other tests do meanwhile is in the figures too; a search through all events would be a thousand times dearer each time.
    for _ in 0..<20 where ratio >= 10 { ratio = try await seconds(large) / seconds(small) }
    #expect(ratio < 10, "a room of \(count) events costs \(ratio) times one of ten")
  }
}
