import JSON
import MatrixModel
import RoomRules
import ServerAccounts
import Testing

@Suite struct KeyTests {
  private static func deviceKeys(_ user: APIFixture.User, _ more: String = "") -> String {
    #"""
    {"device_keys":{"user_id":"\#(user.userID)","device_id":"\#(user.deviceID)","algorithms":["a"],
    "keys":{"ed25519:\#(user.deviceID)":"abc"},"signatures":{"\#(user.userID)":{"ed25519:\#(user.deviceID)":"sig"}}}\#(more)}
    """#
  }

  @Test func `uploaded device keys are found by others, with the device's name`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      _ = try await fixture.call(.put, "devices/\(ann.deviceID)", as: ann, #"{"display_name":"Phone"}"#)
      let upload = try await fixture.call(.post, "keys/upload", as: ann, Self.deviceKeys(ann))
      #expect(upload.status == 200)
      #expect(upload.json["one_time_key_counts"]?.isObject == true)
      let query = try await fixture.call(
        .post, "keys/query", as: bob, #"{"device_keys":{"@ann:example.org":[],"@nobody:example.org":[],"nonsense":[]}}"#)
      #expect(query.json["device_keys"]?["@nobody:example.org"] == nil && query.json["device_keys"]?["nonsense"] == nil)
      let device = query.json["device_keys"]?["@ann:example.org"]?[ann.deviceID.text]
      #expect(device?["keys"]?[ByteString("ed25519:\(ann.deviceID)")]?.string == "abc")
      #expect(device?["unsigned"]?["device_display_name"]?.string == "Phone")
      let one = try await fixture.call(.post, "keys/query", as: bob, #"{"device_keys":{"@ann:example.org":["OTHER"]}}"#)
      #expect(one.json["device_keys"]?["@ann:example.org"]?.count == 0)
    }
  }

  @Test func `keys of another user or device are refused`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let answer = try await fixture.call(.post, "keys/upload", as: ann, Self.deviceKeys(bob))
      #expect(answer.errorCode == "M_INVALID_PARAM")
    }
  }

  @Test func `a one-time key is claimed once, in the order of upload, then the fallback key stays`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let first = try await fixture.call(
        .post, "keys/upload", as: ann, #"{"one_time_keys":{"curve:Z":{"key":"z","signatures":{}}}}"#)
      #expect(first.json["one_time_key_counts"]?["curve"]?.integer == 1)
      let second = try await fixture.call(
        .post, "keys/upload", as: ann,
        #"{"one_time_keys":{"curve:A":{"key":"a","signatures":{}}},"fallback_keys":{"curve:F":{"key":"f","fallback":true,"signatures":{}}}}"#
      )
      #expect(second.json["one_time_key_counts"]?["curve"]?.integer == 2)
      func unused() async throws -> [ByteString] {
        try await fixture.homeserver.database.read { tx in
          try OneTimeKeys.unusedFallbackAlgorithms(tx, of: ann.userID, ann.deviceID)
        }
      }
      #expect(try await unused() == ["curve"])
      var claimed: [String] = []
      for _ in 0..<4 {
        let answer = try await fixture.call(
          .post, "keys/claim", as: bob,
          #"{"one_time_keys":{"@ann:example.org":{"\#(ann.deviceID)":"curve","NONE":"curve"}}}"#)
        let keys = answer.json["one_time_keys"]?["@ann:example.org"]
        #expect(keys?.count == 1)
        claimed.append(try #require(keys?[ann.deviceID.text]?.members.first(where: { _ in true })?.key.string))
      }
      #expect(claimed == ["curve:Z", "curve:A", "curve:F", "curve:F"])
      #expect(try await unused() == [])
    }
  }

  @Test func `a hundred claims at once get a hundred different keys`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let keys = (0..<100).map { #""curve:\#($0)":"key\#($0)""# }.joined(separator: ",")
      #expect(try await fixture.call(.post, "keys/upload", as: ann, #"{"one_time_keys":{\#(keys)}}"#).status == 200)
      let body = #"{"one_time_keys":{"@ann:example.org":{"\#(ann.deviceID)":"curve"}}}"#
      let claimed = try await withThrowingTaskGroup(of: ByteString?.self) { group in
        for _ in 0..<100 {
          group.addTask {
            let answer = try await fixture.call(.post, "keys/claim", as: ann, body)
            return answer.json["one_time_keys"]?["@ann:example.org"]?[ann.deviceID.text]?.members.first { _ in true }?
              .key
          }
        }
        return try await group.reduce(into: Set<ByteString>()) { if let key = $1 { $0.insert(key) } }
      }
      #expect(claimed.count == 100)
    }
  }

  @Test func `the same key again is no error, another under its name is`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      for (key, code) in [("a", nil), ("a", nil), ("b", "M_INVALID_PARAM")] as [(String, String?)] {
        let answer = try await fixture.call(.post, "keys/upload", as: ann, #"{"one_time_keys":{"curve:A":"\#(key)"}}"#)
        #expect(answer.errorCode == code)
      }
      let unnamed = try await fixture.call(.post, "keys/upload", as: ann, #"{"one_time_keys":{"curve":"a"}}"#)
      #expect(unnamed.errorCode == "M_BAD_JSON")
    }
  }

  @Test func `new and deleted devices with keys are changes for those who share a room`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let eve = try await fixture.register("eve")
      let room = try await fixture.call(.post, "createRoom", as: ann, #"{"preset":"public_chat"}"#)
      let roomID = PercentEncoding.encode(try #require(room.json["room_id"]?.text))
      #expect(try await fixture.call(.post, "rooms/\(roomID)/join", as: bob, "{}").status == 200)
      func changes(for user: APIFixture.User, after start: Int64, upTo end: Int64? = nil) async throws -> [String] {
        let end = end ?? fixture.homeserver.database.committedPosition
        let answer = try await fixture.call(.get, "keys/changes?from=s\(start)_0_1&to=s\(end)_0_1", as: user)
        return ["changed", "left"].flatMap { name in
          answer.json[ByteString(name)]?.elements.map { "\(name) \($0.string ?? "")" } ?? []
        }
      }
      func position() -> Int64 { fixture.homeserver.database.committedPosition }
      let start = position()
      let hasNews = fixture.watch(bob)
      _ = try await fixture.call(.post, "keys/upload", as: ann, Self.deviceKeys(ann))
      let middle = position()
      #expect(try await changes(for: bob, after: start, upTo: middle) == ["changed @ann:example.org"])
      #expect(try await changes(for: ann, after: start, upTo: middle) == ["changed @ann:example.org"])
      #expect(try await changes(for: eve, after: start, upTo: middle) == [])
      _ = try await fixture.call(.post, "keys/upload", as: ann, Self.deviceKeys(ann))
      #expect(try await changes(for: bob, after: middle) == [])
      #expect(hasNews(start))
      #expect(!hasNews(middle))
      let second = try fixture.user(await fixture.logIn("ann"))
      _ = try await fixture.call(.post, "logout", as: ann)
      #expect(try await changes(for: bob, after: middle) == ["changed @ann:example.org"])
      #expect(hasNews(middle))
      let late = position()
      _ = try await fixture.call(.post, "rooms/\(roomID)/join", as: eve, "{}")
      #expect(try await changes(for: bob, after: late) == ["changed @eve:example.org"])
      #expect(try await changes(for: eve, after: late) == ["changed @ann:example.org", "changed @bob:example.org"])
      let later = position()
      _ = try await fixture.call(.post, "rooms/\(roomID)/leave", as: eve, "{}")
      #expect(try await changes(for: second, after: later) == ["left @eve:example.org"])
      #expect(try await changes(for: eve, after: later) == ["left @ann:example.org", "left @bob:example.org"])
      #expect(try await changes(for: eve, after: late) == ["left @ann:example.org", "left @bob:example.org"])
    }
  }

  @Test(arguments: [
    ("", "M_MISSING_PARAM"), ("from=s1_0_1", "M_MISSING_PARAM"), ("from=x&to=s1_0_1", "M_INVALID_PARAM"),
    ("from=s_0_1&to=s1_0_1", "M_INVALID_PARAM")
  ])
  func `changes need two sync tokens`(query: String, code: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let answer = try await fixture.call(.get, "keys/changes?" + query, as: ann)
      #expect(answer.errorCode == code)
    }
  }
}
