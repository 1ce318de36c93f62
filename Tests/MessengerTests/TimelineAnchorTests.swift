import MessengerTesting
import Testing

@testable import Messenger

@Suite("The reading position")
struct TimelineAnchorTests {
  @Test("At the very top, what is read stays where it is though the first row's date goes to the older ones")
  func theFirstDateMoves() {
    let screen = Screen()
    screen.timeline.load((100..<200).map { message($0) }, head: .hidden)
    screen.scroll(to: 0)
    let before = screen.visible()
    #expect(before[0].y == 0 && before[0].height > before[1].height, "it has the date")
    let bodies = before.compactMap { screen.body($0.id) }
    screen.timeline.apply([.prepend((50..<100).map { message($0) })])
    for (row, body) in zip(before, bodies) {
      #expect(abs((screen.body(row.id) ?? .infinity) - body) <= 0.5)
    }
  }

  // Proves C69, J22, W1
  @Test("Nothing in view moves while rows come, go and change around it", arguments: 1...8)
  func neverJumps(seed: UInt64) {
    var conversation = Conversation(seed: seed)
    let screen = Screen()
    screen.timeline.load(conversation.rows(10_000..<12_000, from: 1_000_000), head: .hidden)
    screen.scroll(to: 60_000)
    var older: UInt64 = 10_000
    var newer: UInt64 = 20_000
    for _ in 0..<150 {
      let before = screen.visible()
      var touched: Set<RowID> = []
      switch conversation.number(7) {
      case 0:
        let count = 1 + conversation.number(60)
        screen.timeline.apply([.prepend(conversation.rows(older - count..<older, from: 0))])
        older -= count
      case 1:
        newer += 1
        screen.timeline.apply([.append([conversation.row(newer, at: 9_000_000 + Int64(newer))])])
      case 2:
        // Above the view: an edit, a removal, an insertion in one step.
        guard screen.timeline.rendered[0].index > 2, let first = before.first else { continue }
        let index = screen.timeline.store.index(of: first.id)!
        guard index > 4 else { continue }
        let store = screen.timeline.store
        newer += 1
        // Not the direct neighbour: whether the first row in view shows a name depends on it.
        screen.timeline.apply([
          .update(message(store[index - 2].row.id.rawValue, String(repeating: "edited ", count: 50))),
          .remove(store[index - 3].row.id), .insert([conversation.row(newer, at: 5)], before: store[index - 4].row.id)
        ])
      case 3:
        // A row in the lower half of the view grows: what is above it stands.
        guard let last = before.last, last.y > 400 else { continue }
        screen.timeline.apply([.update(message(last.id.rawValue, String(repeating: "grown ", count: 90)))])
        touched = [last.id]
      case 4:
        // A font comes late: a row above the view grows by itself.
        guard let row = screen.rows().first, row.y + row.height < 0, let element = screen.element(row.id) else {
          continue
        }
        screen.dom.extraHeights[element.node.id] = 37
        let height = screen.rows().reduce(0) { $0 + $1.height }
        screen.dom.fire(.resize, on: screen.timeline.parts.window, x: 600, y: height)
        screen.dom.extraHeights[element.node.id] = nil
        let settled = screen.rows().reduce(0) { $0 + $1.height }
        screen.dom.fire(.resize, on: screen.timeline.parts.window, x: 600, y: settled)
      default:
        screen.scroll(by: Double(conversation.number(1600)) - 800)
        continue
      }
      let after = screen.visible()
      for row in before where row.y >= 0 && !touched.contains(row.id) {
        guard let now = after.first(where: { $0.id == row.id }) else { continue }
        if touched.isEmpty || row.y < (before.last?.y ?? 0) {
          #expect(abs(now.y - row.y) <= 0.5, "row \(row.id.rawValue) moved by \(now.y - row.y)")
        }
      }
      expectCovered(screen)
    }
  }

  // Proves B2, W2, W4
  @Test("Scrolling moves the rows by what was scrolled, whatever the estimates said", arguments: 1...4)
  func scrollsExactly(seed: UInt64) {
    var conversation = Conversation(seed: seed)
    let screen = Screen()
    screen.timeline.load(conversation.rows(1..<3000, from: 0), head: .hidden)
    screen.scroll(to: 90_000)
    for _ in 0..<300 {
      let distance = Double(conversation.number(600)) - 350
      let before = screen.visible()
      screen.scroll(by: distance)
      let after = screen.rows()
      for row in before where row.y - distance >= 0 && row.y - distance < 800 && row.y >= 0 {
        guard let now = after.first(where: { $0.id == row.id }) else {
          Issue.record("row \(row.id.rawValue) vanished")
          continue
        }
        #expect(abs(now.y - (row.y - distance)) <= 0.5)
      }
      expectCovered(screen)
    }
  }

  // Proves N15, P42, W2, W24
  @Test("No place of the timeline is ever blank, and the page holds few rows", arguments: 1...3)
  func neverBlank(seed: UInt64) {
    var conversation = Conversation(seed: seed)
    let screen = Screen()
    screen.timeline.load(conversation.rows(1..<5000, from: 0), head: .hidden)
    for _ in 0..<200 {
      screen.scroll(to: Double(conversation.number(400_000)))
      expectCovered(screen)
      #expect(screen.timeline.rendered.count <= 80)
    }
    #expect(screen.dom.liveNodeCount < 1000)
  }

  @Test("A removed anchor hands over to its neighbour")
  func removedAnchor() {
    let screen = Screen()
    screen.timeline.load((1...400).map { message($0, from: $0 % 2 == 0 ? alice : bob) }, head: .hidden)
    screen.scroll(to: 8_000)
    let before = screen.visible().filter { $0.y >= 0 }
    screen.timeline.apply([.remove(before[0].id)])
    let now = screen.visible().first { $0.id == before[1].id }
    #expect(now?.y == before[1].y)
  }

  @Test("The position can be taken away and given back")
  func restoresPosition() throws {
    var conversation = Conversation(seed: 5)
    let rows = conversation.rows(1..<2000, from: 0)
    let screen = Screen()
    screen.timeline.load(rows, head: .hidden)
    #expect(screen.timeline.readingPosition == nil)
    screen.scroll(to: 33_333)
    let position = try #require(screen.timeline.readingPosition)
    let before = try #require(screen.rows().first { $0.id == position.row })
    let other = Screen()
    other.timeline.load(rows, head: .hidden, at: position)
    let after = try #require(other.rows().first { $0.id == position.row })
    #expect(abs(after.y - before.y) <= 0.5)
    #expect(other.timeline.isAtEnd == false)
  }

  @Test("A position given before the component has a size is kept until it has one")
  func earlyPosition() throws {
    let dom = FakeDOM()
    let timeline = Timeline(dom: dom)
    timeline.load((1...500).map { message($0) }, head: .hidden, at: ReadingPosition(row: RowID(100), offset: 3))
    dom.fire(.resize, on: timeline.parts.scroller, x: 600, y: 800)
    #expect(
      timeline.readingPosition == ReadingPosition(row: RowID(100), offset: 3)
        || timeline.readingPosition?.row == RowID(101))
    #expect(timeline.rendered.contains { $0.id == RowID(100) })
  }

  @Test("A timeline that is hidden and shown again is where it was, whatever came meanwhile")
  func hidden() throws {
    var conversation = Conversation(seed: 8)
    let screen = Screen()
    screen.timeline.load(conversation.rows(1000..<2000, from: 0), head: .hidden)
    screen.scroll(to: 20_000)
    let position = try #require(screen.timeline.readingPosition)
    let before = try #require(screen.rows().first { $0.id == position.row })
    let measured = screen.dom.measureCount
    screen.dom.fire(.resize, on: screen.scroller, x: 0, y: 0)
    screen.timeline.apply([.prepend(conversation.rows(1..<200, from: 0)), .append([message(5_000)])])
    screen.timeline.setTyping([TypingMember(bob)])
    #expect(screen.timeline.readingPosition == position)
    #expect(screen.dom.measureCount == measured, "what is not displayed cannot be measured")
    screen.dom.fire(.resize, on: screen.scroller, x: 600, y: 800)
    let after = try #require(screen.rows().first { $0.id == position.row })
    #expect(abs(after.y - before.y) <= 0.5)
    #expect(screen.timeline.newMessageCount == 1)
    // At the end, the end is shown again.
    screen.timeline.scrollToEnd()
    screen.dom.fire(.resize, on: screen.scroller, x: 0, y: 0)
    screen.timeline.apply([.append([message(5_001)])])
    screen.dom.fire(.resize, on: screen.scroller, x: 600, y: 800)
    #expect(screen.visible().last?.id == RowID(5_001) && screen.timeline.isAtEnd)
    // And who was sent to a row meanwhile finds it.
    screen.dom.fire(.resize, on: screen.scroller, x: 0, y: 0)
    #expect(screen.timeline.scroll(to: RowID(100)))
    screen.dom.fire(.resize, on: screen.scroller, x: 600, y: 800)
    #expect(abs(try #require(screen.rows().first { $0.id == RowID(100) }).y) <= 0.5)
  }

  @Test("A new width keeps the row under the eye")
  func resize() throws {
    var conversation = Conversation(seed: 6)
    let screen = Screen()
    screen.timeline.load(conversation.rows(1..<1000, from: 0), head: .hidden)
    screen.scroll(to: 20_000)
    let anchor = try #require(screen.visible().first { $0.y >= 0 })
    screen.dom.textWidth = 140
    screen.dom.fire(.resize, on: screen.scroller, x: 320, y: 500)
    let now = try #require(screen.visible().first { $0.id == anchor.id })
    #expect(abs(now.y - anchor.y) <= 0.5)
  }

  // Proves C13, W37
  @Test("Jumping to a row puts it in its place; an unknown row is refused")
  func jumps() throws {
    var conversation = Conversation(seed: 7)
    let screen = Screen()
    screen.timeline.load(conversation.rows(1..<3000, from: 0), head: .hidden)
    #expect(screen.timeline.scroll(to: RowID(99_999)) == false)
    #expect(screen.timeline.scroll(to: RowID(1500), place: .top, highlight: true))
    let row = try #require(screen.visible().first { $0.id == RowID(1500) })
    #expect(abs(row.y) <= 0.5)
    #expect(screen.element(RowID(1500))?.has("mg-highlighted") == true)
    #expect(screen.timeline.scroll(to: RowID(700), place: .bottom))
    let other = try #require(screen.visible().first { $0.id == RowID(700) })
    #expect(abs(other.y + other.height - 800) <= 0.5)
  }
}
