import MessengerTesting
import Testing

@testable import Messenger

@Suite("Scrolling past what is rendered")
struct FlingTests {
  /// A long timeline with a clock, read from its middle.
  private final class Reader {
    let screen: Screen
    private let clock = Clock()

    init(hasClock: Bool = true) {
      screen = Screen(options: hasClock ? clock.options() : TimelineOptions())
      var conversation = Conversation(seed: 11)
      screen.timeline.load(conversation.rows(1..<1001, from: 0), head: .hidden)
      screen.timeline.scroll(to: RowID(500))
    }

    func rest(_ count: Int = .max) { clock.pass(count) }

    /// Pixels rendered above and below what is in view. Never less than none: nothing is blank.
    var around: (above: Double, below: Double) {
      let rows = screen.rows()
      return (-(rows.first?.y ?? .infinity), (rows.last.map { $0.y + $0.height } ?? 0) - screen.viewport)
    }
    /// Only what is in view is rendered.
    var isBare: Bool { screen.rows().count == screen.visible().count && around.above >= 0 && around.below >= 0 }
    /// The day that the page tells in place of rows.
    var passingDay: String? {
      let day = screen.dom[screen.timeline.root].first("mg-passing-day")?.text ?? ""
      #expect(screen.dom[screen.scroller].has("mg-passing") == !day.isEmpty)
      return day.isEmpty ? nil : day
    }
    var isFull: Bool { around.above >= 500 && around.below >= 500 }
  }

  // Proves N15
  @Test("Flung past all that is rendered only what is in view is, and what is around it once scrolling rests; nothing moves")
  func fling() throws {
    let reader = Reader()
    #expect(reader.isFull)
    for _ in 0..<5 {
      reader.rest()
      reader.screen.scroll(by: -5000)
      #expect(reader.isBare)
    }
    let seen = reader.screen.visible()
    reader.rest()
    #expect(reader.isFull)
    #expect(isUnmoved(seen, reader.screen.visible()))
  }

  @Test(
    "Flung again before it rests, the day is told and no row is drawn or reported; once it rests they are there, where the reader is"
  )
  func passing() throws {
    let reader = Reader()
    var reports = 0
    reader.screen.timeline.onVisible = { _ in reports += 1 }
    reader.screen.scroll(by: 5000)
    #expect(reader.passingDay == nil && reader.isBare && reports == 1)
    let (rows, measured) = (reader.screen.rows().map(\.id), reader.screen.dom.measureCount)
    for _ in 0..<3 {
      reader.screen.scroll(by: 5000)
      let first = reader.screen.timeline.row(try #require(reader.screen.timeline.readingPosition).row)
      #expect(reader.passingDay == reader.screen.timeline.options.dayLabel(try #require(first).timestampMilliseconds))
    }
    #expect(reader.screen.rows().map(\.id) == rows && reader.screen.dom.measureCount == measured && reports == 1)
    let position = try #require(reader.screen.timeline.readingPosition)
    reader.rest()
    #expect(reader.passingDay == nil && reader.isFull && reports == 2)
    let now = try #require(reader.screen.timeline.readingPosition)
    #expect(now.row == position.row && abs(now.offset - position.offset) <= 0.5)
  }

  @Test("Rows come at once where a step is small, where rows change, at the ends, and where the list is told to go somewhere")
  func passingEnds() throws {
    let reader = Reader()
    func pass() {
      for _ in 0..<2 { reader.screen.scroll(by: -5000) }
      // Slower, and still faster than anybody reads.
      reader.screen.scroll(by: -1000)
      #expect(reader.passingDay != nil)
    }
    pass()
    reader.screen.scroll(by: -100)
    #expect(reader.passingDay == nil && reader.isFull)
    pass()
    reader.screen.timeline.apply([.append([message(5000, "new")])])
    #expect(reader.passingDay == nil && reader.isBare)
    // What the page tells of scrolling that came from here brings no outlines back.
    reader.screen.dom.fire(.scroll, on: reader.screen.scroller, x: reader.screen.top, y: reader.screen.viewport)
    #expect(reader.passingDay == nil)
    pass()
    reader.screen.timeline.apply([.remove(try #require(reader.screen.rows().first).id)])
    #expect(reader.passingDay == nil && reader.isBare)
    pass()
    reader.screen.timeline.scrollToEnd()
    #expect(reader.passingDay == nil && reader.screen.visible().last?.id == RowID(5000))
    reader.rest()
    pass()
    reader.screen.scroll(to: 0)
    #expect(reader.passingDay == nil && reader.screen.visible().first?.id == RowID(1))
    reader.screen.scroll(to: 30_000)
    pass()
    reader.screen.timeline.load([message(1)], head: .hidden)
    #expect(reader.passingDay == nil && reader.screen.visible().count == 1)
  }

  @Test("During a fling an earlier rest does not count, and the page's own scroll events end nothing")
  func goingOn() {
    let reader = Reader()
    reader.screen.scroll(by: -5000)
    reader.screen.dom.fire(.scroll, on: reader.screen.scroller, x: reader.screen.top, y: reader.screen.viewport)
    #expect(reader.isBare)
    reader.screen.scroll(by: 3000)
    reader.rest(1)
    #expect(reader.passingDay != nil)
    reader.screen.timeline.setDivider(above: RowID(1))
    #expect(reader.isBare)
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
