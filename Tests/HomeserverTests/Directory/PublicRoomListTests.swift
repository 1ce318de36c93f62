import Glibc
import JSON
import MatrixModel
import Testing

@testable import Homeserver

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

  /// Rows are written past the rooms chapter: what is measured is reading.
  @Test func `a page of five thousand rooms costs no more than one of fifty`() async throws {
    let summary = Array(#""room_id":"!x","name":"room","world_readable":false,"guest_can_join":false"#.utf8)
    func fill(_ count: Int) async throws {
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
    // The least of several: other tests run beside this one.
    func seconds(_ query: PublicRooms.Query) async throws -> Double {
      var least = Double.infinity
      for _ in 0..<40 {
        let begin = clock()
        for _ in 0..<5 { _ = try await publicRooms.page(query) }
        least = min(least, Double(clock() - begin))
      }
      return least
    }
    try await fill(51)
    _ = try await seconds(.init())
    let few = try await seconds(.init())
    try await fill(4_949)
    let first = try await publicRooms.page(.init())
    var next = PublicRooms.Query()
    next.since = first.next
    #expect(first.rooms.count == PublicRooms.limitDefault && first.total == 5_000)
    #expect(try await seconds(.init()) / few < 20)
    #expect(try await seconds(next) / few < 20)
  }
}
