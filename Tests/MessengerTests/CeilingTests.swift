import MessengerTesting
import Testing

@testable import Messenger

@Suite("A ceiling of rows")
struct CeilingTests {
  /// A host with a conversation of 3,000 messages, of which the view asks for pages.
  final class Host {
    let dom = FakeDOM()
    let view: MessengerView<FakeDOM>
    var count: UInt64 = 3000

    init(limit: Int = 300, policy: ListPolicy = []) {
      let options = TimelineOptions()
      options.policy = policy
      view = MessengerView(dom: dom, options: options)
      dom.append(view.root, to: .root)
      dom.fire(.resize, on: timeline.parts.scroller, x: 600, y: 600)
      view.rowsLimit = limit
      view.onNeedOlder = { [unowned self] in
        let first = view.oldest?.id.rawValue ?? count + 1
        view.endOlder(page(first > 40 ? first - 40..<first : 1..<first), first > 41 ? .more(.idle) : .start)
      }
      view.onNeedNewer = { [unowned self] in
        let next = (view.newest?.id.rawValue ?? 0) + 1
        let end = min(next + 40, count + 1)
        view.endNewer(page(next..<end), end == count + 1 ? .live : .more(.idle))
      }
    }

    var timeline: Timeline<FakeDOM> { view.timeline }
    var top: Double { dom[timeline.parts.scroller].lengths[.scrollTop] ?? 0 }

    func page(_ ids: Range<UInt64>) -> [NewRow] {
      ids.map { id in
        let text = String(repeating: "word ", count: Int(id * 7 % 40) + 1)
        return NewRow(
          .message(MessageRow(sender: [alice, bob][Int(id % 2)], body: .text(text))),
          timestampMilliseconds: Int64(id) * 300_000,
          id: RowID(id))
      }
    }

    func scroll(by distance: Double) {
      let limit = timeline.geometry.maxScroll
      dom.fire(.scroll, on: timeline.parts.scroller, x: max(0, min(top + distance, limit)))
    }

    /// Where a row stands on the screen.
    func y(_ row: RowID) throws -> Double { timeline.geometry.y(of: try #require(timeline.store.index(of: row))) - top }

    var isWithoutHole: Bool {
      let ids = view.rows.map(\.id.rawValue)
      return zip(ids, ids.dropFirst()).allSatisfy { $0 + 1 == $1 }
    }
  }

  // Proves P42
  @Test(
    "All of a long conversation is read to its beginning and back, with no more rows than the ceiling and none left out",
    arguments: [[], .newestFirst] as [ListPolicy])
  func thereAndBack(policy: ListPolicy) {
    let host = Host(policy: policy)
    let towardsStart: Double = policy.isEmpty ? -1 : 1
    var most = 0
    func read(_ direction: Double, until isThere: () -> Bool) {
      for _ in 0..<4000 where !isThere() {
        let before = host.timeline.readingPosition
        host.scroll(by: 250 * direction)
        most = max(most, host.timeline.count)
        #expect(host.isWithoutHole)
        if let before { #expect(host.timeline.contains(before.row), "what is read is never let go") }
      }
      #expect(isThere())
    }
    read(towardsStart) { host.view.oldest?.id == RowID(1) }
    #expect(host.view.newest?.id != RowID(3000) && host.timeline.head == .start)
    read(-towardsStart) { host.view.newest?.id == RowID(3000) }
    #expect(most <= 300 + 40 && host.timeline.tail == .live)
  }

  // Proves P42
  @Test("Letting rows go moves nothing that is read: each row is where the scrolling takes it")
  func stands() throws {
    let host = Host()
    var worst = 0.0
    for _ in 0..<400 where host.top > 200 {
      let row = try #require(host.timeline.readingPosition?.row ?? host.timeline.rowIDs.last)
      let before = try host.y(row)
      host.scroll(by: -137)
      worst = max(worst, abs(try host.y(row) - before - 137))
    }
    #expect(worst <= 0.5 && host.view.newest?.id != RowID(3000))
  }

  @Test("What comes in while the newest rows are not here is counted, and comes with them")
  func behind() {
    let host = Host()
    while host.view.newest?.id == RowID(3000) { host.scroll(by: -400) }
    host.count = 3001
    var isDone = false
    host.view.add(host.page(3001..<3002)) { isDone = true }
    #expect(isDone && !host.timeline.contains(RowID(3001)) && host.timeline.newMessageCount == 1)
    for _ in 0..<500 where host.view.newest?.id != RowID(3001) { host.scroll(by: 400) }
    #expect(host.timeline.contains(RowID(3001)) && host.isWithoutHole)
    host.view.add(host.page(3002..<3003))
    #expect(host.timeline.contains(RowID(3002)))
  }

  @Test("Without somebody to fetch them again no rows are let go")
  func kept() {
    let host = Host()
    host.view.onNeedOlder = nil
    host.view.onNeedNewer = nil
    host.view.clear()
    host.view.add(host.page(1..<1001))
    #expect(host.timeline.count == 1000)
  }

  @Test("A message and its answers are let go together")
  func answers() throws {
    let host = Host(limit: 100, policy: .answersBeneath)
    host.view.onNeedOlder = {}
    host.view.clear()
    let quote = ReplyQuote(sender: nil, text: "", row: RowID(5000))
    let answers = (5001..<5400).map { id in
      NewRow(
        .message(MessageRow(sender: bob, body: .text("a"), surroundings: Surroundings(reply: quote))), id: RowID(UInt64(id)))
    }
    host.view.add([NewRow(.message(MessageRow(sender: alice, body: .text("q"))), id: RowID(5000))] + answers)
    host.view.endOlder([])
    #expect(host.timeline.count == 400, "the reader is at the end of one message with all its answers")
    host.view.add(host.page(6000..<6200))
    #expect(host.timeline.count < 300)
    #expect(!host.timeline.store[0].isAnswer)
  }
}
