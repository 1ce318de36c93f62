import MessengerTesting
import Testing

@testable import Messenger

@Suite("The messenger by handles")
struct MessengerViewTests {
  final class Room {
    let dom = FakeDOM()
    let view: MessengerView<FakeDOM>
    var later: [(Int, () -> Void)] = []
    let options = TimelineOptions()

    init(viewport: Double = 800, composer: MessengerView<FakeDOM>.ComposerMaker? = nil, avatars: AvatarPlace = .groupStart) {
      final class Clock { var later: [(Int, () -> Void)] = [] }
      let clock = Clock()
      options.avatars = avatars
      options.after = { clock.later.append(($0, $1)) }
      view = MessengerView(dom: dom, options: options, now: { 1000 }, composer: composer)
      dom.append(view.root, to: .root)
      dom.fire(.resize, on: view.timeline.parts.scroller, x: 600, y: viewport)
      wait = {
        let due = clock.later
        clock.later = []
        for (_, run) in due { run() }
      }
    }

    /// Lets all times pass.
    private(set) var wait: () -> Void = {}
    func element(_ handle: RowHandle) -> FakeElement? {
      view.timeline.rendered.first { $0.id == handle.id }.map { dom[$0.node] }
    }
    var texts: [String] { view.timeline.rendered.map { dom[$0.slot(.text)].text } }
    func scroll(to top: Double) { dom.fire(.scroll, on: view.timeline.parts.scroller, x: top) }
  }

  // Proves C1, C11, N12
  @Test("Rows are added, updated, replaced and removed by handles, and each completion is called once")
  func handles() {
    let room = Room()
    var done: [String] = []
    let a = room.view.add(.text("a", from: alice)) { done.append("a") }
    let b = room.view.add(.text("b", from: bob)) { done.append("b") }
    room.view.update(a, .message(MessageRow(sender: alice, body: .text("a2")))) { done.append("a2") }
    let c = room.view.replace(b, with: .text("c", from: bob)) { done.append("c") }
    #expect(room.texts == ["a2", "c"] && !room.view.contains(b) && room.view.contains(c))
    room.view.add([.text("x", from: alice), .text("y", from: alice)], at: .before(c)) { done.append("xy") }
    room.view.add(.text("z", from: alice), at: .start)
    #expect(room.texts == ["z", "a2", "x", "y", "c"] && room.view.rows.count == 5)
    room.view.remove(a) { done.append("-") }
    #expect(room.texts == ["z", "x", "y", "c"])
    room.view.clear { done.append("clear") }
    #expect(room.view.rows.isEmpty && done == ["a", "b", "a2", "c", "xy", "-", "clear"])
  }

  // Proves C16, N12, W29
  @Test("Handles nobody knows do nothing, their completions are called, and everything goes on (the seed hung for ever)")
  func unknown() {
    let room = Room()
    var done = 0
    let typing = room.view.addTyping(bob)
    room.view.removeTyping(typing)
    // Removed twice: the seed took its lock here and kept it.
    room.view.removeTyping(typing) { done += 1 }
    let ghost = RowHandle(RowID(77))
    room.view.remove(ghost) { done += 1 }
    room.view.removeFromGroup(ghost) { done += 1 }
    room.view.update(ghost, .line("x")) { done += 1 }
    room.view.replace(ghost, with: .text("x", from: bob)) { done += 1 }
    room.view.scroll(to: ghost) { done += 1 }
    room.view.add(.text("x", from: bob), at: .before(ghost)) { done += 1 }
    room.view.add(.text("x", from: bob), toGroupOf: ghost) { done += 1 }
    room.view.endOlder([.text("x", from: bob)]) { done += 1 }
    room.view.endNewer([]) { done += 1 }
    #expect(room.view.group(of: ghost).isEmpty && room.view.rows.isEmpty && done == 10)
    room.view.add(.text("still here", from: bob)) { done += 1 }
    #expect(room.texts == ["still here"] && done == 11)
    room.view.close()
    room.view.add(.text("late", from: bob)) { done += 1 }
    #expect(done == 12)
  }

  @Test("Mutations wait in line: what a callback asks for comes after what runs")
  func line() {
    let room = Room()
    var order: [String] = []
    room.view.onNeedOlder = {
      order.append("older")
      room.view.endOlder([.text("old", from: alice)], .start) { order.append("ended") }
      room.view.add(.text("inner", from: alice)) { order.append("inner") }
      order.append("asked")
    }
    room.view.add(.text("outer", from: alice)) {
      order.append("outer")
      room.view.add(.text("last", from: alice)) { order.append("last") }
    }
    #expect(order == ["older", "asked", "ended", "inner", "outer", "last"])
    #expect(room.texts == ["old", "inner", "outer", "last"])
  }

  // Proves P41
  @Test("A transaction is one layout, whatever is in it, and knows its own rows")
  func transaction() {
    let room = Room()
    let first = room.view.add(.text("first", from: alice))
    let flushes = room.dom.measureCount
    var done = 0
    room.view.transaction(.natural) { view in
      let handle = view.add(.text("a", from: bob)) { done += 1 }
      view.update(handle, .message(MessageRow(sender: bob, body: .text("a2")))) { done += 1 }
      view.remove(first)
      for number in 0..<5 { view.add(.text("\(number)", from: bob)) }
    } then: {
      done += 1
    }
    #expect(room.texts == ["a2", "0", "1", "2", "3", "4"] && done == 3)
    #expect(room.dom.measureCount <= flushes + 2)
  }

  @Test("What is cleared in a transaction is what was there and came before, in the order of the calls")
  func clearing() {
    let room = Room()
    room.view.add(.text("first", from: alice))
    var done: [String] = []
    room.view.transaction { view in
      view.add(.text("before", from: bob)) { done.append("before") }
      view.clear { done.append("clear") }
      view.add(.text("after", from: bob)) { done.append("after") }
    } then: {
      done.append("all")
    }
    #expect(room.texts == ["after"] && done == ["before", "clear", "after", "all"])
  }

  // Proves C14, P41
  @Test("What a transaction does with the position: the number, the end, the row before the eyes")
  func modes() throws {
    func filled() -> Room {
      let room = Room()
      room.view.add((0..<100).map { .text("row \($0)", from: $0 % 2 == 0 ? alice : bob) })
      return room
    }
    func y(_ room: Room, _ handle: RowHandle) -> Double {
      let timeline = room.view.timeline
      return timeline.geometry.y(of: timeline.store.index(of: handle.id)!) - timeline.geometry.scrollTop
    }
    let more = (0..<20).map { NewRow.text("new \($0)", from: alice) }
    var room = filled()
    var last = room.view.rows[99]
    var before = y(room, last)
    room.view.transaction(.keepStable) { _ = $0.add(more) }
    #expect(abs(y(room, last) - before) < 0.5 && !room.view.timeline.isAtEnd)
    room = filled()
    room.view.transaction(.natural) { _ = $0.add(more) }
    #expect(room.view.timeline.isAtEnd)
    room = filled()
    room.scroll(to: 900)
    let top = room.view.timeline.geometry.scrollTop
    room.view.transaction(.none) { _ = $0.add(more, at: .start) }
    #expect(room.view.timeline.geometry.scrollTop == top)
    room = filled()
    room.scroll(to: 900)
    last = RowHandle(try #require(room.view.timeline.readingPosition).row)
    before = y(room, last)
    room.view.transaction(.natural) { _ = $0.add(more, at: .start) }
    #expect(abs(y(room, last) - before) < 0.5)
  }

  // Proves N6
  @Test("Typing rows are added and removed by handle")
  func typing() {
    let room = Room()
    let a = room.view.addTyping(alice)
    let b = room.view.addTyping(bob)
    #expect(room.view.hasTyping(a) && room.dom[room.view.root].all("mg-typing").count == 2)
    room.view.removeTyping(a)
    #expect(!room.view.hasTyping(a) && room.view.hasTyping(b))
    #expect(room.dom[room.view.root].first("mg-typing-text")?.text.contains("Bob") == true)
    room.view.clear()
    #expect(!room.view.hasTyping(b) && room.dom[room.view.root].first("mg-typing") == nil)
  }

  // Proves C15, J20, J23, W32
  @Test(
    "Older rows: asked for once at a time, also with less than a viewport; an error offers another try; the end is said")
  func older() throws {
    let room = Room()
    var asked = 0
    room.view.onNeedOlder = { asked += 1 }
    #expect(asked == 1 && room.dom[room.view.root].first("mg-spinner") != nil)
    room.view.endOlder([], .more(.failed))
    let retry = try #require(room.dom[room.view.root].first("mg-head")?.first("mg-button"))
    room.dom.fire(.click, on: retry.node)
    #expect(asked == 2)
    room.view.endOlder([.text("old", from: alice)], .start)
    #expect(room.texts == ["old"] && asked == 2)
    #expect(room.dom[room.view.root].first("mg-head")?.allText.contains("beginning") == true)
  }

  // Proves C15, J17, J18, W13
  @Test("Newer rows: the last row is not the end, nothing follows it, and what comes moves nobody")
  func newer() throws {
    let room = Room()
    var asked = 0
    room.view.onNeedNewer = { asked += 1 }
    room.view.add((0..<100).map { .text("row \($0)", from: alice) })
    room.scroll(to: 300)
    room.view.setTail(.more(.idle))
    #expect(asked == 0 && !room.view.timeline.isAtEnd)
    room.scroll(to: room.view.timeline.geometry.maxScroll)
    #expect(asked == 1 && !room.view.timeline.isAtEnd)
    let seen = try #require(room.view.timeline.readingPosition)
    room.view.endNewer((0..<100).map { .text("newer \($0)", from: bob) }, .more(.idle))
    let after = try #require(room.view.timeline.readingPosition)
    #expect(room.view.timeline.newMessageCount == 0)
    #expect(after.row == seen.row && abs(after.offset - seen.offset) < 0.5 && room.view.rows.count == 200 && asked == 1)
    room.scroll(to: room.view.timeline.geometry.maxScroll)
    room.view.endNewer([], .more(.failed))
    let retry = try #require(room.dom[room.view.root].first("mg-tail")?.first("mg-button"))
    room.dom.fire(.click, on: retry.node)
    #expect(asked == 3)
    room.view.endNewer([], .end)
    #expect(room.dom[room.view.root].first("mg-tail")?.allText.contains("latest") == true)
    room.view.scrollToEnd()
    #expect(room.view.timeline.isAtEnd)
  }

  // Proves P19
  @Test("The jump button leads to the live end where the host can, else to the last row")
  func jump() {
    let room = Room()
    var actions = 0
    var isHandled = true
    room.view.onAction = { action in
      if case .jumpToEnd = action { actions += 1 }
      return isHandled
    }
    room.view.add((0..<100).map { .text("row \($0)", from: alice) })
    room.view.setTail(.more(.failed))
    let top = room.view.timeline.geometry.scrollTop
    room.scroll(to: 0)
    room.dom.fire(.click, on: room.view.timeline.parts.jump)
    #expect(actions == 1 && room.view.timeline.geometry.scrollTop == 0)
    isHandled = false
    room.dom.fire(.click, on: room.view.timeline.parts.jump)
    #expect(actions == 2 && room.view.timeline.geometry.scrollTop >= top)
  }

  // Proves N10
  @Test("The loading row can be the host's")
  func loadingRow() {
    let room = Room()
    room.view.timeline.drawLoading = { room.dom.element("b", "mine", in: $0) }
    room.view.onNeedOlder = {}
    #expect(room.dom[room.view.root].first("mine") != nil && room.dom[room.view.root].first("mg-spinner") == nil)
  }

  // Proves B20, W17
  @Test("A message is announced at once, and what follows it closely once and together")
  func announcements() {
    let room = Room()
    let said = { room.dom[room.view.root].first("mg-announcer")?.text }
    room.view.add(.text("one", from: alice))
    #expect(said() == "Alice Ay: one")
    for number in 0..<30 { room.view.add(.text("\(number)", from: bob)) }
    room.view.add(.text("mine", from: me))
    #expect(said() == "Alice Ay: one")
    room.wait()
    #expect(said() == "30 new messages")
    room.wait()
    room.view.add(.text("two", from: alice))
    #expect(said() == "Alice Ay: two")
  }
}
