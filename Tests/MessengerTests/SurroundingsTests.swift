import MessengerTesting
import Testing

@testable import Messenger

@Suite("Around a message")
struct SurroundingsTests {
  // Proves P1, W37
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

  // Proves P3
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

  // Proves C74
  @Test("Ten thousand reactions are twenty chips and a number")
  func manyReactions() {
    let screen = Screen(options: .with(.all))
    let element = screen.show(.text("x"), Surroundings(reactions: (0..<10_000).map { Reaction(key: "\($0)", count: 1) }))
    #expect(element.all("mg-chip").count == Surroundings.reactionsLimit + 2)
    #expect(element.all("mg-chip")[Surroundings.reactionsLimit].text == "+9980")
  }

  // Proves C9, N14
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

  @Test("A warning is a sign with its words as title and name, said after the text, and red where it is serious")
  func warnings() throws {
    let screen = Screen()
    let element = screen.show(.text("x"), Surroundings(warning: Warning("Not encrypted", isSerious: true)))
    let sign = try #require(element.first("mg-warning"))
    #expect(sign.attributes["title"] == "Not encrypted" && sign.attributes["aria-label"] == "Not encrypted")
    #expect(sign.has("mg-serious") && sign.attributes["role"] == "img")
    #expect(element.attributes["aria-label"]?.hasSuffix(": x, Not encrypted") == true)
    screen.show(.text("x"), Surroundings(warning: Warning("Perhaps", isSerious: false)))
    #expect(element.first("mg-warning")?.has("mg-serious") == false)
    screen.show(.text("x"))
    #expect(element.first("mg-warning") == nil)
  }

  // Proves P21
  @Test(
    "The newest own message says in a word how far it has come",
    arguments: [(ReceiptState.hidden, nil), (.sent, "Sent"), (.delivered, "Delivered"), (.read, "Read")]
      as [(ReceiptState, String?)])
  func progress(receipt: ReceiptState, expected: String?) throws {
    let screen = Screen()
    screen.timeline.load([own(1, receipt)], head: .hidden)
    let element = try #require(screen.element(RowID(1)))
    #expect(element.first("mg-state")?.text == expected && element.has("mg-read") == (receipt == .read))
  }

  @Test("Only the newest own message says how far it has come, and what others say after it changes nothing")
  func told() {
    let screen = Screen()
    func said() -> [String?] { (1...4).map { screen.element(RowID($0))?.first("mg-state")?.text } }
    screen.timeline.load([own(1, .read), own(2, .delivered), message(3, "well", at: 3)], head: .hidden)
    #expect(said() == [nil, "Delivered", nil, nil])
    screen.timeline.apply([.append([own(4, .hidden, .sending)])])
    #expect(said() == [nil, nil, nil, "Sending…"])
    screen.timeline.apply([.update(own(4, .sent))])
    #expect(said() == [nil, nil, nil, "Sent"])
    screen.timeline.apply([.remove(RowID(4))])
    #expect(said() == [nil, "Delivered", nil, nil])
  }

  @Test("Newest first, it is the own message on top")
  func toldOnTop() {
    let screen = Screen()
    screen.timeline.use(.newestFirst)
    screen.timeline.load([own(1, .read), own(2, .sent)], head: .hidden)
    #expect((1...2).map { screen.element(RowID($0))?.first("mg-state")?.text } == [nil, "Sent"])
  }

  @Test("Faces of readers stand in place of the word, and both lead to names and times")
  func faces() throws {
    let screen = Screen(options: .with(.all))
    screen.timeline.load([own(1, .read)], head: .hidden)
    screen.click(try #require(screen.element(RowID(1))?.first("mg-state")))
    var row = own(1, .read)
    if case .message(var message) = row.content {
      message.surroundings = Surroundings(readers: [alice])
      row.content = .message(message)
    }
    screen.timeline.apply([.update(row)])
    #expect(screen.element(RowID(1))?.first("mg-state") == nil)
    screen.click(try #require(screen.element(RowID(1))?.first("mg-readers")))
    #expect(screen.actions.count == 2 && screen.actions.allSatisfy { $0.contains("showReaders") })
  }

  private func own(_ id: UInt64, _ receipt: ReceiptState, _ state: SendState = .sent) -> TimelineRow {
    let message = MessageRow(sender: me, body: .text("x"), sendState: state, receipt: receipt)
    return TimelineRow(id: RowID(id), timestampMilliseconds: Int64(id), content: .message(message))
  }
}
