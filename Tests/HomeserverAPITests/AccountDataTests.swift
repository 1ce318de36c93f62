import JSON
import MatrixModel
import ServerAccounts
import Testing

@Suite struct AccountDataTests {
  private static let room = "%21room%3Aexample.org"

  @Test func `what is set is got back, byte by byte, by its owner alone`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      for path in [
        APIFixture.own(ann, "account_data/m.direct"), APIFixture.own(ann, "rooms/\(Self.room)/account_data/x.y")
      ] {
        #expect(try await fixture.call(.get, path, as: ann).errorCode == "M_NOT_FOUND")
        #expect(try await fixture.call(.put, path, as: ann, #"{ "a":1.50 }"#).status == 200)
        let answer = try await fixture.call(.get, path, as: ann)
        #expect(answer.json.bytes.elementsEqual(#"{ "a":1.50 }"#.utf8))
        for method in [HTTPMethod.get, .put] {
          let forbidden = try await fixture.call(method, path, as: bob, "{}")
          #expect(forbidden.errorCode == "M_FORBIDDEN")
        }
      }
    }
  }

  @Test(arguments: [
    "account_data/m.push_rules", "account_data/m.fully_read", "rooms/%21r%3Ax/account_data/m.fully_read"
  ])
  func `types of the server's are not set here`(path: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let answer = try await fixture.call(.put, APIFixture.own(ann, path), as: ann, "{}")
      #expect(answer.status == 405)
      #expect(answer.errorCode == "M_BAD_JSON")
    }
  }

  @Test func `changes are those of the interval, newest content each`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let database = fixture.homeserver.database
      func changes(after start: Int64, upTo end: Int64 = .max) async throws -> [String] {
        try await database.read { tx in
          try AccountData.changes(tx, of: ann.userID, after: start, upTo: end).map {
            "\($0.roomID?.string ?? "") \($0.type) \(String(decoding: $0.content.prefix(9), as: UTF8.self))"
          }
        }
      }
      #expect(try await changes(after: 0) == [#" m.push_rules {"global""#])
      let start = database.committedPosition
      let hasNews = fixture.watch(ann)
      _ = try await fixture.call(.put, APIFixture.own(ann, "account_data/a"), as: ann, #"{"n":1}"#)
      let middle = database.committedPosition
      _ = try await fixture.call(.put, APIFixture.own(ann, "rooms/\(Self.room)/account_data/b"), as: ann, #"{"n":2}"#)
      #expect(try await changes(after: start, upTo: middle) == [#" a {"n":1}"#])
      _ = try await fixture.call(.put, APIFixture.own(ann, "account_data/a"), as: ann, #"{"n":3}"#)
      #expect(try await changes(after: start) == [#"!room:example.org b {"n":2}"#, #" a {"n":3}"#])
      #expect(hasNews(middle))
    }
  }

  @Test func `tags come and go one by one`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let path = APIFixture.own(ann, "rooms/\(Self.room)/tags")
      func tags() async throws -> String {
        String(decoding: try await fixture.call(.get, path, as: ann).json.bytes, as: UTF8.self)
      }
      #expect(try await tags() == #"{"tags":{}}"#)
      #expect(try await fixture.call(.put, path + "/m.favourite", as: ann, #"{"order":0.25}"#).status == 200)
      #expect(try await fixture.call(.put, path + "/u.work", as: ann, "{}").status == 200)
      #expect(try await tags() == #"{"tags":{"m.favourite":{"order":0.25},"u.work":{}}}"#)
      #expect(try await fixture.call(.delete, path + "/m.favourite", as: ann).status == 200)
      #expect(try await fixture.call(.delete, path + "/m.favourite", as: ann).status == 200)
      #expect(try await tags() == #"{"tags":{"u.work":{}}}"#)
      for (order, code) in [("0", nil), ("1", nil), ("1.01", "M_INVALID_PARAM"), (#""0.5""#, "M_INVALID_PARAM")]
        as [(String, String?)]
      {
        let answer = try await fixture.call(.put, path + "/a", as: ann, #"{"order":\#(order)}"#)
        #expect(answer.errorCode == code)
      }
      for (count, code) in [(255, nil), (256, "M_INVALID_PARAM")] as [(Int, String?)] {
        let answer = try await fixture.call(.put, path + "/" + String(repeating: "x", count: count), as: ann, "{}")
        #expect(answer.errorCode == code)
      }
    }
  }

  @Test func `a filter is stored once and found by its ID`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let path = APIFixture.own(ann, "filter")
      let body = #"{"room":{"timeline":{"limit":5}}}"#
      let first = try #require(try await fixture.call(.post, path, as: ann, body).json["filter_id"]?.string)
      #expect(try await fixture.call(.post, path, as: ann, body).json["filter_id"]?.string == first)
      #expect(try await fixture.call(.post, path, as: ann, "{}").json["filter_id"]?.string != first)
      #expect(try await fixture.call(.get, path + "/" + first, as: ann).json.bytes.elementsEqual(body.utf8))
      for id in ["999", "x"] {
        let unknown = try await fixture.call(.get, path + "/" + id, as: ann)
        #expect(unknown.errorCode == "M_NOT_FOUND")
      }
    }
  }

  @Test(arguments: [
    #"{"room":1}"#, #"{"room":{"timeline":[]}}"#, #"{"room":{"timeline":{"limit":"5"}}}"#,
    #"{"room":{"timeline":{"limit":-1}}}"#,
    #"{"event_fields":"type"}"#, #"{"event_fields":[1]}"#, #"{"event_format":"other"}"#,
    #"{"presence":{"types":"m.presence"}}"#,
    #"{"account_data":{"not_types":[1]}}"#, #"{"room":{"state":{"lazy_load_members":"yes"}}}"#,
    #"{"room":{"include_leave":1}}"#, #"{"room":{"timeline":{"contains_url":"true"}}}"#
  ])
  func `a filter of the wrong shape is refused when it is defined`(filter: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let answer = try await fixture.call(.post, APIFixture.own(ann, "filter"), as: ann, filter)
      #expect(answer.status == 400 && answer.errorCode == "M_BAD_JSON")
    }
  }

  @Test func `a draft is room account data of at most 32 KiB, and announced`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let capabilities = try await fixture.call(.get, "capabilities", as: ann)
      #expect(capabilities.json["capabilities"]?["martlet.draft"]?["enabled"]?.bool == true)
      for type in ["martlet.draft", "martlet.draft.%24root"] {
        for (extra, status) in [(0, 200), (1, 413)] {
          let text = String(repeating: "x", count: AccountData.draftBytesLimit - 8 + extra)
          let path = APIFixture.own(ann, "rooms/\(Self.room)/account_data/\(type)")
          #expect(try await fixture.call(.put, path, as: ann, #"{"a":"\#(text)"}"#).status == status)
        }
      }
    }
  }

  @Test func `account data of a room, and of all rooms together, has its bytes`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let whole = #"{"a":"\#(String(repeating: "x", count: AccountData.contentBytesLimit - 8))"}"#
      func put(_ room: Int, _ number: Int) async throws -> Int {
        let path = APIFixture.own(ann, "rooms/%21r\(room)%3Ax/account_data/t\(number)")
        return try await fixture.call(.put, path, as: ann, whole).status
      }
      let perRoom = Int(AccountData.roomBytesLimit) / AccountData.contentBytesLimit
      for number in 0..<perRoom { #expect(try await put(0, number) == 200) }
      #expect(try await put(0, perRoom) == 413)
      #expect(try await put(0, 0) == 200, "what takes the place of as much is no more than before")
      let userID = ann.userID
      let used = Int64(perRoom * AccountData.contentBytesLimit)
      _ = try await fixture.homeserver.database.write { tx in
        try tx.execute(
          "INSERT INTO account_data(user_id, room_id, type, content, position) VALUES($1, '!big:x', 't', $2, 0)", userID,
          [UInt8](repeating: 32, count: Int(AccountData.bytesLimit - used) - AccountData.contentBytesLimit - 20_000))
      }
      #expect(try await put(1, 0) == 200)
      #expect(try await put(2, 0) == 413)
    }
  }

  @Test func `a thousand entries are kept for a room`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let userID = ann.userID
      try await fixture.homeserver.database.write { tx in
        for number in 1..<AccountData.roomCountLimit {
          try tx.execute(
            "INSERT INTO account_data(user_id, room_id, type, content, position) VALUES($1, '!room:example.org', $2, $3, 0)",
            userID, "t\(number)", Array("{}".utf8))
        }
      }
      for (type, status) in [("new1", 200), ("new2", 413), ("new1", 200)] {
        let path = APIFixture.own(ann, "rooms/\(Self.room)/account_data/\(type)")
        #expect(try await fixture.call(.put, path, as: ann, "{}").status == status)
      }
    }
  }
}
