import MessengerTesting
import Testing

@testable import Messenger

@Suite("Motion of rows")
struct MotionTests {
  typealias Room = MessengerViewTests.Room

  // Proves C12
  @Test("Messages slide in from their sender's side, other rows fade, and what was there comes from where it was")
  func comingIn() throws {
    let room = Room()
    let a = room.view.add(.text("a", from: alice))
    let height = room.dom.height(of: try #require(room.element(a)))
    let b = room.view.add(.text("b", from: me))
    #expect(room.element(b)?.has("mg-sliding") == true && room.element(b)?.has("mg-own") == true)
    let moved = try #require(room.element(a))
    #expect(moved.has("mg-shifted") || moved.has("mg-shifted-again"))
    #expect((moved.variables["--mg-shift"] ?? 0) > 0 && room.dom.height(of: moved) <= height)
    let line = room.view.add(NewRow(.line("Bob left")))
    #expect(room.element(line)?.has("mg-fading") == true)
    let before = try #require(room.element(a)).classes
    room.view.add(.text("c", from: me))
    #expect(try #require(room.element(a)).classes != before, "one motion can follow the other")
  }

  // Proves C11, N11
  @Test("A message that joins a group comes once the group has grown; the avatar glides to it and back")
  func group() throws {
    let room = Room(avatars: .groupEnd)
    let handles = room.view.add((0..<60).map { .text("row \($0)", from: $0 % 2 == 0 ? alice : bob) })
    room.scroll(to: 1500)
    let row = room.view.timeline.rendered.first { view in
      let y = room.view.timeline.geometry.y(of: view.index) - room.view.timeline.geometry.scrollTop
      return y > 200 && room.view.timeline.decor(view.index).contains(.avatar)
    }
    let a = RowHandle(try #require(row).id)
    let b = room.view.add(.text("b", from: handles.firstIndex(of: a)! % 2 == 0 ? alice : bob), toGroupOf: a)
    let second = try #require(room.element(b))
    #expect(second.has("mg-fading") && second.has("mg-late") && second.has("mg-has-avatar"))
    #expect(room.element(a)?.has("mg-has-avatar") == false)
    #expect(room.view.group(of: a) == [a, b])
    #expect(second.has("mg-gliding") && (second.variables["--mg-glide"] ?? 0) < 0)
    room.view.removeFromGroup(b)
    let first = try #require(room.element(a))
    #expect(first.has("mg-has-avatar") && first.has("mg-gliding") && (first.variables["--mg-glide"] ?? 0) > 0)
    #expect(room.view.group(of: a) == [a])
  }

  // Proves N11
  @Test("A row that is removed is seen to fade where it was, out of reach of hands and ears, and is gone after")
  func ghosts() throws {
    let room = Room()
    let handles = room.view.add((0..<5).map { .text("row \($0)", from: $0 % 2 == 0 ? alice : bob) })
    let nodes = room.dom.liveNodeCount
    let old = try #require(room.element(handles[2]))
    room.view.remove(handles[2])
    let ghost = try #require(room.dom[room.view.root].first("mg-ghost"))
    #expect(ghost === old && ghost.has("mg-ghost-slides") && !ghost.has("mg-row") && ghost.attributes["inert"] != nil)
    #expect(ghost.parent?.attributes["aria-hidden"] == "true" && room.texts.count == 4)
    room.wait()
    #expect(room.dom[room.view.root].first("mg-ghost") == nil && room.dom.liveNodeCount < nodes)
    // And at once when the reader scrolls or something else changes.
    room.view.remove(handles[0], motion: .fade)
    room.view.remove(handles[1], motion: .none)
    #expect(room.dom[room.view.root].first("mg-ghost") == nil && room.texts.count == 2)
    room.wait()
  }

  // Proves N6
  @Test("A typing row enters and leaves in its place, and the others' rows stay as they are")
  func typing() throws {
    let room = Room()
    room.view.add(.text("a", from: alice))
    let (a, b) = (room.view.addTyping(alice), room.view.addTyping(bob))
    func rows(_ parent: String) -> [FakeElement] { room.dom[room.view.root].first(parent)?.all("mg-typing") ?? [] }
    let before = rows("mg-typing-rows")
    #expect(before.count == 2)
    room.view.removeTyping(a)
    #expect(rows("mg-typing-rows").elementsEqual([before[1]], by: ===), "the row of the other is the one that it was")
    #expect(rows("mg-ghosts").elementsEqual([before[0]], by: ===) && before[0].variables["--mg-place"] == 1)
    #expect(before[0].parent?.attributes["aria-hidden"] == "true")
    room.view.removeTyping(b)
    #expect(rows("mg-typing-rows").isEmpty && rows("mg-ghosts").count == 2 && before[1].variables["--mg-place"] == 0)
    room.wait()
    #expect(rows("mg-ghosts").isEmpty)
    // And at once when the reader scrolls or something else changes.
    let c = room.view.addTyping(bob)
    room.view.removeTyping(c)
    #expect(rows("mg-ghosts").count == 1)
    room.view.add(.text("b", from: bob))
    #expect(rows("mg-ghosts").isEmpty)
    room.wait()
  }

  // Proves N11
  @Test("A row that takes the place of another fades in there, while the others stand still")
  func replacing() throws {
    let room = Room()
    let handles = room.view.add((0..<5).map { .text("row \($0)", from: $0 % 2 == 0 ? alice : bob) })
    room.wait()
    let new = room.view.replace(handles[2], with: .text("another", from: alice))
    #expect(room.element(new)?.has("mg-fading") == true && room.element(handles[2]) == nil)
    #expect(room.texts == ["row 0", "row 1", "another", "row 3", "row 4"])
    for other in [0, 1, 3, 4] {
      let element = try #require(room.element(handles[other]))
      for motion in ["mg-fading", "mg-sliding", "mg-shifted", "mg-shifted-again"] { #expect(!element.has(motion)) }
    }
    // Nothing of the old one is left behind, and a second one takes its place in the same way.
    #expect(room.dom[room.view.root].first("mg-ghost") == nil)
    let next = room.view.replace(new, with: .text("a third one", from: me))
    #expect(room.element(next)?.has("mg-fading") == true && room.element(next)?.has("mg-own") == true)
    // Without motion one stands where the other stood, at once.
    let still = room.view.replace(handles[4], with: .text("still", from: alice), motion: RowMotion.none)
    #expect(room.element(still)?.has("mg-fading") == false)
  }

  // Proves C12
  @Test("Rows out of view do not move")
  func outOfView() {
    let room = Room()
    let handles = room.view.add((0..<300).map { .text("row \($0)", from: $0 % 2 == 0 ? alice : bob) })
    room.scroll(to: 4000)
    for element in room.dom[room.view.timeline.parts.window].children {
      #expect(!element.has("mg-shifted") && !element.has("mg-shifted-again"))
    }
    room.view.remove(handles[0])
    room.view.remove(handles[299])
    room.view.add(.text("far below", from: bob))
    #expect(room.dom[room.view.root].first("mg-ghost") == nil)
    #expect(room.dom[room.view.timeline.parts.window].children.allSatisfy { !$0.has("mg-shifted") && !$0.has("mg-sliding") })
  }

  @Test("A crowd does not come in moving, and nothing moves without a clock to end it or when not asked to")
  func still() {
    let room = Room()
    room.view.add((0..<10).map { .text("row \($0)", from: alice) }, motion: .slide)
    #expect(room.dom[room.view.timeline.parts.window].children.allSatisfy { !$0.has("mg-sliding") })
    let handle = room.view.add(.text("x", from: bob), motion: RowMotion.none)
    #expect(room.element(handle)?.has("mg-sliding") == false && room.element(handle)?.has("mg-entering") == false)
  }
}

@Suite("Bubbles")
struct BubbleTests {
  // Proves C10, N8
  @Test("A configuration is classes and properties of the list; another one takes the place of all of it")
  func properties() {
    let screen = Screen()
    screen.timeline.load([message(1), message(2)], head: .hidden)
    let root = screen.dom[screen.timeline.root]
    var bubbles = BubbleConfiguration.standard
    bubbles.border = (2, "red")
    bubbles.masksContent = false
    screen.timeline.setBubbles(bubbles)
    #expect(root.classes == "mg-timeline mg-primary-tailed mg-secondary-stacked mg-unmasked mg-bordered")
    #expect(root.styles["--mg-own"] == "rgb(74 144 226)" && root.styles["--mg-radius"] == "16px")
    #expect(root.styles["--mg-border-width"] == "2px" && root.styles["--mg-border-colour"] == "red")
    screen.timeline.setBubbles(.image(.init(outgoing: "own.png", incoming: "other.png")))
    #expect(root.styles["--mg-patch-own"] == #"url("own.png") 29 32 25 43 fill"# && root.classes.contains("mg-primary-image"))
    screen.timeline.setBubbles(.house)
    #expect(root.classes == "mg-timeline" && root.styles.isEmpty)
  }

  // Proves N8
  @Test("An address that would end its place is not used", arguments: ["a\")", "a b", "a\\", "a\n"])
  func hostilePatch(source: String) {
    let bubbles = BubbleConfiguration.image(.init(outgoing: source, incoming: "x"))
    #expect(bubbles.properties.first { $0.name == "--mg-patch-own" }?.value == "")
  }

  // Proves C10, N9
  @Test("A new look measures what is rendered anew and keeps the row before the eyes")
  func keepsPlace() throws {
    let screen = Screen()
    screen.timeline.load((1...300).map { message($0) }, head: .hidden)
    screen.scroll(to: 3000)
    let anchor = try #require(screen.visible().first { $0.y >= 0 })
    for view in screen.timeline.rendered { screen.dom.extraHeights[view.node.id] = 4 }
    screen.timeline.setBubbles(.simple)
    let now = try #require(screen.visible().first { $0.id == anchor.id })
    #expect(abs(now.y - anchor.y) <= 0.5 && now.height == anchor.height + 4)
  }
}
