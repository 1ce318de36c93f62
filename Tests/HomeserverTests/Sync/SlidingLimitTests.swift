import JSON
import MatrixModel
import Testing

@testable import ServerSync

/// What a sliding sync may ask for, on both sides of each limit, and that asking for the same again and again costs nothing.
@Suite struct SlidingLimitTests {
  private static func list(_ members: String) -> String { #"{"lists":{"all":{\#(members)}}}"# }

  private func isTaken(_ body: String) -> Bool {
    (try? SlidingRequest(json(body), of: RoomsFixture.user("ann"), DeviceID(trusted: "DEVICE"))) != nil
  }

  private static func pairs(_ count: Int, _ prefix: String) -> String {
    "[" + (0..<count).map { #"["\#(prefix)\#($0)","*"]"# }.joined(separator: ",") + "]"
  }

  @Test func `parts of names, spaces and wanted state have limits`() {
    for (count, isAllowed) in [(255, true), (256, false)] {
      let name = String(repeating: "n", count: count)
      #expect(isTaken(Self.list(#""filters":{"room_name_like":"\#(name)"}"#)) == isAllowed)
    }
    for (count, isAllowed) in [(100, true), (101, false)] {
      let spaces = (0..<count).map { #""!s\#($0):example.org""# }.joined(separator: ",")
      #expect(isTaken(Self.list(#""filters":{"spaces":[\#(spaces)]}"#)) == isAllowed)
    }
    for (count, isAllowed) in [(500, true), (501, false)] {
      #expect(isTaken(Self.list(#""required_state":\#(Self.pairs(count, "x"))"#)) == isAllowed)
    }
    let lists = (0..<9).map { #""l\#($0)":{"required_state":\#(Self.pairs(500, "t\($0)."))}"# }.joined(separator: ",")
    for (count, isAllowed) in [(500, true), (501, false)] {
      let halves = (Self.pairs(250, "s"), Self.pairs(count - 250, "s"))
      let more = #""!r:example.org":{"required_state":\#(halves.0)},"!s:example.org":{"required_state":\#(halves.1)}"#
      #expect(isTaken(#"{"lists":{\#(lists)},"room_subscriptions":{\#(more)}}"#) == isAllowed)
    }
  }

  @Test func `ranges that overlap are one`() async throws {
    let fixture = try SyncFixture()
    var rooms: [RoomID] = []
    for _ in 0..<6 { rooms.append(try await fixture.room(of: "ann", "bob")) }
    let bob = SlidingClient(fixture, "bob", SlidingClient.list("[1,2],[0,1],[4,4],[1,1]"))
    let first = try await bob.sync()
    #expect(first.rooms == Set([rooms[5], rooms[4], rooms[3], rooms[1]].map(\.string)) && first.count == 6)
  }

  /// Each list once more for each range for each room would be hundreds of thousands of times.
  @Test(.timeLimit(.minutes(1))) func `many lists of many ranges tell each room once, with what any of them wants`()
    async throws
  {
    let fixture = try SyncFixture()
    var rooms: [RoomID] = []
    for _ in 0..<30 { rooms.append(try await fixture.room(of: "ann", "bob")) }
    let ranges = Array(repeating: "[0,99]", count: 100).joined(separator: ",")
    let lists = (0..<100).map { number in
      let state =
        number == 7 ? #"[["m.room.create",""]]"# : number == 70 ? #"[["m.room.join_rules",""]]"# : Self.pairs(40, "t\(number).")
      return #""l\#(number)":{"ranges":[\#(ranges)],"timeline_limit":\#(number == 50 ? 3 : 0),"required_state":\#(state)}"#
    }
    let bob = SlidingClient(fixture, "bob", #"{"lists":{\#(lists.joined(separator: ","))}}"#)
    let answer = try await bob.sync()
    #expect(answer.rooms == Set(rooms.map(\.string)))
    let told = try #require(answer.room(rooms[0]))
    #expect(told.timeline.count == 3 && told.json["lists"]?.count == 100)
    let types = told.json["required_state"]?.elements.compactMap { $0["type"]?.string }
    #expect(types.map { Set($0) } == ["m.room.create", "m.room.join_rules"])
    #expect(try await bob.sync().rooms.isEmpty)
  }
}
