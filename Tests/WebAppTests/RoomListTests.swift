import ClientCore
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import WebApp

@Suite("The list of rooms")
struct RoomListTests {
  private static let direct =
    #""account_data":{"events":[{"type":"m.direct","content":{"@boris:chat.example":["!direct"]}}]}"#

  /// A favourite, a direct chat, a plain room, one of low priority and an invitation.
  private static func furnished() -> Page {
    let page = Page()
    page.signIn()
    let tagged = { (name: String, tag: String) in
      room(name, [("@boris:chat.example", "hello", 10)]).dropLast()
        + ",\"account_data\":{\"events\":[{\"type\":\"m.tag\",\"content\":{\"tags\":{\"\(tag)\":{}}}}]}}"
    }
    page.sync(
      answer: """
        \(direct),"rooms":{"join":{"!fav":\(tagged("Garden", "m.favourite")),"!low":\(tagged("Ads", "m.lowpriority")),\
        "!direct":\(room("Boris", unread: 2, [("@boris:chat.example", "hi", 20)])),\
        "!plain":\(room("Choir", unread: 3, [("@boris:chat.example", "hi", 30)]))},\
        "invite":{"!new":{"invite_state":{"events":[{"type":"m.room.name","state_key":"","sender":"@boris:chat.example",\
        "content":{"name":"Band"}},{"type":"m.room.member","state_key":"@alice:chat.example","sender":"@boris:chat.example",\
        "content":{"membership":"invite"}}]}}}}
        """)
    return page
  }

  private static func section(_ page: Page, _ title: Strings.Key) throws -> FakeElement {
    try #require(page.all("ma-section-rooms").first { $0.children.first?.allText.hasPrefix(Strings[title]) ?? false })
  }

  // Proves C23, J3
  @Test("rooms stand in sections: invitations, favourites, people, rooms, low priority")
  func sections() throws {
    let page = Self.furnished()
    #expect(page.all("ma-entry-name").map(\.text) == ["Band", "Garden", "Boris", "Choir", "Ads"])
    #expect(
      page.all("ma-section-button").map { page.all("ma-button-text", in: $0).map(\.text).joined() }
        == [.invitations, .favourites, .people, .rooms, .lowPriority].map { Strings[$0] })
  }

  // Proves J42
  @Test("a long section shows its next page where its end is scrolled to, or by its button; who moves up is on the first page")
  func long() {
    let page = Page()
    page.signIn()
    let names = (100..<250).map { "Room \($0)" }
    page.sync(names.enumerated().map { ("!r\($0)", room($1, [("@boris:chat.example", "hi", 1000 - $0)])) })
    #expect(page.all("ma-entry-name").map(\.text) == Array(names.prefix(60)))
    page.sync([("!r149", room(names[149], [("@boris:chat.example", "again", 2000)]))])
    #expect(page.all("ma-entry-name").map(\.text) == [names[149]] + names.prefix(59))
    page.click(Strings[.showMore, of: Strings[.rooms]])
    #expect(page.all("ma-entry-name").map(\.text) == [names[149]] + names.prefix(119))
    let scroller = page.all("ma-rooms")[0].node
    let end = page.dom.height(of: page.all("ma-section-rooms")[0])
    page.dom.fire(.scroll, on: scroller, x: end - 1_500, y: 800)
    #expect(page.all("ma-entry").count == 120)
    page.dom.fire(.scroll, on: scroller, x: end - 1_300, y: 800)
    #expect(page.all("ma-entry-name").map(\.text) == [names[149]] + names.dropLast())
    #expect(!page.all("ma-wide").contains { $0.allText == Strings[.showMore] })
  }

  @Test("a line drawn aside marks its room as read, or unread; of a room that one is not in the menu opens")
  func drawnAside() throws {
    let page = Self.furnished()
    func draw(_ name: String) throws {
      page.dom.fire(.aside, on: try #require(page.all("ma-entry").first { $0.allText.contains(name) }).node)
    }
    try draw("Ads")
    #expect(page.body(of: "m.marked_unread") == #"{"unread":true}"#)
    page.answer("/capabilities", #"{"capabilities":{"martlet.read_all":{"enabled":true}}}"#)
    try draw("Choir")
    #expect(page.body(of: "read_all").contains("!plain"))
    #expect(!page.app.dialogs.isOpen)
    try draw("Band")
    #expect(page.all("ma-menu-item").map(\.allText) == [Strings[.decline]])
  }

  @Test("until the first sync is there it is said that rooms come, and not that there are none")
  func coming() {
    let page = Page()
    page.signIn()
    #expect(page.all("ma-coming").count == 1 && page.text.contains(Strings[.loadingRooms]))
    #expect(!page.text.contains(Strings[.noRooms]))
    page.sync([])
    #expect(page.all("ma-coming").isEmpty && page.text.contains(Strings[.noRooms]))
  }

  @Test("A folded section counts what is unread in all its rooms, also in those of further pages")
  func longAndFolded() throws {
    let page = Page()
    page.signIn()
    page.sync(
      (100..<250).map {
        ("!r\($0)", room("Room \($0)", unread: $0 == 249 ? 7 : 0, [("@boris:chat.example", "hi", 1000 - $0)]))
      })
    let button = try #require(page.all("ma-section-button", in: try Self.section(page, .rooms)).first)
    page.dom.fire(.click, on: button.node)
    #expect(page.all("ma-badge", in: button).map(\.text) == ["7"])
  }

  // Proves P31
  @Test("a folded section hides its rooms and shows what is unread in them")
  func folded() throws {
    let page = Self.furnished()
    let button = try #require(page.all("ma-section-button", in: try Self.section(page, .rooms)).first)
    page.dom.fire(.click, on: button.node)
    #expect(button.attributes["aria-expanded"] == "false")
    #expect(!page.all("ma-entry-name").map(\.text).contains("Choir"))
    #expect(page.all("ma-badge", in: button).map(\.text) == ["3"])
    page.sync([("!plain", room("Choir", unread: 5, [("@boris:chat.example", "more", 40)]))])
    #expect(page.all("ma-badge", in: button).map(\.text) == ["5"])
    page.dom.fire(.click, on: button.node)
    #expect(page.all("ma-entry-name").map(\.text).contains("Choir"))
    #expect(page.all("ma-badge", in: button).map(\.text) == [""])
  }

  // Proves C25
  @Test("words find rooms of all sections, the best first; none says so")
  func found() throws {
    let page = Page()
    page.signIn()
    page.sync((0..<9).map { ("!r\($0)", room("Room \($0)", [("@boris:chat.example", "hello", $0)])) })
    let field = try #require(page.all("ma-filter-input").first)
    func found() -> [String] { page.all("ma-target").flatMap { page.all("ma-entry-name", in: $0) }.map(\.text) }
    page.dom.fire(.input, on: field.node, text: "oom 4")
    #expect(found() == ["Room 4"])
    page.dom.fire(.input, on: field.node, text: "zebra")
    #expect(found().isEmpty)
    page.dom.fire(.input, on: field.node, text: "")
    #expect(found().isEmpty && page.all("ma-entry").count == 9)
  }

  @Test("only unread rooms are shown where that is chosen")
  func unreadOnly() throws {
    let page = Page()
    page.signIn()
    page.sync((0..<9).map { ("!r\($0)", room("Room \($0)", unread: $0 % 4 == 1 ? 1 : 0, [("@boris:chat.example", "x", $0)])) })
    page.click(Strings[.shownConversations])
    page.click(Strings[.unreadOnly])
    #expect(page.all("ma-entry-name").map(\.text) == ["Room 5", "Room 1"])
  }

  // Proves C64
  @Test("the arrows go through the rooms that can be seen, and Tab comes to one of them")
  func keyboard() throws {
    let page = Self.furnished()
    let entries = page.all("ma-entry")
    #expect(entries.filter { $0.attributes["tabindex"] == "0" }.count == 1)
    page.dom.fire(.click, on: try #require(page.all("ma-section-button", in: try Self.section(page, .people)).first).node)
    page.dom.fire(.keyDown, on: entries[1].node, text: "ArrowDown")
    #expect(page.dom.focused == entries[3].node && entries[3].attributes["tabindex"] == "0")
    page.dom.fire(.keyDown, on: entries[3].node, text: "Home")
    #expect(page.dom.focused == entries[0].node && entries[3].attributes["tabindex"] == "-1")
    page.dom.fire(.keyDown, on: entries[0].node, text: "End")
    #expect(page.dom.focused == entries[4].node)
    page.dom.fire(.click, on: try #require(page.all("ma-section-button", in: try Self.section(page, .lowPriority)).first).node)
    #expect(page.all("ma-entry").filter { $0.attributes["tabindex"] == "0" }.map(\.node) == [entries[0].node])
    page.sync(answer: #""rooms":{"leave":{"!new":{}}}"#)
    #expect(page.all("ma-entry").filter { $0.attributes["tabindex"] == "0" }.map(\.node) == [entries[1].node])
  }

  // Proves J10
  @Test("the menu of a room makes it a favourite in the place of its low priority, and leaves it after a question")
  func menu() throws {
    let page = Self.furnished()
    let entry = try #require(page.all("ma-entry").last)
    page.dom.fire(.contextMenu, on: entry.node)
    page.click(Strings[.makeFavourite])
    #expect(page.requests.contains { $0.request.method == .put && $0.request.target.hasSuffix("/tags/m.favourite") })
    #expect(page.requests.contains { $0.request.method == .delete && $0.request.target.hasSuffix("/tags/m.lowpriority") })
    page.dom.fire(.contextMenu, on: entry.node)
    page.click(Strings[.markUnread])
    #expect(page.body(of: "m.marked_unread").contains("true"))
    #expect(entry.attributes["aria-label"] == "Ads, " + Strings[.markedUnread])
    page.dom.fire(.contextMenu, on: entry.node)
    page.click(Strings[.leave])
    page.submitDialog()
    #expect(page.requests.contains { $0.request.target.hasSuffix("/leave") })
  }

  @Test("commands that are alike say in a line what each does, and go by their name alone")
  func alike() throws {
    let page = Self.furnished()
    page.dom.fire(.contextMenu, on: try #require(page.all("ma-entry").first { $0.allText.contains("Choir") }).node)
    let items = page.all("ma-menu-item").filter { !page.all("ma-menu-about", in: $0).isEmpty }
    #expect(
      items.map { $0.attributes["aria-label"] }
        == [Strings[.muteRoom], Strings[.snooze], Strings[.notifications], Strings[.makeLowPriority]])
    #expect(items.allSatisfy { $0.attributes["aria-description"] == page.all("ma-menu-about", in: $0).first?.text })
  }

  // Proves P31
  @Test("a favourite is moved by as few orders as it takes")
  func moved() throws {
    let page = Page()
    page.signIn()
    let tagged = { (tag: String) in
      "\"account_data\":{\"events\":[{\"type\":\"m.tag\",\"content\":{\"tags\":{\"m.favourite\":\(tag)}}}]}}"
    }
    page.sync(
      (0..<4).map { number in
        let content = room("Room \(number)", [("@boris:chat.example", "hi", 9)]).dropLast()
        return ("!f\(number)", content + "," + tagged("{\"order\":0.\(number * 2 + 1)}"))
      })
    for (words, expected) in [(Strings.Key.moveUp, [0, 2, 1, 3]), (.moveDown, [0, 1, 2, 3])] {
      page.dom.fire(.contextMenu, on: try #require(page.all("ma-entry").first { $0.allText.contains("Room 2") }).node)
      page.click(Strings[words])
      #expect(page.requests.filter { $0.request.target.contains("/tags/") }.map { $0.request.target.contains("f2/") } == [true])
      let tag = page.body(of: "/tags/")
      page.answer("/tags/", "{}")
      page.sync([("!f2", "{" + tagged(tag))])
      #expect(page.all("ma-entry-name").map(\.text) == expected.map { "Room \($0)" })
    }
  }

  // Proves P26
  @Test("a room is muted from its menu, which marks what holds; where the server refuses that is said, and nothing changes")
  func muted() throws {
    let page = Self.furnished()
    func marked() throws -> [String] {
      page.dom.fire(.contextMenu, on: try #require(page.all("ma-entry").first { $0.allText.contains("Choir") }).node)
      page.click(Strings[.notifications])
      return page.all("ma-menu-item").filter { $0.attributes["aria-checked"] == "true" }.map(\.allText)
    }
    #expect(try marked() == [Strings[.notifyDefault]])
    page.click(Strings[.notifyNothing])
    #expect(page.requests.contains { $0.request.target.contains("/pushrules/") })
    page.answer("/pushrules/", status: 403, #"{"errcode":"M_FORBIDDEN","error":"No."}"#)
    #expect(page.text.contains("No."))
    #expect(try marked() == [Strings[.notifyDefault]])
  }

  // Proves B4, C70, J40, W5
  @Test("the badge of the page is the sum of the rooms and the number in the title", arguments: 0..<40)
  func sum(_ seed: Int) {
    var random = SeededRandom(seed)
    let page = Page()
    page.signIn()
    for step in 0..<12 {
      let rooms = (0..<8).filter { _ in random.next(3) == 0 }.map { number -> (String, String) in
        let count = random.next(2) * random.next(12)
        return ("!r\(number)", room("Room \(number)", unread: count, [("@boris:chat.example", "x", step * 10 + number)]))
      }
      page.sync(rooms)
      if random.next(4) == 0, let heading = page.all("ma-section-button").first { page.dom.fire(.click, on: heading.node) }
      let badges = page.all("ma-badge").filter { !$0.has("ma-at") }.compactMap { Int($0.text) }
      let sum = badges.reduce(0, +)
      #expect(page.app.shownCount == sum)
      #expect(page.app.shownTitle == (sum == 0 ? "" : "(\(sum)) ") + Strings[.product])
    }
  }
}

/// Splitmix64.
struct SeededRandom {
  private var state: UInt64

  init(_ seed: Int) { state = UInt64(seed) }

  mutating func next(_ bound: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((z ^ (z >> 31)) % UInt64(bound))
  }
}
