import JSON
import MatrixModel
import Testing

@testable import HomeserverAPI
@testable import ServerDirectory

/// Full text as clients search it.
@Suite struct SearchRouteTests {
  typealias Scene = RelationRouteTests.Scene

  private func scene(_ body: (Scene) async throws -> Void) async throws {
    try await APIFixture.run { try await body(try await Scene($0)) }
  }

  private func search(
    _ scene: Scene, _ text: String, as user: APIFixture.User, _ more: String = "", from token: String? = nil
  ) async throws -> APIFixture.Answer {
    let path = "search" + (token.map { "?next_batch=" + PercentEncoding.encode(ByteString($0)) } ?? "")
    return try await scene.fixture.call(
      .post, path, as: user, #"{"search_categories":{"room_events":{"search_term":"\#(text)"\#(more)}}}"#)
  }

  private func category(_ answer: APIFixture.Answer) -> JSON? { answer.json["search_categories"]?["room_events"] }

  private func ids(_ answer: APIFixture.Answer) -> [String] {
    category(answer)?["results"]?.elements.compactMap { $0["result"]?["event_id"]?.string } ?? []
  }

  @Test func `a version is found by its number, and highlighted as it is written`() async throws {
    try await scene { scene in
      let release = try await scene.say("v1.19.2 release", as: scene.ann)
      _ = try await scene.say("2 of 19 at 1", as: scene.ann)
      let answer = try await search(scene, "1.19.2", as: scene.bob)
      #expect(ids(answer) == [release])
      #expect(category(answer)?["highlights"]?.elements.compactMap(\.string) == ["1.19.2"])
    }
  }

  @Test func `messages, names and topics are found by their words, by everyone who may read them`() async throws {
    try await scene { scene in
      let first = try await scene.say("The quick brown fox", as: scene.ann)
      let second = try await scene.say("a brown bear, a brown bear", as: scene.bob)
      _ = try await scene.fixture.call(
        .put, "rooms/\(scene.room)/state/m.room.name/", as: scene.ann, #"{"name":"Brown things"}"#)
      let topic = #"{"topic":"fox","m.topic":{"m.text":[{"body":"<b>wolf</b>","mimetype":"text/html"},{"body":"hyena"}]}}"#
      _ = try await scene.fixture.call(.put, "rooms/\(scene.room)/state/m.room.topic/", as: scene.ann, topic)
      let answer = try await search(scene, "BROWN", as: scene.bob)
      #expect(Set(ids(answer)).isSuperset(of: [first, second]) && ids(answer).count == 3)
      #expect(category(answer)?["count"]?.integer == 3)
      #expect(category(answer)?["highlights"]?.elements.compactMap(\.string) == ["brown"])
      let ranks =
        category(answer)?["results"]?.elements.compactMap { $0["rank"].map { String(decoding: $0.bytes, as: UTF8.self) } }
        .compactMap { Double($0) } ?? []
      #expect(ranks.count == 3 && ranks == ranks.sorted(by: >) && ranks.allSatisfy { $0 > 0 })
      #expect(category(answer)?["results"]?.elements.allSatisfy { $0["result"]?["room_id"]?.string == scene.room } ?? false)
      #expect(
        ids(try await search(scene, "brown", as: scene.bob, #","keys":["content.body"],"order_by":"recent""#)) == [
          second, first
        ])
      #expect(ids(try await search(scene, "brown", as: scene.bob, #","keys":["content.name"]"#)).count == 1)
      #expect(ids(try await search(scene, "hyena", as: scene.bob, #","keys":["content.topic"]"#)).count == 1)
      #expect(ids(try await search(scene, "wolf", as: scene.bob)).isEmpty)
      #expect(ids(try await search(scene, "brown fox", as: scene.bob)) == [first])
      let eve = try await scene.fixture.register("eve")
      let nothing = try await search(scene, "brown", as: eve)
      #expect(ids(nothing).isEmpty && category(nothing)?["count"]?.integer == 0)
    }
  }

  @Test func `an edited text is found by its new words, a redacted one by none`() async throws {
    try await scene { scene in
      let event = try await scene.say("apple", as: scene.ann)
      #expect(ids(try await search(scene, "apple", as: scene.bob)) == [event])
      _ = try await scene.edit(event, to: "pear", as: scene.ann)
      scene.fixture.advance(milliseconds: 5)
      let last = try await scene.edit(event, to: "plum", as: scene.ann)
      #expect(ids(try await search(scene, "apple", as: scene.bob)).isEmpty)
      let found = try await search(scene, "plum", as: scene.bob)
      #expect(ids(found) == [event])
      let result = category(found)?["results"]?.elements.first { _ in true }?["result"]
      #expect(result?["unsigned"]?["m.relations"]?["m.replace"]?["event_id"]?.string == last)
      try await scene.redact(last, as: scene.ann)
      #expect(ids(try await search(scene, "plum", as: scene.bob)).isEmpty)
      #expect(ids(try await search(scene, "pear", as: scene.bob)) == [event])
      try await scene.redact(event, as: scene.ann)
      #expect(ids(try await search(scene, "pear", as: scene.bob)).isEmpty)
      let unindexed = try await scene.say("cherry", as: scene.ann)
      try await scene.redact(unindexed, as: scene.ann)
      #expect(ids(try await search(scene, "cherry", as: scene.bob)).isEmpty)
    }
  }

  @Test func `an edit does not become a message of its own when an edit of it is redacted`() async throws {
    try await scene { scene in
      let event = try await scene.say("apple", as: scene.ann)
      let edit = try await scene.edit(event, to: "pear", as: scene.ann)
      let invalid = try await scene.edit(edit, to: "plum", as: scene.ann)
      #expect(ids(try await search(scene, "pear", as: scene.bob)) == [event])
      try await scene.redact(invalid, as: scene.ann)
      #expect(ids(try await search(scene, "pear", as: scene.bob)) == [event])
    }
  }

  @Test(arguments: ["rank", "recent"])
  func `pages bring every result once, also within a group`(order: String) async throws {
    try await scene { scene in
      var all: Set<String> = []
      var anns: Set<String> = []
      for number in 0..<12 {
        let user = number % 3 == 0 ? scene.ann : scene.bob
        let event = try await scene.say("common \(number)", as: user)
        all.insert(event)
        if number % 3 == 0 { anns.insert(event) }
      }
      let more = #","order_by":"\#(order)","filter":{"limit":4},"groupings":{"group_by":[{"key":"sender"},{"key":"room_id"}]}"#
      var seen: [String] = []
      var token: String?
      var group: String?
      repeat {
        let page = try await search(scene, "common", as: scene.bob, more, from: token)
        if token == nil { _ = try await scene.say("common, but later", as: scene.ann) }
        seen += ids(page)
        let groups = category(page)?["groups"]
        #expect(groups?["room_id"]?[ByteString(scene.room)]?["results"]?.elements.compactMap(\.string) == ids(page))
        #expect(groups?["room_id"]?[ByteString(scene.room)]?["order"]?.integer == 1)
        if token == nil { group = groups?["sender"]?[scene.ann.userID.text]?["next_batch"]?.string }
        token = category(page)?["next_batch"]?.string
      } while token != nil
      #expect(Set(seen) == all && seen.count == all.count)
      let first = try await search(scene, "common", as: scene.bob, more)
      var own = ids(first).filter { anns.contains($0) }.count
      token = group ?? category(first)?["groups"]?["sender"]?[scene.ann.userID.text]?["next_batch"]?.string
      while let next = token {
        let page = try await search(scene, "common", as: scene.bob, more, from: next)
        #expect(Set(ids(page)).isSubset(of: anns))
        own += ids(page).count
        token = category(page)?["next_batch"]?.string
      }
      #expect(order == "rank" || own >= anns.count)
    }
  }

  @Test func `surroundings, profiles and state come where asked for`() async throws {
    try await scene { scene in
      for number in 0..<3 { _ = try await scene.say("before \(number)", as: scene.bob) }
      _ = try await scene.say("needle", as: scene.ann)
      for number in 0..<3 { _ = try await scene.say("after \(number)", as: scene.bob) }
      let answer = try await search(
        scene, "needle", as: scene.bob,
        #","include_state":true,"event_context":{"before_limit":2,"after_limit":1,"include_profile":true}"#)
      let context = category(answer)?["results"]?.elements.first { _ in true }?["context"]
      func bodies(_ events: JSON?) -> [String] { events?.elements.compactMap { $0["content"]?["body"]?.string } ?? [] }
      #expect(bodies(context?["events_before"]) == ["before 2", "before 1"] && bodies(context?["events_after"]) == ["after 0"])
      #expect(context?["profile_info"]?[scene.ann.userID.text]?["displayname"] != nil)
      let end = try #require(context?["end"]?.string)
      let later = try await scene.get("rooms/\(scene.room)/messages?dir=f&limit=1&from=\(end)", as: scene.bob)
      #expect(bodies(later.json["chunk"]) == ["after 1"])
      let state = category(answer)?["state"]?[ByteString(scene.room)]
      #expect(state?.elements.contains { $0["type"]?.string == "m.room.create" } ?? false)
      #expect(category(try await search(scene, "needle", as: scene.bob))?["state"] == nil)
    }
  }

  @Test func `who left finds what was there, not what came later, and nothing once forgotten`() async throws {
    try await scene { scene in
      let seen = try await scene.say("shared word", as: scene.ann)
      _ = try await scene.fixture.call(.post, "rooms/\(scene.room)/leave", as: scene.bob, "{}")
      _ = try await scene.say("later word", as: scene.ann)
      let answer = try await search(scene, "word", as: scene.bob)
      #expect(ids(answer) == [seen] && category(answer)?["count"]?.integer == 1)
      _ = try await scene.edit(seen, to: "secret", as: scene.ann)
      let secret = try await search(scene, "secret", as: scene.bob)
      #expect(ids(secret).isEmpty && category(secret)?["count"]?.integer == 0)
      #expect(ids(try await search(scene, "secret", as: scene.ann)) == [seen])
      _ = try await scene.fixture.call(.post, "rooms/\(scene.room)/forget", as: scene.bob, "{}")
      #expect(ids(try await search(scene, "word", as: scene.bob)).isEmpty)
    }
  }

  @Test func `the filter holds, encrypted rooms and ignored users are left out`() async throws {
    try await scene { scene in
      let anns = try await scene.say("word", as: scene.ann)
      let bobs = try await scene.say("word", as: scene.bob)
      let other = try #require(try await scene.fixture.call(.post, "createRoom", as: scene.bob, "{}").json["room_id"]?.string)
      let sent = try await scene.fixture.call(.put, "rooms/\(other)/send/m.room.message/x", as: scene.bob, #"{"body":"word"}"#)
      let elsewhere = try #require(sent.json["event_id"]?.string)
      func found(_ filter: String) async throws -> Set<String> {
        Set(ids(try await search(scene, "word", as: scene.bob, #","filter":\#(filter)"#)))
      }
      #expect(try await found("{}") == [anns, bobs, elsewhere])
      #expect(try await found(#"{"rooms":["\#(scene.room)"]}"#) == [anns, bobs])
      #expect(try await found(#"{"not_rooms":["\#(scene.room)"]}"#) == [elsewhere])
      #expect(try await found(#"{"senders":["\#(scene.ann.userID)"]}"#) == [anns])
      #expect(try await found(#"{"types":["m.room.topic"]}"#).isEmpty)
      #expect(try await found(#"{"contains_url":true}"#).isEmpty)
      #expect(try await found(#"{"contains_url":false}"#) == [anns, bobs, elsewhere])
      #expect(try await found(#"{"rooms":[]}"#).isEmpty)
      try await scene.ignore(scene.ann, as: scene.bob)
      #expect(try await found("{}") == [bobs, elsewhere])
      _ = try await scene.fixture.call(
        .put, "rooms/\(other)/state/m.room.encryption/", as: scene.bob, #"{"algorithm":"m.megolm.v1.aes-sha2"}"#)
      #expect(try await found("{}") == [bobs])
    }
  }

  @Test func `a user of more rooms than are worth naming finds all of theirs and no other's`() async throws {
    try await scene { scene in
      _ = try await scene.say("word", as: scene.ann)
      let eve = try await scene.fixture.register("eve")
      var own: Set<String> = []
      for number in 0..<34 {
        let room = try #require(try await scene.fixture.call(.post, "createRoom", as: eve, "{}").json["room_id"]?.string)
        let sent = try await scene.fixture.call(
          .put, "rooms/\(room)/send/m.room.message/\(number)", as: eve, #"{"body":"word"}"#)
        own.insert(try #require(sent.json["event_id"]?.string))
      }
      let answer = try await search(scene, "word", as: eve, #","filter":{"limit":100}"#)
      #expect(Set(ids(answer)) == own && category(answer)?["count"]?.integer == 34)
    }
  }

  @Test(arguments: [
    (#""keys":["content.x"]"#, "M_INVALID_PARAM"), (#""order_by":"x""#, "M_INVALID_PARAM"),
    (#""groupings":{"group_by":[{"key":"x"}]}"#, "M_INVALID_PARAM"),
    (#""event_context":{"before_limit":-1}"#, "M_INVALID_PARAM"),
    (#""filter":3"#, "M_BAD_JSON"), (#""filter":{"limit":-1}"#, "M_BAD_JSON"), (#""include_state":1"#, "M_BAD_JSON")
  ])
  func `a parameter that is not valid is refused`(parameter: String, code: String) async throws {
    try await scene { scene in
      let answer = try await search(scene, "x", as: scene.ann, "," + parameter)
      #expect(answer.status == 400 && answer.errorCode == code)
    }
  }

  @Test func `tokens, terms and categories are checked`() async throws {
    try await scene { (scene: Scene) async throws in
      for token in ["x", "r", "k1", "r1", "k1_x", "k1_1.x.y", "k99999999999999999999_1"] {
        #expect(try await search(scene, "x", as: scene.ann, from: token).errorCode == "M_INVALID_PARAM", "\(token)")
      }
      #expect(try await search(scene, "x", as: scene.ann, from: "k10_0").status == 200)
      let long = String(repeating: "x", count: 1_024)
      #expect(try await search(scene, long, as: scene.ann).status == 200)
      #expect(try await search(scene, long + "x", as: scene.ann).errorCode == "M_INVALID_PARAM")
      #expect(category(try await search(scene, "", as: scene.ann))?["count"]?.integer == 0)
      func post(_ body: String) async throws -> APIFixture.Answer {
        try await scene.fixture.call(.post, "search", as: scene.ann, body)
      }
      #expect(try await post("{}").errorCode == "M_MISSING_PARAM")
      #expect(try await post(#"{"search_categories":{"room_events":{}}}"#).errorCode == "M_MISSING_PARAM")
      #expect(try await post(#"{"search_categories":{}}"#).json["search_categories"]?.count == 0)
    }
  }

  @Test func `indexing catches up in steps with what was sent, also after a restart's first search`() async throws {
    try await scene { scene in
      for number in 0..<300 { _ = try await scene.say("step \(number)", as: scene.ann) }
      let answer = try await search(scene, "step", as: scene.bob, #","filter":{"limit":100}"#)
      #expect(ids(answer).count == 100 && category(answer)?["count"]?.integer == 300)
      let homeserver = scene.fixture.homeserver
      let again = Search(
        database: homeserver.database, rooms: homeserver.rooms, progress: SearchProgress(database: homeserver.database))
      let request = try SearchRequest(try JSON.parse(Array(#"{"search_term":"step"}"#.utf8)), nextBatch: nil)
      #expect(try await again.search(request, for: scene.bob.userID).count == 300)
    }
  }

  @Test func `the background pass indexes messages from before the index, and continues after a restart`() async throws {
    try await scene { scene in
      for number in 0..<60 { _ = try await scene.say("old \(number)", as: scene.ann) }
      let homeserver = scene.fixture.homeserver
      let request = try SearchRequest(try JSON.parse(Array(#"{"search_term":"old"}"#.utf8)), nextBatch: nil)
      var limits = SearchProgress.Limits()
      (limits.stepEvents, limits.stepsBeforeSearch, limits.pause) = (10, 2, .milliseconds(1))
      func restarted() -> Search {
        let progress = SearchProgress(database: homeserver.database, limits: limits)
        return Search(database: homeserver.database, rooms: homeserver.rooms, progress: progress)
      }
      let first = try await restarted().search(request, for: scene.bob.userID).count
      #expect((1..<60).contains(first), "a search waits for two steps of ten events, not for all")
      let second = restarted()
      let cancelled = Task { try await second.indexOldEvents() }
      cancelled.cancel()
      _ = try? await cancelled.value
      try await restarted().indexOldEvents()
      limits.stepsBeforeSearch = 0
      #expect(try await restarted().search(request, for: scene.bob.userID).count == 60)
    }
  }

  @Test func `a member finds what was said before they joined, if the room shows them its history`() async throws {
    try await scene { scene in
      func call(_ method: HTTPMethod, _ path: String, as user: APIFixture.User, _ body: String) async throws
        -> APIFixture.Answer
      {
        try await scene.fixture.call(method, path, as: user, body)
      }
      let made = try await call(.post, "createRoom", as: scene.ann, #"{"preset":"public_chat"}"#)
      let room = try #require(made.json["room_id"]?.string)
      let message = #"{"msgtype":"m.text","body":"an old acorn"}"#
      _ = try await call(.put, "rooms/\(room)/send/m.room.message/acorn", as: scene.ann, message)
      #expect(ids(try await search(scene, "acorn", as: scene.bob)).isEmpty)
      _ = try await call(.post, "rooms/\(room)/join", as: scene.bob, "{}")
      #expect(ids(try await search(scene, "acorn", as: scene.bob)).count == 1)
    }
  }
}
