import JSON
import MatrixModel
import ServerDirectory
import Testing

@testable import HomeserverAPI

@Suite struct ReportTests {
  private static func event(_ fixture: APIFixture, in roomID: String, by user: APIFixture.User) async throws -> String {
    let answer = try await fixture.call(
      .put, "rooms/\(path(roomID))/send/m.room.message/t", as: user, #"{"msgtype":"m.text","body":"x"}"#)
    return try #require(answer.json["event_id"]?.string)
  }

  @Test func `reports of rooms, events and users are stored for the administrators`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let room = try await fixture.call(.post, "createRoom", as: ann, "{}")
      let roomID = try #require(room.json["room_id"]?.string)
      let eventID = try await Self.event(fixture, in: roomID, by: ann)
      #expect(try await fixture.call(.post, "rooms/\(path(roomID))/report", as: ann, #"{"reason":"bad"}"#).status == 200)
      #expect(try await fixture.call(.post, "rooms/\(path(roomID))/report/\(path(eventID))", as: ann, "{}").status == 200)
      #expect(try await fixture.call(.post, "users/\(path("@x:example.org"))/report", as: ann, #"{"reason":""}"#).status == 200)
      let reports = fixture.homeserver.reports
      let list = try await reports.list(limit: 10)
      let room1 = RoomID(trusted: ByteString(roomID))
      #expect(
        list.map(\.subject) == [
          .user(UserID(trusted: "@x:example.org")), .event(EventID(trusted: ByteString(eventID)), room1), .room(room1)
        ])
      #expect(list.map(\.reason) == ["", "", "bad"] && list.allSatisfy { $0.reporter == ann.userID })
      #expect(try await reports.list(before: list[1].number, limit: 10).map(\.number) == [list[2].number])
      #expect(try await reports.report(list[2].number).reason == "bad")
      try await reports.delete(list[2].number)
      #expect(try await reports.list(limit: 1).map(\.number) == [list[0].number])
      let gone = list[2].number
      await #expect(throws: MatrixError.self) { try await reports.delete(gone) }
    }
  }

  @Test func `whether a room or a user exists makes no difference, whether an event does only for members`() async throws {
    try await APIFixture.run { fixture in
      let (ann, bob) = (try await fixture.register("ann"), try await fixture.register("bob"))
      let room = try await fixture.call(.post, "createRoom", as: ann, "{}")
      let roomID = try #require(room.json["room_id"]?.string)
      let eventID = try await Self.event(fixture, in: roomID, by: ann)
      for target in ["rooms/\(path(roomID))/report", "rooms/!none/report", "users/\(path("@none:example.org"))/report"] {
        let answer = try await fixture.call(.post, target, as: bob, #"{"reason":"r"}"#)
        #expect(answer.status == 200 && answer.json.count == 0)
      }
      var refusals: Set<String> = []
      for (target, user) in [
        ("rooms/\(path(roomID))/report/\(path(eventID))", bob), ("rooms/!none/report/\(path(eventID))", bob),
        ("rooms/\(path(roomID))/report/$none", bob), ("rooms/\(path(roomID))/report/$none", ann)
      ] {
        let answer = try await fixture.call(.post, target, as: user, #"{"reason":"r"}"#)
        #expect(answer.status == 404)
        refusals.insert(String(decoding: answer.json.bytes, as: UTF8.self))
      }
      #expect(refusals.count == 1)
    }
  }

  @Test func `a reason is needed but for events, and has its limit`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      for target in ["rooms/!none/report", "users/\(path("@none:example.org"))/report"] {
        #expect(try await fixture.call(.post, target, as: ann, "{}").errorCode == "M_MISSING_PARAM")
        #expect(try await fixture.call(.post, target, as: ann, #"{"reason":1}"#).errorCode == "M_BAD_JSON")
        for (count, code) in [(Reports.reasonBytesLimit, nil), (Reports.reasonBytesLimit + 1, "M_TOO_LARGE")]
          as [(Int, String?)]
        {
          let reason = String(repeating: "x", count: count)
          #expect(try await fixture.call(.post, target, as: ann, #"{"reason":"\#(reason)"}"#).errorCode == code)
        }
      }
      #expect(try await fixture.call(.post, "users/nobody/report", as: ann, #"{"reason":""}"#).errorCode == "M_INVALID_PARAM")
    }
  }

  @Test func `reports are rate limited more than other writing`() async throws {
    try await APIFixture.run(APIConfiguration()) { fixture in
      let ann = try await fixture.register("ann")
      var reported = 0
      // On a slow machine some of the allowance grows again meanwhile.
      while reported < 200 {
        let answer = try await fixture.call(.post, "rooms/!none/report", as: ann, #"{"reason":"r"}"#)
        if answer.errorCode == "M_LIMIT_EXCEEDED" { break }
        #expect(answer.status == 200)
        reported += 1
      }
      #expect((20..<200).contains(reported))
    }
  }
}
