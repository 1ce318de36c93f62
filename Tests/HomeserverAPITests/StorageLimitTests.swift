import JSON
import MatrixModel
import ServerAccounts
import ServerDirectory
import ServerRooms
import ServerSync
import Testing

/// What one user can make the server keep.
@Suite struct StorageLimitTests {
  @Test func `a device has at most a thousand one-time keys of an algorithm`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      func upload(_ range: Range<Int>) async throws -> APIFixture.Answer {
        let keys = range.map { #""curve:\#($0)":"k""# }.joined(separator: ",")
        return try await fixture.call(.post, "keys/upload", as: ann, #"{"one_time_keys":{\#(keys)}}"#)
      }
      let most = try await upload(0..<OneTimeKeys.countLimit)
      #expect(most.json["one_time_key_counts"]?["curve"]?.integer == Int64(OneTimeKeys.countLimit))
      let more = try await upload(OneTimeKeys.countLimit..<OneTimeKeys.countLimit + 1)
      #expect(more.status == 413)
      #expect(more.errorCode == "M_TOO_LARGE")
    }
  }

  @Test func `a login beyond the limit of devices deletes the one seen longest ago`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      fixture.advance(milliseconds: 1)
      let userID = ann.userID
      try await fixture.homeserver.database.write { tx in
        for number in 2..<Devices.countLimit {
          try tx.execute(
            "INSERT INTO device(user_id, device_id, created, last_seen) VALUES($1, $2, 1, 1800000000000)", userID,
            "D\(number)")
        }
      }
      let last = try fixture.user(await fixture.logIn("ann"))
      #expect(try await fixture.call(.get, "devices", as: last).json["devices"]?.count == Devices.countLimit)
      #expect(try await fixture.call(.get, "account/whoami", as: ann).status == 200)
      let next = try fixture.user(await fixture.logIn("ann"))
      #expect(try await fixture.call(.get, "devices", as: next).json["devices"]?.count == Devices.countLimit)
      #expect(try await fixture.call(.get, "account/whoami", as: ann).errorCode == "M_UNKNOWN_TOKEN")
    }
  }

  @Test func `ten thousand messages wait for a device; the oldest goes first`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let (userID, deviceID) = (ann.userID, ann.deviceID)
      try await fixture.homeserver.database.write { tx in
        for position in 1...ToDeviceMessages.waitingLimit - 1 {
          try tx.execute(
            "INSERT INTO to_device(user_id, device_id, position, sender, type, content) VALUES($1, $2, $3, 's', 't', $4)",
            userID, deviceID, -position, Array("{}".utf8))
        }
      }
      func waiting() async throws -> (count: Int, oldest: Int64?) {
        try await fixture.homeserver.database.read { tx in
          let all = try ToDeviceMessages.messages(tx, for: userID, deviceID, after: .min, upTo: .max, limit: 20_000)
            .messages
          return (all.count, all.first?.position)
        }
      }
      let oldest = -Int64(ToDeviceMessages.waitingLimit - 1)
      for (number, expected) in [oldest, oldest + 1].enumerated() {
        let body = #"{"messages":{"@ann:example.org":{"*":{}}}}"#
        #expect(try await fixture.call(.put, "sendToDevice/t/\(number)", as: ann, body).status == 200)
        let now = try await waiting()
        #expect(now.count == ToDeviceMessages.waitingLimit)
        #expect(now.oldest == expected)
      }
    }
  }

  @Test func `one message to a device has at most 64 KiB`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      for (extra, status) in [(0, 200), (1, 413)] {
        let text = String(repeating: "x", count: ToDeviceMessages.contentBytesLimit - 8 + extra)
        let body = #"{"messages":{"@ann:example.org":{"*":{"a":"\#(text)"}}}}"#
        #expect(try await fixture.call(.put, "sendToDevice/t/\(extra)", as: ann, body).status == status)
      }
    }
  }

  @Test func `account data and filters have their sizes`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      func body(_ count: Int) -> String { #"{"a":""# + String(repeating: "x", count: count - 8) + #""}"# }
      for (extra, status) in [(0, 200), (1, 413)] {
        let data = try await fixture.call(
          .put, APIFixture.own(ann, "account_data/t"), as: ann, body(AccountData.contentBytesLimit + extra))
        #expect(data.status == status)
        let filter = try await fixture.call(
          .post, APIFixture.own(ann, "filter"), as: ann, body(StoredFilters.bytesLimit + extra))
        #expect(filter.status == status)
      }
    }
  }

  @Test func `a user has a thousand filters and twenty thousand entries of account data`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let userID = ann.userID
      try await fixture.homeserver.database.write { tx in
        for number in 1..<StoredFilters.countLimit {
          try tx.execute(
            "INSERT INTO filter(user_id, filter_id, json) VALUES($1, $2, $3)", userID, number, Array("{}".utf8))
        }
        for number in 2..<AccountData.countLimit {
          try tx.execute(
            "INSERT INTO account_data(user_id, room_id, type, content, position) VALUES($1, '', $2, $3, 0)",
            userID, "t\(number)", Array("{}".utf8))
        }
      }
      let filters = APIFixture.own(ann, "filter")
      #expect(try await fixture.call(.post, filters, as: ann, #"{"n":1}"#).json["filter_id"]?.string == "1000")
      #expect(try await fixture.call(.get, filters + "/1", as: ann).status == 200)
      #expect(try await fixture.call(.post, filters, as: ann, #"{"n":2}"#).json["filter_id"]?.string == "1001")
      #expect(try await fixture.call(.get, filters + "/1", as: ann).status == 404)
      for (type, status) in [("new1", 200), ("new2", 413), ("new1", 200)] {
        let answer = try await fixture.call(.put, APIFixture.own(ann, "account_data/" + type), as: ann, "{}")
        #expect(answer.status == status)
      }
    }
  }

  @Test func `a user gives a room a hundred tags`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      func set(_ name: String) async throws -> Int {
        try await fixture.call(.put, APIFixture.own(ann, "rooms/!r/tags/" + name), as: ann, "{}").status
      }
      for number in 1..<Tags.countLimit { #expect(try await set("u.t\(number)") == 200) }
      for (name, status) in [("u.last", 200), ("u.more", 413), ("u.t1", 200)] { #expect(try await set(name) == status) }
      _ = try await fixture.call(.delete, APIFixture.own(ann, "rooms/!r/tags/u.t1"), as: ann)
      #expect(try await set("u.more") == 200)
      for (count, status) in [(Tags.countLimit, 200), (Tags.countLimit + 1, 413)] {
        let tags = (0..<count).map { #""u.\#($0)":{}"# }.joined(separator: ",")
        let all = try await fixture.call(
          .put, APIFixture.own(ann, "rooms/!r/account_data/m.tag"), as: ann, #"{"tags":{\#(tags)}}"#)
        #expect(all.status == status)
      }
    }
  }

  @Test func `a room has a thousand aliases, a user makes a thousand, an application service more`() async throws {
    try await AppServiceFixture.run { service in
      let fixture = service.fixture
      let (room, other) = (try await service.room(), try await service.room())
      let (ann, bot) = (service.ann.userID, "@_tea_bot:example.org")
      func fill(_ count: Int, by creator: String, _ room: Int, _ name: String) async throws {
        try await fixture.homeserver.database.write { tx in
          for number in 0..<count {
            try tx.execute(
              "INSERT INTO room_alias(alias, room, creator, created) VALUES($1, $2, $3, 0)",
              "#\(name)\(number):example.org", room, creator)
          }
        }
      }
      func add(_ name: String, to room: String, _ token: String) async throws -> APIFixture.Answer {
        try await fixture.call(
          .put, "directory/room/%23\(name)%3Aexample.org", token: token, #"{"room_id":"\#(PercentDecoding.text(room))"}"#)
      }
      // Rooms that are nobody's, so that what they have is the user's alone.
      try await fill(Rooms.userAliasesLimit - 1, by: ann.string, -1, "mine")
      #expect(try await add("last", to: room, service.ann.token).status == 200)
      #expect(try await add("more", to: room, service.ann.token).errorCode == "M_FORBIDDEN")
      let made = try await fixture.call(.post, "createRoom", as: service.ann, #"{"room_alias_name":"more"}"#)
      #expect(made.errorCode == "M_FORBIDDEN")
      _ = try await fixture.call(.delete, "directory/room/%23last%3Aexample.org", as: service.ann)
      #expect(try await add("more", to: room, service.ann.token).status == 200)

      _ = try await service.call(.post, "rooms/\(other)/join", as: nil, "{}")
      try await fill(Rooms.userAliasesLimit, by: bot, -2, "_tea_old")
      #expect(try await add("_tea_new", to: other, AppServiceFixture.token).status == 200)
      let id = RoomID(trusted: ByteString(PercentDecoding.text(other)))
      let number = try await fixture.homeserver.database.read { tx in
        try fixture.homeserver.rooms.cache.snapshot(of: id, in: tx)?.number
      }
      try await fill(Rooms.aliasesLimit - 2, by: "@x:example.org", Int(try #require(number).value), "room")
      #expect(try await add("_tea_last", to: other, AppServiceFixture.token).status == 200)
      #expect(try await add("_tea_more", to: other, AppServiceFixture.token).errorCode == "M_FORBIDDEN")
    }
  }

  @Test(arguments: [(10_000, 200), (10_001, 413)])
  func `ten thousand users are asked for at once, or keys claimed`(count: Int, status: Int) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let users = (0..<count).map { #""@u\#($0):x":[]"# }.joined(separator: ",")
      #expect(try await fixture.call(.post, "keys/query", as: ann, #"{"device_keys":{\#(users)}}"#).status == status)
      let devices = (0..<count).map { #""D\#($0)":"a""# }.joined(separator: ",")
      let body = #"{"one_time_keys":{"@ann:example.org":{\#(devices)}}}"#
      #expect(try await fixture.call(.post, "keys/claim", as: ann, body).status == status)
    }
  }

  @Test func `a search of the directory answers with at most fifty`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      _ = try await fixture.register("bob")
      try await fixture.homeserver.database.write { tx in
        for number in 1...UserDirectory.resultsLimit {
          try tx.execute(
            "INSERT INTO account(user_id, created, search_text) VALUES($1, 1, $1)", "@many\(number):example.org")
        }
      }
      for (term, isLimited) in [("@many", false), ("@", true)] {
        let body = #"{"search_term":"\#(term)","limit":1000}"#
        let answer = try await fixture.call(.post, "user_directory/search", as: ann, body)
        #expect(answer.json["results"]?.count == UserDirectory.resultsLimit)
        #expect(answer.json["limited"]?.bool == isLimited)
      }
    }
  }
}
