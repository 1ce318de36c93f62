import JSON
import MatrixModel
import Testing

@testable import RoomRules

@Suite struct RedactionTests {
  /// Type, content; what versions 10, 11 and 12 leave of it ("Redactions" of the room versions).
  static let contents: [(EventType, String, v10: String, v11: String)] = [
    (.message, #"{"body":"x"}"#, "{}", "{}"),
    (.topic, #"{"topic":"x"}"#, "{}", "{}"),
    (
      .create, #"{"creator":"@a:b","m.federate":false,"room_version":"1"}"#, #"{"creator":"@a:b"}"#,
      #"{"creator":"@a:b","m.federate":false,"room_version":"1"}"#
    ),
    (
      .joinRules, #"{"allow":[1],"join_rule":"restricted","x":1}"#, #"{"allow":[1],"join_rule":"restricted"}"#,
      #"{"allow":[1],"join_rule":"restricted"}"#
    ),
    (
      .historyVisibility, #"{"history_visibility":"shared","x":1}"#, #"{"history_visibility":"shared"}"#,
      #"{"history_visibility":"shared"}"#
    ),
    (.redaction, #"{"reason":"x","redacts":"$y"}"#, "{}", #"{"redacts":"$y"}"#),
    (
      .powerLevels,
      #"{"ban":1,"events":{"a":1},"events_default":2,"invite":3,"kick":4,"notifications":{},"redact":5,"state_default":6,"users":{},"users_default":7,"x":8}"#,
      #"{"ban":1,"events":{"a":1},"events_default":2,"kick":4,"redact":5,"state_default":6,"users":{},"users_default":7}"#,
      #"{"ban":1,"events":{"a":1},"events_default":2,"invite":3,"kick":4,"redact":5,"state_default":6,"users":{},"users_default":7}"#
    ),
    (
      .member,
      #"{"displayname":"A","join_authorised_via_users_server":"@a:b","membership":"join","third_party_invite":{"display_name":"x","signed":{"token":"t"}}}"#,
      #"{"join_authorised_via_users_server":"@a:b","membership":"join"}"#,
      #"{"join_authorised_via_users_server":"@a:b","membership":"join","third_party_invite":{"signed":{"token":"t"}}}"#
    ),
    (
      .member, #"{"membership":"invite","third_party_invite":1}"#, #"{"membership":"invite"}"#,
      #"{"membership":"invite"}"#
    )
  ]

  @Test(arguments: contents) func `content keeps the protected keys`(
    type: EventType, content: String, v10: String, v11: String
  ) throws {
    for (version, expected) in [(RoomVersion.v9, v10), (.v10, v10), (.v11, v11), (.v12, v11)] {
      #expect(text(version.redaction.redactedContent(canonical: Array(content.utf8), type: type)) == expected)
    }
  }

  /// What versions 6 and 7, and what version 8 leaves: restricted joins came with 8, and 9 mended what they need.
  @Test(arguments: [
    (
      EventType.joinRules, #"{"allow":[1],"join_rule":"restricted"}"#, #"{"join_rule":"restricted"}"#,
      #"{"allow":[1],"join_rule":"restricted"}"#
    ),
    (
      .member, #"{"join_authorised_via_users_server":"@a:b","membership":"join"}"#, #"{"membership":"join"}"#,
      #"{"membership":"join"}"#
    ),
    (.create, #"{"creator":"@a:b","room_version":"6"}"#, #"{"creator":"@a:b"}"#, #"{"creator":"@a:b"}"#),
    (.powerLevels, #"{"invite":1,"kick":"2"}"#, #"{"kick":"2"}"#, #"{"kick":"2"}"#),
    ("m.room.aliases", #"{"aliases":[]}"#, "{}", "{}")
  ]) func `early versions keep less`(type: EventType, content: String, v6: String, v8: String) throws {
    for (version, expected) in [(RoomVersion.v6, v6), (.v7, v6), (.v8, v8)] {
      #expect(text(version.redaction.redactedContent(canonical: Array(content.utf8), type: type)) == expected)
    }
  }

  @Test(arguments: versions) func `a redacted event keeps its ID and its signature, not its content hash`(
    version: RoomVersion
  ) throws {
    var room = try TestRoom(version)
    let message = try room.add(.message, from: TestRoom.alice, #"{"body":"secret"}"#)
    let redacted = try message.redacted()
    #expect(!text(redacted.bytes).contains("secret"))
    #expect(try PDU(Array(redacted.bytes), version: version).eventID == message.eventID)
    #expect(redacted.isSigned { _, _ in testKey.publicKey })
    #expect(message.hasValidContentHash && !redacted.hasValidContentHash)
    let create = try #require(room.event(StateMapKey(.create)))
    #expect(try PDU(Array(create.redacted().bytes), version: version).roomID == room.roomID)
  }

  @Test func `old versions keep old keys on the top level`() throws {
    let source =
      #"{"auth_events":[],"content":{},"depth":1,"hashes":{"sha256":"x"},"membership":"m","origin":"o","origin_server_ts":1,"prev_events":[],"prev_state":[],"redacts":"$r","room_id":"!r:d","sender":"@a:d","signatures":{},"type":"m.room.redaction","x":1}"#
    for (version, isKept) in versions.map({ ($0, !["11", "12"].contains($0.name.string)) }) {
      let redacted = try PDU(Array(source.utf8), version: version).redacted().json
      for key in ["membership", "origin", "prev_state"] as [StaticString] { #expect((redacted[key] != nil) == isKept) }
      #expect(redacted["x"] == nil && redacted["redacts"] == nil)
    }
  }

  @Test func `a redaction takes effect by level or by server`() throws {
    let levels = PowerLevels(try json(#"{"redact":50,"users":{"@mod:b.example":50,"@low:b.example":49}}"#))
    func takesEffect(_ sender: String) -> Bool {
      levels.redactionTakesEffect(by: UserID(trusted: ByteString(sender)), onEventOf: TestRoom.alice)
    }
    #expect(takesEffect("@mod:b.example") && !takesEffect("@low:b.example"))
    #expect(takesEffect("@anyone:a.example"))
  }
}
