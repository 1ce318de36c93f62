import HTTPServer
import JSON
import MatrixModel
import Testing

@testable import HomeserverAPI
@testable import ServerCore

/// Sync, typing and receipts as clients ask for them.
@Suite(.timeLimit(.minutes(2))) struct SyncRouteTests {
  private func room(_ fixture: APIFixture, _ ann: APIFixture.User, _ bob: APIFixture.User) async throws -> String {
    let answer = try await fixture.call(.post, "createRoom", as: ann, #"{"preset":"public_chat"}"#)
    let room = try #require(answer.json["room_id"]?.string)
    _ = try await fixture.call(.post, "rooms/\(room)/join", as: bob, "{}")
    return room
  }

  private func since(_ answer: APIFixture.Answer) throws -> String { try #require(answer.json["next_batch"]?.string) }

  @Test func `sync takes a token, a stored filter and a timeout`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let room = try await room(fixture, ann, bob)
      let filter = try await fixture.call(
        .post, "user/\(bob.userID)/filter", as: bob, #"{"room":{"timeline":{"limit":1}}}"#)
      let id = try #require(filter.json["filter_id"]?.string)
      let first = try await fixture.call(.get, "sync?filter=\(id)", as: bob)
      #expect(first.json["rooms"]?["join"]?[ByteString(room)]?["timeline"]?["events"]?.count == 1)
      let idle = try await fixture.call(.get, "sync?filter=\(id)&since=\(try since(first))&timeout=1", as: bob)
      #expect(idle.status == 200 && idle.json["rooms"] == nil)
      #expect(idle.json["device_unused_fallback_key_types"]?.isArray ?? false)
      _ = try await fixture.call(
        .put, "rooms/\(room)/send/m.room.message/1", as: ann, #"{"msgtype":"m.text","body":"hi"}"#)
      let news = try await fixture.call(.get, "sync?since=\(try since(idle))&timeout=30000", as: bob)
      let told = news.json["rooms"]?["join"]?[ByteString(room)]
      #expect(told?["timeline"]?["events"]?.elements.first { _ in true }?["content"]?["body"]?.string == "hi")
      #expect(told?["unread_notifications"]?["notification_count"]?.integer == 1)
      let echo = try await fixture.call(.get, "sync?since=\(try since(idle))", as: ann)
      let event = echo.json["rooms"]?["join"]?[ByteString(room)]?["timeline"]?["events"]?.elements.first { _ in true }
      #expect(event?["unsigned"]?["transaction_id"]?.string == "1")
    }
  }

  @Test(arguments: [
    "since=x", "timeout=-1", "timeout=x", "full_state=1", "set_presence=away", "filter=99", "filter=%7B",
    "use_state_after=x"
  ])
  func `a parameter that is not valid is refused`(query: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let answer = try await fixture.call(.get, "sync?" + query, as: ann)
      #expect(answer.status == 400 && answer.errorCode == "M_INVALID_PARAM")
    }
  }

  @Test(arguments: [
    #"{"room":{"rooms":["not-a-room"]}}"#, #"{"room":{"timeline":{"senders":["not-a-user"]}}}"#,
    #"{"presence":{"not_senders":["@ann"]}}"#, #"{"room":{"state":{"not_rooms":["an:alias"]}}}"#
  ]) func `a filter that names rooms or senders by nonsense is not stored`(filter: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let answer = try await fixture.call(.post, "user/\(ann.userID)/filter", as: ann, filter)
      #expect(answer.status == 400 && answer.errorCode == "M_BAD_JSON")
    }
  }

  @Test(arguments: [false, true])
  func `a device that is logged out ends its own waiting syncs`(isSliding: Bool) async throws {
    try await APIFixture.run { fixture in
      let phone = try await fixture.register("ann")
      let desk = try fixture.user(try await fixture.logIn("ann"))
      let sliding = "/_matrix/client/unstable/org.matrix.simplified_msc3575/sync"
      func waiting(_ user: APIFixture.User) async throws -> Task<APIFixture.Answer, any Error> {
        let first = try await fixture.call(
          isSliding ? .post : .get, isSliding ? sliding : "sync", as: user, isSliding ? "{}" : nil)
        let token = try #require(first.json[isSliding ? "pos" : "next_batch"]?.string)
        let path = isSliding ? "\(sliding)?pos=\(token)" : "sync?since=\(token)"
        return Task {
          try await fixture.call(isSliding ? .post : .get, path + "&timeout=300000", as: user, isSliding ? "{}" : nil)
        }
      }
      func parked() async {
        while !(fixture.homeserver.notifier.watch(of: phone.userID)?.isParked ?? false) { await Task.yield() }
      }
      let sync = try await waiting(phone)
      await parked()
      #expect(try await fixture.call(.post, "logout", as: phone, "{}").status == 200)
      let answer = try await sync.value
      #expect(answer.status == 401 && answer.errorCode == "M_UNKNOWN_TOKEN")
      // A device that was deleted, too; the one that deletes it goes on.
      let other = try fixture.user(try await fixture.logIn("ann"))
      let syncs = [try await waiting(other), try await waiting(desk)]
      await parked()
      let auth = #"{"type":"m.login.password","identifier":{"type":"m.id.user","user":"ann"},"password":"correct horse"}"#
      #expect(try await fixture.call(.delete, "devices/\(other.deviceID)", as: desk, #"{"auth":\#(auth)}"#).status == 200)
      #expect(try await syncs[0].value.errorCode == "M_UNKNOWN_TOKEN")
      #expect(try await syncs[1].value.status == 200)
    }
  }

  @Test func `typing is shown to the others, and only users themselves can set it`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let room = try await room(fixture, ann, bob)
      let before = try since(try await fixture.call(.get, "sync", as: bob))
      let path = "rooms/\(room)/typing/\(ann.userID)"
      #expect(try await fixture.call(.put, path, as: bob, #"{"typing":true}"#).errorCode == "M_FORBIDDEN")
      #expect(try await fixture.call(.put, path, as: ann, "{}").errorCode == "M_MISSING_PARAM")
      #expect(try await fixture.call(.put, path, as: ann, #"{"typing":null}"#).status == 200)
      #expect(try await fixture.call(.put, path, as: ann, #"{"typing":true,"timeout":30000}"#).status == 200)
      let answer = try await fixture.call(.get, "sync?since=\(before)", as: bob)
      let events = answer.json["rooms"]?["join"]?[ByteString(room)]?["ephemeral"]?["events"]
      #expect(
        events?.elements.first { _ in true }?["content"]?["user_ids"]?.elements.compactMap(\.string) == [
          ann.userID.string
        ])
    }
  }

  @Test func `receipts and markers are taken in both forms and checked`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let room = try await room(fixture, ann, bob)
      let sent = try await fixture.call(.put, "rooms/\(room)/send/m.room.message/1", as: ann, #"{"body":"hi"}"#)
      let event = try #require(sent.json["event_id"]?.string)
      func post(_ kind: String, _ body: String = "{}") async throws -> APIFixture.Answer {
        try await fixture.call(.post, "rooms/\(room)/receipt/\(kind)/\(event)", as: bob, body)
      }
      #expect(try await post("m.read").status == 200)
      #expect(try await post("m.read.private", #"{"thread_id":"main"}"#).status == 200)
      #expect(try await post("m.fully_read").status == 200)
      #expect(try await post("m.other").errorCode == "M_INVALID_PARAM")
      #expect(try await post("m.read", #"{"thread_id":""}"#).errorCode == "M_INVALID_PARAM")
      #expect(try await post("m.read", #"{"thread_id":1}"#).errorCode == "M_INVALID_PARAM")
      #expect(try await post("m.fully_read", #"{"thread_id":"main"}"#).errorCode == "M_INVALID_PARAM")
      let markers = #"{"m.fully_read":"\#(event)","m.read":"\#(event)"}"#
      #expect(try await fixture.call(.post, "rooms/\(room)/read_markers", as: ann, markers).status == 200)
      let answer = try await fixture.call(.get, "sync", as: bob)
      let told = answer.json["rooms"]?["join"]?[ByteString(room)]
      let receipts = told?["ephemeral"]?["events"]?.elements.first { _ in true }?["content"]?[ByteString(event)]?[
        "m.read"]
      #expect(receipts?["@ann:example.org"] != nil && receipts?["@bob:example.org"] != nil)
      #expect(told?["account_data"]?["events"]?.elements.first { _ in true }?["type"]?.string == "m.fully_read")
    }
  }
}
