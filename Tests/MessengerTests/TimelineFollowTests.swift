import MessengerTesting
import Testing

@testable import Messenger

@Suite("Following the end, and what is asked of the host")
struct TimelineFollowTests {
  func filled(_ count: UInt64 = 300, head: HeadState = .hidden) -> Screen {
    let screen = Screen()
    screen.timeline.load((1...count).map { message($0, from: $0 % 3 == 0 ? bob : alice) }, head: head)
    return screen
  }

  func bottom(_ screen: Screen) -> Double { screen.rows().last.map { $0.y + $0.height } ?? 0 }

  @Test("A reader at the end sees what comes")
  func follows() {
    let screen = filled()
    for id in UInt64(301)...340 {
      screen.timeline.apply([.append([message(id, String(repeating: "x", count: Int(id) % 90 + 1))])])
      #expect(abs(bottom(screen) - 800) <= 0.5)
      #expect(screen.rows().last?.id == RowID(id))
    }
    #expect(screen.timeline.newMessageCount == 0)
    #expect(screen.dom[screen.timeline.parts.jump].isHidden)
  }

  // Proves P19, W13
  @Test("A reader elsewhere is left alone and told by a badge, which leads to the end")
  func badge() {
    let screen = filled()
    screen.scroll(by: -700)
    let top = screen.top
    screen.timeline.apply([.append([message(301), message(302)])])
    screen.timeline.apply([.append([TimelineRow(id: RowID(303), timestampMilliseconds: 0, content: .line("Bob left"))])]
    )
    #expect(screen.top == top)
    #expect(screen.timeline.newMessageCount == 2)
    let jump = screen.dom[screen.timeline.parts.jump]
    #expect(!jump.isHidden && jump.allText == "2 new messages")
    screen.dom.fire(.click, on: jump.node)
    #expect(screen.timeline.isAtEnd && screen.timeline.newMessageCount == 0)
    #expect(screen.rows().last?.id == RowID(303))
    #expect(jump.isHidden)
  }

  @Test("Scrolling to the end by hand empties the badge")
  func scrollsToEnd() {
    let screen = filled()
    screen.scroll(by: -700)
    screen.timeline.apply([.append([message(301)])])
    screen.scroll(by: 5_000)
    #expect(screen.timeline.newMessageCount == 0 && screen.timeline.isAtEnd)
  }

  @Test(
    "Within the follow distance the reader counts as at the end, but is not dragged there by scrolling",
    arguments: [
      (-16.0, true), (-17, false)
    ])
  func distance(scrolled: Double, isAtEnd: Bool) {
    let screen = filled()
    let end = screen.top
    screen.scroll(by: scrolled)
    #expect(screen.top == end + scrolled)
    #expect(screen.timeline.isAtEnd == isAtEnd)
  }

  @Test("An own new message takes the reader to the end; its confirmation does not")
  func ownMessage() {
    let screen = filled()
    screen.scroll(by: -3_000)
    screen.timeline.apply([.append([message(301, from: me, state: .sending)])])
    #expect(screen.timeline.isAtEnd && screen.rows().last?.id == RowID(301))
    screen.scroll(by: -3_000)
    let top = screen.top
    screen.timeline.apply([.update(message(301, from: me))])
    #expect(screen.top == top)
    screen.timeline.apply([.append([message(302, from: me)])])
    #expect(screen.top == top, "sent from another device")
  }

  @Test("Few rows stand at the bottom")
  func fewRows() {
    let screen = Screen()
    screen.timeline.load([message(1), message(2)], head: .hidden)
    #expect(abs(bottom(screen) - 800) <= 0.5)
    screen.timeline.apply([.prepend([message(3, at: 0)])])
    #expect(abs(bottom(screen) - 800) <= 0.5)
  }

  // Proves J35, J36, N6, W29
  @Test("Typing rows are last, any number, and move nobody who reads elsewhere")
  func typing() {
    let screen = filled()
    screen.timeline.setTyping([TypingMember(alice), TypingMember(bob)])
    let foot = screen.dom[screen.timeline.parts.foot].first("mg-typing-rows")!
    #expect(foot.children.count == 2 && foot.allText.contains("Bob is typing"))
    let footHeight = screen.dom.height(of: foot)
    #expect(footHeight > 0)
    #expect(abs(bottom(screen) + footHeight - 800) <= 0.5)
    screen.scroll(by: -2_000)
    let before = screen.visible()
    screen.timeline.setTyping([])
    #expect(screen.visible().map(\.y) == before.map(\.y))
    #expect(foot.children.isEmpty)
    screen.timeline.setTyping([])
  }

  // MARK: Wants

  // Proves N10, W28
  @Test("Older rows are asked for once per fetch, also when there is less than a viewport")
  func headPrefetch() {
    let screen = Screen()
    var asked = 0
    screen.timeline.onNearStart = { asked += 1 }
    screen.timeline.load([message(1_000)], head: .more(.idle))
    #expect(asked == 1)
    screen.timeline.apply([.append([message(1_001)])])
    #expect(asked == 1, "the lock holds")
    screen.timeline.endHeadFetch((900..<1_000).map { message($0) }, head: .more(.idle))
    #expect(screen.timeline.count == 102)
    #expect(asked == 1, "far from the start")
    screen.scroll(to: 0)
    #expect(asked == 2)
    let first = RowID(900)
    let before = screen.body(first)
    screen.timeline.endHeadFetch((700..<900).map { message($0) }, head: .start)
    #expect(before != nil && screen.body(first) == before)
    screen.scroll(to: 0)
    #expect(asked == 2, "the beginning is reached")
    #expect(screen.dom[screen.timeline.parts.head].allText.contains("beginning"))
  }

  @Test("Ending a fetch that is not running does nothing; an empty batch is legal")
  func headFetchEdges() {
    let screen = filled()
    screen.timeline.endHeadFetch([message(5_000)], head: .start)
    #expect(screen.timeline.count == 300 && !screen.timeline.contains(RowID(5_000)))
    var asked = 0
    screen.timeline.onNearStart = { asked += 1 }
    screen.timeline.setHead(.more(.idle))
    screen.scroll(to: 0)
    #expect(asked == 1)
    screen.timeline.endHeadFetch([], head: .more(.failed))
    #expect(asked == 1, "a failure waits for a person")
    screen.dom.fire(.click, on: screen.timeline.parts.headRetry)
    #expect(screen.actions == ["retryHead"])
  }

  // Proves W12
  @Test("A gap asks when it comes into view, and again after each answer that leaves it idle")
  func gaps() throws {
    let screen = Screen()
    var asked: [RowID] = []
    screen.timeline.onGapVisible = { asked.append($0) }
    let gap = TimelineRow(id: RowID(9_999), timestampMilliseconds: 100_000, content: .gap(.idle))
    var rows = (1...300).map { message(UInt64($0)) }
    rows.insert(gap, at: 20)
    screen.timeline.load(rows, head: .hidden)
    #expect(asked.isEmpty)
    screen.timeline.scroll(to: RowID(9_999))
    screen.scroll(by: 5)
    #expect(asked == [RowID(9_999)])
    screen.timeline.apply([
      .update(TimelineRow(id: RowID(9_999), timestampMilliseconds: 100_000, content: .gap(.loading)))
    ])
    #expect(asked.count == 1)
    screen.timeline.apply([.insert((400..<430).map { message($0) }, before: RowID(9_999)), .update(gap)])
    #expect(asked.count == 1, "the new rows pushed it out of view")
    screen.timeline.scroll(to: RowID(9_999))
    #expect(asked.count == 2)
    screen.timeline.apply([
      .update(TimelineRow(id: RowID(9_999), timestampMilliseconds: 100_000, content: .gap(.failed)))
    ])
    screen.dom.fire(.click, on: try #require(screen.slot(RowID(9_999), .retry)))
    #expect(asked.count == 2 && screen.actions.first?.contains("retryGap") == true)
  }

  // Proves W7
  @Test("Only rows that were really in view are reported")
  func visibleRows() throws {
    let screen = Screen()
    var reports: [VisibleRows] = []
    screen.timeline.onVisible = { reports.append($0) }
    screen.timeline.load((1...300).map { message($0) }, head: .hidden)
    #expect(reports.count == 1)
    #expect(reports[0].last == RowID(300) && reports[0].isAtEnd)
    screen.scroll(to: 4_000)
    let last = try #require(reports.last)
    let seen = screen.visible().filter { min($0.y + $0.height, 800) - max($0.y, 0) >= $0.height / 2 }
    #expect(last == VisibleRows(first: seen.first!.id, last: seen.last!.id, isAtEnd: false))
    let count = reports.count
    screen.timeline.apply([.append([message(301)])])
    #expect(reports.count == count, "nothing in view changed")
  }
}
