import MessengerTesting
import Testing

@testable import Messenger

@Suite("Around a message")
struct SurroundingsTests {
  @Test("A reply quote leads to its message when it is here, else to the host")
  func quote() throws {
    let screen = Screen(options: .with(.all))
    screen.timeline.load((1...300).map { message($0) }, head: .hidden)
    func reply(to row: RowID?) -> TimelineRow {
      TimelineRow(
        id: RowID(900), timestampMilliseconds: 40_000_000,
        content: .message(
          MessageRow(
            sender: me, body: .text("yes"), surroundings: Surroundings(reply: ReplyQuote(sender: alice, text: "?", row: row)))))
    }
    screen.timeline.apply([.append([reply(to: RowID(20))])])
    let element = try #require(screen.element(RowID(900)))
    #expect(element.first("mg-quote")?.allText == "Alice Ay?" && element.first("mg-bubble")?.allText == "Alice Ay?yes")
    screen.click(try #require(element.first("mg-quote-text")))
    #expect(screen.visible().contains { $0.id == RowID(20) })
    #expect(screen.element(RowID(20))?.has("mg-highlighted") == true && screen.actions.isEmpty)
    for unknown in [nil, RowID(5000)] {
      screen.timeline.scrollToEnd()
      screen.timeline.apply([.update(reply(to: unknown))])
      screen.click(try #require(screen.element(RowID(900))?.first("mg-quote")))
      #expect(screen.actions.last?.contains("openReply") == true)
    }
  }

  @Test("Reactions: own state, counts, people; a click reacts, and the focus stays on the chip")
  func reactions() throws {
    let screen = Screen(options: .with(.all))
    func around(_ count: Int, _ isOwn: Bool) -> Surroundings {
      Surroundings(reactions: [Reaction(key: "👍", count: count, isOwn: isOwn, people: "Bob"), Reaction(key: "🎉", count: 1)])
    }
    let element = screen.show(.text("x"), around(1, false))
    let chip = try #require(element.first("mg-chip"))
    #expect(chip.allText == "👍1" && chip.attributes["aria-pressed"] == "false")
    #expect(chip.attributes["aria-label"] == "👍 1, Bob")
    screen.dom.fire(.focus, on: chip.node)
    screen.click(chip.children[0])
    #expect(screen.actions.last?.contains(#"key: "👍""#) == true)
    screen.show(.text("x"), around(2, true))
    let now = try #require(element.first("mg-chip"))
    #expect(now.attributes["aria-pressed"] == "true" && now.has("mg-chosen") && screen.dom.focused == now.node)
    screen.click(try #require(element.first("mg-chip-add")))
    #expect(screen.actions.last?.contains("addReaction") == true)
    #expect(element.attributes["aria-label"]?.hasSuffix("x, 👍 2, 🎉 1") == true)
  }

  @Test("Ten thousand reactions are twenty chips and a number")
  func manyReactions() {
    let screen = Screen(options: .with(.all))
    let element = screen.show(.text("x"), Surroundings(reactions: (0..<10_000).map { Reaction(key: "\($0)", count: 1) }))
    #expect(element.all("mg-chip").count == Surroundings.reactionsLimit + 2)
    #expect(element.all("mg-chip")[Surroundings.reactionsLimit].text == "+9980")
  }

  @Test("Thread, readers, header and footer")
  func others() throws {
    let screen = Screen(options: .with(.all))
    let readers = (0..<9).map { Sender(id: "@\($0):x", name: "R\($0)", isOwn: false) }
    let element = screen.show(
      .text("x"),
      Surroundings(
        header: "Forwarded", footer: "via bridge",
        thread: ThreadChip(replyCount: 3, lastSender: bob, lastText: "last", isUnread: true), readers: readers, readerCount: 42)
    )
    #expect(element.first("mg-header")?.text == "Forwarded" && element.first("mg-footer")?.text == "via bridge")
    #expect(element.first("mg-thread")?.allText == "3 repliesBBob: last" && element.first("mg-thread-unread") != nil)
    #expect(element.first("mg-readers")?.all("mg-avatar").count == 5 && element.first("mg-readers-more")?.text == "+37")
    screen.click(try #require(element.first("mg-thread-text")))
    screen.click(try #require(element.first("mg-readers-more")))
    #expect(screen.actions[0].contains("openThread") && screen.actions[1].contains("showReaders"))
    screen.show(.text("x"))
    #expect(element.first("mg-below")?.children.isEmpty == true && element.first("mg-header") == nil)
  }

  @Test(
    "Ticks tell how far a message has come",
    arguments: [(ReceiptState.hidden, ""), (.sent, "✓"), (.delivered, "✓✓"), (.read, "✓✓")])
  func ticks(receipt: ReceiptState, expected: String) throws {
    let screen = Screen()
    let content = MessageRow(sender: me, body: .text("x"), receipt: receipt)
    screen.timeline.load([TimelineRow(id: RowID(1), timestampMilliseconds: 0, content: .message(content))], head: .hidden)
    let element = try #require(screen.element(RowID(1)))
    #expect(element.first("mg-state")?.text == expected && element.has("mg-read") == (receipt == .read))
  }
}
