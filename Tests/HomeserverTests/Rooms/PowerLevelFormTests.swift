import JSON
import MatrixModel
import Testing

@testable import ServerRooms

/// Power levels that the specification calls invalid are refused before they are stored, in every room version.
@Suite struct PowerLevelFormTests {
  private static let malformed = [
    #""ban":"abc""#, #""kick":1.5"#, #""redact":{}"#, #""invite":true"#, #""users_default":null"#, #""events":[]"#,
    #""events":{"a":null}"#, #""events":{"a":"x"}"#, #""notifications":3"#, #""notifications":{"room":[]}"#,
    #""state_default":9007199254740992"#
  ]

  private func content(_ more: String) -> String { #"{"users":{"@ann:example.org":100},\#(more)}"# }

  @Test(arguments: ["9", "11"], Self.malformed)
  func `malformed power levels are neither sent nor part of a new room`(version: String, levels: String) async throws {
    let fixture = try RoomsFixture()
    let ann = RoomsFixture.actor("ann")
    let room = try await fixture.createRoom(by: "ann", #"{"room_version":"\#(version)"}"#)
    let before = try await fixture.rooms.state(.powerLevels, "", of: room, for: ann.userID).eventID
    let wrong = try json(content(levels))
    for key in ["", "other"] {
      let refused = await errorCode {
        _ = try await fixture.rooms.setState(.powerLevels, ByteString(key), wrong, in: room, by: ann)
      }
      #expect(refused == .badJSON)
    }
    #expect(try await fixture.rooms.state(.powerLevels, "", of: room, for: ann.userID).eventID == before)
    let initial = #"[{"type":"m.room.power_levels","content":\#(content(levels))}]"#
    for settings in [#""power_level_content_override":{\#(levels)}"#, #""initial_state":\#(initial)"#] {
      let refused = await errorCode {
        _ = try await fixture.createRoom(by: "ann", #"{"room_version":"\#(version)",\#(settings)}"#)
      }
      #expect(refused == .invalidRoomState)
    }
  }

  @Test(arguments: [#"{"users":{"@ann:example.org":100,"bob":1}}"#, #"{"users":{"@ann:example.org":null}}"#, #"{"users":[]}"#])
  func `the users of power levels are user IDs with integers`(levels: String) async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann", "{}")
    let refused = await errorCode {
      _ = try await fixture.rooms.setState(.powerLevels, "", json(levels), in: room, by: RoomsFixture.actor("ann"))
    }
    #expect(refused == .badJSON)
  }

  @Test(arguments: [("9", true), ("10", false)])
  func `integers as strings are for room versions before 10`(version: String, isAllowed: Bool) async throws {
    let fixture = try RoomsFixture()
    let room = try await fixture.createRoom(by: "ann", #"{"room_version":"\#(version)"}"#)
    let levels = try json(content(#""ban":" +60 ","events":{"m.room.name":"50"}"#))
    let refused = await errorCode {
      _ = try await fixture.rooms.setState(.powerLevels, "", levels, in: room, by: RoomsFixture.actor("ann"))
    }
    #expect(refused == (isAllowed ? nil : .badJSON))
  }
}
