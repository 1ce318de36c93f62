import HTTPServer
import JSON
import MatrixModel
import Testing

@testable import Homeserver
@testable import HomeserverAPI

/// Every path by which a room is read, against its history visibility and where the reader stands.
@Suite struct RoomReadingTests {
  enum Reader: String, CaseIterable, Sendable { case joined, left, invited, knocking, stranger, guest }

  /// A room in which something was said while `left` was there (`early`), and after (`late`).
  private struct Scene {
    let room: String
    let early: String
    let late: String
    let readers: [Reader: APIFixture.User]
  }

  private func scene(_ fixture: APIFixture, _ visibility: String) async throws -> Scene {
    let ann = try await fixture.register("ann")
    var readers: [Reader: APIFixture.User] = [:]
    for reader in Reader.allCases { readers[reader] = try await fixture.register(reader.rawValue) }
    readers[.guest] = try await asGuest(try #require(readers[.guest]), fixture)
    let created = try await fixture.call(
      .post, "createRoom", as: ann,
      #"""
      {"room_version":"11","name":"first","invite":["@joined:example.org","@left:example.org"],"initial_state":[
      {"type":"m.room.history_visibility","content":{"history_visibility":"\#(visibility)"}},
      {"type":"m.room.join_rules","content":{"join_rule":"knock"}}]}
      """#)
    let room = try #require(created.json["room_id"]?.string)
    for reader in [Reader.joined, .left] {
      #expect(try await fixture.call(.post, "rooms/\(room)/join", as: readers[reader], "{}").status == 200)
    }
    let invitation = #"{"user_id":"@invited:example.org"}"#
    #expect(try await fixture.call(.post, "rooms/\(room)/invite", as: ann, invitation).status == 200)
    #expect(try await fixture.call(.post, "knock/\(room)", as: readers[.knocking], "{}").status == 200)
    func say(_ text: String) async throws -> String {
      let sent = try await fixture.call(
        .put, "rooms/\(room)/send/m.room.message/\(text)", as: ann, #"{"msgtype":"m.text","body":"\#(text)"}"#)
      return try #require(sent.json["event_id"]?.string)
    }
    let early = try await say("early")
    #expect(try await fixture.call(.post, "rooms/\(room)/leave", as: readers[.left], "{}").status == 200)
    let late = try await say("late")
    _ = try await fixture.call(.put, "rooms/\(room)/state/m.room.name", as: ann, #"{"name":"second"}"#)
    return Scene(room: room, early: early, late: late, readers: readers)
  }

  /// The same account as a guest's, with a session of its own.
  private func asGuest(_ user: APIFixture.User, _ fixture: APIFixture) async throws -> APIFixture.User {
    _ = try await fixture.homeserver.database.write { transaction in
      try transaction.execute("UPDATE account SET is_guest = 1 WHERE user_id = $1", user.userID)
    }
    return try fixture.user(try await fixture.logIn(user.userID.localpart.string))
  }

  @Test(arguments: ["world_readable", "shared", "invited", "joined"])
  func `every path shows what the reader may see`(visibility: String) async throws {
    try await APIFixture.run { fixture in
      let scene = try await scene(fixture, visibility)
      let isOpen = visibility == "world_readable"
      for reader in Reader.allCases {
        let user = try #require(scene.readers[reader])
        let canRead = isOpen || reader == .joined || reader == .left
        let seesEarly = canRead
        let seesLate = isOpen || reader == .joined
        func get(_ path: String) async throws -> APIFixture.Answer {
          try await fixture.call(.get, "rooms/\(scene.room)/" + path, as: user)
        }
        let (note, readable) = (Comment(rawValue: "\(reader)"), canRead ? 200 : 403)

        let messages = try await get("messages?dir=b&limit=100")
        #expect(messages.status == readable, note)
        let bodies = messages.json["chunk"]?.elements.compactMap { $0["content"]?["body"]?.string } ?? []
        #expect(bodies.contains("early") == seesEarly && bodies.contains("late") == seesLate, note)
        for (event, isSeen) in [(scene.early, seesEarly), (scene.late, seesLate)] {
          #expect(try await get("event/\(event)").status == (isSeen ? 200 : 404), note)
          #expect(try await get("context/\(event)").status == (isSeen ? 200 : canRead ? 404 : 403), note)
        }
        let context = try await get("context/\(scene.early)?limit=100")
        let around = context.json["events_after"]?.elements.compactMap { $0["event_id"]?.string } ?? []
        #expect(around.contains(scene.late) == seesLate, note)

        let state = try await get("state")
        #expect(state.status == readable, note)
        let name = reader == .left && !isOpen ? "first" : "second"
        let names = state.json.elements.filter { $0["type"]?.string == "m.room.name" }
          .compactMap { $0["content"]?["name"]?.string }
        #expect(names == (canRead ? [name] : []), note)
        let entry = try await get("state/m.room.name/")
        #expect(entry.status == readable && entry.json["name"]?.string == (canRead ? name : nil), note)
        #expect(try await get("members").status == readable, note)
        #expect(try await get("joined_members").status == (reader == .joined ? 200 : 403), note)
        #expect(try await get("initialSync").status == 404, note)
      }
    }
  }

  @Test func `an event says how the reader stood to the room`() async throws {
    try await APIFixture.run { fixture in
      let scene = try await scene(fixture, "world_readable")
      func membership(_ event: String, _ reader: Reader) async throws -> String? {
        let user = scene.readers[reader]
        let one = try await fixture.call(.get, "rooms/\(scene.room)/event/\(event)", as: user)
        let around = try await fixture.call(.get, "rooms/\(scene.room)/context/\(event)", as: user)
        let page = try await fixture.call(.get, "rooms/\(scene.room)/messages?dir=b&limit=100", as: user)
        let paged = page.json["chunk"]?.elements.first { $0["event_id"]?.string == event }
        let said = [one.json, around.json["event"], paged].map { $0?["unsigned"]?["membership"]?.string }
        #expect(Set(said).count == 1)
        return said[0]
      }
      #expect(try await membership(scene.early, .joined) == "join")
      #expect(try await membership(scene.early, .left) == "join")
      #expect(try await membership(scene.late, .left) == "leave")
      #expect(try await membership(scene.late, .invited) == "invite")
      #expect(try await membership(scene.late, .knocking) == "knock")
      #expect(try await membership(scene.late, .stranger) == "leave")
      let sync = try await fixture.call(.get, "sync", as: scene.readers[.joined])
      let timeline = sync.json["rooms"]?["join"]?[ByteString(scene.room)]?["timeline"]?["events"]?.elements.map { $0 } ?? []
      #expect(timeline.last?["unsigned"]?["membership"]?.string == "join")
      let beforeJoining = timeline.first { $0["type"]?.string == "m.room.create" }
      #expect(beforeJoining?["unsigned"]?["membership"]?.string == "leave")
    }
  }

  @Test func `a filter may ask for events as servers exchange them`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let created = try await fixture.call(.post, "createRoom", as: ann, #"{"room_version":"12"}"#)
      let room = try #require(created.json["room_id"]?.string)
      func events(_ filter: String) async throws -> [JSON] {
        let sync = try await fixture.call(.get, "sync?filter=\(PercentEncoding.encode(ByteString(filter)))", as: ann)
        return sync.json["rooms"]?["join"]?[ByteString(room)]?["timeline"]?["events"]?.elements.map { $0 } ?? []
      }
      let federation = try await events(#"{"event_format":"federation"}"#)
      #expect(federation.count == 6)
      for event in federation {
        for key in ["auth_events", "prev_events", "depth", "hashes", "signatures", "origin_server_ts"] as [StaticString] {
          #expect(event[key] != nil)
        }
        #expect((event["room_id"] == nil) == (event["type"]?.string == "m.room.create"))
        #expect(event["unsigned"]?["membership"] != nil)
      }
      #expect(try await events(#"{"event_format":"client"}"#).allSatisfy { $0["signatures"] == nil })
      let fields = try await events(
        #"{"event_format":"federation","event_fields":["content","depth","event_id","origin_server_ts","sender","type"]}"#)
      #expect(fields.count == 6 && fields.allSatisfy { $0.count == 6 && $0["depth"] != nil && $0["hashes"] == nil })
    }
  }

  @Test func `a filter by files finds galleries as well, and text only where files are not wanted`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let room = try #require(try await fixture.call(.post, "createRoom", as: ann, "{}").json["room_id"]?.string)
      let contents = [
        #"{"msgtype":"m.text","body":"text"}"#, #"{"msgtype":"m.image","body":"picture","url":"mxc://a.example/p"}"#,
        #"{"msgtype":"dm.filament.gallery","body":"gallery","itemtypes":[{"itemtype":"m.file","body":"x","url":"mxc://a.example/g"}]}"#,
        #"{"msgtype":"dm.filament.gallery","body":"empty","itemtypes":[{"itemtype":"m.file","body":"x"},7]}"#,
        #"{"msgtype":"m.image","body":"number","url":7}"#
      ]
      for (number, content) in contents.enumerated() {
        #expect(
          try await fixture.call(.put, "rooms/\(room)/send/m.room.message/\(number)", as: ann, content).status == 200)
      }
      func bodies(_ containsURL: Bool) async throws -> [String] {
        let filter = PercentEncoding.encode(ByteString(#"{"types":["m.room.message"],"contains_url":\#(containsURL)}"#))
        let page = try await fixture.call(.get, "rooms/\(room)/messages?dir=f&filter=\(filter)", as: ann)
        return page.json["chunk"]?.elements.compactMap { $0["content"]?["body"]?.string } ?? []
      }
      #expect(try await bodies(true) == ["picture", "gallery"])
      #expect(try await bodies(false) == ["text", "empty", "number"])
    }
  }
}
