import MessengerTesting
import Testing

@testable import Messenger

@Suite("Choosing several messages")
struct SelectionTests {
  /// Messages 1 to `count`; the first 10 are from Alice.
  private func screen(_ count: UInt64 = 20) -> Screen {
    let screen = Screen(options: .with(.all))
    screen.timeline.load((1...count).map { message($0) }, head: .hidden)
    return screen
  }

  private func chosen(_ screen: Screen) -> [UInt64] { screen.timeline.selectedRows.map { $0.rawValue } }

  private func click(_ screen: Screen, _ id: UInt64, shift: Bool = false) throws {
    let view = try #require(screen.timeline.rendered.first { $0.id == RowID(id) })
    screen.dom.fire(.click, on: view.slot(.text), modifiers: shift ? .shift : [])
  }

  private func press(_ screen: Screen, _ key: String, _ modifiers: Modifiers = []) -> EventReply {
    screen.dom.fire(.keyDown, on: screen.dom.focused, text: key, modifiers: modifiers)
  }

  private func classes(_ screen: Screen, _ id: UInt64) -> String { screen.element(RowID(id))?.classes ?? "" }

  @Test("A press on a row chooses it or gives it up; without a row it is over")
  func presses() throws {
    let screen = screen()
    var told: [Int?] = []
    screen.timeline.onSelection = { told.append($0?.rows.count) }
    screen.timeline.select(RowID(18))
    try click(screen, 20)
    #expect(chosen(screen) == [18, 20])
    #expect(classes(screen, 20).contains("mg-selected") && !classes(screen, 19).contains("mg-selected"))
    #expect(classes(screen, 19).contains("mg-selectable"))
    try click(screen, 18)
    try click(screen, 20)
    #expect(screen.timeline.selection == nil && told == [1, 2, 1, nil])
    #expect(!classes(screen, 19).contains("mg-selectable"))
    #expect(screen.actions.isEmpty)
  }

  @Test("While rows are chosen a press means the row, not the link or the picture in it")
  func links() throws {
    let screen = Screen(options: .with(.all))
    screen.handlesLinks = true
    screen.timeline.load([message(1, "see https://a.b"), message(2)], head: .hidden)
    screen.timeline.select(RowID(2))
    let link = try #require(screen.timeline.rendered[0].links.first)
    #expect(screen.dom.fire(.click, on: link.node) == .preventDefault)
    #expect(chosen(screen) == [1, 2] && screen.actions.isEmpty)
    #expect(screen.dom.fire(.contextMenu, on: link.node) == .preventDefault && screen.actions.isEmpty)
  }

  @Test("Shift chooses all rows from the last one chosen by itself; another range takes its place")
  func ranges() throws {
    let screen = screen()
    screen.timeline.select(RowID(15))
    try click(screen, 12)
    try click(screen, 14, shift: true)
    #expect(chosen(screen) == [12, 13, 14, 15])
    try click(screen, 10, shift: true)
    #expect(chosen(screen) == [10, 11, 12, 15])
  }

  @Test("Shift and arrows grow and shrink the range, beyond what is rendered; Enter and Space choose one row, Escape ends it")
  func keyboard() {
    let screen = screen(300)
    _ = screen.dom.fire(.keyDown, on: screen.scroller, text: "ArrowUp")
    screen.timeline.select(RowID(300))
    for _ in 0..<50 { #expect(press(screen, "ArrowUp", .shift) == .preventDefault) }
    #expect(chosen(screen) == Array(250...300))
    _ = press(screen, "ArrowDown", .shift)
    #expect(chosen(screen) == Array(251...300))
    _ = press(screen, "ArrowUp")
    _ = press(screen, "ArrowUp")
    #expect(chosen(screen) == Array(251...300), "arrows alone only walk")
    #expect(press(screen, " ") == .preventDefault)
    #expect(chosen(screen) == [249] + Array(251...300))
    #expect(press(screen, "Enter") == .preventDefault)
    #expect(chosen(screen) == Array(251...300) && screen.actions.isEmpty)
    #expect(press(screen, "Escape") == .preventDefault && screen.timeline.selection == nil)
  }

  @Test("No more than the limit is chosen, from the beginning of the range on")
  func limit() {
    let screen = screen(300)
    screen.timeline.select(RowID(250))
    screen.timeline.choose(RowID(1), isRange: true)
    #expect(chosen(screen) == Array(151...250) && screen.timeline.selection?.isFull == true)
    screen.timeline.choose(RowID(260), isRange: false)
    #expect(chosen(screen).count == RowSelection.limit)
    screen.timeline.choose(RowID(151), isRange: false)
    #expect(chosen(screen).count == RowSelection.limit - 1)
  }

  @Test("Only messages that are sent and not deleted can be chosen; ranges pass over the others")
  func others() throws {
    let screen = Screen(options: .with(.all))
    screen.timeline.load(
      [
        message(1), message(2, body: .redacted),
        TimelineRow(id: RowID(3), timestampMilliseconds: 0, content: .line("Bob joined")),
        message(4, from: me, state: .sending), message(5)
      ], head: .hidden)
    for id in [2, 3, 4, 77] as [UInt64] {
      screen.timeline.select(RowID(id))
      #expect(screen.timeline.selection == nil)
    }
    screen.timeline.select(RowID(1))
    try click(screen, 5, shift: true)
    #expect(chosen(screen) == [1, 5])
    #expect(!classes(screen, 2).contains("mg-selectable"))
  }

  @Test("What is deleted, or goes, is not chosen any more; what gets another identity stays chosen")
  func changes() {
    let screen = screen()
    screen.timeline.select(RowID(18))
    for id in [19, 20] as [UInt64] { screen.timeline.choose(RowID(id), isRange: false) }
    screen.timeline.apply([.update(message(18, body: .redacted))])
    #expect(chosen(screen) == [19, 20])
    screen.timeline.apply([.remove(RowID(19))])
    screen.timeline.apply([.replace(RowID(20), with: message(21))])
    #expect(chosen(screen) == [21])
    screen.timeline.load([message(30), message(21)], head: .hidden)
    #expect(chosen(screen) == [21])
    screen.timeline.load([message(30)], head: .hidden)
    #expect(screen.timeline.selection == nil)
  }

  @Test("Choosing rows leaves the reader where they are")
  func place() {
    let screen = screen(300)
    screen.scroll(to: 5_000)
    let before = screen.visible().map { $0.y }
    screen.timeline.select(screen.visible()[2].id)
    #expect(screen.visible().map { $0.y } == before)
    screen.timeline.endSelection()
    #expect(screen.visible().map { $0.y } == before)
  }

  @Test("A chosen row says so")
  func spoken() {
    let screen = screen()
    screen.timeline.select(RowID(20))
    #expect(screen.element(RowID(20))?.attributes["aria-label"]?.hasPrefix("Selected. ") == true)
    #expect(screen.element(RowID(19))?.attributes["aria-label"]?.contains("Selected") == false)
  }
}
