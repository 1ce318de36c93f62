import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite("Who is in a room's call, as the client keeps it")
struct CallMembersTests {
  private func event(_ key: String, _ content: String, before: String? = nil) throws -> Event {
    let unsigned = before.map { #","unsigned":{"prev_content":\#($0)}"# } ?? ""
    let json =
      #"{"type":"org.matrix.msc3401.call.member","sender":"@\#(key):x","state_key":"\#(key)","origin_server_ts":70000,"content":\#(content)\#(unsigned)}"#
    return try #require(Event(try JSON.parse(Array(json.utf8))))
  }

  @Test("A device comes, changes and goes; other events are none of it")
  func comingAndGoing() throws {
    var members = CallMembers()
    #expect(members.take(try event("a", #"{"device_id":"A"}"#), "a"))
    #expect(members.take(try event("a", #"{"device_id":"B"}"#), "a"))
    #expect(members.take(try event("b", #"{"device_id":"C"}"#), "b"))
    #expect(members.users.map(\.string) == ["@a:x", "@b:x"] && members.events.count == 2)
    let kept = try JSON.parse(members.events[0].json)
    #expect(kept["content"]?["device_id"]?.string == "B" && kept["origin_server_ts"]?.integer == 70_000)
    #expect(members.take(try event("a", "{}"), "a"))
    #expect(!members.take(try event("a", "{}"), "a"), "it had gone")
    let name = try #require(
      Event(try JSON.parse(Array(#"{"type":"m.room.name","sender":"@a:x","state_key":"","content":{}}"#.utf8))))
    #expect(!members.take(name, "") && members.events.count == 1)
  }

  @Test("What is kept comes back from the record of the room")
  func record() throws {
    var state = RoomState(membership: .join)
    #expect(state.call.take(try event("_@a:x_D_m.call", #"{"device_id":"D","expires":1}"#), "_@a:x_D_m.call"))
    let id = try #require(RoomID("!r:x"))
    let restored = try #require(RoomState(record: try JSON.parse(state.record(of: id))))
    #expect(restored.call.events.map(\.json) == state.call.events.map(\.json))
    #expect(restored.call.events.map(\.key) == ["_@a:x_D_m.call"])
  }

  @Test("Too many, and one that says too much, are not kept")
  func limits() throws {
    var members = CallMembers()
    for number in 0...Limits.callMembers { _ = members.take(try event("\(number)", #"{"a":1}"#), ByteString("\(number)")) }
    #expect(members.events.count == Limits.callMembers)
    var other = CallMembers()
    let room = Limits.callMemberBytes - #"{"a":""}"#.utf8.count
    #expect(other.take(try event("a", #"{"a":"\#(String(repeating: "x", count: room))"}"#), "a"))
    #expect(other.take(try event("a", #"{"a":"\#(String(repeating: "x", count: room + 1))"}"#), "a"))
    #expect(other.events.isEmpty)
  }

  @Test("The timeline tells who came and who went after how long; what is written again is nothing to read")
  func lines() throws {
    let inCall = #"{"device_id":"D","created_ts":10000}"#
    guard case .callJoined? = StateChange(try event("a", inCall)) else { throw Unexpected() }
    guard case .callJoined? = StateChange(try event("a", inCall, before: "{}")) else { throw Unexpected() }
    guard case .callLeft(after: 60_000, ending: nil)? = StateChange(try event("a", "{}", before: inCall)) else {
      throw Unexpected()
    }
    guard case .callLeft(after: nil, ending: nil)? = StateChange(try event("a", "{}", before: #"{"device_id":"D"}"#)) else {
      throw Unexpected()
    }
    guard case .callLeft(after: nil, ending: nil)? = StateChange(try event("a", "{}", before: #"{"created_ts":9000000}"#))
    else {
      throw Unexpected()
    }
    #expect(StateChange(try event("a", inCall, before: inCall)) == nil)
    #expect(StateChange(try event("a", "{}", before: "{}")) == nil)
    #expect(StateChange(try event("a", "{}")) == nil)
  }

  private struct Unexpected: Error {}
}
