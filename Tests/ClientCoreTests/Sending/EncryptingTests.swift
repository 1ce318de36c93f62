import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// A host that encrypts.
@Suite struct EncryptingTests {
  private static func encrypting(_ extra: [String] = []) -> Host {
    var host = Host.signedIn()
    host.client.encrypts = true
    host.sync(
      Wire.join([Wire.message("one", "$1")], state: Wire.members + UnreadTests.encrypted + extra, extra: Wire.counts))
    host.command(.timeline(.openRoom(.test)))
    return host
  }

  private static let members = [
    Wire.member("@me:test"), Wire.member("@alice:test"), Wire.member("@bob:test"), Wire.member("@carol:test", "invite")
  ]

  private static func list(_ events: [String] = members) -> String { #"{"chunk":[\#(events.joined(separator: ","))]}"# }

  private static let ciphertext = Array(#"{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"x"}"#.utf8)

  private static func write(_ text: String, in host: inout Host) {
    host.command(.sending(.send(.test, .text(ByteString(text)))))
  }

  @Test func `a message waits for all members, is encrypted for them, stored so, and sent so`() throws {
    var host = Self.encrypting()
    Self.write("hello", in: &host)
    #expect(host.unencrypted.isEmpty && host.request("/send/") == nil)
    host.answer("/members", Self.list())
    let order = try #require(host.unencrypted.first)
    #expect(order.message.users.map(\.string) == ["@alice:test", "@bob:test", "@carol:test", "@me:test"])
    #expect(order.message.sharesHistory && order.message.type == .message)
    #expect(try JSON.parse(order.message.content).text("body") == "hello")
    #expect(host.texts().last == "hello queued" && host.request("/send/") == nil)
    host.writesAtOnce = false
    host.handle(.encrypted(order.id, Self.ciphertext))
    #expect(host.request("/send/") == nil, "not before it is stored")
    host.finishWrites()
    #expect(host.request("/send/m.room.encrypted/")?.request.body == Self.ciphertext)
    #expect(host.texts().last == "hello sending")
  }

  @Test func `only those who may read it are written to`() throws {
    for (visibility, names) in [
      ("joined", ["@alice:test", "@bob:test", "@me:test"]), ("invited", ["@alice:test", "@bob:test", "@carol:test", "@me:test"])
    ] {
      var host = Self.encrypting([
        Wire.event("m.room.history_visibility", "$h", #"{"history_visibility":"\#(visibility)"}"#, stateKey: "")
      ])
      Self.write("hello", in: &host)
      host.answer("/members", Self.list())
      let order = try #require(host.unencrypted.first)
      #expect(order.message.users.map(\.string) == names && !order.message.sharesHistory)
    }
  }

  @Test func `each try sends the same ciphertext, also after a restart, and the event takes the echo's place`() throws {
    var host = Self.encrypting()
    Self.write("hello", in: &host)
    host.answer("/members", Self.list())
    let order = try #require(host.unencrypted.first)
    host.handle(.encrypted(order.id, Self.ciphertext))
    host.answer("/send/", status: 502, "{}")
    host.wait(60_000)
    #expect(host.request("/send/m.room.encrypted/")?.request.body == Self.ciphertext)
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    next.sync()
    #expect(next.unencrypted.isEmpty)
    let sent = try #require(next.request("/send/m.room.encrypted/"))
    #expect(sent.request.body == Self.ciphertext && next.texts().last == "hello sending")
    let transaction = try #require(sent.request.target.split(separator: "/").last)
    next.sync(Wire.join([Wire.message("hello", "$2", by: "@me:test", transaction: String(transaction))]))
    #expect(next.texts() == ["one", "hello"] && next.client.outbox.entries.isEmpty)
  }

  @Test func `messages go one after the other, and a change before it went out is encrypted anew`() throws {
    var host = Self.encrypting()
    Self.write("one", in: &host)
    Self.write("two", in: &host)
    host.answer("/members", Self.list())
    #expect(host.unencrypted.count == 1)
    let item = try #require(host.items().first { describeShort($0) == "one queued" }?.id)
    host.command(.sending(.edit(.test, .item(item), FormattedText("one, changed"))))
    let orders = host.unencrypted
    #expect(orders.count == 2 && orders[0].id == orders[1].id)
    #expect(try JSON.parse(orders[1].message.content).text("body") == "one, changed")
    host.handle(.encrypted(orders[1].id, Self.ciphertext))
    host.handle(.encrypted(orders[0].id, Array("{}".utf8)))
    #expect(host.request("/send/m.room.encrypted/")?.request.body == Self.ciphertext, "the answer to the first is too late")
    host.answer("/send/", #"{"event_id":"$2"}"#)
    #expect(host.unencrypted.count == 3 && host.unencrypted[2].id != orders[0].id)
  }

  @Test func `what cannot be encrypted fails, and what waits when a room becomes encrypted is encrypted`() throws {
    var host = Host.inRoom()
    host.client.encrypts = true
    host.command(.sending(.setSending(.test, isEnabled: false)))
    Self.write("hello", in: &host)
    host.sync(Wire.join(UnreadTests.encrypted))
    #expect(host.texts().last == "hello queued")
    host.command(.sending(.setSending(.test, isEnabled: true)))
    host.answer("/members", Self.list())
    let order = try #require(host.unencrypted.first)
    host.handle(.notEncrypted(order.id, .invalidContent))
    #expect(host.texts().last == "hello failed" && host.request("/send/") == nil)
    let file = OutgoingMedia(.file, Attachment(fileName: "plan.txt", blob: BlobHandle("plan"), sizeBytes: 10))
    host.command(.sending(.send(.test, .media(file))))
    #expect(host.result() == "encryptedRoom", "files cannot be encrypted yet")
  }

  @Test func `without the list of members nothing goes out; it is asked for again`() {
    var host = Self.encrypting()
    Self.write("hello", in: &host)
    host.answer("/members", status: 502, "{}")
    #expect(host.unencrypted.isEmpty && host.texts().last == "hello queued")
    host.wait(60_000)
    host.answer("/members", Self.list())
    #expect(host.unencrypted.count == 1)
  }

  private static let left = #""leave":{"!room:test":{"timeline":{"events":["# + Wire.member("@me:test", "leave", "$l") + "]}}}"

  @Test(arguments: [true, false])
  func `what a departure has kept from going out is encrypted anew for those who are there after the return`(isEncrypted: Bool)
    throws
  {
    var host = Self.encrypting()
    Self.write("hello", in: &host)
    host.answer("/members", Self.list())
    let order = try #require(host.unencrypted.first)
    if isEncrypted {
      host.handle(.encrypted(order.id, Self.ciphertext))
      host.answer("/send/", status: 403, #"{"errcode":"M_FORBIDDEN"}"#)
    }
    host.sync(Self.left)
    #expect(host.texts().contains("hello failed"))
    // What comes now was encrypted while the user left: perhaps nobody has the key.
    if !isEncrypted { host.handle(.encrypted(order.id, Self.ciphertext)) }
    host.sync(Wire.join([Wire.member("@me:test", "join", "$j")], state: Wire.members + UnreadTests.encrypted))
    host.command(.sending(.retryAll(.test)))
    host.answer("/members", Self.list([Wire.member("@me:test"), Wire.member("@dora:test")]))
    let again = try #require(host.unencrypted.last)
    #expect(
      host.unencrypted.count == 2 && again.id == order.id && again.message.users.map(\.string) == ["@dora:test", "@me:test"])
    let other = Array(#"{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"y"}"#.utf8)
    host.handle(.encrypted(again.id, other))
    #expect(host.request("/send/m.room.encrypted/")?.request.body == other)
  }

  // MARK: Late keys

  @Test func `what could not be read is disclosed in its place, with what refers to it`() throws {
    var host = Self.encrypting()
    let encrypted = #"{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"x"}"#
    host.sync(
      Wire.join([
        Wire.event("m.room.encrypted", "$2", encrypted), Wire.event("m.room.encrypted", "$3", encrypted),
        Wire.event("m.reaction", "$4", #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"$2","key":"+"}}"#),
        Wire.message("last", "$5", by: "@bob:test")
      ]))
    #expect(host.texts() == ["one", "[undecryptable]", "[undecryptable]", "last"])
    let ids = host.items().map(\.id)
    let edit =
      #"{"msgtype":"m.text","body":"* new","m.new_content":{"msgtype":"m.text","body":"new"},"m.relates_to":{"rel_type":"m.replace","event_id":"$1"}}"#
    let late = [Wire.message("two", "$2"), Wire.event("m.room.message", "$3", edit)]
    host.handle(.decrypted(.test, try late.map { try JSON.parse(Array($0.utf8)) }))
    #expect(host.texts() == ["new", "two", "last"], "an edit has no row of its own")
    #expect(host.items().map(\.id) == [ids[0], ids[1], ids[3]])
    #expect(host.items()[1].reactions.map(\.key) == ["+"] && host.items()[0].isEdited)
    host.sync(Wire.join([Wire.event("m.room.encrypted", "$6", encrypted)]))
    #expect(host.client.room(.test)?.preview?.isUndecryptable == true)
    #expect(host.restarted().client.room(.test)?.preview?.isUndecryptable == true)
    host.handle(.decrypted(.test, [try JSON.parse(Array(Wire.message("six", "$6").utf8))]))
    #expect(host.client.room(.test)?.preview?.content?.body == "six")
    #expect(host.restarted().client.room(.test)?.preview?.content?.body == "six")
  }

  @Test func `what turns out to be a part of a call leaves in the list what was said before it`() throws {
    var host = Self.encrypting()
    let encrypted = #"{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"x"}"#
    host.sync(
      Wire.join([
        Wire.message("said", "$2", by: "@bob:test"), Wire.event("m.room.encrypted", "$3", encrypted),
        Wire.event("m.room.encrypted", "$4", encrypted)
      ]))
    host = host.restarted()
    #expect(host.client.room(.test)?.preview?.isUndecryptable == true)
    let hangup = Wire.event("m.call.hangup", "$4", #"{"call_id":"1","party_id":"a","version":"1"}"#)
    host.handle(.decrypted(.test, [try JSON.parse(Array(hangup.utf8))]))
    #expect(host.client.room(.test)?.preview?.content?.body == "said")
    #expect(host.restarted().client.room(.test)?.preview?.content?.body == "said")
  }

  @Test func `an event that cannot be read says why, and the reason may become another`() throws {
    var host = Self.encrypting()
    func encrypted(_ id: String, _ mark: String) -> String {
      Wire.event(
        "m.room.encrypted", id, #"{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"x","martlet.undecryptable":"\#(mark)"}"#)
    }
    let names = ["m.unverified", "before_joining", "no_backup", "unverified_device", "replayed", "damaged", "from the future"]
    host.sync(Wire.join(names.enumerated().map { encrypted("$e\($0)", $1) }), isDecrypted: true)
    let expected: [UndecryptableReason] = [
      .withheld(.unverified), .beforeJoining, .historyUnavailable(.noBackup), .historyUnavailable(.unverifiedDevice), .replayed,
      .damaged, .waiting
    ]
    let reasons = host.items().compactMap { if case .undecryptable(let reason) = $0.content { reason } else { nil } }
    #expect(reasons == expected)
    host.handle(.decrypted(.test, [try JSON.parse(Array(encrypted("$e6", "identity_changed").utf8))]))
    #expect(host.texts().last == "[undecryptable: identity_changed]")
    host.sync(Wire.join([Wire.event("m.room.encrypted", "$olm", #"{"algorithm":"m.olm.v1.curve25519-aes-sha2"}"#)]))
    #expect(host.texts().last == "[undecryptable: damaged]", "nobody reads that in a room")
  }

  // MARK: Trust

  @Test func `a message has the trust of its mark, and another later`() throws {
    var host = Self.encrypting()
    func message(_ id: String, _ trust: String) -> String {
      let mark = #","martlet.decrypted":{"sender_key":"A","proven":true\#(trust.isEmpty ? "" : #","trust":"\#(trust)""#)}"#
      return Wire.event("m.room.message", id, #"{"msgtype":"m.text","body":"x"}"#, extra: mark)
    }
    let names = MessageTrust.allCases.map(\.name)
    host.sync(Wire.join(names.enumerated().map { message("$t\($0)", $1.string) } + [message("$later", "")]), isDecrypted: true)
    #expect(host.items().dropFirst().map(\.trust) == MessageTrust.allCases + [nil])
    host.handle(.decrypted(.test, [try JSON.parse(Array(message("$later", "pinned").utf8))]))
    #expect(host.items().last?.trust == .pinned && host.restarted().client.room(.test)?.isEncrypted == true)
  }

  @Test func `clear text that came after the room was encrypted is marked; what is older, and state, is not`() throws {
    var host = Self.encrypting()
    host.sync(
      Wire.join([
        Wire.message("older", "$o", time: 1_600_000_000_000), Wire.message("newer", "$n"),
        Wire.event("org.matrix.msc3672.beacon_info", "$b", #"{"live":true,"timeout":60000}"#, stateKey: "@alice:test")
      ]))
    let trust = host.items().suffix(3).map(\.trust)
    #expect(trust.prefix(2) == [nil, .unencrypted] && trust.last == .some(nil))
    var again = host.restarted()
    again.command(.timeline(.openRoom(.test)))
    #expect(again.items().contains { $0.eventID?.string == "$n" && $0.trust == .unencrypted })
    var plain = Host.inRoom([Wire.message("plain", "$p")])
    plain.sync()
    #expect(plain.items().allSatisfy { $0.trust == nil })
  }

  private static func marked(_ trust: String) -> String {
    #","martlet.decrypted":{"sender_key":"A","proven":true,"trust":"\#(trust)"}"#
  }

  private static func edit(_ body: String, of target: String, _ id: String, _ mark: String = "") -> String {
    let content =
      #"{"msgtype":"m.text","body":"* \#(body)","m.new_content":{"msgtype":"m.text","body":"\#(body)"},"#
      + #""m.relates_to":{"rel_type":"m.replace","event_id":"\#(target)"}}"#
    return Wire.event("m.room.message", id, content, extra: mark)
  }

  @Test func `a server's words in clear text edit nothing that came encrypted`() throws {
    var host = Self.encrypting()
    let said = #"{"msgtype":"m.text","body":"said"}"#
    let bundle = #","unsigned":{"m.relations":{"m.replace":\#(Self.edit("forged", of: "$b", "$e1"))}}"#
    host.sync(
      Wire.join([
        Wire.event("m.room.message", "$b", said, extra: Self.marked("verified") + bundle),
        Wire.event("m.room.message", "$m", said, extra: Self.marked("verified"))
      ]), isDecrypted: true)
    host.sync(Wire.join([Self.edit("forged", of: "$m", "$e2", Self.marked("unencrypted"))]), isDecrypted: true)
    host.sync(Wire.join([Self.edit("forged", of: "$m", "$e3")]))
    for var host in [host, host.restarted()] {
      host.command(.timeline(.openRoom(.test)))
      #expect(host.texts().suffix(2) == ["said", "said"] && host.items().suffix(2).allSatisfy { !$0.isEdited })
      #expect(host.client.room(.test)?.preview?.content?.body == "said")
    }
  }

  @Test func `an edited message is proven as far as the event and the edit both are`() throws {
    var host = Self.encrypting()
    let said = Wire.event("m.room.message", "$m", #"{"msgtype":"m.text","body":"said"}"#, extra: Self.marked("verified"))
    host.sync(Wire.join([said, Self.edit("changed", of: "$m", "$e", Self.marked("unsigned"))]), isDecrypted: true)
    #expect(host.texts().last == "changed" && host.items().last?.trust == .unsignedDevice)
    host.handle(.decrypted(.test, [try JSON.parse(Array(Self.edit("changed", of: "$m", "$e", Self.marked("pinned")).utf8))]))
    #expect(host.items().last?.trust == .pinned)
    let less = said.replacing("verified", with: "changed")
    host.handle(.decrypted(.test, [try JSON.parse(Array(less.utf8))]))
    #expect(host.texts().last == "changed" && host.items().last?.trust == .identityChanged)
  }

  @Test func `a server's votes in clear text count in no poll that came encrypted`() throws {
    var host = Self.encrypting()
    let poll =
      #"{"m.poll":{"kind":"m.disclosed","max_selections":1,"question":{"m.text":[{"body":"Tea?"}]},"answers":["#
      + #"{"m.id":"y","m.text":[{"body":"Yes"}]},{"m.id":"n","m.text":[{"body":"No"}]}]},"m.text":[{"body":"Tea?"}]}"#
    let relation = #""m.relates_to":{"rel_type":"m.reference","event_id":"$p"}"#
    func vote(_ id: String, _ answer: String, _ mark: String = "") -> String {
      Wire.event("m.poll.response", id, by: "@bob:test", #"{"m.selections":["\#(answer)"],\#(relation)}"#, extra: mark)
    }
    host.sync(
      Wire.join([
        Wire.event("m.poll.start", "$p", poll, extra: Self.marked("verified")), vote("$v", "y", Self.marked("verified")),
        vote("$w", "n"), Wire.event("m.poll.end", "$x", #"{"m.text":[{"body":"x"}],\#(relation)}"#)
      ]), isDecrypted: true)
    guard case .message(let message)? = host.items().last?.content, case .poll(let shown) = message.details else {
      Issue.record("\(host.texts())")
      return
    }
    #expect(shown.answers.map { $0.voters.count } == [1, 0] && shown.endedAtMilliseconds == nil)
  }

  @Test func `trust that comes late is for what came encrypted, and from the same sender`() throws {
    var host = Self.encrypting()
    let clear = Wire.event("m.room.message", "$c", #"{"msgtype":"m.text","body":"forged"}"#)
    let said = Wire.event("m.room.message", "$m", #"{"msgtype":"m.text","body":"said"}"#, extra: Self.marked("unsigned"))
    host.sync(Wire.join([clear, said]), isDecrypted: true)
    let late = [
      clear.replacing("}}", with: "}" + Self.marked("verified") + "}"),
      said.replacing("unsigned", with: "verified").replacing("@alice:test", with: "@bob:test")
    ]
    host.handle(.decrypted(.test, try late.map { try JSON.parse(Array($0.utf8)) }))
    #expect(host.items().suffix(2).map(\.trust) == [.unencrypted, .unsignedDevice])
  }

  @Test func `calls in an encrypted room are told of only if they came encrypted`() throws {
    var host = Self.encrypting()
    host.client.reportsCalls = true
    let invite = #"{"call_id":"1","party_id":"a","version":"1","lifetime":60000,"offer":{"type":"offer","sdp":"x"}}"#
    host.sync(
      Wire.join([
        Wire.event("m.call.invite", "$f", invite), Wire.event("m.call.invite", "$g", invite, extra: Self.marked("unencrypted")),
        Wire.event("m.call.invite", "$i", invite, extra: Self.marked("pinned"))
      ]), isDecrypted: true)
    var told: [String] = []
    for case .arrived(_, let events) in host.changes { told += events.compactMap { $0.eventID?.string } }
    #expect(told == ["$i"])
  }

  @Test(arguments: [#""martlet.decrypted""#, #""martlet.d\u0065crypted""#])
  func `a server cannot say how far its events are proven, nor why one cannot be read`(name: String) {
    // The sync that brings the first encrypted room: no machine has looked at it.
    var host = Host.signedIn()
    let encryption = Wire.event("m.room.encryption", "$x", #"{"algorithm":"m.megolm.v1.aes-sha2"}"#, stateKey: "")
    let mark = "," + name + #":{"sender_key":"A","proven":true,"trust":"verified","giver":"@alice:test"}"#
    let forged = [
      encryption, Wire.event("m.room.message", "$f", #"{"msgtype":"m.text","body":"forged"}"#, extra: mark),
      Wire.event(
        "m.room.encrypted", "$u", #"{"algorithm":"m.megolm.v1.aes-sha2","martlet.undecr\u0079ptable":"m.blacklisted"}"#)
    ]
    host.sync(Wire.join(forged))
    for var host in [host, host.restarted()] {
      host.command(.timeline(.openRoom(.test)))
      let items = host.items().suffix(2)
      #expect(items.map(\.trust) == [.unencrypted, nil] && items.allSatisfy { $0.keyGiver == nil })
      #expect(host.texts().last == "[undecryptable]")
    }
  }

  // MARK: Preparing

  @Test func `who begins to write gives the readers the key, once in a while, also if nobody is to see that they write`() throws
  {
    var host = Self.encrypting()
    host.command(.sending(.setTypingNotices(false)))
    host.command(.sending(.setTyping(.test, true)))
    #expect(host.prepared.isEmpty, "nobody knows who reads it")
    host.answer("/members", Self.list())
    host.command(.sending(.setTyping(.test, true)))
    host.command(.sending(.setTyping(.test, true)))
    #expect(host.prepared.map { $0.users.count } == [4])
    host.wait(30_000)
    host.command(.sending(.setTyping(.test, true)))
    #expect(host.prepared.count == 2)
    var plain = Host.inRoom([])
    plain.client.encrypts = true
    plain.command(.sending(.setTyping(.test, true)))
    #expect(plain.prepared.isEmpty)
  }

  // MARK: Other programs

  private static func signal(in host: inout Host) {
    let path = Endpoint.sendMessage.path("!room:test", "m.call.invite", "t%1")
    host.ask(.passedOn("PUT", path, Array(#"{"call_id":"1"}"#.utf8)[...]))
  }

  @Test func `what another program sends is encrypted, kept and then sent under its own transaction`() throws {
    var host = Self.encrypting()
    Self.signal(in: &host)
    #expect(host.unencrypted.isEmpty && host.request("/send/") == nil)
    host.answer("/members", Self.list())
    let order = try #require(host.unencrypted.first)
    #expect(order.message.type.text == "m.call.invite" && order.message.users.count == 4)
    #expect(try JSON.parse(order.message.content).text("call_id") == "1")
    host.writesAtOnce = false
    host.handle(.encrypted(order.id, Self.ciphertext))
    #expect(host.request("/send/") == nil, "not before the step of the key is stored")
    host.finishWrites()
    let sent = try #require(host.request("/send/m.room.encrypted/"))
    #expect(sent.request.body == Self.ciphertext && sent.request.target.hasSuffix("/t%251"))
    host.answer("/send/", #"{"event_id":"$2"}"#)
    guard case .answer(let json)? = host.ended[7] else { return #expect(Bool(false), "no answer") }
    #expect(json.text("event_id") == "$2" && host.texts() == ["one"])
  }

  @Test func `what another program sends fails where nobody can be asked who reads it, or nothing encrypts it`() throws {
    var host = Self.encrypting()
    Self.signal(in: &host)
    host.answer("/members", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    guard case .failed? = host.ended[7] else { return #expect(Bool(false), "no end") }
    Self.signal(in: &host)
    host.answer("/members", Self.list())
    let order = try #require(host.unencrypted.first)
    host.handle(.notEncrypted(order.id, .unconfirmedIdentity(UserID(trusted: "@bob:test"))))
    guard case .failed(.unconfirmedIdentity)? = host.ended[7] else { return #expect(Bool(false), "no reason") }
    host.handle(.encrypted(order.id, Self.ciphertext))
    #expect(host.request("/send/") == nil)
  }
}
