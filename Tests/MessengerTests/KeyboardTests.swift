import MessengerTesting
import Testing

@testable import Messenger

@Suite("The keyboard in the timeline")
struct KeyboardTests {
  private func press(_ screen: Screen, _ key: String, on node: Node? = nil) -> EventReply {
    screen.dom.fire(.keyDown, on: node ?? screen.dom.focused, text: key)
  }

  private func focusedRow(_ screen: Screen) -> RowID? { screen.timeline.view(of: screen.dom.focused)?.id }

  // Proves P46, W17
  @Test("Arrows walk from message to message, beyond what is rendered; Home and End lead to the ends")
  func walk() {
    let screen = Screen()
    screen.timeline.load((1...300).map { message($0) }, head: .hidden)
    #expect(press(screen, "ArrowUp", on: screen.scroller) == .preventDefault)
    #expect(focusedRow(screen) == RowID(300))
    for step in UInt64(1)...60 {
      #expect(press(screen, "ArrowUp") == .preventDefault)
      #expect(focusedRow(screen) == RowID(300 - step))
    }
    _ = press(screen, "Home")
    #expect(focusedRow(screen) == RowID(1) && screen.top == 0)
    _ = press(screen, "ArrowUp")
    #expect(focusedRow(screen) == RowID(1))
    _ = press(screen, "ArrowDown")
    #expect(focusedRow(screen) == RowID(2))
    _ = press(screen, "End")
    #expect(focusedRow(screen) == RowID(300) && screen.timeline.isAtEnd)
    #expect(press(screen, "PageUp") == .pass)
    #expect(screen.dom.fire(.keyDown, on: screen.scroller, text: "ArrowUp", modifiers: .control) == .pass)
    _ = press(screen, "Escape")
    #expect(screen.dom.focused == screen.scroller)
  }

  @Test("Letters mean the row that arrows led to, not one that was clicked, and not with a modifier")
  func letters() {
    let screen = Screen()
    screen.timeline.load([message(1, "one"), message(2, "two", from: bob)], head: .hidden)
    _ = press(screen, "ArrowUp", on: screen.scroller)
    _ = press(screen, "r")
    #expect(screen.actions.last.map { "\($0)" }?.contains("key") == true)
    let count = screen.actions.count
    #expect(screen.dom.fire(.keyDown, on: screen.dom.focused, text: "r", modifiers: .control) == .pass)
    #expect(screen.dom.fire(.keyDown, on: screen.dom.focused, text: "r", modifiers: .alt) == .pass)
    #expect(press(screen, "F5") == .pass && screen.actions.count == count)
    screen.dom.fire(.click, on: screen.dom.focused)
    #expect(press(screen, "r") == .pass && screen.actions.count == count)
  }

  @Test("Enter opens the menu of the row; keys on something inside are its own, but for those it has no use for")
  func enter() throws {
    let screen = Screen()
    screen.handlesLinks = true
    screen.timeline.load([message(1, "see https://a.b")], head: .hidden)
    _ = press(screen, "ArrowUp", on: screen.scroller)
    #expect(press(screen, "Enter") == .preventDefault && screen.actions.last?.contains("menu") == true)
    let link = try #require(screen.timeline.rendered[0].links.first)
    #expect(press(screen, "Enter", on: link.node) == .pass)
    #expect(press(screen, "Escape", on: link.node) == .preventDefault)
    #expect(focusedRow(screen) == RowID(1))
    screen.timeline.apply([.append([message(2, from: bob)])])
    #expect(press(screen, "ArrowDown", on: link.node) == .preventDefault && focusedRow(screen) == RowID(2))
    let code = TimelineRow(
      id: RowID(3), timestampMilliseconds: 0,
      content: .message(MessageRow(sender: alice, body: .parts([.rich(RichText([.code("a", language: "")]))]))))
    screen.timeline.apply([.append([code])])
    let block = try #require(screen.element(RowID(3))?.tags("pre").first)
    #expect(press(screen, "ArrowDown", on: block.node) == .pass, "it scrolls")
    let retry = screen.timeline.rendered[0].slot(.retry)
    #expect(press(screen, "Home", on: retry) == .preventDefault && focusedRow(screen) == RowID(1))
  }

  @Test("The focus does not go with a row that leaves, nor pass to the row that takes its element, and the place is kept")
  func recycled() {
    let screen = Screen()
    screen.timeline.load((1...900).map { message($0) }, head: .hidden)
    _ = press(screen, "ArrowUp", on: screen.scroller)
    _ = press(screen, "ArrowUp")
    #expect(focusedRow(screen) == RowID(899))
    screen.scroll(to: 3000)
    #expect(screen.dom.focused == screen.scroller)
    _ = press(screen, "ArrowDown")
    #expect(focusedRow(screen) == RowID(900))
  }
}

@Suite("Buttons of a row")
struct ToolTests {
  private func screen(_ actions: ActionSet) -> Screen {
    let options = TimelineOptions()
    options.actions = actions
    let screen = Screen(options: options)
    screen.timeline.load([message(1, "one"), message(2, "two"), message(3, "three")], head: .start)
    return screen
  }

  private func bars(_ screen: Screen) -> [FakeElement] { screen.dom[screen.timeline.root].all("mg-tools") }

  @Test("one bar follows the pointer and the keyboard, offers what the host can do, and acts on its row")
  func bar() throws {
    let screen = screen([.reply, .menu])
    let two = try #require(screen.element(RowID(2)))
    screen.dom.fire(.pointerOver, on: two.node)
    #expect(bars(screen).count == 1 && two.all("mg-tool").count == 2)
    let three = try #require(screen.element(RowID(3)))
    screen.dom.fire(.focus, on: three.node)
    #expect(bars(screen).count == 1 && two.all("mg-tool").isEmpty)
    screen.dom.fire(.click, on: try #require(three.all("mg-tool").first).node)
    #expect(screen.actions == ["\(TimelineAction.reply(RowID(3)))"])
    let tool = try #require(three.all("mg-tool").first).node
    #expect(screen.dom.fire(.keyDown, on: tool, text: "ArrowUp") == .preventDefault)
    #expect(screen.timeline.view(of: screen.dom.focused)?.id == RowID(2))
  }

  @Test("the bar begins with the reactions of one touch; the style sheet is told of a list too narrow for them")
  func reactions() throws {
    let options = TimelineOptions()
    options.actions = [.addReaction]
    var quick = ["🚀", "🐈"]
    options.quickReactions = { quick }
    let screen = Screen(options: options)
    screen.timeline.load([message(1, "one")], head: .start)
    let one = try #require(screen.element(RowID(1)))
    func signs() -> [FakeElement] {
      screen.dom.fire(.pointerOver, on: one.node)
      return one.all("mg-tool-sign")
    }
    #expect(signs().map(\.text) == ["🚀", "🐈"])
    screen.dom.fire(.click, on: try #require(signs().last).node)
    #expect(screen.actions == ["\(TimelineAction.react(RowID(1), key: "🐈"))"])
    quick = ["🐈"]
    screen.timeline.renewTools()
    #expect(signs().map(\.text) == ["🐈"])
    for (width, isNarrow) in [(760.0, true), (761, false)] {
      screen.dom.fire(.resize, on: screen.scroller, x: width, y: 600)
      #expect((screen.dom[screen.timeline.root].attributes["data-narrow"] != nil) == isNarrow)
    }
  }

  @Test("without such actions there is no bar, and a row that goes leaves none behind")
  func noBar() throws {
    let plain = screen([.openMedia])
    plain.dom.fire(.pointerOver, on: try #require(plain.element(RowID(2))).node)
    #expect(bars(plain).isEmpty)
    let screen = screen([.menu])
    screen.dom.fire(.pointerOver, on: try #require(screen.element(RowID(2))).node)
    screen.timeline.apply([.remove(RowID(2))])
    #expect(bars(screen).isEmpty)
    let known = screen.dom.liveNodeCount
    screen.dom.fire(.pointerOver, on: try #require(screen.element(RowID(3))).node)
    #expect(bars(screen).count == 1 && screen.dom.liveNodeCount == known)
    screen.timeline.close()
  }

  @Test("a fold says whether it is open and asks to be the other; a plain line cannot")
  func fold() throws {
    let screen = screen([])
    func show(_ content: TimelineRow.Content) throws -> FakeElement {
      screen.timeline.apply([.update(TimelineRow(id: RowID(2), timestampMilliseconds: 1, content: content))])
      return try #require(screen.element(RowID(2))?.all("mg-button").first)
    }
    var button = try show(.fold("ann joined · 3 more", isOpen: false))
    #expect(!button.isHidden && button.attributes["aria-expanded"] == "false")
    screen.dom.fire(.click, on: button.node)
    #expect(screen.actions == ["\(TimelineAction.toggleFold(RowID(2)))"])
    button = try show(.fold("ann joined · 3 more", isOpen: true))
    #expect(button.attributes["aria-expanded"] == "true")
    button = try show(.offer("the keys of ann have changed", button: "What to do"))
    #expect(!button.isHidden && button.attributes["aria-expanded"] == nil && button.allText == "What to do")
    #expect(try show(.line("ann joined")).isHidden)
  }
}

@Suite("Rows for ears")
struct PositionTests {
  // Proves B20, C65
  @Test("every article says which it is, and of how many once the beginning is known")
  func positions() throws {
    let screen = Screen()
    func said(_ id: UInt64) -> [String?] {
      let element = screen.element(RowID(id))
      return [element?.attributes["aria-posinset"], element?.attributes["aria-setsize"]]
    }
    screen.timeline.load([message(5), message(6)], head: .more(.loading))
    #expect(said(5) == ["1", "-1"])
    screen.timeline.endHeadFetch([message(3), message(4)], head: .start)
    #expect(said(5) == ["3", "4"])
    screen.timeline.apply([.append([message(7)]), .remove(RowID(3))])
    #expect(said(5) == ["2", "4"] && said(7) == ["4", "4"])
  }
}
