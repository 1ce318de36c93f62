import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct HistoryTests {
  @Test func `ten thousand events once paged are there offline, page by page, none missing or twice`() {
    var host = Host.inRoom()
    host.comparesMirrors = false
    var next = 10_000
    while host.client.room(.test)?.timeline.backState != .atStart {
      host.command(.timeline(.paginateBack(.test)))
      let events = (max(0, next - 50)..<next).reversed().map { Wire.message("m\($0)", "$h\($0)") }
      next = max(0, next - 50)
      host.answer("/messages", TimelineTests.page(events, end: next == 0 ? nil : "t\(next)"))
    }
    var offline = host.restarted()
    offline.comparesMirrors = false
    offline.handle(.networkChanged(isOnline: false))
    offline.command(.timeline(.openRoom(.test)))
    let first = offline.items().count
    #expect((Limits.storedPageItems...Limits.loadedSegments * 50).contains(first))
    var pages = 0
    while offline.client.room(.test)?.timeline.backState == .idle {
      let before = offline.items().count
      offline.command(.timeline(.paginateBack(.test)))
      #expect(offline.items().count - before <= Limits.loadedSegments * 50)
      pages += 1
    }
    #expect(offline.texts() == (0..<10_000).map { "m\($0)" } + ["one"])
    #expect(offline.request("/messages") == nil)
    #expect(pages >= 9)
    #expect(offline.loads.allSatisfy { $0.prefix.hasPrefix("a/") || $0.prefix.hasPrefix("p/") || $0.limit != nil })
  }

  @Test func `paging back asks the store first, then the server from where the store begins`() {
    var host = Host.inRoom()
    for n in 0..<100 { host.sync(Wire.join([Wire.message("m\(n)", "$m\(n)")], token: "p\(n)")) }
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.items().count < 100)
    next.command(.timeline(.paginateBack(.test)))
    #expect(next.request("/messages") == nil)
    while next.request("/messages") == nil { next.command(.timeline(.paginateBack(.test))) }
    #expect(next.texts() == ["one"] + (0..<100).map { "m\($0)" })
    #expect(next.request("/messages")?.request.target.contains("from=t0") == true)
  }

  @Test func `an opened room fills its first screen from the store without asking the server`() {
    var host = Host.inRoom()
    for n in 0..<(Limits.loadedSegments - 1) { host.sync(Wire.join([Wire.message("m\(n)", "$m\(n)")])) }
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.items().count == Limits.loadedSegments)
    #expect(next.request("/messages") == nil)
  }

  @Test func `a gap that was filled stays filled, one that was filled in part begins where it ended`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.message("six", "$6")], limited: true, token: "t6"))
    host.command(.timeline(.fillGap(.test, host.items()[1].id)))
    host.answer(
      "/messages", TimelineTests.page([Wire.message("five", "$5"), Wire.message("four", "$4")], end: "t4"))
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts() == ["one", "[gap]", "four", "five", "six"])
    next.command(.timeline(.fillGap(.test, next.items()[1].id)))
    #expect(next.request("/messages")?.request.target.contains("from=t4") == true)
    next.answer(
      "/messages",
      TimelineTests.page([Wire.message("three", "$3"), Wire.message("two", "$2"), Wire.message("one", "$1")], end: "t0"))
    var last = next.restarted()
    last.command(.timeline(.openRoom(.test)))
    #expect(last.texts() == ["one", "two", "three", "four", "five", "six"])
    #expect(last.client.room(.test)?.state.history.events == 6)
  }

  @Test func `a page that closes a gap without an event of its own closes it for good`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.message("two", "$2")], limited: true, token: "t2"))
    host.command(.timeline(.fillGap(.test, host.items()[1].id)))
    host.answer("/messages", TimelineTests.page([Wire.message("one", "$1")], end: "t0"))
    #expect(host.texts() == ["one", "two"])
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts() == ["one", "two"])
  }

  @Test func `a page for a timeline that was dropped and loaded anew goes nowhere`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.message("five", "$5")], limited: true, token: "t5"))
    host.command(.timeline(.fillGap(.test, host.items()[1].id)))
    host.command(.timeline(.closeRoom(.test)))
    for n in 0..<Limits.keptTimelines {
      host.command(.timeline(.openRoom(RoomID(trusted: ByteString("!o\(n):test")))))
      host.command(.timeline(.closeRoom(RoomID(trusted: ByteString("!o\(n):test")))))
    }
    host.command(.timeline(.openRoom(.test)))
    host.answer("/messages", TimelineTests.page([Wire.message("four", "$4")], end: "t4"))
    #expect(host.texts() == ["one", "[gap]", "five"])
    host.command(.timeline(.fillGap(.test, host.items()[1].id)))
    host.answer("/messages", TimelineTests.page([Wire.message("four", "$4")], end: "t4"))
    #expect(host.texts() == ["one", "[gap]", "four", "five"])
  }

  @Test func `a segment that cannot be read is a gap`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.message("two", "$2")], token: "t2"))
    host.sync(Wire.join([Wire.message("three", "$3")], token: "t3"))
    let keys = host.store.keys.filter { $0.hasPrefix("t/") }.sorted()
    host.store[keys[1]] = Array("{".utf8)
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts() == ["one", "[gap]", "three"])
    next.command(.timeline(.fillGap(.test, next.items()[1].id)))
    #expect(next.request("/messages")?.request.target.contains("from=t3") == true)
  }

  // MARK: Bounds

  /// Syncs of 100 messages each.
  static func fill(_ host: inout Host, _ room: String, _ count: Int, from first: Int = 0) {
    for n in stride(from: first, to: first + count, by: 100) {
      host.sync(
        Wire.join((n..<n + 100).map { Wire.message("m\($0)", "$\(room)\($0)", time: $0) }, token: "p\(n)", room: room))
    }
  }

  @Test func `a room keeps its newest events, and one pages on from where they begin`() {
    var host = Host.signedIn()
    host.comparesMirrors = false
    Self.fill(&host, "!room:test", Limits.storedEvents + Limits.storedEvents / 10)
    #expect(host.client.storedEvents.count == Limits.storedEvents + Limits.storedEvents / 10)
    Self.fill(&host, "!room:test", 100, from: 30_000)
    #expect(host.client.room(.test)?.state.history.events == Limits.storedEvents)
    #expect(host.client.storedEvents.count == Limits.storedEvents)
    var next = host.restarted()
    next.comparesMirrors = false
    #expect(next.client.storedEvents.count == Limits.storedEvents)
    next.command(.timeline(.openRoom(.test)))
    while next.request("/messages") == nil { next.command(.timeline(.paginateBack(.test))) }
    #expect(next.items().count == Limits.storedEvents)
    #expect(next.texts().last == "m30099")
    // 2,100 were dropped: one pages back from the first that is left.
    #expect(next.request("/messages")?.request.target.contains("from=p2100") == true)
  }

  @Test func `pages behind what was dropped are shown, not stored`() {
    var host = Host.signedIn()
    host.comparesMirrors = false
    host.command(.timeline(.openRoom(.test)))
    Self.fill(&host, "!room:test", Limits.storedEvents + Limits.storedEvents / 10 + 100)
    #expect(host.client.room(.test)?.state.history.events == Limits.storedEvents)
    host.command(.timeline(.paginateBack(.test)))
    host.answer("/messages", TimelineTests.page([Wire.message("old", "$old")], end: "tt"))
    #expect(host.texts().first == "old")
    var next = host.restarted()
    next.comparesMirrors = false
    next.command(.timeline(.openRoom(.test)))
    while next.request("/messages") == nil { next.command(.timeline(.paginateBack(.test))) }
    #expect(next.items().count == Limits.storedEvents)
  }

  @Test func `when all rooms have too much, the quiet ones give up theirs until there is room again`() {
    var host = Host.signedIn()
    host.comparesMirrors = false
    host.client.storedEvents.bound = 10_000
    host.client.storedEvents.limit = 10_000
    for room in 0..<10 { Self.fill(&host, "!r\(room):test", 1_000, from: room * 1_000) }
    #expect(host.client.storedEvents.count == 10_000)
    Self.fill(&host, "!r9:test", 300, from: 20_000)
    let kept = (0..<10).map { host.client.room(RoomID(trusted: ByteString("!r\($0):test")))?.state.history.events }
    #expect(kept == [200, 200] + [Int?](repeating: 1_000, count: 7) + [1_300])
    #expect(host.client.storedEvents.count == 8_700)
    #expect(host.restarted().client.storedEvents.count == 8_700)
    // No room has much, all together have too much: nothing is dropped, and not every sync looks for it.
    host.client.storedEvents.bound = 100
    host.client.storedEvents.limit = 100
    for room in 0..<10 { Self.fill(&host, "!r\(room):test", 100, from: 30_000 + room * 100) }
    #expect(host.client.storedEvents.count <= 10 * (Limits.storedEventsOfQuietRoom * 2 + 100))
    let reads = host.loads.count
    for n in 0..<20 { host.sync(Wire.join([Wire.message("x", "$x\(n)")], room: "!r1:test")) }
    #expect(host.loads.count <= reads + 2)
  }

  @Test func `a forgotten room gives its place back`() {
    var host = Host.inRoom()
    #expect(host.client.storedEvents.count == 1)
    host.sync(#""leave":{"!room:test":{"timeline":{"events":["# + Wire.member("@me:test", "leave", "$l") + "]}}}")
    host.command(.rooms(.forget(.test)))
    host.answer("/forget", "{}")
    #expect(host.client.storedEvents.count == 0)
  }

  // MARK: Positions

  @Test func `the order of positions is that of their keys, and pages stand in front of what they were asked from`() throws {
    var positions: [SegmentPosition] = []
    for block: Int64 in [0, 1, 15, 16, 4_095, 1 << 40, SegmentPosition.blockLimit - 1] {
      for page: Int32 in [0xFF_FFFF, 70_000, 2, 1, 0] { positions.append(SegmentPosition(block: block, page: page)) }
    }
    let keys = positions.map { StoreKey.segment($0, of: .test) }
    #expect(keys == keys.sorted())
    #expect(positions == positions.sorted())
    for (position, key) in zip(positions, keys) {
      #expect(SegmentPosition(key: key) == position)
      if let older = position.older { #expect(older < position) } else { #expect(position.page == 0xFF_FFFF) }
    }
    #expect(SegmentPosition(key: "t/x") == nil)
    #expect(SegmentPosition(key: "t/%21room%3Atest/00000000000zffffff") == nil)
  }
}
