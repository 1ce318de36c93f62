import MessengerTesting
import Testing

@testable import Messenger

@Suite("The keyboard in the timeline")
struct KeyboardTests {
  private func press(_ screen: Screen, _ key: String, on node: Node? = nil) -> EventReply {
    screen.dom.fire(.keyDown, on: node ?? screen.dom.focused, text: key)
  }

  private func focusedRow(_ screen: Screen) -> RowID? { screen.timeline.view(of: screen.dom.focused)?.id }

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

  @Test("Enter opens the menu of the row; keys on something inside are its own")
  func enter() throws {
    let screen = Screen()
    screen.handlesLinks = true
    screen.timeline.load([message(1, "see https://a.b")], head: .hidden)
    _ = press(screen, "ArrowUp", on: screen.scroller)
    #expect(press(screen, "Enter") == .preventDefault && screen.actions.last?.contains("menu") == true)
    let link = try #require(screen.timeline.rendered[0].links.first)
    #expect(press(screen, "Enter", on: link.node) == .pass && press(screen, "ArrowUp", on: link.node) == .pass)
    #expect(press(screen, "Escape", on: link.node) == .preventDefault)
    #expect(focusedRow(screen) == RowID(1))
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
