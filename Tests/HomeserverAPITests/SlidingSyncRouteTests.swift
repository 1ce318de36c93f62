import JSON
import MatrixModel
import Testing

@testable import Homeserver
@testable import HomeserverAPI

/// Sliding sync, presence and what is ours of sync, as clients ask for them.
@Suite struct SlidingSyncRouteTests {
  private static let path = "/_matrix/client/unstable/org.matrix.simplified_msc3575/sync"

  private func room(_ fixture: APIFixture, _ ann: APIFixture.User, _ bob: APIFixture.User) async throws -> String {
    let answer = try await fixture.call(.post, "createRoom", as: ann, #"{"preset":"public_chat"}"#)
    let room = try #require(answer.json["room_id"]?.string)
    _ = try await fixture.call(.post, "rooms/\(room)/join", as: bob, "{}")
    return room
  }

  private func send(_ fixture: APIFixture, _ room: String, _ user: APIFixture.User, _ transaction: String) async throws {
    _ = try await fixture.call(
      .put, "rooms/\(room)/send/m.room.message/\(transaction)", as: user, #"{"msgtype":"m.text","body":"hi"}"#)
  }

  @Test func `sliding sync is served at both paths, with its position in query or body`() async throws {
    try await APIFixture.run { fixture in
      let (ann, bob) = (try await fixture.register("ann"), try await fixture.register("bob"))
      let room = try await room(fixture, ann, bob)
      let body = #""txn_id":"t","lists":{"all":{"ranges":[[0,9]],"timeline_limit":2,"required_state":[["m.room.create",""]]}}"#
      let first = try await fixture.call(.post, Self.path, as: bob, "{\(body)}")
      let told = first.json["rooms"]?[ByteString(room)]
      #expect(first.status == 200 && first.json["txn_id"]?.string == "t" && told?["timeline"]?.count == 2)
      #expect(told?["required_state"]?.count == 1 && first.json["lists"]?["all"]?["count"]?.integer == 1)
      let pos = try #require(first.json["pos"]?.string)
      try await send(fixture, room, ann, "1")
      let query = try await fixture.call(.post, "\(Self.path)?pos=\(pos)&timeout=1000", as: bob, "{\(body)}")
      #expect(query.json["rooms"]?[ByteString(room)]?["timeline"]?.count == 1)
      let next = try #require(query.json["pos"]?.string)
      let other = "/_matrix/client/unstable/org.matrix.msc4186/sync"
      let idle = try await fixture.call(.post, other, as: bob, #"{"pos":"\#(next)","timeout":1,\#(body)}"#)
      #expect(idle.status == 200 && idle.json["rooms"]?.count == 0)
      let old = try await fixture.call(.post, "\(Self.path)?pos=\(pos)", as: bob, "{}")
      #expect(old.status == 400 && old.errorCode == "M_UNKNOWN_POS")
      let page = try await fixture.call(.get, "rooms/\(room)/messages?dir=b&from=\(next)", as: bob)
      #expect(page.status == 200 && page.json["chunk"]?.count ?? 0 > 2)
      let versions = try await fixture.call(.get, "/_matrix/client/versions")
      #expect(versions.json["unstable_features"]?["org.matrix.simplified_msc3575"]?.bool ?? false)
    }
  }

  @Test func `threads with news are paged over all rooms`() async throws {
    try await APIFixture.run { fixture in
      let (ann, bob) = (try await fixture.register("ann"), try await fixture.register("bob"))
      let room = try await room(fixture, ann, bob)
      var roots: [String] = []
      for number in 0..<3 {
        let root = try await fixture.call(.put, "rooms/\(room)/send/m.room.message/r\(number)", as: ann, #"{"body":"root"}"#)
        roots.append(try #require(root.json["event_id"]?.string))
        let relation = #""m.relates_to":{"rel_type":"m.thread","event_id":"\#(roots[number])"}"#
        _ = try await fixture.call(.put, "rooms/\(room)/send/m.room.message/a\(number)", as: ann, #"{"body":"a",\#(relation)}"#)
      }
      let path = "/_matrix/client/unstable/io.element.msc4360/thread_updates"
      let first = try await fixture.call(.get, path + "?dir=b&limit=2", as: bob)
      let told = first.json["chunk"]?[ByteString(room)]
      #expect(told?.count == 2 && told?[ByteString(roots[2])]?["thread_root"]?["content"]?["body"]?.string == "root")
      let from = try #require(first.json["next_batch"]?.string)
      let rest = try await fixture.call(.get, path + "?dir=b&limit=2&from=\(from)", as: bob)
      #expect(rest.json["chunk"]?[ByteString(room)]?.members.map(\.key.string) == [roots[0]])
      #expect(rest.json["next_batch"] == nil)
      for query in ["?dir=f", "", "?dir=b&limit=0", "?dir=b&from=x"] {
        #expect(try await fixture.call(.get, path + query, as: bob).status == 400)
      }
    }
  }

  @Test func `presence is set by its user alone and seen by who shares a room`() async throws {
    try await APIFixture.run { fixture in
      let (ann, bob, cid) = (
        try await fixture.register("ann"), try await fixture.register("bob"), try await fixture.register("cid")
      )
      let room = try await room(fixture, ann, bob)
      let path = "presence/\(ann.userID)/status"
      let set = try await fixture.call(.put, path, as: ann, #"{"presence":"online","status_msg":"here"}"#)
      #expect(set.status == 200)
      fixture.advance(milliseconds: 1_000)
      let seen = try await fixture.call(.get, path, as: bob)
      #expect(seen.json["presence"]?.string == "online" && seen.json["status_msg"]?.string == "here")
      #expect(seen.json["last_active_ago"]?.integer == 1_000 && seen.json["currently_active"]?.bool ?? false)
      #expect(try await fixture.call(.get, path, as: cid).errorCode == "M_FORBIDDEN")
      #expect(try await fixture.call(.put, path, as: bob, #"{"presence":"online"}"#).errorCode == "M_FORBIDDEN")
      #expect(try await fixture.call(.put, path, as: ann, #"{"presence":"away"}"#).errorCode == "M_INVALID_PARAM")
      #expect(try await fixture.call(.put, path, as: ann, "{}").errorCode == "M_MISSING_PARAM")
      _ = try await fixture.call(.get, "sync?set_presence=unavailable", as: bob)
      let online = "/_matrix/client/unstable/martlet.online/rooms/\(room)"
      let counts = try await fixture.call(.get, online, as: bob)
      #expect(counts.json["online"]?.integer == 1 && counts.json["unavailable"]?.integer == 1)
      #expect(counts.json["joined"]?.integer == 2)
      #expect(try await fixture.call(.get, online, as: cid).errorCode == "M_FORBIDDEN")
      let first = try await fixture.call(.get, "sync", as: bob)
      let event = first.json["presence"]?["events"]?.elements.first { $0["sender"]?.string == ann.userID.string }
      #expect(event?["content"]?["presence"]?.string == "online")
    }
  }

  @Test func `where presence is switched off everyone is offline and syncs have none`() async throws {
    try await APIFixture.run(configure: {
      $0.registration = .open
      $0.isPresenceEnabled = false
    }) { fixture in
      let (ann, bob) = (try await fixture.register("ann"), try await fixture.register("bob"))
      _ = try await room(fixture, ann, bob)
      let path = "presence/\(ann.userID)/status"
      #expect(try await fixture.call(.put, path, as: ann, #"{"presence":"online"}"#).status == 200)
      let answer = try await fixture.call(.get, path, as: bob)
      #expect(answer.json["presence"]?.string == "offline")
      #expect(try await fixture.call(.get, "sync", as: bob).json["presence"] == nil)
      let capabilities = try await fixture.call(.get, "capabilities", as: bob)
      #expect(capabilities.json["capabilities"]?["martlet.online"]?["enabled"]?.bool == false)
    }
  }

  @Test func `what is unread is summed, marked as read, hidden and shown`() async throws {
    try await APIFixture.run { fixture in
      let (ann, bob) = (try await fixture.register("ann"), try await fixture.register("bob"))
      let rooms = [try await room(fixture, ann, bob), try await room(fixture, ann, bob)]
      for (number, room) in rooms.enumerated() { try await send(fixture, room, ann, "\(number)") }
      let base = "/_matrix/client/unstable/"
      func unread() async throws -> Int64? {
        try await fixture.call(.get, base + "martlet.unread", as: bob).json["notification_count"]?.integer
      }
      let total = try await fixture.call(.get, base + "martlet.unread", as: bob)
      #expect(total.json["notification_count"]?.integer == 2 && total.json["unread_rooms"]?.integer == 2)
      #expect(total.json["rooms"]?[ByteString(rooms[0])]?["notification_count"]?.integer == 1)
      let one = try await fixture.call(.post, base + "martlet.read_all", as: bob, #"{"rooms":["\#(rooms[0])"],"private":true}"#)
      #expect(one.json["rooms"]?.integer == 1)
      #expect(try await unread() == 1)
      #expect(try await fixture.call(.post, base + "martlet.read_all", as: bob, "{}").json["rooms"]?.integer == 1)
      #expect(try await unread() == 0)
      for body in [#"{"rooms":"x"}"#, #"{"rooms":["x"]}"#, #"{"private":1}"#] {
        #expect(try await fixture.call(.post, base + "martlet.read_all", as: bob, body).status == 400)
      }
      #expect(try await fixture.call(.post, base + "martlet.hide/rooms/\(rooms[0])", as: bob, "{}").status == 200)
      #expect(try await fixture.call(.post, base + "martlet.hide/rooms", as: bob, "{}").json["rooms"]?.integer == 1)
      let data = "user/\(bob.userID)/rooms/\(rooms[0])/account_data/martlet.hidden"
      #expect(try await fixture.call(.get, data, as: bob).json["before"]?.integer != nil)
      #expect(try await fixture.call(.put, data, as: bob, "{}").status == 405)
      #expect(try await fixture.call(.delete, base + "martlet.hide/rooms/\(rooms[0])", as: bob).status == 200)
      let shown = try await fixture.call(.post, base + "martlet.hide/rooms", as: bob, #"{"hidden":false}"#)
      #expect(shown.json["rooms"]?.integer == 1)
      #expect(
        try await fixture.call(.post, base + "martlet.hide/rooms/!no:example.org", as: bob, "{}").errorCode == "M_FORBIDDEN")
      let capabilities = try await fixture.call(.get, "capabilities", as: bob)
      for name in ["martlet.unread", "martlet.read_all", "martlet.hide", "martlet.online"] as [ByteString] {
        #expect(capabilities.json["capabilities"]?[name]?["enabled"]?.bool ?? false)
      }
    }
  }

  @Test func `first syncs have a budget of their own, and syncs that go on have none`() async throws {
    try await APIFixture.run(APIConfiguration()) { fixture in
      let ann = try await fixture.register("ann")
      let since = try #require(try await fixture.call(.get, "sync", as: ann).json["next_batch"]?.string)
      // The budget fills again meanwhile, one a second: more are asked for than it holds.
      var codes: [String?] = []
      for number in 0..<140 {
        let path = number % 2 == 0 ? "sync" : "sync?full_state=true&since=\(since)"
        codes.append(try await fixture.call(.get, path, as: ann).errorCode)
      }
      #expect(codes.prefix(99).allSatisfy { $0 == nil } && codes.contains("M_LIMIT_EXCEEDED"))
      var sliding: [String?] = []
      for _ in 0..<20 { sliding.append(try await fixture.call(.post, Self.path, as: ann, "{}").errorCode) }
      #expect(sliding.contains("M_LIMIT_EXCEEDED"))
      #expect(try await fixture.call(.get, "sync?since=\(since)", as: ann).status == 200)
    }
  }
}
