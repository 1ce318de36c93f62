import Homeserver
import JSON
import MatrixModel
import Testing

/// Media, reports, registration tokens, figures.
@Suite struct ContentAdministrationTests {
  private static func upload(_ server: AdministrationFixture, _ user: APIFixture.User, _ content: String) async throws -> String
  {
    let answer = try await server.fixture.raw(
      .post, "/_matrix/media/v3/upload?filename=\(content).txt", token: user.token, headers: [("Content-Type", "text/plain")],
      body: Array(content.utf8))
    return try #require(MediaURI(JSON.parse(answer.body)["content_uri"])).mediaID.string
  }

  private static func status(_ server: AdministrationFixture, _ mediaID: String) async throws -> Int {
    try await server.fixture.raw(
      .get, "/_matrix/client/v1/media/download/example.org/\(mediaID)", token: server.bob.token
    ).status
  }

  @Test func `media are listed, withdrawn, protected and deleted`() async throws {
    try await AdministrationFixture.run { server in
      let one = try await Self.upload(server, server.ann, "one")
      server.fixture.advance(milliseconds: 1_000)
      let two = try await Self.upload(server, server.ann, "twotwo")
      let list = try await server.ask(.get, "/v1/users/@ann:example.org/media").json
      #expect(list.texts("media", "media_id") == [two, one] && list["total"]?.integer == 2)
      #expect(list.texts("media", "upload_name") == ["twotwo.txt", "one.txt"])
      let page = try await server.ask(.get, "/v1/users/@ann:example.org/media?limit=1&order_by=media_length").json
      #expect(page.texts("media", "media_id") == [one] && page["next_token"]?.integer == 1)
      let info = try await server.ask(.get, "/v1/media/example.org/\(one)").json["media_info"]
      #expect(info?["user_id"]?.string == "@ann:example.org" && info?["media_length"]?.integer == 3)
      let usage = try await server.ask(.get, "/v1/statistics/users/media?order_by=media_length&dir=b").json
      let user = usage["users"]?.elements.first { _ in true }
      #expect(user?["media_count"]?.integer == 2 && user?["media_length"]?.integer == 9 && usage["total"]?.integer == 1)
      #expect(try await server.ask(.get, "/v1/statistics/users/media?from_ts=1700000001001").json["total"]?.integer == 0)
      #expect(try await server.ask(.get, "/v1/statistics/users/media?search_term=bob").json["total"]?.integer == 0)

      #expect(
        try await server.ask(.post, "/v1/media/quarantine/example.org/\(one)", "{}").json["num_quarantined"]?.integer == 1)
      #expect(try await Self.status(server, one) == 404)
      #expect(try await server.ask(.post, "/v1/media/unquarantine/example.org/\(one)").status == 200)
      #expect(try await Self.status(server, one) == 200)
      #expect(try await server.ask(.post, "/v1/media/protect/\(two)").status == 200)
      let all = try await server.ask(.post, "/v1/user/@ann:example.org/media/quarantine").json
      #expect(all["num_quarantined"]?.integer == 1)
      #expect(try await Self.status(server, two) == 200)
      #expect(try await server.ask(.post, "/v1/media/unprotect/\(two)").status == 200)
      #expect(try await server.ask(.post, "/v1/media/protect/none").errorCode == "M_NOT_FOUND")

      let deleted = try await server.ask(.delete, "/v1/media/example.org/\(one)").json
      #expect(deleted.texts("deleted_media") == [one] && deleted["total"]?.integer == 1)
      #expect(try await server.ask(.post, "/v1/media/delete?before_ts=1700000002000&size_gt=6").json["total"]?.integer == 0)
      #expect(try await server.ask(.post, "/v1/media/example.org/delete?before_ts=1700000002000").json["total"]?.integer == 1)
      #expect(try await server.ask(.post, "/v1/media/delete").errorCode == "M_MISSING_PARAM")
      let three = try await Self.upload(server, server.ann, "three")
      #expect(try await server.ask(.delete, "/v1/users/@ann:example.org/media").json.texts("deleted_media") == [three])
      #expect(try await Self.status(server, three) == 404)
    }
  }

  @Test func `reports are listed, shown with their event, and deleted`() async throws {
    try await AdministrationFixture.run { server in
      let room = try await server.room(by: server.ann, #"{"preset":"public_chat"}"#)
      try await server.join(room, by: server.bob)
      let event = try await server.say("bad", in: room, by: server.ann)
      for (path, reason) in [("rooms/\(room)/report/\(event)", "spam"), ("rooms/\(room)/report", "room")] {
        #expect(try await server.fixture.call(.post, path, as: server.bob, #"{"reason":"\#(reason)"}"#).status == 200)
      }
      let list = try await server.ask(.get, "/v1/event_reports?room_id=\(room)&user_id=@bob:example.org").json
      #expect(list["total"]?.integer == 1 && list.texts("event_reports", "event_id") == [event])
      let number = try #require(list["event_reports"]?.elements.first { _ in true }?["id"]?.integer)
      let report = try await server.ask(.get, "/v1/event_reports/\(number)").json
      #expect(report["reason"]?.string == "spam" && report["sender"]?.string == "@ann:example.org")
      #expect(report["event_json"]?["content"]?["body"]?.string == "bad")
      let all = try await server.ask(.get, AdministrationFixture.own + "/reports").json
      #expect(all.texts("reports", "reason") == ["room", "spam"])
      let page = try await server.ask(.get, AdministrationFixture.own + "/reports?limit=1").json
      #expect(try #require(page["next_before"]?.integer) > number)
      #expect(try await server.ask(.delete, "/v1/event_reports/\(number)").status == 200)
      #expect(try await server.ask(.get, "/v1/event_reports").json["total"]?.integer == 0)
      #expect(try await server.ask(.get, "/v1/event_reports?user_id=x").errorCode == "M_INVALID_PARAM")
    }
  }

  @Test("A report shows the messages around it, and its message is removed by somebody who is not in the room")
  func context() async throws {
    try await AdministrationFixture.run { server in
      let room = try await server.room(by: server.ann, #"{"preset":"public_chat","name":"Garden"}"#)
      try await server.join(room, by: server.bob)
      for number in 1...7 { try await server.say("before\(number)", in: room, by: server.bob) }
      let event = try await server.say("bad", in: room, by: server.ann)
      try await server.say("after", in: room, by: server.bob)
      for path in ["rooms/\(room)/report/\(event)", "users/@ann:example.org/report"] {
        #expect(try await server.fixture.call(.post, path, as: server.bob, #"{"reason":"rude"}"#).status == 200)
      }
      let path = AdministrationFixture.own + "/reports"
      let numbers = try await server.ask(.get, path).json["reports"]?.elements.compactMap { $0["id"]?.integer } ?? []
      let user = try await server.ask(.get, path + "/\(try #require(numbers.first))").json
      #expect(user["reported_user_id"]?.string == "@ann:example.org" && user["event_json"] == nil)
      let number = try #require(numbers.last)
      let report = try await server.ask(.get, path + "/\(number)").json
      func bodies(_ list: StaticString) -> [String] {
        report[list]?.elements.compactMap { $0["content"]?["body"]?.string } ?? []
      }
      #expect(report["event_json"]?["content"]?["body"]?.string == "bad" && report["room_name"]?.string == "Garden")
      #expect(bodies("events_before") == (3...7).map { "before\($0)" } && bodies("events_after") == ["after"])

      let removal = AdministrationFixture.own + "/rooms/\(room)/redact/\(event)"
      #expect(try await server.fixture.call(.post, removal, as: server.ann, "{}").errorCode == "M_FORBIDDEN")
      // The sender has left by then, so the most powerful member removes it.
      #expect(try await server.ask(.post, removal, #"{"reason":"rude"}"#).status == 200)
      #expect(try await server.ask(.post, removal + "x", "{}").errorCode == "M_NOT_FOUND")
      let after = try await server.ask(.get, path + "/\(number)").json["event_json"]
      #expect(after?["content"]?["body"] == nil && after?["unsigned"]?["redacted_because"] != nil)
      let other = try await server.say("worse", in: room, by: server.bob)
      #expect(try await server.fixture.call(.post, "rooms/\(room)/leave", as: server.bob, "{}").status == 200)
      let second = AdministrationFixture.own + "/rooms/\(room)/redact/\(other)"
      #expect(try await server.ask(.post, second).status == 200)
      #expect(try await server.audit().suffix(3) == ["room.redact done", "room.redact M_NOT_FOUND", "room.redact done"])
      #expect(try await server.ask(.delete, path + "/\(number)").status == 200)
      #expect(try await server.ask(.get, path + "/\(number)").errorCode == "M_NOT_FOUND")
    }
  }

  @Test("Figures are kept for each day, and a purge takes nothing away from them")
  func daily() async throws {
    try await AdministrationFixture.run { server in
      let path = AdministrationFixture.own + "/statistics/daily"
      func days(_ query: String = "") async throws -> [[Int64?]] {
        try await server.ask(.get, path + query).json["days"]?.elements.map { day in
          [day["messages"]?.integer, day["users"]?.integer, day["active_users"]?.integer, day["rooms"]?.integer]
        } ?? []
      }
      #expect(try await days() == [[0, 3, 3, 0]])
      let room = try await server.room(by: server.ann)
      for text in ["one", "two", "three"] { try await server.say(text, in: room, by: server.ann) }
      #expect(try await days() == [[3, 3, 3, 1]])
      #expect(try await days() == [[3, 3, 3, 1]])
      server.fixture.advance(milliseconds: 24 * 60 * 60 * 1_000)
      try await server.say("four", in: room, by: server.ann)
      _ = try await server.ask(.delete, "/v2/rooms/\(room)", "{}")
      await server.settle()
      let two = try await days("?days=7")
      #expect(two.count == 2 && two[0] == [3, 3, 3, 1] && two[1][3] == 0)
      #expect(try await days("?days=1").count == 1)
      for query in ["?days=0", "?days=401", "?days=x"] {
        #expect(try await server.ask(.get, path + query).errorCode == "M_INVALID_PARAM")
      }
      #expect(try await server.fixture.call(.get, path, as: server.ann).errorCode == "M_FORBIDDEN")
    }
  }

  @Test("The server tells how it is, but only administrators")
  func health() async throws {
    try await AdministrationFixture.run { server in
      let path = AdministrationFixture.own + "/health"
      let health = try await server.ask(.get, path).json
      #expect(health["server_name"]?.string == "example.org" && health["started_ts"]?.integer == 1_700_000_000_000)
      #expect(health["database_bytes"]?.integer ?? 0 > 4_096 && health["waiting_reads"]?.integer != nil)
      #expect(try await server.fixture.call(.get, path, as: server.ann).errorCode == "M_FORBIDDEN")
    }
  }

  @Test func `registration tokens are made, changed and deleted`() async throws {
    try await AdministrationFixture.run { server in
      let path = "/v1/registration_tokens"
      let made = try await server.ask(
        .post, path + "/new", #"{"token":"come-in","uses_allowed":2,"expiry_time":1800000000000}"#)
      #expect(made.json["token"]?.string == "come-in" && made.json["uses_allowed"]?.integer == 2)
      #expect(made.json["pending"]?.integer == 0 && made.json["completed"]?.integer == 0)
      #expect(try await server.ask(.post, path + "/new", #"{"length":20}"#).json["token"]?.string?.count == 20)
      #expect(try await server.ask(.post, path + "/new", "{}").json["uses_allowed"]?.isNull == true)
      for body in [#"{"length":65}"#, #"{"length":0}"#, #"{"token":"no way"}"#, #"{"uses_allowed":-1}"#, #"{"expiry_time":1}"#]
      {
        #expect(try await server.ask(.post, path + "/new", body).errorCode == "M_INVALID_PARAM")
      }
      let changed = try await server.ask(.put, path + "/come-in", #"{"uses_allowed":null}"#).json
      #expect(changed["uses_allowed"]?.isNull == true && changed["expiry_time"]?.integer == 1_800_000_000_000)
      #expect(try await server.ask(.get, path + "/come-in").json["token"]?.string == "come-in")
      #expect(try await server.ask(.get, path + "?valid=true").json["registration_tokens"]?.count == 3)
      #expect(try await server.ask(.get, path + "?valid=false").json["registration_tokens"]?.count == 0)
      #expect(try await server.ask(.delete, path + "/come-in").status == 200)
      #expect(try await server.ask(.get, path + "/come-in").errorCode == "M_NOT_FOUND")
      let log = String(decoding: try await server.ask(.get, AdministrationFixture.own + "/audit").json.bytes, as: UTF8.self)
      #expect(log.contains("token.create") && !log.contains("come-in"))
    }
  }

  @Test func `the server tells its version and its figures`() async throws {
    try await AdministrationFixture.run { server in
      #expect(try await server.ask(.get, "/v1/server_version").json["server_version"]?.string == "Martlet")
      _ = try await server.room(by: server.ann)
      let figures = try await server.ask(.get, AdministrationFixture.own + "/statistics").json
      #expect(figures["users"]?.integer == 3 && figures["administrators"]?.integer == 1 && figures["rooms"]?.integer == 1)
      #expect(figures["active_users_today"]?.integer == 3 && figures["devices"]?.integer == 3)
      server.fixture.advance(milliseconds: 25 * 60 * 60 * 1_000)
      #expect(try await server.ask(.get, AdministrationFixture.own + "/statistics").json["active_users_30_days"]?.integer == 3)
    }
  }
}
