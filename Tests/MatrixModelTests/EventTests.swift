import JSON
import MatrixModel
import Testing

@Suite struct EventTests {
  private func event(_ text: String) throws -> Event? { Event(try JSON.parse(Array(text.utf8))) }

  @Test func `a full event`() throws {
    let event = try #require(
      try event(
        #"{"type":"m.room.name","content":{"name":"x"},"event_id":"$e","room_id":"!r","sender":"@a:b","state_key":"","origin_server_ts":5,"unsigned":{"transaction_id":"t","redacted_because":{}}}"#
      ))
    #expect(event.type == .name && event.content["name"]?.string == "x" && event.stateKey == "")
    #expect(event.eventID == EventID("$e") && event.roomID == RoomID("!r") && event.sender == UserID("@a:b"))
    #expect(event.originServerTimestamp == 5 && event.transactionID == TransactionID("t") && event.isRedacted)
  }

  @Test func `a stripped event lacks the rest`() throws {
    let event = try #require(try event(#"{"type":"x","content":{}}"#))
    #expect(event.eventID == nil && event.sender == nil && event.stateKey == nil && event.unsigned == nil)
    #expect(!event.isRedacted && event.transactionID == nil && event.originServerTimestamp == nil)
  }

  @Test(arguments: [
    "{}", "[]", "1", #"{"type":"x"}"#, #"{"content":{}}"#, #"{"type":1,"content":{}}"#, #"{"type":"x","content":[]}"#,
    #"{"type":"x","content":null}"#
  ])
  func `without type or content it is no event`(text: String) throws {
    #expect(try event(text) == nil)
  }

  @Test func `malformed fields count as absent`() throws {
    let event = try #require(
      try event(
        #"{"type":"x","content":{},"event_id":"e","room_id":1,"sender":"a","state_key":null,"origin_server_ts":1.5,"unsigned":{"redacted_because":null}}"#
      ))
    #expect(event.eventID == nil && event.roomID == nil && event.sender == nil && event.stateKey == nil)
    #expect(event.originServerTimestamp == nil && !event.isRedacted)
  }

  @Test(arguments: ["join", "leave", "invite", "ban", "knock"]) func `memberships read and write`(name: String) throws {
    let membership = try #require(Membership(try JSON.parse(Array("\"\(name)\"".utf8))))
    #expect("\(membership.name)" == name)
    #expect(Membership(try JSON.parse(Array("\"x\(name)\"".utf8))) == nil)
  }
}
