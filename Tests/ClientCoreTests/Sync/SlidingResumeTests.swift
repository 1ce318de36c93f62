import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Connections that begin anew on what is stored, and rooms that are opened.
@Suite struct SlidingResumeTests {
  private let lost = #"{"errcode":"M_UNKNOWN_POS","error":""}"#

  @Test func `a forgotten position begins anew at once, and what is stored stays`() {
    var host = Host.slidingInRoom()
    host.answer(Sliding.path, status: 400, lost)
    #expect(host.slidingTarget?.contains("pos=") == false)
    #expect(host.slidingEnd == 19)
    #expect(host.texts() == ["one"])
    host.slide([Sliding.first([Wire.message("one", "$1"), Wire.message("two", "$2")])])
    #expect(host.texts() == ["one", "two"])
    #expect(isRunning(host))
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts() == ["one", "two"])
    #expect(next.slidingTarget?.contains("pos=p3") == true)
  }

  @Test func `a position that is forgotten again and again is not asked for without pause`() {
    var host = Host.slidingInRoom()
    for _ in 0..<3 {
      host.answer(Sliding.path, status: 400, lost)
      if host.slidingTarget == nil { break }
      host.slide([Sliding.first([Wire.message("one", "$1")])])
    }
    #expect(isReconnecting(host))
    host.wait(1_000)
    host.slide()
    host.slide()
    #expect(isRunning(host))
  }

  @Test func `what was missed before a connection began anew is a gap`() {
    var host = Host.slidingInRoom()
    host.answer(Sliding.path, status: 400, lost)
    host.slide([Sliding.first([Wire.message("five", "$5"), Wire.message("six", "$6")], limited: true)])
    #expect(host.texts() == ["one", "[gap]", "five", "six"])
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts() == ["one", "[gap]", "five", "six"])
  }

  @Test func `nothing is stored of a room where nothing is new`() {
    var host = Host.slidingInRoom()
    let segments = host.store.keys.filter { $0.hasPrefix("t/") }.count
    host.answer(Sliding.path, status: 400, lost)
    host.slide([Sliding.first([Wire.message("one", "$1")])])
    #expect(host.store.keys.filter { $0.hasPrefix("t/") }.count == segments)
    #expect(host.client.room(.test)?.state.history.events == 1)
  }

  @Test func `rooms that are gone when all have been told are left`() {
    var host = Host.sliding([Sliding.first("!a:test", [Wire.message("a", "$a")]), Sliding.invite("!b:test")])
    host.answer(Sliding.path, status: 400, lost)
    host.slide((0..<20).map { Sliding.named("!r\($0):test", "R") }, count: 21)
    #expect(host.client.roomIDs.count == 22)
    // A kill in between forgets nothing of it.
    host = host.restarted()
    host.slide([], count: 21)
    host.slide([Sliding.first("!a:test", [Wire.message("a", "$a")])], count: 21)
    #expect(host.client.roomIDs.count == 21)
    #expect(host.client.room(RoomID(trusted: "!b:test"))?.membership == .leave)
    #expect(host.client.room(RoomID(trusted: "!a:test"))?.membership == .join)
  }

  @Test(arguments: [SyncMode.v3, .sliding]) func `the way of syncing can change on what is stored`(first: SyncMode) {
    var host = first == .v3 ? Host.inRoom() : Host.slidingInRoom()
    var events = [Wire.message("one", "$1")]
    for (i, name) in ["two", "three", "four"].enumerated() {
      host = host.restarted(mode: host.client.syncMode == .v3 ? .sliding : .v3)
      host.batch = 10 + i
      host.command(.timeline(.openRoom(.test)))
      #expect(host.client.roomIDs == [.test])
      events.append(Wire.message(name, "$\(i + 2)"))
      if host.client.syncMode == .sliding {
        #expect(host.slidingTarget?.contains("pos=") == false)
        host.slide([Sliding.first(events)])
      } else {
        #expect(host.request("/v3/sync?")?.request.target.contains("since=") == false)
        host.sync(Wire.join(events, state: Wire.members, extra: Wire.counts))
      }
      #expect(host.texts() == Array(["one", "two", "three", "four"].prefix(i + 2)))
      #expect(host.client.room(.test)?.name.english == "Alice and Bob")
      #expect(isRunning(host))
    }
    #expect(host.client.room(.test)?.state.history.events == 4)
    host = host.restarted()
    host.command(.timeline(.openRoom(.test)))
    #expect(host.texts() == ["one", "two", "three", "four"])
  }

  @Test func `a v3 sync on what another way has stored leaves the rooms that are gone`() {
    var host = Host.sliding([Sliding.first("!a:test", []), Sliding.first("!b:test", [])])
    host = host.restarted(mode: .v3)
    host.sync(Wire.join(state: Wire.members, room: "!a:test", extra: Wire.counts))
    #expect(host.client.roomIDs.map { $0.string } == ["!a:test"])
  }

  @Test func `all members are asked for again once some may have been missed`() {
    var host = Host.slidingInRoom()
    host.command(.people(.loadMembers(.test)))
    host.answer("/members", #"{"chunk":[\#(Wire.members.joined(separator: ","))]}"#)
    #expect(host.client.room(.test)?.hasAllMembers == true)
    host.slide([Sliding.room("!room:test", [Wire.message("two", "$2")])])
    #expect(host.client.room(.test)?.hasAllMembers == true)
    host.slide([Sliding.room("!room:test", [Wire.message("nine", "$9")], limited: true)])
    #expect(host.client.room(.test)?.hasAllMembers == false)
    #expect(host.restarted().client.room(.test)?.hasAllMembers == false)
  }

  // MARK: Opened rooms

  @Test func `a room that is opened is subscribed to, without waiting for news elsewhere`() {
    var host = Host.sliding([Sliding.first([Wire.message("five", "$5")], limited: true)])
    let held = host.request(Sliding.path)?.id
    #expect(host.slidingBody?["room_subscriptions"] == nil)
    host.command(.timeline(.openRoom(.test)))
    #expect(host.waiting.allSatisfy { $0.id != held })
    let subscription = host.slidingBody?["room_subscriptions"]?["!room:test"]
    #expect(subscription?["timeline_limit"]?.integer == 50)
    #expect(subscription?["required_state"]?.isArray == true)
    #expect(host.slidingBody?["lists"]?["all"]?["timeline_limit"]?.integer == 10)
    let asked = host.request(Sliding.path)?.id
    host.command(.timeline(.closeRoom(.test)))
    host.command(.timeline(.openRoom(.test)))
    #expect(host.request(Sliding.path)?.id == asked)
  }

  @Test(arguments: ["unstable_expanded_timeline", "expanded_timeline"])
  func `the longer timeline of an opened room goes before what is there`(name: String) {
    var host = Host.sliding([Sliding.first([Wire.message("five", "$5")], limited: true)])
    host.command(.timeline(.openRoom(.test)))
    let events = [("three", "$3"), ("four", "$4"), ("five", "$5"), ("six", "$6")].map { Wire.message($0, $1) }
    host.slide([Sliding.room("!room:test", events, limited: true, token: "t3", extra: #","\#(name)":true"#)])
    #expect(host.texts() == ["three", "four", "five", "six"])
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts() == ["three", "four", "five", "six"])
    next.command(.timeline(.paginateBack(.test)))
    #expect(next.request("/messages")?.request.target.contains("from=t3") == true)
  }

  @Test func `the longer timeline closes a gap that it covers`() {
    var host = Host.slidingInRoom()
    host.slide([Sliding.room("!room:test", [Wire.message("three", "$3")], limited: true, token: "t3")])
    #expect(host.texts() == ["one", "[gap]", "three"])
    let events = [("one", "$1"), ("two", "$2"), ("three", "$3")].map { Wire.message($0, $1) }
    host.slide([Sliding.room("!room:test", events, limited: true, token: "t1", extra: #","unstable_expanded_timeline":true"#)])
    #expect(host.texts() == ["one", "two", "three"])
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts() == ["one", "two", "three"])
  }

  @Test func `a longer timeline of what is known changes nothing`() {
    var host = Host.slidingInRoom([Wire.message("one", "$1"), Wire.message("two", "$2")], limited: true)
    let store = host.store.filter { $0.key.hasPrefix("t/") }
    let events = [("one", "$1"), ("two", "$2")].map { Wire.message($0, $1) }
    host.slide([Sliding.room("!room:test", events, limited: true, token: "t9", extra: #","unstable_expanded_timeline":true"#)])
    #expect(host.texts() == ["one", "two"])
    #expect(host.store.filter { $0.key.hasPrefix("t/") } == store)
    host.command(.timeline(.paginateBack(.test)))
    #expect(host.request("/messages")?.request.target.contains("from=t0") == true)
  }

  @Test func `a longer timeline that does not reach what is known leaves a gap`() {
    var host = Host.slidingInRoom()
    let events = [("eight", "$8"), ("nine", "$9")].map { Wire.message($0, $1) }
    host.slide([Sliding.room("!room:test", events, limited: true, token: "t8", extra: #","unstable_expanded_timeline":true"#)])
    #expect(host.texts() == ["one", "[gap]", "eight", "nine"])
  }

  @Test func `clearing brings the same rooms`() {
    var host = Host.sliding([Sliding.first("!a:test", [Wire.message("a", "$a")]), Sliding.invite("!b:test")])
    let rooms = host.client.roomIDs
    host.command(.sync(.startAfresh))
    #expect(host.client.roomIDs.isEmpty)
    #expect(host.slidingTarget?.contains("pos=") == false)
    host.slide([Sliding.first("!a:test", [Wire.message("a", "$a")]), Sliding.invite("!b:test")])
    #expect(host.client.roomIDs == rooms)
  }
}
