import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// No clear text goes into an encrypted room.
@Suite struct EncryptedRoomTests {
  private static let encryption = UnreadTests.encrypted

  private static func encrypted() -> Host {
    var host = Host.signedIn()
    host.sync(Wire.join([Wire.message("one", "$1", by: "@me:test")], state: Wire.members + encryption, extra: Wire.counts))
    host.command(.timeline(.openRoom(.test)))
    return host
  }

  /// Something else than clear text went out.
  private static func sent(_ host: Host) -> [String] {
    host.waiting.map { $0.request.target }.filter { $0.contains("/send/") || $0.contains("/upload") }
  }

  private static let file = OutgoingMessage.media(
    OutgoingMedia(.file, Attachment(fileName: "plan.txt", blob: BlobHandle("plan"), sizeBytes: 10)))

  private static let messages: [SendingCommand] = [
    .send(.test, .text("a")), .send(.test, .message(.markdown("**a**"), style: .notice)), .send(.test, file),
    .send(.test, .sticker(Attachment(fileName: "cat", blob: BlobHandle("cat"), sizeBytes: 10), body: "cat")),
    .send(.test, .poll(OutgoingPoll(question: "?", answers: ["a", "b"]))),
    .send(.test, .location(OutgoingLocation(geoURI: "geo:1,2", description: "here"))),
    .send(.test, .text("a").inThread(.event(EventID(trusted: "$1")))),
    .send(.test, .text("a").replying(to: .event(EventID(trusted: "$1")))),
    .send(.test, .custom("org.example.event", content: Array("{}".utf8))),
    .send(.test, .custom("m.call.invite", content: Array("{}".utf8))),
    .edit(.test, .event(EventID(trusted: "$1")), FormattedText("b")),
    .replace(.test, .event(EventID(trusted: "$1")), .text("b")),
    .vote(.test, poll: .event(EventID(trusted: "$1")), answers: ["a"]),
    .endPoll(.test, poll: .event(EventID(trusted: "$1")), text: "over"),
    .sendBeacon(.test, info: .event(EventID(trusted: "$1")), geoURI: "geo:1,2", description: nil)
  ]

  @Test(arguments: messages.indices) func `every kind of message is refused at once`(index: Int) {
    var host = Self.encrypted()
    host.command(.sending(Self.messages[index]))
    #expect(host.result() == "encryptedRoom")
    #expect(host.client.outbox.entries.isEmpty)
    #expect(Self.sent(host).isEmpty)
  }

  @Test func `the draft of a refused message stays`() {
    var host = Self.encrypted()
    host.command(.sending(.setDraft(.test, Draft("a"))))
    host.command(.sending(.send(.test, .text("a"))))
    #expect(host.client.room(.test)?.draft == "a")
  }

  @Test func `reactions, redactions, state and ciphertext are sent`() {
    var host = Self.encrypted()
    let event = SendTarget.event(EventID(trusted: "$1"))
    host.command(.sending(.toggleReaction(.test, event, key: "+")))
    host.answer("/send/m.reaction/", #"{"event_id":"$2"}"#)
    host.command(.sending(.send(.test, .custom(.reaction, content: Array("{}".utf8)))))
    host.answer("/send/m.reaction/", #"{"event_id":"$3"}"#)
    host.command(.sending(.send(.test, .custom(.encrypted, content: Array(#"{"ciphertext":"x"}"#.utf8)))))
    host.answer("/send/m.room.encrypted/", #"{"event_id":"$4"}"#)
    host.command(.sending(.setBeacon(.test, BeaconInfo(timeoutMilliseconds: 1000))))
    host.answer("/state/org.matrix.msc3672.beacon_info/", #"{"event_id":"$5"}"#)
    host.command(.sending(.redact(.test, event)))
    host.answer("/redact/", #"{"event_id":"$6"}"#)
    #expect(host.result() == "done")
  }

  @Test func `an empty content and a redaction of the state leave the room encrypted`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.event("m.room.encryption", "$enc", "{}", stateKey: "")]))
    host.sync(Wire.join([Wire.event("m.room.redaction", "$r", #"{"redacts":"$enc"}"#, extra: #","redacts":"$enc""#)]))
    host.command(.sending(.send(.test, .text("a"))))
    #expect(host.result() == "encryptedRoom")
  }

  // MARK: What waits

  @Test(arguments: [SyncMode.v3, .sliding])
  func `what waited when the room became encrypted stays as a failed message`(mode: SyncMode) {
    var host = Host.signedIn(mode: mode)
    host.tell("!room:test", [Wire.message("one", "$1")], isFirst: true)
    host.command(.timeline(.openRoom(.test)))
    for text in ["a", "b", "c"] { host.command(.sending(.send(.test, .text(ByteString(text))))) }
    host.command(.sending(.toggleReaction(.test, .event(EventID(trusted: "$1")), key: "+")))
    host.tell("!room:test", Self.encryption)
    #expect(host.texts().suffix(3) == ["a sending", "b failed", "c failed"])
    guard case .failed(.encryptedRoom)? = host.items().last?.delivery else { return #expect(Bool(false), "no reason") }
    // What is on its way cannot be taken back; but it is not sent a second time.
    host.answer("/send/", status: 502, "{}")
    host.wait(60_000)
    #expect(host.request("/send/m.room.message/") == nil)
    #expect(host.texts().suffix(3) == ["a failed", "b failed", "c failed"])
    #expect(host.request("/send/m.reaction/") != nil)
    host.command(.sending(.retryAll(.test)))
    #expect(host.request("/send/m.room.message/") == nil)
    #expect(host.texts().suffix(3) == ["a failed", "b failed", "c failed"])

    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    guard case .failed(.encryptedRoom)? = next.items().last?.delivery else { return #expect(Bool(false), "no reason") }
    next.command(.sending(.retryAll(.test)))
    #expect(next.request("/send/m.room.message/") == nil)
  }

  @Test func `an upload ends when its room becomes encrypted`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, Self.file)))
    host.answer("/media/config", "{}")
    #expect(host.request("/upload") != nil)
    host.sync(Wire.join(Self.encryption))
    #expect(host.request("/upload") == nil)
    #expect(host.texts().last == "[failed]" || host.texts().last == "plan.txt failed")
    #expect(host.request("/send/") == nil)
  }

  @Test func `before something is sent while no sync runs the server is asked whether the room is encrypted`() {
    var host = Host.inRoom()
    host.handle(.networkChanged(isOnline: false))
    host.command(.sending(.send(.test, .text("a"))))
    host.command(.sending(.send(.test, .text("b"))))
    host.command(.sending(.send(.test, Self.file)))
    host.saysNothingIsEncrypted = false
    host.handle(.networkChanged(isOnline: true))
    #expect(Self.sent(host).isEmpty)
    host.answer("/state/m.room.encryption/", status: 500, "{}")
    #expect(Self.sent(host).isEmpty)
    host.wait(5000)
    host.answer("/state/m.room.encryption/", status: 404, #"{"errcode":"M_NOT_FOUND","error":""}"#)
    #expect(host.body("/send/")?["body"]?.string == "a")
    host.answer("/send/", #"{"event_id":"$a"}"#)
    // The answer holds for one message.
    #expect(Self.sent(host).isEmpty)
    host.answer("/state/m.room.encryption/", #"{"algorithm":"m.megolm.v1.aes-sha2"}"#)
    #expect(Self.sent(host).isEmpty)
    #expect(host.texts() == ["one", "a sent", "b failed", "plan.txt failed"])
    #expect(host.client.room(.test)?.isEncrypted == true)
  }

  @Test func `a refusal to say whether the room is encrypted fails the message`() {
    var host = Host.inRoom()
    host.handle(.networkChanged(isOnline: false))
    host.command(.sending(.send(.test, .text("a"))))
    host.saysNothingIsEncrypted = false
    host.handle(.networkChanged(isOnline: true))
    host.answer("/state/m.room.encryption/", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    #expect(host.texts() == ["one", "a failed"])
    #expect(Self.sent(host).isEmpty)
  }

  @Test func `the sync that ends the silence answers as well`() {
    var host = Host.inRoom()
    host.handle(.networkChanged(isOnline: false))
    host.command(.sending(.send(.test, .text("a"))))
    host.saysNothingIsEncrypted = false
    host.handle(.networkChanged(isOnline: true))
    host.sync(Wire.join(Self.encryption))
    #expect(host.texts().first { $0.hasPrefix("a ") } == "a failed")
    host.answer("/state/m.room.encryption/", #"{"algorithm":"m.megolm.v1.aes-sha2"}"#)
    #expect(Self.sent(host).isEmpty)
  }

  @Test func `an answer that comes while a sync is being stored outlives it`() {
    var host = Host.inRoom()
    host.handle(.networkChanged(isOnline: false))
    host.command(.sending(.send(.test, .text("a"))))
    host.saysNothingIsEncrypted = false
    host.handle(.networkChanged(isOnline: true))
    host.writesAtOnce = false
    host.sync(Wire.join([Wire.message("two", "$2")]))
    host.answer("/state/m.room.encryption/", #"{"algorithm":"m.megolm.v1.aes-sha2"}"#)
    host.writesAtOnce = true
    host.finishWrites()
    #expect(host.client.room(.test)?.isEncrypted == true)
  }

  @Test func `a message of another process waits until a sync has told of its room`() {
    var host = Host.signedIn()
    guard case .put(let key, let value)? = Inbox.put("a", to: .test, now: 1, randomSeed: 1) else { return }
    host.store[key] = value
    host.handle(.inboxChanged)
    #expect(Self.sent(host).isEmpty)
    host.sync(Wire.join(state: Wire.members + Self.encryption))
    #expect(Self.sent(host).isEmpty)
    host.command(.timeline(.openRoom(.test)))
    #expect(host.texts() == ["a failed"])
  }

  // MARK: Other ways

  @Test func `another program's request is refused like a message where the host does not encrypt`() {
    var host = Self.encrypted()
    let path = { (type: String) in Endpoint.sendMessage.path("!room:test", ByteString(type), "t1") }
    host.ask(.passedOn("PUT", path("m.call.invite"), Array("{}".utf8)[...]))
    guard case .failed(.encryptedRoom)? = host.ended[7] else { return #expect(Bool(false), "not refused") }
    #expect(Self.sent(host).isEmpty)
    host.ask(.passedOn("PUT", path("m.reaction"), Array("{}".utf8)[...]), id: 8)
    host.ask(
      .passedOn("PUT", Endpoint.setRoomStateWithKey.path("!room:test", "org.example", ""), Array("{}".utf8)[...]), id: 10)
    #expect(host.request("/send/m.reaction/") != nil && host.request("/state/org.example/") != nil)
  }

  @Test func `drafts of an encrypted room are not put into the account's data`() {
    var host = Host.inRoom()
    host.client.syncsDrafts = true
    host.command(.sending(.setDraft(.test, Draft("early"))))
    host.wait(60_000)
    #expect(host.body("/martlet.draft")?["text"]?.string == "early")
    host.answer("/martlet.draft", "{}")
    host.sync(Wire.join(Self.encryption))
    host.command(.sending(.setDraft(.test, Draft("secret"))))
    host.wait(60_000)
    #expect(host.body("/martlet.draft").map { $0["text"] == nil } == true)
    #expect(host.client.room(.test)?.draft == "secret")
  }
}

extension Host {
  /// Tells of a room by whichever sync is used.
  fileprivate mutating func tell(_ room: String, _ events: [String], isFirst: Bool = false) {
    if client.syncMode == .v3 {
      return sync(Wire.join(events, state: isFirst ? Wire.members : [], room: room, extra: isFirst ? Wire.counts : ""))
    }
    slide([isFirst ? Sliding.first(room, events) : Sliding.room(room, events)])
  }
}
