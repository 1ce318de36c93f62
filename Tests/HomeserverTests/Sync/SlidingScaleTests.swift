import Glibc
import JSON
import MatrixModel
import Testing

@testable import Homeserver

/// What sliding sync costs a user of very many rooms.
@Suite struct SlidingScaleTests {
  private static func cpuMicroseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }

  /// Rows of a user's rooms, as `count` rooms of one member would have them: made at once, for making each takes milliseconds.
  private static func copies(of room: RoomID, _ count: Int, _ fixture: SyncFixture) async throws {
    let user = RoomsFixture.user("bob")
    try await fixture.database.write { transaction in
      let source = try transaction.first("SELECT room FROM room WHERE room_id = $1", room) { $0.integer(0) } ?? 0
      for _ in 0..<count {
        let number = transaction.nextPosition()
        try transaction.execute(
          "INSERT INTO room(room, room_id, version, created) SELECT $1, 'r' || $1, version, created FROM room WHERE room = $2",
          number, source)
        let position = transaction.nextPosition()
        try transaction.execute(
          """
          INSERT INTO event(position, room, event_id, type, state_key, sender, timestamp, depth, shared, federation)
          SELECT $1, $2, 'e' || $1, type, state_key, sender, timestamp, depth, shared, federation FROM event
          WHERE room = $3 AND type = 'm.room.create'
          """, position, number, source)
        try transaction.execute(
          "INSERT INTO current_state(room, type, state_key, event) VALUES ($1, 'm.room.create', '', $2)", number, position)
        try transaction.execute(
          "INSERT INTO membership(user_id, room, membership, position, event) VALUES ($1, $2, 2, $3, $3)", user, number,
          position)
      }
    }
  }

  /// Processor time of a first request, and of news in one room: each the least of some.
  private static func costs(rooms: Int) async throws -> (first: Int64, next: Int64) {
    var fixture = try SyncFixture()
    let template = try await fixture.room(of: "ann", "bob")
    try await copies(of: template, rooms, fixture)
    for _ in 0..<20 { _ = try await fixture.room(of: "ann", "bob") }
    fixture = try fixture.reopened()
    let body = SlidingClient.list("[0,19]", filters: #"{"not_room_types":["m.space"]}"#)
    var bob = SlidingClient(fixture, "bob", body)
    var (first, next) = (Int64.max, Int64.max)
    for _ in 0..<5 {
      bob = SlidingClient(fixture, "bob", body)
      let start = cpuMicroseconds()
      let count = try await bob.sync().count
      first = min(first, cpuMicroseconds() - start)
      guard count == Int64(rooms + 21) else { throw Unexpected() }
    }
    for number in 0..<20 {
      let start = cpuMicroseconds()
      try await fixture.base.send("\(number)", to: template, by: "ann")
      guard try await bob.sync().rooms == [template.string] else { throw Unexpected() }
      next = min(next, cpuMicroseconds() - start)
    }
    return (first, next)
  }

  private struct Unexpected: Error {}

  // In a process of its own: processor time is that of a process, and other tests run in this one.
  @Test func `a first request for twenty of thousands of rooms, and news in one, cost little more than of a hundred`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      let few = try await SlidingScaleTests.costs(rooms: 100)
      let many = try await SlidingScaleTests.costs(rooms: 3_000)
      // Thirty times the rooms; generous, for this is not an optimized build and the machine is shared.
      exit(many.first < few.first * 12 && many.next < few.next * 12 ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }
}
