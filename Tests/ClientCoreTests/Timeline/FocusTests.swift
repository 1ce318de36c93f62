import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Timelines around an event, of a thread, of the pins; single events.
@Suite struct FocusTests {
  static let around = TimelineKey(.test, .event(EventID(trusted: "$e50")))
  static let thread = TimelineKey(.test, .thread(EventID(trusted: "$1")))
  static let pinned = TimelineKey(.test, .pinned)

  private static func message(_ i: Int) -> String { Wire.message("m\(i)", "$e\(i)", time: 1_700_000_000_000 + i) }

  static func context(_ i: Int, before: [Int], after: [Int], start: String? = "s", end: String? = "e") -> String {
    #"{"event":\#(message(i)),"events_before":[\#(before.map(message).joined(separator: ","))],"#
      + #""events_after":[\#(after.map(message).joined(separator: ","))]"# + (start.map { #","start":"\#($0)""# } ?? "")
      + (end.map { #","end":"\#($0)""# } ?? "") + "}"
  }

  private static func page(_ events: [Int], end: String?) -> String { TimelineTests.page(events.map(message), end: end) }

  /// Around event 50, of a room whose live timeline shows event 60.
  private static func opened() -> Host {
    var host = Host.inRoom([message(60)])
    host.command(.timeline(.open(around)))
    host.answer("/context/", context(50, before: [49, 48], after: [51]))
    return host
  }

  // MARK: Around an event

  // Proves W37
  @Test func `a link opens what was said around the event`() {
    let host = Self.opened()
    #expect(host.texts(Self.around) == ["m48", "m49", "m50", "m51"])
    #expect(host.result() == "event($e50)")
    #expect(host.texts() == ["m60"])
  }

  @Test func `an event nobody has can be tried again`() {
    var host = Host.inRoom()
    host.command(.timeline(.open(Self.around)))
    host.answer("/context/", status: 404, #"{"errcode":"M_NOT_FOUND","error":"no"}"#)
    #expect(host.result().hasPrefix("refused"))
    #expect(host.client.timeline(Self.around)?.loadState == .failed)
    host.command(.timeline(.open(Self.around)))
    host.answer("/context/", Self.context(50, before: [], after: []))
    #expect(host.texts(Self.around) == ["m50"])
  }

  // Proves J16, J17, J18
  @Test func `one pages both ways until it meets the end, and from there on news come`() {
    var host = Self.opened()
    host.sync(Wire.join([Self.message(61)]))
    #expect(host.texts(Self.around).last == "m51")
    host.command(.timeline(.paginateBack(Self.around)))
    #expect(host.request("/messages")?.request.target.contains("from=s") == true)
    host.answer("/messages", Self.page([47, 46], end: nil))
    #expect(host.client.timeline(Self.around)?.backState == .atStart)
    host.command(.timeline(.paginateForward(Self.around)))
    #expect(host.request("/messages")?.request.target.contains("dir=f") == true)
    #expect(host.request("/messages")?.request.target.contains("from=e") == true)
    host.answer("/messages", Self.page([51, 52, 53], end: "e2"))
    #expect(host.client.timeline(Self.around)?.forwardState == .idle)
    host.command(.timeline(.paginateForward(Self.around)))
    // Comes while the last page is on its way, and is behind it.
    host.sync(Wire.join([Self.message(62)]))
    host.command(.sending(.send(.test, .text("mine"))))
    host.answer("/messages", Self.page([54, 60, 61], end: nil))
    #expect(host.client.timeline(Self.around)?.forwardState == .live)
    #expect(
      host.texts(Self.around) == [46, 47, 48, 49, 50, 51, 52, 53, 54, 60, 61, 62].map { "m\($0)" } + ["mine sending"])
    host.sync(Wire.join([Self.message(63)]))
    #expect(host.texts(Self.around).contains("m63"))
    #expect(host.texts() == ["m60", "m61", "m62", "m63", "mine sending"])
  }

  @Test func `a page forward that fails can be tried again`() {
    var host = Self.opened()
    host.command(.timeline(.paginateForward(Self.around)))
    host.respond("/messages", .networkError)
    #expect(host.client.timeline(Self.around)?.forwardState == .failed)
    host.command(.timeline(.paginateForward(Self.around)))
    #expect(host.request("/messages") != nil)
  }

  @Test func `edits and reactions that come meanwhile are seen, far from the end too`() {
    var host = Self.opened()
    host.sync(
      Wire.join([
        TimelineTests.edit("new", of: "$e49", "$x", time: 1_800_000_000_000),
        TimelineTests.reaction("👍", to: "$e50", "$r", by: "@bob:test")
      ]))
    #expect(host.texts(Self.around) == ["m48", "new", "m50", "m51"])
    #expect(host.items(Self.around)[2].reactions.count == 1)
  }

  @Test func `what the room knows already is known where one looks later`() {
    var host = Host.inRoom([TimelineTests.edit("new", of: "$e50", "$x", time: 1_800_000_000_000)])
    host.command(.timeline(.open(Self.around)))
    host.answer("/context/", Self.context(50, before: [], after: []))
    #expect(host.texts(Self.around) == ["new"])
  }

  // Proves C49, J19
  @Test func `a date opens the first event at or after it`() {
    var host = Host.inRoom()
    host.command(.timeline(.jumpToDate(.test, 1_600_000_000_000)))
    #expect(host.request("/timestamp_to_event")?.request.target.hasSuffix("?dir=f&ts=1600000000000") == true)
    host.answer("/timestamp_to_event", #"{"event_id":"$e50","origin_server_ts":1600000000001}"#)
    host.answer("/context/", Self.context(50, before: [49], after: [51]))
    #expect(host.result() == "event($e50)")
    #expect(host.texts(Self.around) == ["m49", "m50", "m51"])
  }

  @Test func `a closed timeline is gone and the live one stays`() {
    var host = Self.opened()
    host.command(.timeline(.close(Self.around)))
    #expect(host.client.timeline(Self.around) == nil)
    #expect(host.texts() == ["m60"])
  }

  // MARK: Threads

  static func relations(_ events: [String], next: String?) -> String {
    #"{"chunk":[\#(events.joined(separator: ","))]"# + (next.map { #","next_batch":"\#($0)""# } ?? "") + "}"
  }

  @Test func `a thread begins with its root and pages back to it`() {
    var host = Host.inRoom()
    host.command(.timeline(.open(Self.thread)))
    let request = host.request("/relations/")?.request.target ?? ""
    #expect(request.contains("dir=b") && request.contains("recurse=true") && !request.contains("from="))
    host.answer(
      "/relations/",
      Self.relations(
        [
          TimelineTests.reaction("👍", to: "$t2", "$r", by: "@bob:test"), RelationTests.threaded("b", in: "$1", "$t2"),
          TimelineTests.reaction("🎉", to: "$1", "$r0", by: "@bob:test")
        ], next: "n"))
    #expect(host.texts(Self.thread) == ["b"])
    #expect(host.items(Self.thread)[0].reactions.count == 1)
    host.command(.timeline(.paginateBack(Self.thread)))
    #expect(host.request("/relations/")?.request.target.contains("from=n") == true)
    host.answer("/relations/", Self.relations([RelationTests.threaded("a", in: "$1", "$t1")], next: nil))
    #expect(host.texts(Self.thread) == ["one", "a", "b"])
    #expect(host.client.timeline(Self.thread)?.backState == .atStart)
  }

  @Test func `a thread takes its own news only, and own messages on their way to it`() {
    var host = Host.inRoom()
    host.command(.timeline(.open(Self.thread)))
    host.sync(Wire.join([RelationTests.threaded("early", in: "$1", "$t0")]))
    host.answer("/relations/", Self.relations([RelationTests.threaded("a", in: "$1", "$t1")], next: nil))
    host.sync(
      Wire.join([
        Wire.message("outside", "$2"), RelationTests.threaded("b", in: "$1", "$t2"),
        RelationTests.threaded("elsewhere", in: "$9", "$t9")
      ]))
    host.command(.sending(.send(.test, .text("mine"))))
    #expect(host.texts(Self.thread) == ["one", "a", "early", "b"])
    #expect(host.texts() == ["one", "outside", "mine sending"])
  }

  @Test func `a gap in the room is a gap in the thread, filled from the thread's end`() {
    var host = Host.inRoom()
    host.command(.timeline(.open(Self.thread)))
    host.answer("/relations/", Self.relations([RelationTests.threaded("a", in: "$1", "$t1")], next: nil))
    host.sync(Wire.join([RelationTests.threaded("c", in: "$1", "$t3")], limited: true, token: "t5"))
    #expect(host.texts(Self.thread) == ["one", "a", "[gap]", "c"])
    host.command(.timeline(.fillGap(Self.thread, host.items(Self.thread)[2].id)))
    #expect(host.request("/relations/")?.request.target.contains("from=") == false)
    host.answer(
      "/relations/",
      Self.relations(["c", "b", "a"].enumerated().map { RelationTests.threaded($1, in: "$1", "$t\(3 - $0)") }, next: "n"))
    #expect(host.texts(Self.thread) == ["one", "a", "b", "c"])
  }

  // MARK: Pins

  private static func pins(_ events: [String]) -> String {
    let list = events.map { "\"\($0)\"" }.joined(separator: ",")
    return Wire.event("m.room.pinned_events", "$pins\(events.count)", #"{"pinned":[\#(list)]}"#, stateKey: "")
  }

  // Proves P6
  @Test func `pinned messages stand in the order of the pins and follow them`() {
    var host = Host.inRoom([Wire.message("one", "$1"), Self.pins(["$1", "$a", "$b"])])
    host.command(.timeline(.open(Self.pinned)))
    #expect(host.texts(Self.pinned) == ["one"])
    host.answer("/event/%24b", Wire.message("b", "$b"))
    host.answer("/event/%24a", Wire.message("a", "$a"))
    #expect(host.texts(Self.pinned) == ["one", "a", "b"])
    host.sync(Wire.join([Self.pins(["$a", "$b", "$c", "$d"]), TimelineTests.edit("a2", of: "$a", "$e")]))
    host.answer("/event/%24d", Wire.message("d", "$d"))
    host.answer("/event/%24c", status: 403, "{}")
    #expect(host.texts(Self.pinned) == ["a2", "b", "d"])
    #expect(host.client.room(.test)?.pinnedEvents.count == 4)
    #expect(host.restarted().client.room(.test)?.pinnedEvents.count == 4)
  }

  // MARK: Events

  @Test func `an event is requested once for all callers`() {
    var host = Host.inRoom()
    for id in 5...7 { host.command(.timeline(.loadEvent(.test, EventID(trusted: "$x"))), id: CommandID(id)) }
    #expect(host.waiting.filter { $0.request.target.contains("/event/") }.count == 1)
    let source = Wire.event("org.example.thing", "$x", #"{"odd":[1,2]}"#, extra: #","unknown":true"#)
    host.answer("/event/", source)
    for id in 5...7 { #expect(host.result(CommandID(id)) == source) }
    host.command(.timeline(.loadEvent(.test, EventID(trusted: "$x"))))
    #expect(host.result() == source)
    #expect(host.request("/event/") == nil)
  }

  @Test func `the source of what the store has costs no request`() {
    var host = Host.inRoom()
    host.command(.timeline(.loadEvent(.test, EventID(trusted: "$1"))))
    #expect(host.result() == Wire.message("one", "$1"))
    #expect(host.request("/event/") == nil)
  }

  @Test func `a redaction makes the client forget the source`() {
    var host = Host.inRoom()
    host.command(.timeline(.loadEvent(.test, EventID(trusted: "$x"))))
    host.answer("/event/", Wire.message("secret", "$x"))
    host.sync(Wire.join([TimelineTests.redaction(of: "$x", "$r")]))
    host.command(.timeline(.loadEvent(.test, EventID(trusted: "$x"))))
    #expect(host.request("/event/") != nil)
  }

  @Test func `a caller that waits for an event hears when the session ends`() {
    var host = Host.inRoom()
    host.command(.timeline(.loadEvent(.test, EventID(trusted: "$x"))))
    host.command(.timeline(.open(Self.around)), id: 10)
    host.command(.session(.logOut), id: 11)
    #expect(host.result() == "notSignedIn")
    #expect(host.result(10) == "notSignedIn")
  }

  @Test func `an answer with another event is invalid`() {
    var host = Host.inRoom()
    host.command(.timeline(.loadEvent(.test, EventID(trusted: "$x"))))
    host.answer("/event/", Wire.message("other", "$y"))
    #expect(host.result() == "badAnswer")
  }

  @Test func `of many events the last ones are kept`() {
    var sources = EventSources()
    let key = { (i: Int) in EventSources.Key(room: .test, event: EventID(trusted: ByteString("$\(i)"))) }
    for i in 0...Limits.eventSources { sources.keep([1], key(i)) }
    #expect(sources[key(0)] == nil)
    #expect(sources[key(1)] != nil)
    sources.keep([UInt8](repeating: 0, count: Limits.eventSourceBytes), key(-1))
    #expect(sources[key(-1)] != nil)
    #expect(sources[key(Limits.eventSources)] == nil)
    sources.keep([UInt8](repeating: 0, count: Limits.eventSourceBytes + 1), key(-2))
    #expect(sources[key(-2)] == nil)
  }

  // MARK: Readers

  @Test func `who has read up to a message is known`() {
    var host = Host.inRoom([Wire.message("one", "$1"), Wire.message("two", "$2")])
    host.sync(
      Wire.join(
        [], extra: #","ephemeral":{"events":[{"type":"m.receipt","content":{"$1":{"m.read":{"@bob:test":{"ts":1}}}}}]}"#))
    let items = host.items()
    let readers = { (i: Int) in host.client.room(.test)?.timeline.readers(at: items[i].id).map { $0.string } }
    #expect(readers(0) == ["@bob:test"])
    #expect(readers(1) == ["@alice:test"])
    host.sync(Wire.join([Wire.message("three", "$3", by: "@bob:test")]))
    #expect(readers(0) == [])
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `readers have the same places whether pages come one by one or all are looked at anew`(seed: UInt64) {
    var random = RandomSource(seed: seed)
    let users = (0..<6).map { "@u\($0):test" }
    var host = Host.inRoom([Wire.message("one", "$one", by: users[0])])
    let receipts = users.map { "\"$h\(random.next() % 60)\":{\"m.read\":{\"\($0)\":{\"ts\":1}}}" }
    host.sync(
      Wire.join(
        [], extra: #","ephemeral":{"events":[{"type":"m.receipt","content":{"# + receipts.joined(separator: ",") + "}}]}"))
    for page in (0..<6).reversed() {
      let events = (page * 10..<page * 10 + 10).reversed().map {
        Wire.message("m\($0)", "$h\($0)", by: users[Int(random.next() % 6)])
      }
      host.command(.timeline(.paginateBack(.test)))
      host.answer("/messages", TimelineTests.page(events, end: page == 0 ? nil : "t\(page)"))
      guard let room = host.client.room(.test) else { return }
      var anew = room.timeline
      anew.readPositions = [:]
      anew.placeReaders(room.state)
      #expect(room.timeline.readPositions == anew.readPositions)
      #expect(room.timeline.items.map(\.readerCount) == anew.items.map(\.readerCount))
      for item in room.timeline.items { #expect(room.timeline.readers(at: item.id) == anew.readers(at: item.id)) }
    }
  }
}
