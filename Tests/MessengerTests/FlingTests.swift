import MessengerTesting
import Testing

@testable import Messenger

@Suite("Scrolling past what is rendered")
struct FlingTests {
  /// A long timeline with a clock, read from its middle.
  private final class Reader {
    let screen: Screen
    private final class Clock { var due: [() -> Void] = [] }
    private let clock = Clock()

    init(hasClock: Bool = true) {
      let (options, clock) = (TimelineOptions(), clock)
      if hasClock { options.after = { _, then in clock.due.append(then) } }
      screen = Screen(options: options)
      var conversation = Conversation(seed: 11)
      screen.timeline.load(conversation.rows(1..<1001, from: 0), head: .hidden)
      screen.timeline.scroll(to: RowID(500))
    }

    /// Lets the time pass that was asked for until now; or the first of it.
    func rest(_ count: Int = .max) {
      let due = clock.due.prefix(count)
      clock.due.removeFirst(due.count)
      for run in due { run() }
    }

    /// Pixels rendered above and below what is in view. Never less than none: nothing is blank.
    var around: (above: Double, below: Double) {
      let rows = screen.rows()
      return (-(rows.first?.y ?? .infinity), (rows.last.map { $0.y + $0.height } ?? 0) - screen.viewport)
    }
    /// Only what is in view is rendered.
    var isBare: Bool { screen.rows().count == screen.visible().count && around.above >= 0 && around.below >= 0 }
    var isFull: Bool { around.above >= 500 && around.below >= 500 }
  }

  @Test("Flung past all that is rendered only what is in view is, and what is around it once scrolling rests; nothing moves")
  func fling() throws {
    let reader = Reader()
    #expect(reader.isFull)
    for _ in 0..<5 {
      reader.screen.scroll(by: -5000)
      #expect(reader.isBare)
    }
    let seen = reader.screen.visible()
    reader.rest()
    #expect(reader.isFull)
    let now = reader.screen.visible()
    #expect(now.map(\.id) == seen.map(\.id) && zip(now, seen).allSatisfy { abs($0.y - $1.y) <= 0.5 })
  }

  @Test("While it goes on, an earlier rest is none, and what the page tells of scrolling that came from here ends nothing")
  func goingOn() {
    let reader = Reader()
    reader.screen.scroll(by: -5000)
    reader.screen.dom.fire(.scroll, on: reader.screen.scroller, x: reader.screen.top, y: reader.screen.viewport)
    #expect(reader.isBare)
    reader.screen.scroll(by: 3000)
    reader.rest(1)
    reader.screen.timeline.setDivider(above: reader.screen.visible()[2].id)
    #expect(reader.isBare)
    reader.rest()
    #expect(reader.isFull)
  }

  @Test("The next small step fills what is around at once, and what rested then finds nothing to do")
  func slowingDown() {
    let reader = Reader()
    reader.screen.scroll(by: -5000)
    reader.screen.scroll(by: -700)
    #expect(reader.isFull)
    let rows = reader.screen.rows().map(\.id)
    reader.rest()
    #expect(reader.screen.rows().map(\.id) == rows)
  }

  @Test("Steps within the viewport's height, jumps to a row, and timelines without a clock have what is around them at once")
  func otherwise() {
    let reader = Reader()
    for step in [100.0, -300, 799, -799] {
      reader.screen.scroll(by: step)
      #expect(reader.isFull)
    }
    reader.screen.timeline.scroll(to: RowID(200))
    #expect(reader.isFull)
    let timeless = Reader(hasClock: false)
    timeless.screen.scroll(by: -5000)
    #expect(timeless.isFull)
  }

  @Test("What is not displayed any more when scrolling rests is filled when it is back; a timeline that ended stays so")
  func away() {
    let reader = Reader()
    reader.screen.scroll(by: -5000)
    reader.screen.dom.fire(.resize, on: reader.screen.scroller, x: 0, y: 0)
    reader.rest()
    reader.screen.dom.fire(.resize, on: reader.screen.scroller, x: 600, y: 800)
    #expect(reader.isFull)
    reader.screen.scroll(by: -5000)
    reader.screen.timeline.close()
    reader.rest()
    #expect(reader.screen.timeline.rendered.isEmpty)
  }
}
