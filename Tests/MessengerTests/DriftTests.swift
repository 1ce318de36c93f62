import Foundation
import MessengerTesting
import Testing

@testable import Messenger

@Suite("Guesses that are wrong while one scrolls")
struct DriftTests {
  /// A long timeline with a clock, whose guesses are off by a factor.
  private final class Reader {
    let screen: Screen
    private let clock = Clock()

    init(guesses: Float, pageLimit: Double = 8_000_000) {
      screen = Screen(options: clock.options())
      screen.timeline.geometry.pageLimit = pageLimit
      var conversation = Conversation(seed: 12)
      screen.timeline.load(conversation.rows(1..<2001, from: 0), head: .hidden)
      let rendered = Set(screen.timeline.rendered.map(\.index))
      for index in 0..<2000 where !rendered.contains(index) {
        screen.timeline.geometry.heights.set(index, screen.timeline.geometry.heights.heights[index] * guesses)
      }
      screen.timeline.scrollToEnd()
    }

    var geometry: Geometry { screen.timeline.geometry }
    var isAtRest: Bool { clock.isIdle }

    func rest() { clock.pass() }

    /// Scrolls as far as the page lets it. What is in view moves by as much and nothing is blank, whatever was guessed.
    func step(_ distance: Double) {
      let (before, top) = (screen.visible(), screen.top)
      screen.dom.setLength(screen.scroller, .scrollTop, max(0, min(top + distance, geometry.pageHeight - screen.viewport)))
      let moved = screen.top - top
      screen.dom.fire(.scroll, on: screen.scroller, x: screen.top, y: screen.viewport)
      let after = screen.rows()
      for row in before where row.y - moved >= 0 && row.y - moved < screen.viewport && row.y >= 0 {
        let now = after.first { $0.id == row.id }?.y ?? .infinity
        #expect(abs(now - (row.y - moved)) <= 0.5)
      }
      expectCovered(screen)
    }
  }

  // Proves W4
  @Test(
    "The page does not scroll itself while one scrolls, which would end a finger's fling in Safari; at rest all is exact, and nothing moves",
    arguments: [0.5, 4])
  func rest(guesses: Float) {
    let reader = Reader(guesses: guesses)
    for step in 1...100 {
      let top = reader.screen.top
      reader.step(-133)
      if step > 20 { #expect(reader.screen.top == top - 133) }
    }
    #expect(abs(reader.geometry.drift) > 500 && (reader.geometry.drift > 0) == (guesses < 1))
    let before = reader.screen.visible()
    reader.rest()
    #expect(reader.geometry.drift == 0 && reader.screen.top == reader.geometry.scrollTop)
    #expect(reader.screen.dom[reader.screen.timeline.parts.content].lengths[.height] == reader.geometry.contentHeight)
    #expect(isUnmoved(before, reader.screen.visible()))
    reader.step(-133)
    reader.step(133)
  }

  /// Guesses, and the height that a page may have: each of them in some pair; `MARTLET_LONG=1` for all pairs.
  private static let pages: [(Float, Double)] =
    ProcessInfo.processInfo.environment["MARTLET_LONG"] == nil
    ? [(0.5, 8_000_000), (0.8, 20_000), (2, 8_000_000), (4, 20_000)]
    : [0.5, 0.8, 2, 4].flatMap { guesses in [8_000_000, 20_000].map { (guesses, $0) } }

  @Test(
    "Both ends are reached without a rest, step by step and by the scrollbar, in a list that is higher than a page too",
    arguments: pages)
  func ends(guesses: Float, pageLimit: Double) {
    let reader = Reader(guesses: guesses, pageLimit: pageLimit)
    for direction in [-1.0, 1] {
      var place = Double.infinity
      while place != reader.geometry.scrollTop {
        place = reader.geometry.scrollTop
        reader.step(350 * direction)
      }
      #expect(direction < 0 ? reader.screen.visible().first?.id == RowID(1) : reader.screen.timeline.isAtEnd)
    }
    // The end of a part of the list is not the list's end.
    for isUp in [true, false, true] where pageLimit > 1_000_000 {
      reader.screen.scroll(to: reader.geometry.pageHeight / 2)
      for _ in 0..<30 { reader.step(isUp ? -200 : 200) }
      reader.screen.scroll(to: isUp ? 0 : .infinity)
      #expect(isUp ? reader.screen.visible().first?.id == RowID(1) : reader.screen.visible().last?.id == RowID(2000))
      #expect(reader.geometry.distanceToStart < 1 || reader.geometry.distanceToEnd < 1)
    }
  }

  @Test("What changes meanwhile moves nobody, and sets all right", arguments: [0.5, 4])
  func changes(guesses: Float) {
    let reader = Reader(guesses: guesses)
    var next: UInt64 = 10_000
    for change in 0..<20 {
      for _ in 0..<20 { reader.step(-133) }
      #expect(reader.geometry.drift != 0)
      let before = reader.screen.visible()
      next += 1
      reader.screen.timeline.apply([
        change % 2 == 0 ? .append([message(next, at: 90_000_000 + Int64(next))]) : .prepend([message(next, at: 0)])
      ])
      #expect(reader.geometry.drift == 0 && isUnmoved(before, reader.screen.visible()))
    }
  }

  @Test(
    "Screens that round positions end the same: what the page tells of its own scrolling asks for no rest for ever",
    arguments: [0.5, 4])
  func rounding(guesses: Float) {
    let reader = Reader(guesses: guesses)
    func tell() {
      let rounded = (reader.screen.top * 1.25).rounded() / 1.25
      reader.screen.dom.setLength(reader.screen.scroller, .scrollTop, rounded)
      reader.screen.dom.fire(.scroll, on: reader.screen.scroller, x: rounded, y: reader.screen.viewport)
    }
    for step in 0..<200 {
      reader.step(-33.7)
      tell()
      guard step % 20 == 19 else { continue }
      for _ in 0..<2 {
        reader.rest()
        tell()
      }
      reader.rest()
      #expect(reader.geometry.drift == 0 && reader.isAtRest)
    }
  }

  @Test("Who closes, hides or loads anew meanwhile has the rest for nothing")
  func gone() {
    func scrolled() -> Reader {
      let reader = Reader(guesses: 0.5)
      for _ in 0..<40 { reader.step(-133) }
      #expect(reader.geometry.drift != 0 && !reader.isAtRest)
      return reader
    }
    let hidden = scrolled()
    let before = hidden.screen.visible()
    hidden.screen.dom.fire(.resize, on: hidden.screen.scroller, x: 0, y: 0)
    hidden.rest()
    hidden.screen.dom.fire(.resize, on: hidden.screen.scroller, x: 600, y: 800)
    #expect(hidden.geometry.drift == 0 && isUnmoved(before, hidden.screen.visible()))
    let loaded = scrolled()
    loaded.screen.timeline.load([message(1)], head: .hidden)
    loaded.rest()
    #expect(loaded.geometry.drift == 0 && loaded.screen.visible().map(\.id) == [RowID(1)])
    let closed = scrolled()
    closed.screen.timeline.close()
    closed.rest()
    #expect(closed.screen.timeline.rendered.isEmpty && closed.isAtRest)
  }
}
