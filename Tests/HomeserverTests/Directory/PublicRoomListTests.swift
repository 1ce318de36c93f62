import Glibc
import JSON
import MatrixModel
import Testing

@testable import ServerDirectory
@testable import ServerRooms

@Suite struct PublicRoomListTests {
  private let fixture: RoomsFixture
  private let publicRooms: PublicRooms

  init() throws {
    fixture = try RoomsFixture()
    publicRooms = PublicRooms(database: fixture.database, rooms: fixture.rooms)
  }

  private func names(_ query: PublicRooms.Query = .init()) async throws -> [String] {
    try await publicRooms.page(query).rooms.map { room in
      try JSON.parse([UInt8(ascii: "{")] + room.summary + [UInt8(ascii: "}")])["name"]?.string ?? "-"
    }
  }

  @Test func `a redacted name is gone from the list, and so is a room that is shut down`() async throws {
    let room = try await fixture.createRoom(by: "ann", #"{"visibility":"public","name":"rude"}"#)
    #expect(try await names() == ["rude"])
    let event = try await fixture.rooms.state(.name, "", of: room, for: RoomsFixture.user("ann"))
    _ = try await fixture.rooms.redact(
      event.eventID, in: room, json("{}"), by: RoomsFixture.actor("ann"), transactionID: TransactionID(trusted: "r"))
    #expect(try await names() == ["-"])
    _ = try await fixture.rooms.shutDown(room)
    #expect(try await names() == [])
  }

  @Test func `an upgraded room takes the place of the old one`() async throws {
    let room = try await fixture.createRoom(by: "ann", #"{"visibility":"public","name":"R","room_version":"10"}"#)
    let replacement = try await fixture.rooms.upgrade(
      room, try RoomUpgrade(json(#"{"new_version":"12"}"#)), by: RoomsFixture.actor("ann"))
    #expect(try await names() == ["R"])
    #expect(try await publicRooms.isPublished(replacement))
    #expect(try await publicRooms.isPublished(room) == false)
  }

  // In a process of its own: processor time is that of a process, and other tests run in this one.
  @Test func `a page of five thousand rooms costs no more than one of fifty`() async {
    await #expect(processExitsWith: .success) {
      let tests = try PublicRoomListTests()
      try await tests.fill(51)
      _ = try await tests.cost(.init())
      let few = try await tests.cost(.init())
      try await tests.fill(4_949)
      let first = try await tests.publicRooms.page(.init())
      guard first.rooms.count == PublicRooms.limitDefault, first.total == 5_000 else { exit(EXIT_FAILURE) }
      var next = PublicRooms.Query()
      next.since = first.next
      let isCheap = try await tests.cost(.init()) / few < 20
      let goesOnCheaply = try await tests.cost(next) / few < 20
      exit(isCheap && goesOnCheaply ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  /// Rows are written past the rooms chapter: what is measured is reading.
  private func fill(_ count: Int) async throws {
    let summary = Array(#""room_id":"!x","name":"room","world_readable":false,"guest_can_join":false"#.utf8)
    try await fixture.database.write { transaction in
      for _ in 0..<count {
        let room = transaction.nextPosition()
        try transaction.execute(
          "INSERT INTO public_room(room, search_text, summary) VALUES ($1, $2, $3)", room, "room \(room)", summary)
        for list in ["main", "all"] {
          try transaction.execute(
            "INSERT INTO public_room_list(room, list, joined) VALUES ($1, $2, $3)", room, list, room % 97)
        }
      }
    }
  }

  /// Processor time of five pages: the least of several.
  private func cost(_ query: PublicRooms.Query) async throws -> Double {
    var least = Double.infinity
    for _ in 0..<40 {
      let begin = clock()
      for _ in 0..<5 { _ = try await publicRooms.page(query) }
      least = min(least, Double(clock() - begin))
    }
    return least
  }
}
