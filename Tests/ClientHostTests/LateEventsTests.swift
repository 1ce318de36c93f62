import JSON
import MatrixModel
import Testing

@testable import ClientHost

/// Events whose keys came late, with a clock that moves as they are delivered.
final class LateDesk {
  /// What an event costs, and each delivery besides.
  var eventMilliseconds = 0.1
  let deliveryMilliseconds = 0.2
  private(set) var slices: [[String]] = []
  private(set) var ends: [String] = []
  private(set) var longest = 0.0
  private var now = 0.0
  private var paused: [() -> Void] = []
  private(set) var late = LateEvents({ _, _ in }, onRoom: { _ in })

  init(isHidden: Bool = false) {
    late = LateEvents(
      { [unowned self] room, events in
        let cost = deliveryMilliseconds + eventMilliseconds * Double(events.count)
        now += cost
        longest = max(longest, cost)
        slices.append(events.map { "\(room) \($0["n"]?.integer ?? 0)" })
      }, onRoom: { [unowned self] in ends.append("\($0)") })
    late.clock = { [unowned self] in now }
    late.pause = { [unowned self] in paused.append($0) }
    late.isHidden = { isHidden }
  }

  func add(_ range: Range<Int>, of room: String) {
    late.add(range.map { Array(#"{"n":\#($0)}"#.utf8) }, of: RoomID(trusted: ByteString(room)))
  }

  func settle() {
    while !paused.isEmpty { paused.removeFirst()() }
  }

  var delivered: [String] { slices.flatMap { $0 } }
}

struct LateEventsTests {
  @Test("A thousand late events are delivered in order, in slices that keep to the time")
  func slices() {
    let desk = LateDesk()
    desk.add(0..<1_000, of: "!a:x")
    #expect(desk.slices.count == 1, "the page is let go after the first slice")
    desk.settle()
    #expect(desk.delivered == (0..<1_000).map { "!a:x \($0)" })
    #expect(desk.longest <= LateEvents.sliceMilliseconds)
    #expect(desk.slices.count < 100)
    #expect(desk.ends == ["!a:x"])
  }

  @Test("Slices shrink to one event when events are slow, and grow again")
  func adapts() {
    let desk = LateDesk()
    desk.eventMilliseconds = 3
    desk.add(0..<20, of: "!a:x")
    desk.settle()
    #expect(desk.slices.dropFirst(2).allSatisfy { $0.count == 1 })
    desk.eventMilliseconds = 0.01
    desk.add(0..<200, of: "!a:x")
    desk.settle()
    #expect(desk.slices.contains { $0.count > 50 })
  }

  @Test("Events of several rooms keep their order, and each room hears its end once; what comes meanwhile waits behind them")
  func rooms() {
    let desk = LateDesk()
    desk.add(0..<10, of: "!a:x")
    desk.add(10..<12, of: "!b:x")
    desk.add(12..<13, of: "!a:x")
    desk.settle()
    #expect(desk.delivered == (0..<10).map { "!a:x \($0)" } + ["!b:x 10", "!b:x 11", "!a:x 12"])
    #expect(desk.ends == ["!a:x", "!b:x", "!a:x"])
  }

  @Test("A hidden page gets all at once, as its timers are late")
  func hidden() {
    let desk = LateDesk(isHidden: true)
    desk.add(0..<500, of: "!a:x")
    #expect(desk.slices.map(\.count) == [500])
    #expect(desk.ends == ["!a:x"])
  }

  @Test("What is no JSON object is left out; what is finished or forgotten comes once, or not at all")
  func ends() {
    let desk = LateDesk()
    desk.late.add([Array("nonsense".utf8), Array(#"{"n":1}"#.utf8)], of: RoomID(trusted: "!a:x"))
    #expect(desk.delivered == ["!a:x 1"])
    desk.add(2..<50, of: "!a:x")
    desk.late.finish()
    desk.settle()
    #expect(desk.delivered.count == 49)
    desk.add(50..<100, of: "!a:x")
    desk.late.forget()
    desk.settle()
    #expect(desk.delivered.count < 60)
  }
}
