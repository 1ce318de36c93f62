import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct TimelineTests {
  static func page(_ events: [String], end: String?) -> String {
    #"{"start":"x","chunk":["# + events.joined(separator: ",") + "]" + (end.map { #","end":"\#($0)""# } ?? "") + "}"
  }

  // MARK: Gaps and pages

  // Proves W12
  @Test func `a limited timeline makes a gap that pages fill without a seam`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.message("five", "$5")], limited: true, token: "t5"))
    #expect(host.texts() == ["one", "[gap]", "five"])
    host.command(.timeline(.fillGap(.test, host.items()[1].id)))
    #expect(host.texts() == ["one", "[gap loading]", "five"])
    #expect(host.request("/messages")?.request.target.contains("from=t5") == true)
    #expect(host.request("/messages")?.request.target.contains("dir=b") == true)
    host.answer("/messages", Self.page([Wire.message("four", "$4"), Wire.message("three", "$3")], end: "t3"))
    #expect(host.texts() == ["one", "[gap]", "three", "four", "five"])
    host.command(.timeline(.fillGap(.test, host.items()[1].id)))
    host.answer(
      "/messages",
      Self.page([Wire.message("two", "$2"), Wire.message("one", "$1"), Wire.message("zero", "$0")], end: "t0"))
    #expect(host.texts() == ["one", "two", "three", "four", "five"])
  }

  @Test func `a page that overlaps brings nothing twice`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.message("four", "$4"), Wire.message("five", "$5")], limited: true, token: "t4"))
    host.command(.timeline(.fillGap(.test, host.items()[1].id)))
    host.answer(
      "/messages",
      Self.page([Wire.message("four", "$4"), Wire.message("three", "$3"), Wire.message("one", "$1")], end: "t0"))
    #expect(host.texts() == ["one", "three", "four", "five"])
  }

  @Test func `a limited batch that overlaps makes no gap`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.message("one", "$1"), Wire.message("two", "$2")], limited: true, token: "t1"))
    #expect(host.texts() == ["one", "two"])
  }

  @Test func `a gap whose page fails says so and can be tried again`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.message("five", "$5")], limited: true, token: "t5"))
    host.command(.timeline(.fillGap(.test, host.items()[1].id)))
    host.respond("/messages", .networkError)
    #expect(host.texts() == ["one", "[gap failed]", "five"])
    #expect(host.result() == "network")
    host.command(.timeline(.fillGap(.test, host.items()[1].id)))
    #expect(host.request("/messages") != nil)
  }

  // Proves J20
  @Test func `one asks for a gap once however often it is on the screen`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.message("five", "$5")], limited: true, token: "t5"))
    for _ in 0..<3 { host.command(.timeline(.fillGap(.test, host.items()[1].id))) }
    #expect(host.waiting.filter { $0.request.target.contains("/messages") }.count == 1)
  }

  // Proves W12
  @Test func `gaps are still there after a restart`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.message("five", "$5")], limited: true, token: "t5"))
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts() == ["one", "[gap]", "five"])
    next.command(.timeline(.fillGap(.test, next.items()[1].id)))
    #expect(next.request("/messages")?.request.target.contains("from=t5") == true)
  }

  @Test func `one pages back to the start of the room`() {
    var host = Host.inRoom()
    host.command(.timeline(.paginateBack(.test)))
    host.command(.timeline(.paginateBack(.test)))
    #expect(host.waiting.filter { $0.request.target.contains("/messages") }.count == 1)
    host.answer("/messages", Self.page([Wire.message("b", "$b"), Wire.message("a", "$a")], end: "ta"))
    #expect(host.texts() == ["a", "b", "one"])
    host.command(.timeline(.paginateBack(.test)))
    host.answer("/messages", Self.page([Wire.event("m.room.create", "$c", "{}", stateKey: "")], end: nil))
    #expect(host.client.room(.test)?.timeline.backState == .atStart)
    #expect(host.texts() == ["(created(predecessor: nil))", "a", "b", "one"])
    host.command(.timeline(.paginateBack(.test)))
    #expect(host.request("/messages") == nil)
  }

  // Proves W38
  @Test func `pages with nothing to show are followed by the next one, not for ever`() {
    var host = Host.inRoom()
    host.command(.timeline(.paginateBack(.test)))
    var pages = 0
    while host.request("/messages") != nil, pages < 100 {
      pages += 1
      host.answer("/messages", Self.page([Wire.event("m.reaction", "$r\(pages)", "{}")], end: "t\(pages)"))
    }
    #expect(pages == Limits.emptyPages + 1)
    #expect(host.client.room(.test)?.timeline.backState == .idle)
    #expect(host.result() == "done")
  }

  @Test func `ten thousand events of history come without one missing or twice`() {
    var host = Host.inRoom()
    host.comparesMirrors = false
    var next = 10_000
    while host.client.room(.test)?.timeline.backState != .atStart {
      host.command(.timeline(.paginateBack(.test)))
      let events = (max(0, next - 100)..<next).reversed().map { Wire.message("m\($0)", "$h\($0)") }
      next = max(0, next - 100)
      // Each page repeats one event of the page before.
      host.answer(
        "/messages",
        Self.page(
          (next < 9_900 ? [Wire.message("x", "$h\(next + 100)")] : []) + events, end: next == 0 ? nil : "t\(next)"))
    }
    #expect(host.texts() == (0..<10_000).map { "m\($0)" } + ["one"])
    #expect(Set(host.items().map { $0.id }).count == 10_001)
  }

  // Proves P42
  @Test func `who has read far back and is at the end again has the end in memory only; all of it comes back`() throws {
    var host = Host.inRoom()
    host.comparesMirrors = false
    var next = 4_000
    while host.client.room(.test)?.timeline.backState != .atStart {
      host.command(.timeline(.paginateBack(.test)))
      let events = (max(0, next - 100)..<next).reversed().map { Wire.message("m\($0)", "$h\($0)") }
      next = max(0, next - 100)
      host.answer("/messages", Self.page(events, end: next == 0 ? nil : "t\(next)"))
    }
    host.command(.sending(.send(.test, .text("mine"))))
    let all = host.texts()
    #expect(all.count == 4_002)
    // In the middle nothing goes.
    let middle = host.items()[2_000].id
    host.command(.reading(.viewed(.test, upTo: middle)))
    #expect(host.texts() == all)
    let identities = host.items().map { $0.id }
    let last = try #require(identities.last)
    host.command(.reading(.viewed(.test, upTo: last)))
    let left = host.texts()
    #expect(left.count >= Limits.storedPageItems && left.count < Limits.openItems)
    #expect(left == Array(all.suffix(left.count)))
    #expect(host.items().map { $0.id } == identities.suffix(left.count))
    // News come as ever, and what is older comes from the store.
    host.sync(Wire.join([Wire.message("news", "$news")]))
    #expect(host.texts().suffix(2) == ["news", "mine sending"] || host.texts().suffix(2) == ["mine sending", "news"])
    while host.client.room(.test)?.timeline.backState == .idle { host.command(.timeline(.paginateBack(.test))) }
    #expect(host.texts().filter { $0 != "news" } == all)
    #expect(Set(host.items().map { $0.id }).count == 4_003)
  }

  // Proves P42, W24
  @Test func `closed rooms leave the memory but for the last few`() {
    var host = Host.signedIn()
    let ids = (0..<10).map { "!r\($0):test" }
    host.sync(
      #""join":{"# + ids.map { Wire.joined([Wire.message("in \($0)", "$\($0)")], room: $0) }.joined(separator: ",")
        + "}")
    for id in ids {
      host.command(.timeline(.openRoom(RoomID(trusted: ByteString(id)))))
      host.command(.timeline(.closeRoom(RoomID(trusted: ByteString(id)))))
    }
    let loaded = ids.filter { !host.items(RoomID(trusted: ByteString($0))).isEmpty }
    #expect(loaded == Array(ids.suffix(Limits.keptTimelines)))
    host.command(.timeline(.openRoom(RoomID(trusted: "!r0:test"))))
    #expect(host.texts(RoomID(trusted: "!r0:test")) == ["in !r0:test"])
  }

  // Proves W9
  @Test func `a message being sent is there when the user returns to the room`() {
    var host = Host.signedIn()
    let ids = (0..<10).map { RoomID(trusted: ByteString("!r\($0):test")) }
    host.sync(
      #""join":{"# + ids.map { Wire.joined([Wire.message("old", "$\($0)")], room: $0.string) }.joined(separator: ",") + "}")
    host.command(.timeline(.openRoom(ids[0])))
    host.command(.sending(.send(ids[0], .text("mine"))))
    for (last, next) in zip(ids, ids.dropFirst()) {
      host.command(.timeline(.closeRoom(last)))
      host.command(.timeline(.openRoom(next)))
    }
    #expect(host.items(ids[0]).isEmpty)
    host.command(.timeline(.openRoom(ids[0])))
    #expect(host.texts(ids[0]) == ["old", "mine sending"])
    // The answer comes while another room is open, the sync much later.
    host.command(.timeline(.closeRoom(ids[0])))
    for id in ids.dropFirst() {
      host.command(.timeline(.openRoom(id)))
      host.command(.timeline(.closeRoom(id)))
    }
    host.answer("/send/", #"{"event_id":"$mine"}"#)
    host.command(.timeline(.openRoom(ids[0])))
    #expect(host.texts(ids[0]) == ["old", "mine sent"])
  }

  @Test func `a message while the store is reading comes once and at the end`() {
    var client = Host.inRoom()
    client = client.restarted()
    // The load is answered late: the sync's batch is committed in between.
    client.loadsAtOnce = false
    client.command(.timeline(.openRoom(.test)))
    client.sync(Wire.join([Wire.message("two", "$2")]))
    client.command(.sending(.send(.test, .text("mine"))))
    client.finishLoads()
    #expect(client.texts() == ["one", "two", "mine sending"])
  }

  // Proves J21
  @Test func `messages from before and after a restart are both there, in order, when the store has been read`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("before"))))
    host = host.restarted()
    host.loadsAtOnce = false
    host.command(.timeline(.openRoom(.test)))
    host.command(.sending(.send(.test, .text("after"))))
    host.finishLoads()
    #expect(host.texts() == ["one", "before sending", "after queued"])
  }

  // MARK: Relations

  static func edit(
    _ body: String, of target: String, _ id: String, by sender: String = "@alice:test", time: Int = 1_700_000_000_001
  ) -> String {
    Wire.event(
      "m.room.message", id, by: sender, time: time,
      ##"{"msgtype":"m.text","body":"* \##(body)","m.new_content":{"msgtype":"m.text","body":"\##(body)"},"m.relates_to":{"rel_type":"m.replace","event_id":"\##(target)"}}"##
    )
  }

  static func reaction(_ key: String, to target: String, _ id: String, by sender: String) -> String {
    Wire.event(
      "m.reaction", id, by: sender,
      #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"\#(target)","key":"\#(key)"}}"#)
  }

  static func redaction(of target: String, _ id: String) -> String {
    Wire.event("m.room.redaction", id, #"{"redacts":"\#(target)"}"#)
  }

  @Test func `an edit takes the body's place, the newest wins, foreign ones are ignored`() {
    var host = Host.inRoom()
    let id = host.items()[0].id
    host.sync(
      Wire.join([Self.edit("new", of: "$1", "$e2", time: 1_700_000_000_002), Self.edit("older", of: "$1", "$e1")]))
    host.sync(Wire.join([Self.edit("forged", of: "$1", "$e3", by: "@bob:test", time: 1_800_000_000_000)]))
    #expect(host.texts() == ["new"])
    #expect(host.items()[0].isEdited)
    #expect(host.items()[0].id == id)
    #expect(host.client.room(.test)?.preview?.content?.body == "new")
    host.sync(Wire.join([Self.redaction(of: "$e2", "$x")]))
    #expect(host.texts() == ["older"])
    host.sync(Wire.join([Self.redaction(of: "$e1", "$y")]))
    #expect(host.texts() == ["one"])
    #expect(!host.items()[0].isEdited)
  }

  @Test func `an edit that comes before its event is applied when it comes`() {
    var host = Host.inRoom([Self.edit("new", of: "$0", "$e")])
    #expect(host.texts() == [])
    host.command(.timeline(.paginateBack(.test)))
    host.answer("/messages", Self.page([Wire.message("old", "$0")], end: nil))
    #expect(host.texts() == ["new"])
  }

  @Test func `an edit the server bundles is applied`() {
    let unsigned = #"{"m.relations":{"m.replace":"# + Self.edit("new", of: "$1", "$e") + "}}"
    let host = Host.inRoom([
      Wire.event("m.room.message", "$1", #"{"msgtype":"m.text","body":"old"}"#, unsigned: unsigned)
    ])
    #expect(host.texts() == ["new"])
  }

  @Test func `reactions are counted once per person and key and can be taken back`() {
    var host = Host.inRoom()
    host.sync(
      Wire.join([
        Self.reaction("👍", to: "$1", "$r1", by: "@bob:test"), Self.reaction("👍", to: "$1", "$r2", by: "@me:test"),
        Self.reaction("👍", to: "$1", "$r3", by: "@bob:test"), Self.reaction("🎉", to: "$1", "$r4", by: "@bob:test")
      ]))
    #expect(host.items()[0].reactions.map { "\($0.key)\($0.count)\($0.isOwn)" } == ["👍2true", "🎉1false"])
    host.sync(Wire.join([Self.redaction(of: "$r2", "$x")]))
    #expect(host.items()[0].reactions.map { "\($0.key)\($0.count)\($0.isOwn)" } == ["👍1false", "🎉1false"])
    #expect(host.texts() == ["one"])
  }

  @Test(arguments: [true, false]) func `a redaction removes the content`(isVersion11: Bool) {
    var host = Host.inRoom()
    let redaction =
      isVersion11
      ? Self.redaction(of: "$1", "$x") : Wire.event("m.room.redaction", "$x", "{}", extra: #","redacts":"$1""#)
    host.sync(Wire.join([redaction]))
    #expect(host.texts() == ["[redacted]"])
    #expect(host.client.room(.test)?.preview?.isUnreadable == true)
  }

  // Proves J52
  @Test func `events without a body the client knows have rows that say so`() {
    let host = Host.inRoom([
      Wire.event("m.room.encrypted", "$1", #"{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"x"}"#),
      Wire.event("m.room.message", "$2", "{}"),
      Wire.event("m.room.message", "$3", #"{"msgtype":"m.text"}"#),
      Wire.event("org.example.poll", "$4", #"{"x":1}"#),
      #"{"type":"m.room.message","event_id":"$5","sender":"@alice:test"}"#,
      #"{"type":"m.room.message","content":{"body":"nobody"}}"#
    ])
    #expect(host.texts() == ["[undecryptable]", "[redacted]", "[unparsable]", "[custom]", "[unparsable]"])
  }

  @Test func `a reply has its target and loses the old fallback`() {
    let content =
      #"{"msgtype":"m.text","body":"> <@bob:test> hm\n> more\n\nyes","m.relates_to":{"m.in_reply_to":{"event_id":"$0"}}}"#
    let host = Host.inRoom([Wire.event("m.room.message", "$1", content)])
    #expect(host.texts() == ["yes"])
    #expect(host.items()[0].replyTo?.string == "$0")
  }

  @Test func `a reply is sent with its target`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("yes", replyTo: EventID("$1")))))
    #expect(host.body("/send/")?["m.relates_to"]?["m.in_reply_to"]?["event_id"]?.string == "$1")
  }

  // MARK: State

  @Test(arguments: [
    ("join", "", "@bob:test", "joined(@bob:test)"), ("leave", "join", "@bob:test", "left(@bob:test, reason: nil)"),
    ("leave", "join", "@alice:test", "kicked(@bob:test, reason: nil)"),
    ("leave", "invite", "@bob:test", "inviteRejected(@bob:test)"),
    ("leave", "invite", "@alice:test", "inviteWithdrawn(@bob:test)"),
    ("leave", "ban", "@alice:test", "unbanned(@bob:test)"),
    ("ban", "join", "@alice:test", "banned(@bob:test, reason: nil)"),
    ("invite", "", "@alice:test", "invited(@bob:test, reason: nil)"),
    ("knock", "", "@bob:test", "knocked(@bob:test, reason: nil)"),
    ("invite", "knock", "@alice:test", "knockAccepted(@bob:test)"),
    ("leave", "knock", "@alice:test", "knockDenied(@bob:test, reason: nil)"),
    ("leave", "knock", "@bob:test", "knockWithdrawn(@bob:test)")
  ]) func `membership changes are told apart`(now: String, before: String, sender: String, expected: String) {
    let unsigned = before.isEmpty ? nil : #"{"prev_content":{"membership":"\#(before)"}}"#
    let event = Wire.event(
      "m.room.member", "$m", by: sender, #"{"membership":"\#(now)"}"#, stateKey: "@bob:test", unsigned: unsigned)
    #expect(Host.inRoom([event]).texts() == ["(\(expected))"])
  }

  @Test func `a member event without a difference has no row`() {
    let unsigned = #"{"prev_content":{"membership":"join","displayname":"B"}}"#
    let same = Wire.event(
      "m.room.member", "$m", by: "@bob:test", #"{"membership":"join","displayname":"B"}"#, stateKey: "@bob:test",
      unsigned: unsigned)
    #expect(Host.inRoom([same]).texts() == [])
  }
}
