import JSON
import MatrixModel
import Testing

@testable import RoomRules

@Suite struct PDUTests {
  static let fields: [(key: String, value: String)] = [
    ("auth_events", #"["$a"]"#), ("content", "{}"), ("depth", "1"), ("hashes", #"{"sha256":"x"}"#),
    ("origin_server_ts", "1"),
    ("prev_events", #"["$p"]"#), ("room_id", #""!r:d""#), ("sender", #""@a:d""#), ("signatures", "{}"),
    ("type", #""T""#)
  ]

  /// The event of `fields` with one value changed, or left out where the value is nil.
  private func event(_ key: String = "", _ value: String? = nil, _ version: RoomVersion = .v11) throws(EventFormatError)
    -> PDU
  {
    var members = Self.fields.filter { $0.key != key }
    if let value { members.append((key, value)) }
    return try PDU(
      Array("{\(members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}".utf8), version: version)
  }

  @Test func `a minimal event is an event`() throws {
    let event = try event()
    #expect(event.type == "T" && event.stateKey == nil && event.stateMapKey == nil && event.redacts == nil)
    #expect(try self.event("state_key", #""""#).stateKey == "")
  }

  @Test(arguments: fields.map(\.key)) func `every field is needed`(key: String) {
    #expect(throws: EventFormatError.self) { try event(key) }
  }

  static let wrong: [(String, String)] = [
    ("auth_events", "{}"), ("auth_events", "[1]"), ("auth_events", #"["a"]"#), ("content", "[]"), ("depth", "-1"),
    ("depth", "1.5"), ("depth", #""1""#),
    ("hashes", "{}"), ("hashes", "[]"), ("origin_server_ts", "null"), ("prev_events", #"[["$a",{}]]"#),
    ("room_id", #""r""#), ("room_id", #""!r""#),
    ("sender", #""a""#), ("sender", #""@a""#), ("signatures", "[]"), ("type", "1"), ("state_key", "1"),
    ("x", "9007199254740992"), ("x", "1e1"), ("content", #"{"a":1,"a":1}"#)
  ]

  @Test(arguments: wrong) func `fields of another kind are refused`(key: String, value: String) {
    #expect(throws: EventFormatError.self) { try event(key, value) }
  }

  @Test func `limits hold on both sides`() throws {
    func string(_ count: Int, _ prefix: String = "", _ suffix: String = "") -> String {
      "\"\(prefix)\(String(repeating: "x", count: count - prefix.count - suffix.count))\(suffix)\""
    }
    func ids(_ count: Int) -> String { "[\((0..<count).map { "\"$\($0)\"" }.joined(separator: ","))]" }
    let atLimit = [
      ("type", string(255)), ("state_key", string(255)), ("sender", string(255, "@", ":d")),
      ("room_id", string(255, "!", ":d")),
      ("prev_events", ids(20)), ("auth_events", ids(10)), ("depth", "9007199254740991"),
      ("origin_server_ts", "-9007199254740991")
    ]
    let above = [
      ("type", string(256)), ("state_key", string(256)), ("sender", string(256, "@", ":d")),
      ("room_id", string(256, "!", ":d")),
      ("prev_events", ids(21)), ("auth_events", ids(11)), ("depth", "9007199254740992"),
      ("origin_server_ts", "-9007199254740992")
    ]
    for (key, value) in atLimit { _ = try event(key, value) }
    for (key, value) in above { #expect(throws: EventFormatError.self) { try event(key, value) } }
  }

  @Test(arguments: versions) func `a field too long only in bytes rejects the event before version 11`(version: RoomVersion)
    throws
  {
    let isStrict = version == .v11 || version == .v12
    func long(_ count: Int, _ prefix: String = "", _ suffix: String = "") -> String {
      "\"\(prefix)\(String(repeating: "é", count: count - prefix.count - suffix.count))\(suffix)\""
    }
    let roomID = version.roomIDIsCreateHash ? "!r" : "!r:d"
    func read(_ key: String, _ value: String) throws -> PDU {
      let fields =
        PDUTests.fields.filter { $0.key != key && $0.key != "room_id" } + [(key, value), ("room_id", "\"\(roomID)\"")]
      return try PDU(
        Array("{\(fields.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}".utf8), version: version)
    }
    for (key, prefix, suffix) in [("type", "", ""), ("state_key", "", ""), ("sender", "@", ":d")] {
      #expect(try read(key, long(127, prefix, suffix)).isRejected == false)
      #expect(throws: EventFormatError.self) { try read(key, long(256, prefix, suffix)) }
      if isStrict {
        #expect(throws: EventFormatError.self) { try read(key, long(255, prefix, suffix)) }
      } else {
        #expect(try read(key, long(255, prefix, suffix)).isRejected)
      }
    }
  }

  @Test func `the whole event has at most 65536 canonical bytes`() throws {
    let overhead = try event("x", #""""#).bytes.count
    func filler(_ count: Int) -> String { " \"" + String(repeating: "y", count: count - overhead) + "\"" }
    #expect(try event("x", filler(65_536)).bytes.count == 65_536)
    #expect(throws: EventFormatError.tooLarge(bytes: 65_537)) { try event("x", filler(65_537)) }
  }

  @Test func `unsigned is dropped`() throws {
    let event = try event("unsigned", #"{"age":1}"#)
    #expect(event.json["unsigned"] == nil)
    #expect(event.eventID == (try self.event()).eventID)
  }

  @Test func `order and space of the source do not matter`() throws {
    let source = "{ \(Self.fields.reversed().map { "\"\($0.key)\" : \($0.value)" }.joined(separator: " ,\n")) }"
    #expect(try PDU(Array(source.utf8), version: .v11).eventID == (try event()).eventID)
  }

  @Test func `from version 12 on only the create event has no room ID and nobody cites it`() throws {
    #expect(throws: EventFormatError.createNamesRoom) { try event("type", #""m.room.create""#, .v12) }
    #expect(throws: EventFormatError.field("room_id")) { try event("room_id", nil, .v12) }
    _ = try event("room_id", #""!abc""#, .v12)
    _ = try event("auth_events", #"["$r:d2"]"#, .v12)
    #expect(throws: EventFormatError.authEventsNameCreate) { try event("auth_events", #"["$r:d"]"#, .v12) }
  }

  @Test func `a truncated event is refused at every byte`() throws {
    let whole = Array(try event().bytes)
    for length in 0..<whole.count {
      #expect(throws: EventFormatError.self) { try PDU(Array(whole[..<length]), version: .v11) }
    }
  }

  @Test func `changing what is signed shows`() throws {
    var room = try TestRoom(.v11)
    let event = try room.add(.name, from: TestRoom.alice, stateKey: "", #"{"name":"right"}"#)
    let source = text(event.bytes)
    func read(_ from: String, _ to: String) throws -> (hash: Bool, signature: Bool, sameID: Bool) {
      let changed = try PDU(Array(source.replacing(from, with: to).utf8), version: .v11)
      return (
        changed.hasValidContentHash, changed.isSigned { _, _ in testKey.publicKey }, changed.eventID == event.eventID
      )
    }
    #expect(try read("nothing", "") == (true, true, true))
    #expect(try read("right", "wrong") == (false, true, true))
    #expect(try read("@alice:a.example", "@malice:a.example") == (false, false, false))
  }

  @Test(arguments: versions) func `the servers that must sign`(version: RoomVersion) throws {
    let room = try TestRoom(version)
    func signers(_ type: EventType, _ content: String) throws -> [String] {
      try TestRoom.build(room.draft(type, from: TestRoom.alice, stateKey: TestRoom.bob.text, content)).requiredSigners
        .map(\.string)
    }
    #expect(try signers(.message, "{}") == ["a.example"])
    let others = version.hasRestrictedJoins ? ["b.example"] : []
    #expect(
      try signers(.member, #"{"membership":"join","join_authorised_via_users_server":"@x:b.example"}"#)
        == ["a.example"] + others)
    #expect(
      try signers(.member, #"{"membership":"leave","join_authorised_via_users_server":"@x:b.example"}"#) == ["a.example"])
    #expect(
      try signers(.member, #"{"membership":"join","join_authorised_via_users_server":"@x:a.example"}"#) == ["a.example"]
    )
    #expect(try signers(.member, #"{"membership":"invite","third_party_invite":{}}"#) == [])
    #expect(try signers(.member, #"{"membership":"invite"}"#) == ["a.example"])
  }
}

@Suite struct RoomVersionTests {
  @Test func `versions 6 to 12 are known and 12 is for new rooms`() {
    #expect(RoomVersion.known.map(\.name.string) == ["6", "7", "8", "9", "10", "11", "12"])
    #expect(RoomVersion.known.allSatisfy { $0.isStable })
    #expect(RoomVersion.standard == .v12)
    #expect(RoomVersion("11") == .v11)
    #expect(RoomVersion("13") == nil && RoomVersion("") == nil && RoomVersion("012") == nil)
  }
}
