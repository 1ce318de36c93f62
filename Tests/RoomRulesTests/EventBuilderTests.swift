import JSON
import MatrixModel
import Testing

@testable import RoomRules

@Suite struct EventBuilderTests {
  static let room = RoomID(trusted: "!room:a.example")

  func draft(_ version: RoomVersion = .v12, _ content: String = #"{"body":"hi","msgtype":"m.text"}"#) throws
    -> EventDraft
  {
    EventDraft(
      version: version, roomID: Self.room, type: .message, sender: TestRoom.alice, content: try json(content),
      prevEvents: [EventID(trusted: "$prev")], authEvents: [EventID(trusted: "$auth1"), EventID(trusted: "$auth2")],
      depth: 7, originServerTimestamp: 1_700_000_000_123)
  }

  @Test(arguments: versions) func `what is built reads back as itself`(version: RoomVersion) throws {
    let built = try TestRoom.builder.build(try draft(version, #"{"b":[1,{"d":2,"c":"\u00e9\/"}],"a":null}"#))
    let read = try PDU(built.bytes, version: version)
    #expect(read.eventID == built.eventID)
    #expect(read.bytes.elementsEqual(built.bytes))
    #expect(text(read.content.bytes) == #"{"a":null,"b":[1,{"c":"é/","d":2}]}"#)
    #expect(read.hasValidContentHash)
    #expect(
      read.isSigned { server, keyID in server == TestRoom.server && keyID == "ed25519:1" ? testKey.publicKey : nil })
    #expect((read.depth, read.originServerTimestamp) == (7, 1_700_000_000_123))
    #expect(read.prevEvents == [EventID(trusted: "$prev")])
    #expect(read.authEvents == [EventID(trusted: "$auth1"), EventID(trusted: "$auth2")])
    #expect(built.roomID == Self.room)
  }

  /// Content hash and event ID computed by another program (Python's json and hashlib) from the same fields.
  @Test(arguments: [
    (RoomVersion.v10, "$aymJ-shoOK2fKc11ZjBHvCwdOhz0jNDu-MW7ySFJQfM"),
    (RoomVersion.v11, "$Kv6KEoHFgAzy4qDWgmNiNLge0zWMmSqJFzSncP0nW10")
  ]) func `the event ID is the one another program computes`(version: RoomVersion, eventID: String) throws {
    var draft = try draft(version, #"{"body":"é \" \\ \u0001","msgtype":"m.text","n":-5}"#)
    draft.stateKey = "key"
    draft.redacts = EventID(trusted: "$other")
    let built = try TestRoom.builder.build(draft)
    #expect(built.eventID.string == eventID)
    #expect(
      try JSON.parse(built.bytes)["hashes"]?["sha256"]?.string
        == (version == .v10
          ? "+k76yGUsGNLHr0s0Tjtv7zoqXDXzs+goykxVvLQ5zZI" : "gVi2vAds/zqJ0hG7H8I4he6LapnGALhPIeqJsnhfceU"))
  }

  @Test(arguments: versions) func `fragments make the event again`(version: RoomVersion) throws {
    let room = try TestRoom(version)
    let redaction = version.redactsInContent ? #"{"redacts":"$x"}"# : "{}"
    var drafts = [try room.draft(.redaction, from: TestRoom.alice, redaction), try draft(version)]
    drafts[0].redacts = version.redactsInContent ? nil : EventID(trusted: "$x")
    drafts.append(try room.draft(.name, from: TestRoom.alice, stateKey: "", #"{"name":"n"}"#))
    for draft in drafts {
      let built = try TestRoom.builder.build(draft)
      #expect(try built.fragments.event(roomID: built.roomID, version: version) == built.bytes)
      let read = try PDU(built.bytes, version: version)
      #expect(EventFragments(read) == built.fragments)
      #expect(
        !text(built.fragments.client).contains("room_id") && !text(built.fragments.federation).contains("room_id"))
      #expect(read.redacts == (draft.type == .redaction ? EventID(trusted: "$x") : nil))
    }
    let create = try #require(room.event(StateMapKey(.create)))
    let again = try PDU(EventFragments(create), roomID: create.roomID, eventID: create.eventID, version: version)
    #expect(again.bytes.elementsEqual(create.bytes))
  }

  @Test func `the client fragment is what clients may see`() throws {
    var draft = try draft(.v10)
    draft.stateKey = "s"
    draft.redacts = EventID(trusted: "$r")
    #expect(
      text(try TestRoom.builder.build(draft).fragments.client)
        == #""content":{"body":"hi","msgtype":"m.text"},"origin_server_ts":1700000000123,"redacts":"$r","sender":"@alice:a.example","state_key":"s","type":"m.room.message""#
    )
  }

  @Test func `unknown keys are kept for servers and covered by the content hash`() throws {
    let source =
      #"{"auth_events":[],"content":{},"depth":1,"hashes":{"sha256":"x"},"new.key":[1],"origin_server_ts":1,"prev_events":[],"room_id":"!r:d","sender":"@a:d","signatures":{},"type":"T","unsigned":{"age":1}}"#
    let event = try PDU(Array(source.utf8), version: .v11)
    let fragments = EventFragments(event)
    #expect(text(fragments.federation).contains(#""new.key":[1]"#))
    #expect(!text(fragments.federation).contains("unsigned"))
    #expect(try fragments.event(roomID: event.roomID, version: .v11).elementsEqual(event.bytes))
    #expect(!event.hasValidContentHash)
    #expect(!event.isSigned { _, _ in testKey.publicKey })
  }

  @Test func `from version 12 on the room ID is the create event's hash`() throws {
    let room = try TestRoom(.v12)
    let create = try #require(room.event(StateMapKey(.create)))
    #expect(create.namedRoomID == nil)
    #expect(create.roomID.text.utf8.dropFirst().elementsEqual(create.eventID.text.utf8.dropFirst()))
    #expect(create.roomID.text.utf8.first == UInt8(ascii: "!") && create.roomID.text.count == 44)
    #expect(EventID(createEventOf: create.roomID) == create.eventID)
    #expect(create.json["room_id"] == nil)
  }

  @Test func `an event has at most 65536 bytes`() throws {
    let overhead = try TestRoom.builder.build(try draft(.v12, #"{"body":""}"#)).bytes.count
    let most = String(repeating: "x", count: EventLimits.bytes - overhead)
    let built = try TestRoom.builder.build(try draft(.v12, #"{"body":"\#(most)"}"#))
    #expect(built.bytes.count == 65_536)
    _ = try PDU(built.bytes, version: .v12)
    #expect(throws: EventFormatError.tooLarge(bytes: 65_537)) {
      try TestRoom.builder.build(try draft(.v12, #"{"body":"\#(most)x"}"#))
    }
  }

  @Test func `fields have limits on both sides`() throws {
    func builds(_ change: (inout EventDraft) -> Void) throws -> EventFormatError? {
      var changed = try draft()
      change(&changed)
      do throws(EventFormatError) {
        let built = try TestRoom.builder.build(changed)
        _ = try PDU(built.bytes, version: changed.version)
        return nil
      } catch { return error }
    }
    let long = ByteString(String(repeating: "t", count: 255))
    let longer = ByteString(String(repeating: "t", count: 256))
    let events = (0..<21).map { EventID(trusted: ByteString("$\($0)")) }
    #expect(try builds { $0.type = EventType(trusted: long) } == nil)
    #expect(try builds { $0.type = EventType(trusted: longer) } == .fieldTooLarge("type"))
    #expect(try builds { $0.stateKey = long } == nil)
    #expect(try builds { $0.stateKey = longer } == .fieldTooLarge("state_key"))
    #expect(try builds { $0.prevEvents = Array(events[..<20]) } == nil)
    #expect(try builds { $0.prevEvents = events } == .fieldTooLarge("prev_events"))
    #expect(try builds { $0.authEvents = Array(events[..<10]) } == nil)
    #expect(try builds { $0.authEvents = Array(events[..<11]) } == .fieldTooLarge("auth_events"))
    #expect(try builds { $0.depth = EventLimits.depth } == nil)
    #expect(try builds { $0.depth = EventLimits.depth + 1 } == .field("depth"))
    #expect(try builds { $0.depth = -1 } == .field("depth"))
    #expect(try builds { $0.sender = UserID(trusted: "alice") } == .field("sender"))
    #expect(try builds { $0.roomID = nil } == .field("room_id"))
    #expect(try builds { $0.authEvents = [EventID(createEventOf: Self.room)] } == .authEventsNameCreate)
    #expect(try builds { $0.type = .create } == .createNamesRoom)
    #expect(try builds { $0.roomID = RoomID(trusted: "!abc") } == nil)
    #expect(try builds { ($0.version, $0.roomID) = (.v11, RoomID(trusted: "!abc")) } == .field("room_id"))
  }

  @Test(arguments: ["[]", #"{"a":1.5}"#, #"{"a":9007199254740992}"#, #"{"a":1,"a":2}"#])
  func `content without canonical form is refused`(content: String) throws {
    #expect(throws: EventFormatError.self) { try TestRoom.builder.build(try draft(.v12, content)) }
  }
}
