import Foundation
import MessengerTesting
import Testing

@testable import Messenger

/// `MARTLET_LONG=1` makes them ten thousand of a list without a policy.
private let rounds =
  ProcessInfo.processInfo.environment["MARTLET_LONG"] == nil ? (plain: 800, of: 300) : (plain: 2_500, of: 800)

@Suite("Thousands of mutations")
struct MutationTests {
  // Proves B1, P40
  @Test(
    "While rows come, go and change in any way around a reader in the middle, the row before the eyes stands still",
    arguments: 1...4 as ClosedRange<UInt64>,
    [[], .newestFirst, .answersBeneath, [.newestFirst, .answersBeneath]] as [ListPolicy])
  func standsStill(seed: UInt64, policy: ListPolicy) throws {
    var reader = Reader(seed: seed, policy: policy)
    var worst = 0.0
    for _ in 0..<(policy.isEmpty ? rounds.plain : rounds.of) {
      let before = try #require(reader.screen.timeline.readingPosition)
      let y = try #require(reader.y(before.row))
      reader.mutate(sparing: before.row)
      let now = try #require(reader.y(before.row))
      worst = max(worst, abs(now - y))
      #expect(reader.screen.timeline.rendered.count <= 60)
    }
    #expect(worst <= 0.5)
  }

  struct Reader {
    let screen: Screen
    var conversation: Conversation
    var older: UInt64 = 1_000_000
    var newer: UInt64 = 2_000_000

    init(seed: UInt64, policy: ListPolicy) {
      screen = Screen(options: .with(policy: policy))
      conversation = Conversation(seed: seed)
      screen.timeline.load(conversation.rows(1_000_000..<1_001_000, from: 50_000_000), head: .more(.failed))
      // Of a long conversation the page has a part.
      if seed % 2 == 0 { screen.timeline.geometry.pageLimit = 20_000 }
      screen.scroll(to: seed % 2 == 0 ? 10_000 : 30_000)
    }

    /// Where the page shows what a row says.
    func y(_ row: RowID) -> Double? { screen.body(row) }

    /// A row near the reader, but not the one they look at.
    private mutating func near(_ spared: RowID) -> Int {
      let index = screen.timeline.store.index(of: spared)!
      let count = screen.timeline.count
      let other = max(0, min(count - 1, index - 12 + Int(conversation.number(25))))
      return other == index ? (index + 1 < count ? index + 1 : index - 1) : other
    }

    /// A body of any kind.
    private mutating func body() -> MessageRow.Body {
      let image = ImageBody(
        name: "i", thumbnail: nil, width: Int(conversation.number(900)), height: Int(conversation.number(900)))
      switch conversation.number(6) {
      case 0: return .parts([.image(image), .text(String(repeating: "c ", count: Int(conversation.number(80))))])
      case 1: return .parts([.rich(RichText((0...conversation.number(6)).map { .paragraph([.text("line \($0)")]) }))])
      case 2:
        let answers = (0...conversation.number(5)).map { PollBody.Answer(id: "\($0)", text: "answer", votes: 1) }
        return .parts([.poll(PollBody(question: "?", answers: answers))])
      case 3: return .redacted
      default: return .text(String(repeating: "edited ", count: Int(1 + conversation.number(90))))
      }
    }

    private mutating func around() -> Surroundings? {
      guard conversation.number(2) == 0 else { return nil }
      return Surroundings(
        reply: conversation.number(3) == 0 ? ReplyQuote(sender: bob, text: "q") : nil,
        reactions: (0..<conversation.number(30)).map { Reaction(key: "\($0)", count: 1) },
        thread: conversation.number(3) == 0 ? ThreadChip(replyCount: 1, lastSender: bob, lastText: "t") : nil)
    }

    /// Half of what is new answers somebody.
    private mutating func answer(_ row: TimelineRow, near spared: RowID) -> TimelineRow {
      guard case .message(var message) = row.content, conversation.number(2) == 0 else { return row }
      let answered = screen.timeline.store[near(spared)].row.id
      message.surroundings = Surroundings(reply: ReplyQuote(sender: bob, text: "q", row: answered))
      return TimelineRow(id: row.id, timestampMilliseconds: row.timestampMilliseconds, content: .message(message))
    }

    private mutating func changed(_ index: Int) -> TimelineRow {
      var row = screen.timeline.store[index].row
      row.content = .message(
        MessageRow(sender: [alice, bob, me][Int(conversation.number(3))], body: body(), surroundings: around()))
      return row
    }

    mutating func mutate(sparing spared: RowID) {
      let timeline = screen.timeline
      switch conversation.number(14) {
      case 0:
        let count = 1 + conversation.number(30)
        older -= count
        timeline.apply([.prepend(conversation.rows(older..<older + count, from: 0))])
      case 1:
        newer += 1
        let row = conversation.row(newer, at: 90_000_000 + Int64(newer))
        timeline.apply([.append([answer(row, near: spared)])])
      case 2, 3, 4: timeline.apply([.update(changed(near(spared)))])
      case 5:
        guard timeline.count > 500 else { return }
        timeline.apply([.remove(timeline.store[near(spared)].row.id)])
      case 6:
        newer += 1
        let place = timeline.store[near(spared)].row.id
        timeline.apply([.insertAfter([conversation.row(newer, at: 60_000_000)], after: place)], motion: .slide)
      case 7:
        newer += 1
        timeline.apply(
          [.replace(timeline.store[near(spared)].row.id, with: conversation.row(newer, at: 60_000_000))], motion: .fade)
      case 8:
        // Another width, as by rotation, with other line breaks.
        screen.dom.textWidth = Double(140 + conversation.number(300))
        var width = Double(320 + conversation.number(600))
        if width == timeline.geometry.width { width += 1 }
        screen.dom.fire(.resize, on: screen.scroller, x: width, y: Double(500 + conversation.number(500)))
      case 9:
        // Another size of letters: rows grow by themselves. A page tells of it when the sum is another one.
        let (width, sum) = (screen.dom.textWidth, screen.rows().reduce(0) { $0 + $1.height })
        screen.dom.textWidth = Double(140 + conversation.number(300))
        guard screen.rows().reduce(0, { $0 + $1.height }) != sum else { return screen.dom.textWidth = width }
        screen.dom.fire(.resize, on: timeline.parts.window, x: 600, y: screen.rows().reduce(0) { $0 + $1.height })
      case 10: timeline.setTyping((0..<conversation.number(4)).map { _ in TypingMember(bob) })
      case 11: timeline.setDivider(above: timeline.store[near(spared)].row.id)
      case 12: timeline.setBubbles([.house, .standard, .simple][Int(conversation.number(3))])
      default: timeline.setHead([.more(.failed), .start, .hidden][Int(conversation.number(3))])
      }
    }
  }
}
