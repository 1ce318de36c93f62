import JSON
import Testing

@testable import HomeserverAPI

@Suite struct TimestampRouteTests {
  @Test func `the event nearest to a time is found in both directions`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let created = try await fixture.call(.post, "createRoom", as: ann, "{}")
      let room = path(try #require(created.json["room_id"]?.string))
      var sent: [(id: String, time: Int64)] = []
      for number in 0..<3 {
        fixture.advance(milliseconds: 1_000)
        let answer = try await fixture.call(
          .put, "rooms/\(room)/send/m.room.message/\(number)", as: ann, #"{"body":"x","msgtype":"m.text"}"#)
        let id = try #require(answer.json["event_id"]?.string)
        let event = try await fixture.call(.get, "rooms/\(room)/event/\(path(id))", as: ann)
        sent.append((id, try #require(event.json["origin_server_ts"]?.integer)))
      }
      func nearest(_ time: Int64, _ direction: String) async throws -> APIFixture.Answer {
        try await fixture.call(
          .get, "/_matrix/client/v1/rooms/\(room)/timestamp_to_event?ts=\(time)&dir=\(direction)", as: ann)
      }
      for (time, direction, index) in [(sent[1].time, "f", 1), (sent[1].time + 1, "f", 2), (sent[1].time + 1, "b", 1)] {
        let answer = try await nearest(time, direction)
        #expect(
          answer.json["event_id"]?.string == sent[index].id && answer.json["origin_server_ts"]?.integer == sent[index].time)
      }
      #expect(try await nearest(sent[2].time + 1, "f").errorCode == "M_NOT_FOUND")
      #expect(try await nearest(sent[2].time, "x").errorCode == "M_INVALID_PARAM")
      let eve = try await fixture.register("eve")
      let foreign = try await fixture.call(
        .get, "/_matrix/client/v1/rooms/\(room)/timestamp_to_event?ts=0&dir=f", as: eve)
      #expect(foreign.errorCode == "M_FORBIDDEN")
    }
  }
}
