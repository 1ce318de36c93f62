import MessengerTesting
import Testing

@testable import Messenger

@Suite("Comments: the newest on top, answers beneath")
struct PolicyTests {
  private func comments(_ count: UInt64 = 200, _ policy: ListPolicy = .newestFirst) -> Screen {
    let screen = Screen(options: .with(policy: policy))
    screen.timeline.load((1...count).map { message($0) }, head: .more(.idle))
    return screen
  }

  private func shown(_ screen: Screen) -> [UInt64] { screen.rows().map(\.id.rawValue) }

  /// A message that answers another.
  private func answer(_ id: UInt64, to answered: UInt64, from sender: Sender = alice) -> TimelineRow {
    let quote = ReplyQuote(sender: bob, text: "q", row: RowID(answered))
    let message = MessageRow(sender: sender, body: .text("a\(id)"), surroundings: Surroundings(reply: quote))
    return TimelineRow(id: RowID(id), timestampMilliseconds: Int64(id) * 60_000, content: .message(message))
  }

  // Proves P40
  @Test("The newest row is on top, where the reader begins and typing rows stand; few rows begin at the top as well")
  func top() {
    let screen = comments()
    #expect(screen.top == 0 && shown(screen).prefix(3) == [200, 199, 198] && screen.timeline.isAtEnd)
    screen.timeline.setTyping([TypingMember(bob)])
    let foot = screen.dom.height(of: screen.dom[screen.timeline.parts.foot])
    #expect(foot > 0 && screen.dom[screen.timeline.parts.foot].lengths[.translateY] == 0)
    #expect(screen.rows()[0].y == foot)
    #expect(comments(2).rows()[0].y == 0)
    #expect(screen.timeline.rowIDs.first == RowID(1) && screen.timeline.rowIDs.last == RowID(200))
  }

  // Proves P40
  @Test("Who is on top sees what comes in; who reads below does not move by a pixel, has a badge, and jumps to the top")
  func following() throws {
    let screen = comments()
    screen.timeline.apply([.append([message(201), message(202)])])
    #expect(screen.top == 0 && shown(screen).prefix(3) == [202, 201, 200])
    screen.scroll(to: 2000)
    let before = try #require(screen.visible().dropFirst().first)
    for id in UInt64(203)...260 {
      screen.timeline.apply([.append([message(id)])])
      #expect(screen.rows().first { $0.id == before.id }?.y == before.y)
    }
    #expect(screen.timeline.newMessageCount == 58 && !screen.timeline.isAtEnd)
    screen.dom.fire(.click, on: screen.timeline.parts.jump)
    #expect(screen.top == 0 && shown(screen).first == 260 && screen.timeline.newMessageCount == 0)
  }

  // Proves P40
  @Test("Older rows are asked for at the bottom, once, and come in below; what is in view is told with the newest last")
  func older() {
    let screen = comments()
    var asked = 0
    var visible: VisibleRows?
    screen.timeline.onNearStart = { asked += 1 }
    screen.timeline.onVisible = { visible = $0 }
    screen.scroll(to: 300)
    #expect(asked == 0 && visible!.first.rawValue < visible!.last.rawValue && visible?.isAtEnd == false)
    // Rows are measured on the way, and the bottom with them.
    for _ in 0..<4 { screen.scroll(to: 1_000_000) }
    #expect(asked == 1 && visible?.first == RowID(1))
    let last = screen.visible().last { $0.id == RowID(1) }
    screen.timeline.endHeadFetch((1000...1010).map { message($0) }, head: .start)
    #expect(screen.rows().first { $0.id == RowID(1) }?.y == last?.y)
    for _ in 0..<4 { screen.scroll(to: 1_000_000) }
    #expect(shown(screen).last == 1000 && asked == 1)
    #expect(screen.dom[screen.timeline.parts.head].allText.contains("beginning"))
    screen.scroll(to: 0)
    #expect(visible?.last == RowID(200) && visible?.isAtEnd == true)
  }

  @Test("Groups and days are those of the list: the newest of a group has the name, each day begins with its date from the top")
  func groups() {
    let screen = Screen(options: .with(policy: .newestFirst))
    let day: Int64 = 86_400
    screen.timeline.load([message(1, at: 0), message(2, at: 60), message(3, at: day), message(4, at: day + 60)], head: .hidden)
    #expect((0..<4).map { screen.timeline.decor($0).contains(.date) } == [true, false, true, false])
    #expect((0..<4).map { screen.timeline.decor($0).contains(.first) } == [true, false, true, false])
    #expect(screen.timeline.group(of: RowID(4)) == [RowID(3), RowID(4)])
  }

  @Test("What is put before or after a row stands below or above it")
  func places() {
    let screen = comments(3)
    screen.timeline.apply([.insert([message(10), message(11)], before: RowID(2)), .insertAfter([message(12)], after: RowID(2))])
    #expect(shown(screen) == [3, 12, 2, 11, 10, 1])
  }

  @Test("The keyboard's Home is the newest row, where the list follows again")
  func keys() {
    let screen = comments()
    screen.scroll(to: 3000)
    screen.dom.fire(.keyDown, on: screen.scroller, text: "Home")
    #expect(screen.top == 0 && screen.timeline.isAtEnd && screen.timeline.focusedRow == RowID(200))
  }

  // Proves P40
  @Test("An answer stands beneath what it answers, behind earlier answers, without a quote; answers to answers stand there too")
  func beneath() throws {
    let screen = comments(3, .answersBeneath)
    screen.timeline.apply([.append([answer(10, to: 1, from: bob)]), .append([answer(11, to: 10), message(12)])])
    #expect(shown(screen) == [1, 10, 11, 2, 3, 12])
    let beneath = try #require(screen.element(RowID(10)))
    #expect(beneath.has("mg-beneath") && beneath.first("mg-quote") == nil && !beneath.has("mg-has-date"))
    #expect(screen.element(RowID(2))?.has("mg-beneath") == false)
    screen.timeline.apply([.insertAfter([message(20)], after: RowID(1)), .insert([message(21)], before: RowID(11))])
    #expect(shown(screen) == [21, 1, 10, 11, 20, 2, 3, 12])
    let comments = comments(3, [.newestFirst, .answersBeneath])
    comments.timeline.apply([.append([answer(10, to: 1), answer(11, to: 1), message(12)])])
    #expect(shown(comments) == [12, 3, 2, 1, 10, 11])
  }

  @Test(
    "Answers that are loaded with what they answer stand beneath it; one to a message that is not here stands where it came")
  func loaded() {
    let screen = Screen(options: .with(policy: .answersBeneath))
    screen.timeline.load([message(1), message(2), answer(3, to: 1), answer(4, to: 99), answer(5, to: 3)], head: .hidden)
    #expect(shown(screen) == [1, 3, 5, 2, 4])
    #expect(screen.element(RowID(4))?.first("mg-quote") != nil)
    screen.timeline.apply([.prepend([message(98), message(99)])])
    #expect(shown(screen) == [98, 99, 1, 3, 5, 2, 4])
  }

  @Test("When a message goes, its answers are messages like others, with their quotes")
  func orphans() throws {
    let screen = comments(2, .answersBeneath)
    screen.timeline.apply([.append([answer(10, to: 1), answer(11, to: 1)])])
    screen.timeline.apply([.remove(RowID(1))])
    #expect(shown(screen) == [10, 11, 2])
    #expect(screen.element(RowID(10))?.has("mg-beneath") == false && screen.element(RowID(10))?.first("mg-quote") != nil)
  }
}
