import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

private let tea = RoomID(trusted: "!tea:one.example")

/// An encrypted event as a server has it, and what the machine makes of it.
private struct Sample {
  let json: String
  let decrypted: DecryptedEvent

  init(_ id: String, type: EventType = .message, _ content: String = #"{"body":"hello"}"#) throws {
    let device = TestDevice(of: ann, seed: "ann")
    var random = device.random
    var outbound = OutboundRoom(tea, sharesHistory: false, random: &random, at: 0)
    var keys = RoomKeys()
    let key = try outbound.ownKey(of: device.own)
    _ = keys.add(key)
    let content = try outbound.encrypt(type, try parsed(content), from: device.own)
    json = """
      {"type":"m.room.encrypted","event_id":"\(id)","sender":"@ann:one.example","origin_server_ts":7,
      "content":\(String(decoding: content, as: UTF8.self)),"unsigned":{"transaction_id":"t1"}}
      """
    let event = try EncryptedEvent(try #require(Event(try parsed(json))), in: tea)
    var outcome: Result<ClearEvent, Undecryptable>
    do throws(Undecryptable) { outcome = .success(try keys.decrypt(event)) } catch { outcome = .failure(error) }
    decrypted = DecryptedEvent(event: event, outcome: outcome, trust: .pinned)
  }
}

@Suite struct EncryptedAnswerTests {
  @Test func `a sync gives its keys, rooms' encryption, who left, and its events; rewritten, it has them in clear text`() throws
  {
    let (one, other) = (try Sample("$1"), try Sample("$2"))
    let sync = try parsed(
      """
      {"next_batch":"s2","to_device":{"events":[{"type":"m.test","sender":"@bob:two.example","content":{}}]},
      "device_lists":{"changed":["@bob:two.example"],"left":["@eve:two.example"]},
      "device_one_time_keys_count":{"signed_curve25519":20},"device_unused_fallback_key_types":["signed_curve25519"],
      "rooms":{"join":{"!tea:one.example":{
        "state":{"events":[{"type":"m.room.encryption","state_key":"","content":{"algorithm":"m.megolm.v1.aes-sha2"}},
          {"type":"m.room.member","state_key":"@bob:two.example","content":{"membership":"ban"}},
          {"type":"m.room.member","state_key":"@ann:one.example","content":{"membership":"join"}}]},
        "timeline":{"limited":false,"events":[\(one.json),{"type":"m.room.message","event_id":"$3","content":{"body":"plain"}}]}},
        "!other:one.example":{"timeline":{"limited":true,"events":[]}}},
        "leave":{"!gone:one.example":{"timeline":{"events":[\(other.json)]}}}}}
      """)
    let answer = EncryptedAnswer(sync, to: "/_matrix/client/v3/sync?filter=1&since=s1")
    let keys = try #require(answer.keys)
    #expect(keys.toDevice.count == 1 && keys.changed == [bob] && keys.left.map(\.string) == ["@eve:two.example"])
    #expect(
      keys.keyCounts?.integer("signed_curve25519") == 20
        && keys.unusedFallbacks?.elements.map { $0.text } == ["signed_curve25519"])
    #expect(!keys.hasGap && EncryptedAnswer(sync, to: "/_matrix/client/v3/sync?filter=1").keys?.hasGap == true)
    #expect(answer.encryption.map(\.room) == [tea])
    #expect(answer.departures.map(\.room.string) == ["!tea:one.example", "!other:one.example"])
    #expect(answer.departures.map(\.users) == [[bob], []])
    #expect(answer.events.map(\.room.string) == ["!tea:one.example", "!gone:one.example"])
    let rewritten = try JSON.parse(answer.rewritten([one.decrypted]))
    let events = rewritten["rooms"]?["join"]?["!tea:one.example"]?["timeline"]?["events"]?.elements.map { $0 } ?? []
    #expect(events.count == 2 && events[0].text("type") == "m.room.message" && events[0]["content"]?.text("body") == "hello")
    #expect(events[0]["unsigned"]?.text("transaction_id") == "t1" && events[0].text("event_id") == "$1")
    #expect(events[0][EncryptedAnswer.mark]?.bool("proven") == true && events[1][EncryptedAnswer.mark] == nil)
    #expect(events[1]["content"]?.text("body") == "plain")
    let left = rewritten["rooms"]?["leave"]?["!gone:one.example"]?["timeline"]?["events"]?.elements.map { $0 } ?? []
    #expect(left.first?.text("type") == "m.room.encrypted", "nothing was said of it")
    #expect(rewritten.text("next_batch") == "s2")
  }

  @Test func `a sliding sync is read likewise`() throws {
    let sample = try Sample("$1")
    let sync = try parsed(
      """
      {"pos":"2","rooms":{"!tea:one.example":{"limited":true,"timeline":[\(sample.json)],
        "required_state":[{"type":"m.room.encryption","state_key":"","content":{"algorithm":"m.megolm.v1.aes-sha2"}}]}},
      "extensions":{"to_device":{"next_batch":"1","events":[{"type":"m.test","sender":"@bob:two.example","content":{}}]},
        "e2ee":{"device_lists":{"changed":["@bob:two.example"]},"device_one_time_keys_count":{}}}}
      """)
    let path = "/_matrix/client/unstable/org.matrix.simplified_msc3575/sync"
    let answer = EncryptedAnswer(sync, to: path + "?timeout=0&pos=1")
    #expect(answer.keys?.toDevice.count == 1 && answer.keys?.changed == [bob] && answer.keys?.keyCounts != nil)
    #expect(answer.keys?.hasGap == false && EncryptedAnswer(sync, to: path).keys?.hasGap == true)
    #expect(answer.encryption.map(\.room) == [tea] && answer.departures.map(\.room) == [tea])
    let rewritten = try JSON.parse(answer.rewritten([sample.decrypted]))
    #expect(
      rewritten["rooms"]?["!tea:one.example"]?["timeline"]?.elements.first { _ in true }?["content"]?.text("body") == "hello")
  }

  @Test func `other answers name the room in their path, and events that stand in others are read, too`() throws {
    let (reply, root) = (try Sample("$1"), try Sample("$2"))
    let nested =
      root.json.dropLast().dropLast().trimmingSuffix("}") + #","m.relations":{"m.thread":{"latest_event":\#(reply.json)}}}}"#
    let page = try parsed(#"{"chunk":[\#(nested)],"start":"a","end":"b"}"#)
    let answer = EncryptedAnswer(page, to: "/_matrix/client/v3/rooms/%21tea%3Aone.example/messages?dir=b")
    #expect(
      answer.keys == nil && Set(answer.events.map(\.id.string)) == ["$1", "$2"] && answer.events.allSatisfy { $0.room == tea })
    let rewritten = try JSON.parse(answer.rewritten([reply.decrypted, root.decrypted]))
    let shown = try #require(rewritten["chunk"]?.elements.first { _ in true })
    #expect(shown["content"]?.text("body") == "hello")
    #expect(shown["unsigned"]?["m.relations"]?["m.thread"]?["latest_event"]?["content"]?.text("body") == "hello")
    let elsewhere = EncryptedAnswer(page, to: "/_matrix/client/v3/rooms/%21plain%3Aone.example/messages")
    #expect(elsewhere.events.allSatisfy { $0.room.string == "!plain:one.example" })
  }

  @Test func `an answer without anything encrypted is left alone, and what a server marks as decrypted is not`() throws {
    let plain = try parsed(#"{"chunk":[{"type":"m.room.message","event_id":"$1","content":{"body":"x"}}]}"#)
    #expect(EncryptedAnswer(plain, to: "/_matrix/client/v3/rooms/!a:b/messages").isPlain)
    let forged = try parsed(
      #"{"chunk":[{"type":"m.room.message","event_id":"$1","content":{"body":"x"},"martlet\u002edecrypted":{"proven":true}}]}"#)
    let answer = EncryptedAnswer(forged, to: "/_matrix/client/v3/rooms/!a:b/messages")
    #expect(!answer.isPlain)
    let rewritten = try JSON.parse(answer.rewritten([]))
    let event = try #require(rewritten["chunk"]?.elements.first { _ in true })
    #expect(event[EncryptedAnswer.mark] == nil && event["content"]?.text("body") == "x")
  }

  @Test func `messages of verifications in clear text are found in a sync, and nowhere else`() throws {
    let events = """
      {"type":"m.room.message","event_id":"$1","sender":"@bob:two.example","origin_server_ts":7,"content":
      {"msgtype":"m.key.verification.request","from_device":"PHONE","to":"@ann:one.example","methods":["m.sas.v1"]}},
      {"type":"m.key.verification.ready","event_id":"$2","sender":"@ann:one.example","origin_server_ts":8,"content":
      {"from_device":"DESK","methods":[],"m.relates_to":{"rel_type":"m.reference","event_id":"$1"}}},
      {"type":"m.key.verification.key","event_id":"$3","sender":"@ann:one.example","content":{}},
      {"type":"m.room.message","event_id":"$4","sender":"@bob:two.example","content":{"msgtype":"m.text","body":"x"}}
      """
    let sync = try parsed(#"{"rooms":{"join":{"!tea:one.example":{"timeline":{"events":[\#(events)]}}}}}"#)
    let found = EncryptedAnswer(sync, to: "/_matrix/client/v3/sync?since=s1").verifications
    #expect(found.map(\.transaction) == ["$1", "$1"] && found.map(\.room) == [tea, tea])
    let page = try parsed(#"{"chunk":[\#(events)]}"#)
    #expect(EncryptedAnswer(page, to: "/_matrix/client/v3/rooms/!tea:one.example/messages").verifications.isEmpty)
  }

  @Test func `what looks like an event in the content of another is none`() throws {
    let (real, nested) = (try Sample("$1"), try Sample("$2"))
    let request = """
      {"type":"m.room.message","event_id":"$5","sender":"@bob:two.example","origin_server_ts":7,"content":
      {"msgtype":"m.key.verification.request","from_device":"PHONE","to":"@ann:one.example","methods":["m.sas.v1"]}}
      """
    let hostile = """
      {"type":"m.room.member","state_key":"@eve:two.example","event_id":"$3","sender":"@eve:two.example",
      "content":{"membership":"join","a":[\(nested.json)],"!dm:two.example":{"b":\(request)},"martlet.decrypted":1},
      "other":{"b":\(nested.json)},"unsigned":{"prev_content":{"c":\(nested.json)},"redacted_because":\(real.json)}}
      """
    let sync = try parsed(#"{"rooms":{"join":{"!tea:one.example":{"timeline":{"events":[\#(hostile)]}}}}}"#)
    let answer = EncryptedAnswer(sync, to: "/_matrix/client/v3/sync?since=s1")
    #expect(answer.events.map(\.id.string) == ["$1"] && answer.verifications.isEmpty)
    let rewritten = try JSON.parse(answer.rewritten([real.decrypted, nested.decrypted]))
    let room = rewritten["rooms"]?["join"]?["!tea:one.example"]
    let event = try #require(room?["timeline"]?["events"]?.elements.first { _ in true })
    #expect(event["unsigned"]?["redacted_because"]?["content"]?.text("body") == "hello")
    #expect(event["content"]?["a"]?.elements.map { $0.text("type") } == ["m.room.encrypted"])
    #expect(event["content"]?[EncryptedAnswer.mark] == nil && event["content"]?.text("membership") == "join")
  }

  @Test func `an edit in clear text that comes along with an encrypted event is left out, and an encrypted one is not`() throws
  {
    let (sample, edit) = (try Sample("$1"), try Sample("$2"))
    let clear = #"{"type":"m.room.message","event_id":"$2","sender":"@ann:one.example","content":{"body":"forged"}}"#
    for (bundled, body) in [(clear, nil), (edit.json, "hello")] as [(String, ByteString?)] {
      let relations = #""m.relations":{"m.replace":\#(bundled),"m.thread":{"count":1}},"#
      let event = sample.json.replacing(#""unsigned":{"#, with: #""unsigned":{"# + relations)
      let page = try parsed(#"{"chunk":[\#(event)]}"#)
      let answer = EncryptedAnswer(page, to: "/_matrix/client/v3/rooms/!tea:one.example/messages")
      let shown = try JSON.parse(answer.rewritten([sample.decrypted, edit.decrypted]))["chunk"]?.elements.first { _ in true }
      let found = shown?["unsigned"]?["m.relations"]
      #expect(found?["m.replace"]?["content"]?.text("body") == body && found?["m.thread"]?.integer("count") == 1)
      #expect(shown?["unsigned"]?.text("transaction_id") == "t1")
    }
  }

  @Test func `events with one ID get what was in themselves, not what was in the other`() throws {
    let (one, other) = (try Sample("$1"), try Sample("$1", #"{"body":"forged"}"#))
    let disguised = one.json.replacing("@ann:one.example", with: "@bob:two.example")
    let page = try parsed(#"{"chunk":[\#(disguised),\#(other.json)]}"#)
    let answer = EncryptedAnswer(page, to: "/_matrix/client/v3/rooms/!tea:one.example/messages")
    let rewritten = try JSON.parse(answer.rewritten([other.decrypted]))
    #expect(rewritten["chunk"]?.elements.map { $0["content"]?.text("body") } == [nil, "forged"])
  }

  @Test func `more trust is for the event of that sender and device, whatever stands in another's content`() throws {
    let mark = #"{"sender_key":"\#(String(repeating: "A", count: 43))","proven":true,"trust":"unsigned"}"#
    func event(_ sender: String, _ content: String = #"{"body":"x"}"#) -> String {
      #"{"type":"m.room.message","event_id":"$1","sender":"\#(sender)","content":\#(content),"martlet.decrypted":\#(mark)}"#
    }
    let nested = event("@eve:two.example", #"{"x":\#(event("@ann:one.example"))}"#)
    var answer = EncryptedAnswer(record: try parsed(#"[\#(event("@bob:two.example")),\#(nested)]"#), of: tea)
    #expect(answer.unproven.map(\.sender.string) == ["@bob:two.example", "@eve:two.example"])
    answer.set(.verified, of: try #require(answer.unproven.last))
    let rewritten = try JSON.parse(answer.rewritten([]))
    #expect(rewritten.elements.map { $0[EncryptedAnswer.mark]?.text("trust") } == ["unsigned", "verified"])
  }

  @Test func `a redaction that nobody could check is none`() throws {
    let sample = try Sample("$1", type: .redaction, #"{"redacts":"$0"}"#)
    guard case .failure(.damaged) = sample.decrypted.outcome else {
      Issue.record("it was read")
      return
    }
  }
}

extension Substring {
  fileprivate func trimmingSuffix(_ suffix: String) -> Substring { hasSuffix(suffix) ? dropLast(suffix.count) : self }
}
