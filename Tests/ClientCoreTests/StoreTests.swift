import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct StoreTests {
  // MARK: The start

  @Test func `at the start only the account is read, and the list shows names all the same`() {
    let host = Host.inRoom()
    let next = host.restarted()
    #expect(next.loads.map { $0.prefix.string } == ["a/"])
    #expect(next.client.room(.test)?.name.english == "Alice and Bob")
    #expect(next.client.room(.test)?.displayName(of: UserID(trusted: "@alice:test")) == "Alice")
    #expect(next.client.room(.test)?.state.hasPeople == false)
    #expect(!host.store.keys.contains { $0.hasPrefix("a/member/") || $0.hasPrefix("a/receipt/") })
  }

  @Test func `opening a room reads its members, their receipts and the end of its timeline`() {
    var host = Host.inRoom()
    let receipt = #","ephemeral":{"events":[{"type":"m.receipt","content":{"$1":{"m.read":{"@bob:test":{}}}}}]}"#
    host.sync(Wire.join([Wire.message("two", "$2")], extra: receipt))
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.loads.map { $0.prefix.string } == ["a/", "p/%21room%3Atest/", "t/%21room%3Atest/"])
    #expect(next.client.room(.test)?.members.count == 3)
    #expect(next.client.unreadMemberCounts(.test) == host.client.unreadMemberCounts(.test))
    #expect(next.texts() == ["one", "two"])
    next.command(.timeline(.closeRoom(.test)))
    next.command(.timeline(.openRoom(.test)))
    #expect(next.loads.count == 3)
  }

  @Test func `rows are there only once their names are`() {
    var next = Host.inRoom().restarted()
    next.loadsAtOnce = false
    next.command(.timeline(.openRoom(.test)))
    // The timeline is told first.
    next.untold.reverse()
    next.finishLoads(1)
    #expect(next.texts() == [])
    next.finishLoads()
    #expect(next.texts() == ["one"])
  }

  // MARK: Members

  static let dan = Wire.member("@dan:test", name: "Dan")

  @Test func `members that come while the others are in the store are stored, and found there`() {
    var next = Host.inRoom().restarted()
    next.sync(Wire.join([Self.dan]))
    #expect(next.loads.count == 1)
    #expect(next.store["p/%21room%3Atest/m/%40dan%3Atest"] != nil)
    #expect(next.client.room(.test)?.displayName(of: UserID(trusted: "@dan:test")) == "@dan:test")
    next.command(.timeline(.openRoom(.test)))
    #expect(next.client.room(.test)?.displayName(of: UserID(trusted: "@dan:test")) == "Dan")
    #expect(next.client.room(.test)?.members.count == 4)
  }

  @Test func `members that come while the others are being read are the newer ones`() {
    var next = Host.inRoom().restarted()
    next.loadsAtOnce = false
    next.command(.timeline(.openRoom(.test)))
    next.sync(Wire.join([Wire.member("@bob:test", name: "Robert", "$r"), Self.dan]))
    next.sync(Wire.join([Wire.member("@alice:test", "leave", name: "Alice", "$l")]))
    next.finishLoads()
    let room = next.client.room(.test)
    #expect(room?.displayName(of: UserID(trusted: "@bob:test")) == "Robert")
    #expect(room?.displayName(of: UserID(trusted: "@dan:test")) == "Dan")
    #expect(room?.membership(of: UserID(trusted: "@alice:test")) == .leave)
    #expect(room?.state.hasPeople == true)
  }

  @Test func `members read while a batch is being stored are not lost, nor is the batch`() {
    var next = Host.inRoom().restarted()
    next.writesAtOnce = false
    next.loadsAtOnce = false
    next.command(.timeline(.openRoom(.test)))
    next.sync(Wire.join([Self.dan, Wire.message("two", "$2")]))
    next.finishLoads()
    #expect(next.client.room(.test)?.state.hasPeople == false)
    next.finishWrites()
    #expect(next.client.room(.test)?.members.count == 4)
    #expect(next.texts() == ["one", "(joined(@dan:test))", "two"])
  }

  /// What has to be told from the others brings them, and then the list is right.
  @Test(arguments: [
    // One the line names takes a name that somebody in the store has.
    ([Wire.member("@alice:test", name: "Carol", "$n")], "", "Carol (@alice:test) and Bob"),
    // Somebody takes the name of one the line names: no need to read.
    ([Wire.member("@dan:test", name: "Bob", "$n")], "", "Alice and Bob (@bob:test)"),
    // Other heroes.
    ([], #","summary":{"m.heroes":["@bob:test","@carol:test"]}"#, "Bob and Carol"),
    // Somebody else takes a new name: nothing the line shows.
    ([Wire.member("@carol:test", name: "Caroline", "$n")], "", "Alice and Bob")
  ]) func `the names in the list are right without the members`(events: [String], extra: String, expected: String) {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.member("@carol:test", name: "Carol")]))
    var next = host.restarted()
    next.changes = []
    next.sync(Wire.join(events, extra: extra))
    #expect(next.client.room(.test)?.name.english.string == expected)
    // As it is with all members in memory, and after another start.
    host.sync(Wire.join(events, extra: extra))
    #expect(host.client.room(.test)?.name.english.string == expected)
    #expect(next.restarted().client.room(.test)?.name.english.string == expected)
    let isToldAgain = next.changes.contains {
      if case .room(_, let aspects) = $0 { aspects.contains(.name) } else { false }
    }
    #expect(isToldAgain == (expected != "Alice and Bob"))
  }

  @Test func `an ambiguous name stays told apart after a restart, and no longer once the other is gone`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.member("@carol:test", name: "Bob")]))
    var next = host.restarted()
    #expect(next.client.room(.test)?.name.english == "Alice and Bob (@bob:test)")
    next.sync(Wire.join([Wire.member("@carol:test", "leave", "$l")]))
    #expect(next.client.room(.test)?.name.english == "Alice and Bob")
  }

  @Test func `the sender of the last message has a name in the list`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Self.dan]))
    var next = host.restarted()
    next.sync(Wire.join([Wire.message("hello", "$d", by: "@dan:test")]))
    #expect(next.client.room(.test)?.displayName(of: UserID(trusted: "@dan:test")) == "Dan")
    #expect(next.restarted().client.room(.test)?.displayName(of: UserID(trusted: "@dan:test")) == "Dan")
  }

  @Test func `who writes has a name in the list`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Self.dan]))
    var next = host.restarted()
    next.sync(
      Wire.join(extra: #","ephemeral":{"events":[{"type":"m.typing","content":{"user_ids":["@dan:test"]}}]}"#))
    #expect(next.client.room(.test)?.displayName(of: UserID(trusted: "@dan:test")) == "Dan")
  }

  @Test func `the members of rooms long unused leave the memory, and no name changes`() {
    var host = Host.signedIn()
    let rooms = (0..<40).map { "!r\($0):test" }
    host.sync(
      #""join":{"#
        + rooms.map { Wire.joined([Wire.message("hi", "$\($0)")], state: Wire.members, room: $0, extra: Wire.counts) }
        .joined(separator: ",") + "}")
    let inMemory = rooms.filter { host.client.room(RoomID(trusted: ByteString($0)))?.state.hasPeople ?? false }
    #expect(inMemory.count == Limits.keptPeople)
    for id in rooms {
      let room = host.client.room(RoomID(trusted: ByteString(id)))
      #expect(room?.name.english == "Alice and Bob")
      host.command(.people(.loadMembers(RoomID(trusted: ByteString(id)))))
    }
    #expect(host.client.room(RoomID(trusted: "!r0:test"))?.members.count == 3)
    #expect(host.waiting.filter { $0.request.target.contains("/members") }.count == rooms.count)
  }

  @Test func `a member list that cannot be read is asked for again`() {
    var host = Host.inRoom()
    host.command(.people(.loadMembers(.test)))
    host.answer("/members", #"{"chunk":[\#(Wire.members.joined(separator: ","))]}"#)
    host.store["p/%21room%3Atest/m/%40bob%3Atest"] = Array("{".utf8)
    var next = host.restarted()
    next.command(.people(.loadMembers(.test)))
    #expect(next.request("/members") != nil)
    next.answer("/members", #"{"chunk":[\#(Wire.members.joined(separator: ","))]}"#)
    #expect(next.client.room(.test)?.displayName(of: UserID(trusted: "@bob:test")) == "Bob")
  }

  // MARK: Versions

  /// The records of a page in the browser before members had their own place.
  static let version1: [ByteString: [UInt8]] = [
    "a/schema": "1", "a/session": #"{"user_id":"@me:test","device_id":"D","access_token":"T"}"#,
    "a/sync": #"{"next_batch":"s9"}"#, "a/data/m.direct": #"{"@alice:test":["!room:test"]}"#,
    "a/room/%21room%3Atest":
      #"{"id":"!room:test","membership":1,"joined":2,"invited":0,"heroes":["@alice:test"],"notifications":0,"highlights":0,"activity":5,"segments":[[0,1,true]]}"#,
    "a/member/%21room%3Atest/%40alice%3Atest": #"{"room":"!room:test","user":"@alice:test","membership":1,"name":"Alice"}"#,
    "a/receipt/%21room%3Atest/%40alice%3Atest": #"{"room":"!room:test","user":"@alice:test","event":"$1"}"#,
    "a/outbox/0000000000000003":
      #"{"id":3,"room":"!room:test","transaction":"m1.a","time":1,"kind":0,"content":{"msgtype":"m.text","body":"mine"}}"#,
    "a/draft/%21room%3Atest": #"{"room":"!room:test","text":"half a"}"#,
    "t/%21room%3Atest/00000000": #"{"limited":false,"token":"t0","events":[\#(Wire.message("one", "$1"))]}"#
  ].mapValues { Array($0.utf8) }

  @Test(arguments: ["1", "2", "4", "999", "garbage", "-1", ""])
  func `records of another version keep the login, messages on their way and drafts`(version: String) {
    var store = Self.version1
    store["a/schema"] = version.isEmpty ? nil : Array(version.utf8)
    store["a/something/new"] = Array("?".utf8)
    var host = Host(store: store)
    host.handle(.start)
    #expect(host.client.sessionState == .signedIn)
    #expect(host.request("/sync?")?.request.target.contains("since=") == false)
    #expect(
      host.store.keys.map { $0.string }.sorted() == [
        "a/draft/%21room%3Atest", "a/outbox/0000000000000003", "a/schema", "a/session"
      ])
    #expect(host.store["a/schema"] == Array("\(StoreSchema.current)".utf8))
    host.command(.timeline(.openRoom(.test)))
    // Nothing is known of the room: it may be encrypted.
    #expect(host.request("/send/") == nil)
    host.sync(Wire.join([Wire.message("one", "$1")], state: Wire.members, extra: Wire.counts))
    #expect(host.transaction == "m1.a")
    #expect(host.texts() == ["one", "mine sending"])
    #expect(host.client.room(.test)?.draft == "half a")
    #expect(host.restarted().client.roomIDs == [.test])
  }

  @Test func `what belongs to no login is gone with the next one`() {
    var store = Self.version1
    store["a/session"] = nil
    store["a/schema"] = Array("\(StoreSchema.current)".utf8)
    var host = Host(store: store)
    host.handle(.start)
    #expect(host.client.sessionState == .signedOut)
    host.command(.session(.logIn(user: "me", password: "secret")))
    host.answer("/login", #"{"user_id":"@me:test","device_id":"D","access_token":"T"}"#)
    #expect(host.store.keys.map { $0.string }.sorted() == ["a/schema", "a/session"])
  }

  @Test func `starting afresh brings the same rooms, and keeps what no sync brings`() {
    var host = Host.inRoom()
    host.command(.sending(.setDraft(.test, Draft("half a"))))
    host.handle(.networkChanged(isOnline: false))
    host.command(.sending(.send(.test, .text("mine"))))
    host.command(.sending(.setDraft(.test, Draft("half a"))))
    host.handle(.networkChanged(isOnline: true))
    host.command(.sync(.startAfresh))
    #expect(host.result() == "done")
    #expect(host.client.roomIDs.isEmpty)
    #expect(host.texts() == [])
    #expect(host.store.keys.allSatisfy { !$0.hasPrefix("a/room/") && !$0.hasPrefix("t/") && !$0.hasPrefix("p/") })
    #expect(host.waiting.filter { $0.request.target.contains("/sync?") }.count == 1)
    #expect(host.request("/sync?")?.request.target.contains("since=") == false)
    host.sync(Wire.join([Wire.message("one", "$1")], state: Wire.members, extra: Wire.counts))
    #expect(host.client.roomIDs == [.test])
    #expect(host.texts() == ["one", "mine sending"])
    #expect(host.client.room(.test)?.draft == "half a")
    #expect(host.restarted().client.room(.test)?.draft == "half a")
  }

  private static let encryption = Wire.event("m.room.encryption", "$e", #"{"algorithm":"m.megolm.v1.aes-sha2"}"#, stateKey: "")

  @Test func `an encrypted room stays encrypted when a fresh sync hides it`() {
    var host = Host.inRoom([Self.encryption])
    #expect(host.client.room(.test)?.isEncrypted == true)
    host.command(.sync(.startAfresh))
    host.command(.sending(.send(.test, .text("secret"))))
    host.sync(Wire.join([Wire.message("one", "$1")], state: Wire.members, extra: Wire.counts))
    #expect(host.client.room(.test)?.isEncrypted == true)
    #expect(host.request("/send/m.room.message") == nil)
    #expect(host.restarted().client.room(.test)?.isEncrypted == true)
  }

  @Test(arguments: ["broken", "of another version", "older"])
  func `a store that gives way to a fresh sync keeps which rooms are encrypted`(how: String) throws {
    var host = Host.inRoom([Self.encryption])
    let room = StoreKey.room(.test), record = StoreKey.encrypted(.test)
    #expect(host.store[record] != nil)
    switch how {
    case "broken": host.store[StoreKey.sync] = Array("x".utf8)
    case "of another version": (host.store[StoreKey.schema], host.store[record]) = (Array("99".utf8), nil)
    default: host.store[record] = nil
    }
    #expect(host.store[room] != nil)
    var next = host.restarted()
    #expect(next.store[record] != nil)
    if how != "older" { next.sync(Wire.join([Wire.message("one", "$1")], state: Wire.members, extra: Wire.counts)) }
    #expect(next.client.room(.test)?.isEncrypted == true)
  }

  @Test func `a batch of the time before does not come back`() {
    var host = Host.inRoom()
    host.writesAtOnce = false
    host.sync(Wire.join([Wire.message("two", "$2")]))
    host.command(.sync(.startAfresh))
    host.sync(Wire.join([Wire.message("one", "$1")], state: Wire.members, extra: Wire.counts))
    #expect(host.client.roomIDs.isEmpty)
    // The old batch, then what empties the store; the new one is not there yet.
    host.finishWrites(2)
    #expect(host.client.roomIDs.isEmpty)
    host.finishWrites()
    #expect(host.texts() == ["one"])
  }

  // MARK: Inbox

  static func handOver(_ text: ByteString, _ time: Int64) -> (ByteString, [UInt8]) {
    guard case .put(let key, let value)? = Inbox.put(text, to: .test, now: time, randomSeed: UInt64(time)) else {
      return ("", [])
    }
    return (key, value)
  }

  @Test func `what another process hands over is sent in order, under its own transaction IDs`() {
    var host = Host.inRoom()
    for (text, time) in [("second", 2), ("first", 1), ("third", 30)] as [(ByteString, Int64)] {
      let (key, value) = Self.handOver(text, time)
      host.store[key] = value
    }
    host.handle(.inboxChanged)
    #expect(host.texts() == ["one", "first sending", "second queued", "third queued"])
    #expect(host.store.keys.allSatisfy { !$0.hasPrefix("a/inbox/") })
    #expect(host.store.keys.filter { $0.hasPrefix("a/outbox/") }.count == 3)
    let transaction = host.transaction
    #expect(transaction.hasPrefix("m1."))
    // A crash between the request and its answer: the same transaction again.
    #expect(host.restarted().transaction == transaction)
  }

  @Test func `what was handed over while nobody ran is taken over at the start, once`() {
    var host = Host.inRoom()
    let (key, value) = Self.handOver("hello", 5)
    host.store[key] = value
    host.store["a/inbox/broken"] = Array("{".utf8)
    var next = host.restarted()
    #expect(next.client.outbox.entries.count == 1)
    #expect(next.store.keys.allSatisfy { !$0.hasPrefix("a/inbox/") })
    next.handle(.inboxChanged)
    #expect(next.client.outbox.entries.count == 1)
    #expect(next.restarted().client.outbox.entries.count == 1)
  }

  @Test func `a process that does not sync may only hand over`() {
    if case .some = Inbox.put("", to: .test, now: 1, randomSeed: 1) { Issue.record("an empty message") }
    #expect(Inbox.contains(.put(key: Self.handOver("x", 1).0, value: [])))
    for operation in [
      StoreOperation.put(key: "a/session", value: []), .delete(key: "a/inbox/1"), .deleteAll(prefix: "a/inbox/")
    ] {
      #expect(!Inbox.contains(operation))
    }
  }
}
