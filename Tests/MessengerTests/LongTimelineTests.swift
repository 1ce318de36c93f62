import MessengerTesting
import Testing

@testable import Messenger

@Suite("More rows than a page can be high")
struct LongTimelineTests {
  /// The page has 20,000 pixels of some 90,000.
  private func long() -> Screen {
    let screen = Screen()
    screen.timeline.geometry.pageLimit = 20_000
    var conversation = Conversation(seed: 3)
    screen.timeline.load(conversation.rows(1..<1001, from: 0), head: .hidden)
    return screen
  }

  private func height(_ screen: Screen) -> Double { screen.dom[screen.timeline.parts.content].lengths[.height] ?? 0 }

  @Test(
    "The page is never higher than its limit, and all rows are reached by scrolling, up and down, each moving by what was scrolled"
  )
  func scrolling() throws {
    let screen = long()
    #expect(screen.timeline.geometry.contentHeight > 60_000 && screen.timeline.isAtEnd)
    #expect(screen.rows().last?.id == RowID(1000))
    var worst = 0.0
    for direction in [-1.0, 1.0] {
      for _ in 0..<2000 {
        let seen = try #require(screen.visible().first { $0.y > 250 && $0.y < 500 } ?? screen.visible().first)
        let scrolled = screen.timeline.geometry.scrollTop
        screen.scroll(by: 100 * direction)
        let now = try #require(screen.rows().first { $0.id == seen.id })
        let isAtRest = [0, screen.timeline.geometry.maxScroll].contains { abs($0 - screen.timeline.geometry.scrollTop) < 500 }
        if !isAtRest { worst = max(worst, abs(now.y - seen.y + 100 * direction)) }
        #expect(height(screen) <= 20_001 && screen.top <= 20_001 - screen.viewport)
        if screen.timeline.geometry.scrollTop == scrolled { break }
      }
      #expect(screen.rows().contains { $0.id == RowID(direction < 0 ? 1 : 1000) })
    }
    #expect(worst <= 0.5)
  }

  @Test("The scrollbar stands for all rows: its middle is their middle, its ends are the first and the last")
  func scrollbar() throws {
    let screen = long()
    for (part, row) in [(0.5, 500.0), (0.25, 250), (0.75, 750), (0.4, 400)] {
      screen.scroll(to: 20_000 * part)
      #expect(abs(Double(try #require(screen.visible().first).id.rawValue) - row) < 60)
    }
    screen.scroll(to: 0)
    #expect(screen.visible().first?.id == RowID(1))
    screen.scroll(to: 20_000)
    #expect(screen.visible().last?.id == RowID(1000))
  }

  @Test("Jumps arrive, and what comes in is followed at the end and moves nobody in the middle")
  func jumps() throws {
    let screen = long()
    for id in [7, 900, 333, 1000, 1, 512] as [UInt64] {
      screen.timeline.scroll(to: RowID(id), place: .top)
      let row = try #require(screen.visible().first { $0.id == RowID(id) })
      #expect(id > 990 || abs(row.y) <= 0.5)
    }
    let before = try #require(screen.visible().first { $0.id == RowID(512) })
    screen.timeline.apply([.prepend([message(5000)]), .append([message(5001, at: 1_000_000)])])
    #expect(screen.visible().first { $0.id == RowID(512) }?.y == before.y)
    screen.timeline.scrollToEnd()
    for id in UInt64(6000)..<6050 { screen.timeline.apply([.append([message(id, at: 1_000_000 + Int64(id))])]) }
    #expect(screen.visible().last?.id == RowID(6049) && screen.timeline.isAtEnd)
  }
}
