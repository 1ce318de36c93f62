import JSON
import MatrixModel
import Testing

@testable import HomeserverAPI
@testable import ServerAccounts

@Suite struct KeyBackupTests {
  private static let algorithm = "m.megolm_backup.v1.curve25519-aes-sha2"
  private static let authData = #"{"public_key":"abc","x.unknown": [1.50,  "é"],"signatures":{}}"#
  private static let room = "!room:example.org"
  private static let roomPath = "room_keys/keys/%21room%3Aexample.org"

  private static func version(_ authData: String = Self.authData, more: String = "") -> String {
    #"{"algorithm":"\#(algorithm)","auth_data":\#(authData)\#(more)}"#
  }

  private static func key(_ verified: Bool = false, index: Int = 5, forwarded: Int = 3, data: String = "x") -> String {
    #"""
    {"is_verified":\#(verified),"first_message_index":\#(index),"forwarded_count":\#(forwarded),"session_data":{"ciphertext":"\#(data)"}}
    """#
  }

  private func create(_ fixture: APIFixture, _ user: APIFixture.User) async throws -> String {
    let answer = try await fixture.call(.post, "room_keys/version", as: user, Self.version())
    #expect(answer.status == 200)
    return try #require(answer.json["version"]?.string)
  }

  @Test func `a backup is described as it was created, byte for byte`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      #expect(try await fixture.call(.get, "room_keys/version", as: ann).errorCode == "M_NOT_FOUND")
      let version = try await create(fixture, ann)
      for path in ["room_keys/version", "room_keys/version/\(version)"] {
        let answer = try await fixture.call(.get, path, as: ann)
        #expect(answer.status == 200)
        #expect(answer.json["algorithm"]?.string == Self.algorithm)
        #expect(String(decoding: try #require(answer.json["auth_data"]).bytes, as: UTF8.self) == Self.authData)
        #expect(answer.json["version"]?.string == version)
        #expect(answer.json["count"]?.integer == 0)
        #expect(answer.json["etag"]?.isString == true)
      }
      let second = try await create(fixture, ann)
      #expect(second != version)
      #expect(try await fixture.call(.get, "room_keys/version", as: ann).json["version"]?.string == second)
      let bob = try await fixture.register("bob")
      #expect(try await fixture.call(.get, "room_keys/version/\(version)", as: bob).errorCode == "M_NOT_FOUND")
    }
  }

  @Test(arguments: [
    ("{}", "M_MISSING_PARAM"), (#"{"algorithm":"a"}"#, "M_MISSING_PARAM"),
    (#"{"algorithm":1,"auth_data":{}}"#, "M_BAD_JSON"), (#"{"algorithm":"a","auth_data":[]}"#, "M_BAD_JSON")
  ])
  func `a backup without algorithm and auth_data is refused`(body: String, code: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      #expect(try await fixture.call(.post, "room_keys/version", as: ann, body).errorCode == code)
    }
  }

  @Test func `only auth_data of a backup can be changed`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let version = try await create(fixture, ann)
      let path = "room_keys/version/\(version)"
      let changed = #"{"public_key":"other"}"#
      #expect(try await fixture.call(.put, path, as: ann, Self.version(changed)).status == 200)
      #expect(
        try await fixture.call(.put, path, as: ann, Self.version(changed, more: #","version":"\#(version)""#)).status == 200)
      #expect(try await fixture.call(.get, path, as: ann).json["auth_data"]?["public_key"]?.string == "other")
      let otherVersion = try await fixture.call(.put, path, as: ann, Self.version(more: #","version":"77""#))
      #expect(otherVersion.status == 400 && otherVersion.errorCode == "M_INVALID_PARAM")
      let otherAlgorithm = try await fixture.call(.put, path, as: ann, #"{"algorithm":"other","auth_data":{}}"#)
      #expect(otherAlgorithm.status == 400 && otherAlgorithm.errorCode == "M_INVALID_PARAM")
      for unknown in ["77", "x", "01", "-1"] {
        let answer = try await fixture.call(.put, "room_keys/version/\(unknown)", as: ann, Self.version())
        #expect(answer.status == 404 && answer.errorCode == "M_NOT_FOUND")
      }
    }
  }

  @Test func `keys come back at all three levels`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let version = try await create(fixture, ann)
      let query = "?version=\(version)"
      let empty = try await fixture.call(.get, "room_keys/keys\(query)", as: ann)
      #expect(empty.status == 200 && empty.json["rooms"]?.count == 0)
      #expect(try await fixture.call(.get, Self.roomPath + query, as: ann).json["sessions"]?.count == 0)
      let missing = try await fixture.call(.get, "\(Self.roomPath)/s1\(query)", as: ann)
      #expect(missing.status == 404 && missing.errorCode == "M_NOT_FOUND")

      let one = try await fixture.call(.put, "\(Self.roomPath)/s1\(query)", as: ann, Self.key(data: "1"))
      #expect(one.status == 200 && one.json["count"]?.integer == 1)
      let two = try await fixture.call(
        .put, Self.roomPath + query, as: ann, #"{"sessions":{"s2":\#(Self.key(data: "2")),"s\/3":\#(Self.key(data: "3"))}}"#)
      #expect(two.json["count"]?.integer == 3)
      let many = try await fixture.call(
        .put, "room_keys/keys\(query)", as: ann,
        #"{"rooms":{"!other:example.org":{"sessions":{"s1":\#(Self.key(data: "4"))}},"\#(Self.room)":{"sessions":{}}}}"#)
      #expect(many.json["count"]?.integer == 4)
      #expect(many.json["etag"]?.string != two.json["etag"]?.string)

      let session = try await fixture.call(.get, "\(Self.roomPath)/s%2F3\(query)", as: ann)
      #expect(session.json["session_data"]?["ciphertext"]?.string == "3")
      #expect(session.json["first_message_index"]?.integer == 5)
      let inRoom = try await fixture.call(.get, Self.roomPath + query, as: ann)
      #expect(inRoom.json["sessions"]?.count == 3)
      let all = try await fixture.call(.get, "room_keys/keys\(query)", as: ann)
      #expect(all.json["rooms"]?.count == 2)
      #expect(all.json["rooms"]?["!other:example.org"]?["sessions"]?["s1"]?["session_data"]?["ciphertext"]?.string == "4")
      #expect(all.json["rooms"]?[ByteString(Self.room)]?["sessions"]?.count == 3)
    }
  }

  struct Meeting: Sendable {
    let known: (verified: Bool, index: Int, forwarded: Int)
    let new: (verified: Bool, index: Int, forwarded: Int)
    let replaces: Bool
  }

  @Test(arguments: [
    Meeting(known: (false, 5, 3), new: (true, 9, 9), replaces: true),
    Meeting(known: (true, 9, 9), new: (false, 0, 0), replaces: false),
    Meeting(known: (false, 5, 3), new: (false, 4, 9), replaces: true),
    Meeting(known: (true, 5, 3), new: (true, 6, 0), replaces: false),
    Meeting(known: (false, 5, 3), new: (false, 5, 2), replaces: true),
    Meeting(known: (false, 5, 3), new: (false, 5, 4), replaces: false),
    Meeting(known: (false, 5, 3), new: (false, 5, 3), replaces: false)
  ])
  func `of two keys of a session the better one stays, and the etag says which`(_ meeting: Meeting) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let path = "\(Self.roomPath)/s1?version=\(try await create(fixture, ann))"
      func put(_ rank: (verified: Bool, index: Int, forwarded: Int), _ data: String) async throws -> APIFixture.Answer {
        let body = Self.key(rank.verified, index: rank.index, forwarded: rank.forwarded, data: data)
        return try await fixture.call(.put, path, as: ann, body)
      }
      let first = try await put(meeting.known, "known")
      let second = try await put(meeting.new, "new")
      #expect(second.status == 200 && second.json["count"]?.integer == 1)
      #expect((second.json["etag"]?.string != first.json["etag"]?.string) == meeting.replaces)
      let kept = try await fixture.call(.get, path, as: ann).json["session_data"]?["ciphertext"]?.string
      #expect(kept == (meeting.replaces ? "new" : "known"))
    }
  }

  @Test func `keys are stored in the newest backup only`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let path = "\(Self.roomPath)/s1?version="
      #expect(try await fixture.call(.put, path + "1", as: ann, Self.key()).errorCode == "M_NOT_FOUND")
      let old = try await create(fixture, ann)
      let new = try await create(fixture, ann)
      for wrong in [old, "77", "x"] {
        for (path, body) in [
          ("\(Self.roomPath)/s1", Self.key()), (Self.roomPath, #"{"sessions":{}}"#), ("room_keys/keys", #"{"rooms":{}}"#)
        ] {
          let answer = try await fixture.call(.put, "\(path)?version=\(wrong)", as: ann, body)
          #expect(answer.status == 403)
          #expect(answer.errorCode == "M_WRONG_ROOM_KEYS_VERSION")
          #expect(answer.json["current_version"]?.string == new)
        }
      }
      #expect(try await fixture.call(.put, "\(Self.roomPath)/s1", as: ann, Self.key()).errorCode == "M_MISSING_PARAM")
      #expect(try await fixture.call(.get, "\(Self.roomPath)?version=\(old)", as: ann).status == 200)
      #expect(try await fixture.call(.get, "\(Self.roomPath)?version=77", as: ann).errorCode == "M_NOT_FOUND")
    }
  }

  @Test(arguments: [
    "{}", #"{"is_verified":true,"first_message_index":1,"forwarded_count":0}"#,
    #"{"is_verified":1,"first_message_index":1,"forwarded_count":0,"session_data":{}}"#,
    #"{"is_verified":true,"first_message_index":-1,"forwarded_count":0,"session_data":{}}"#,
    #"{"is_verified":true,"first_message_index":"1","forwarded_count":0,"session_data":{}}"#,
    #"{"is_verified":true,"first_message_index":1,"session_data":{}}"#,
    #"{"is_verified":true,"first_message_index":1,"forwarded_count":0,"session_data":"x"}"#
  ])
  func `what is no key is refused, and nothing of it is stored`(body: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let version = try await create(fixture, ann)
      let answer = try await fixture.call(.put, "\(Self.roomPath)/s1?version=\(version)", as: ann, body)
      #expect(answer.status == 400)
      let all = #"{"rooms":{"\#(Self.room)":{"sessions":{"good":\#(Self.key()),"bad":\#(body)}}}}"#
      #expect(try await fixture.call(.put, "room_keys/keys?version=\(version)", as: ann, all).status == 400)
      #expect(try await fixture.call(.get, "room_keys/version", as: ann).json["count"]?.integer == 0)
    }
  }

  @Test func `a key has at most 16 KiB`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let path = "\(Self.roomPath)/s1?version=\(try await create(fixture, ann))"
      let empty = Self.key(data: "").utf8.count
      for (extra, status) in [(0, 200), (1, 413)] {
        let body = Self.key(data: String(repeating: "x", count: BackedUpKey.bytesLimit - empty + extra))
        #expect(try await fixture.call(.put, path, as: ann, body).status == status)
      }
    }
  }

  @Test func `keys are deleted at all three levels`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let version = try await create(fixture, ann)
      let query = "?version=\(version)"
      let sessions = (1...3).map { #""s\#($0)":\#(Self.key())"# }.joined(separator: ",")
      let body = #"{"rooms":{"\#(Self.room)":{"sessions":{\#(sessions)}},"!other:example.org":{"sessions":{\#(sessions)}}}}"#
      var last = try await fixture.call(.put, "room_keys/keys\(query)", as: ann, body)
      #expect(last.json["count"]?.integer == 6)
      for (path, count) in [("\(Self.roomPath)/s1", 5), (Self.roomPath, 3), ("room_keys/keys", 0)] {
        let answer = try await fixture.call(.delete, path + query, as: ann)
        #expect(answer.status == 200 && answer.json["count"]?.integer == Int64(count))
        #expect(answer.json["etag"]?.string != last.json["etag"]?.string)
        let again = try await fixture.call(.delete, path + query, as: ann)
        #expect(again.json["etag"]?.string == answer.json["etag"]?.string)
        #expect(try await fixture.call(.delete, path + "?version=77", as: ann).errorCode == "M_NOT_FOUND")
        last = answer
      }
    }
  }

  @Test func `a deleted backup is gone with its keys, and one that never was is not found`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let first = try await create(fixture, ann)
      let second = try await create(fixture, ann)
      // More than one batch.
      let sessions = (0...KeyBackups.pageLimit).map { #""s\#($0)":\#(Self.key())"# }.joined(separator: ",")
      let stored = try await fixture.call(
        .put, "\(Self.roomPath)?version=\(second)", as: ann, #"{"sessions":{\#(sessions)}}"#)
      #expect(stored.json["count"]?.integer == Int64(KeyBackups.pageLimit + 1))
      for _ in 0..<2 {
        #expect(try await fixture.call(.delete, "room_keys/version/\(second)", as: ann).status == 200)
      }
      #expect(try await fixture.call(.get, "room_keys/version/\(second)", as: ann).errorCode == "M_NOT_FOUND")
      #expect(try await fixture.call(.get, "\(Self.roomPath)?version=\(second)", as: ann).errorCode == "M_NOT_FOUND")
      #expect(try await fixture.call(.delete, "room_keys/version/77", as: ann).errorCode == "M_NOT_FOUND")
      let left = try await fixture.homeserver.database.read { tx in
        try tx.first("SELECT COUNT(*) FROM key_backup_key") { $0.integer(0) }
      }
      #expect(left == 0)
      // The one before is the newest again; a number is not given out twice.
      #expect(try await fixture.call(.get, "room_keys/version", as: ann).json["version"]?.string == first)
      #expect(try await create(fixture, ann) != second)
    }
  }

  @Test func `logging out leaves the backup as it is`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let version = try await create(fixture, ann)
      _ = try await fixture.call(.put, "\(Self.roomPath)/s1?version=\(version)", as: ann, Self.key())
      _ = try await fixture.call(.post, "logout/all", as: ann, "{}")
      let back = try fixture.user(await fixture.logIn("ann"))
      #expect(try await fixture.call(.get, "room_keys/version", as: back).json["count"]?.integer == 1)
    }
  }

  @Test(arguments: [true, false])
  func `an answer in pieces is the same JSON`(hasRooms: Bool) throws {
    func entry(_ room: String, _ session: String) -> KeyBackups.Entry {
      KeyBackups.Entry(
        roomID: RoomID(trusted: ByteString(room)), sessionID: ByteString(session), json: Array(#"{"a":1}"#.utf8))
    }
    let pages =
      hasRooms
      ? [[entry("!a:x", "1"), entry("!a:x", "2\"")], [entry("!a:x", "3"), entry("!b:x", "1")], [entry("!c:x", "1")]]
      : [[entry("!a:x", "1")], [entry("!a:x", "2")]]
    var text = BackupText(hasRooms: hasRooms)
    var bytes = text.begin()
    for page in pages { bytes += text.append(page) }
    bytes += text.end()
    let expected =
      hasRooms
      ? #"{"rooms":{"!a:x":{"sessions":{"1":{"a":1},"2\"":{"a":1},"3":{"a":1}}},"!b:x":{"sessions":{"1":{"a":1}}},"!c:x":{"sessions":{"1":{"a":1}}}}}"#
      : #"{"sessions":{"1":{"a":1},"2":{"a":1}}}"#
    #expect(String(decoding: bytes, as: UTF8.self) == expected)
  }
}
