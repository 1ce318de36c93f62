import ClientCore
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import WebApp

@Suite("Going to rooms and people")
struct FindingTests {
  private static func page() -> Page {
    let page = Page()
    page.signIn()
    page.sync(
      ["Garden", "Choir", "Stage crew"].enumerated().map {
        ("!r\($0.offset)", room($0.element, [("@boris:chat.example", "x", $0.offset)]))
      }
    )
    return page
  }

  private static func type(_ text: String, _ page: Page) throws {
    page.dom.fire(.input, on: try #require(page.all("ma-filter-input").first).node, text: text)
  }

  private static func press(_ key: String, _ page: Page) throws {
    page.dom.fire(.keyDown, on: try #require(page.all("ma-filter-input").first).node, text: key)
  }

  private static func titles(_ page: Page) -> [String] { page.all("ma-found-title").map(\.text) }

  // Proves C25, P46
  @Test("a few letters find a room, Enter opens it, and the rooms stand there again")
  func opened() throws {
    let page = Self.page()
    try Self.type("crw", page)
    #expect(page.all("ma-target").count == 1)
    #expect(Self.titles(page) == [Strings[.rooms]])
    try Self.press("Enter", page)
    #expect(page.app.place == .room(try #require(RoomID("!r2"))))
    #expect(page.all("ma-target").isEmpty)
    #expect(page.all("ma-filter-input").first?.value == "")
  }

  @Test("the arrows go round through all groups, and the field says which is chosen")
  func arrows() throws {
    let page = Self.page()
    let field = try #require(page.all("ma-filter-input").first)
    try Self.type("r", page)
    #expect(page.all("ma-target").count == 3)
    #expect(field.attributes["aria-activedescendant"] == "ma-found-rooms-0")
    for key in ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"] { try Self.press(key, page) }
    #expect(field.attributes["aria-activedescendant"] == "ma-found-rooms-2")
    #expect(page.all("ma-target").map { $0.attributes["aria-selected"] } == ["false", "false", "true"])
  }

  // Proves C25, P46
  @Test("the ID of somebody unknown starts a direct chat with them")
  func stranger() throws {
    let page = Self.page()
    try Self.type("@nora:other.example", page)
    #expect(page.all("ma-target").map(\.allText).contains { $0.contains(Strings[.startChatWith, "@nora:other.example"]) })
    try Self.press("Enter", page)
    page.answer("/versions", #"{"versions":["v1.11"]}"#)
    page.answer("/capabilities", #"{"capabilities":{}}"#)
    #expect(page.body(of: "/createRoom").contains("@nora:other.example"))
    page.answer("/createRoom", #"{"room_id":"!new"}"#)
    #expect(page.app.place.room?.string == "!new")
  }

  @Test("people stand in a group of their own, above the rooms if one of them fits best, and by their names alone")
  func people() throws {
    let page = Self.page()
    page.sync([
      (
        "!dm",
        """
        {"summary":{"m.heroes":["@boris:chat.example"],"m.joined_member_count":2},"timeline":{"events":[\
        \(event("$b", #"{"membership":"join","displayname":"Boris"}"#, type: "m.room.member", at: 9, state: "@boris:chat.example"))]}}
        """
      ),
      (
        "!c",
        """
        {"state":{"events":[{"type":"m.room.name","state_key":"","event_id":"$t","sender":"@alice:chat.example","content":{"name":"Tea"}}]},\
        "timeline":{"events":[\
        \(event("$c", #"{"membership":"join","displayname":"Bora"}"#, type: "m.room.member", at: 9, state: "@bora:chat.example"))]}}
        """
      )
    ])
    page.sync(
      answer: #""account_data":{"events":[{"type":"m.direct","content":{"@boris:chat.example":["!dm"]}}]}"#)
    try Self.type("bor", page)
    #expect(Self.titles(page).first == Strings[.people])
    #expect(
      page.all("ma-target").prefix(2).map(\.allText).map { $0.hasSuffix("Boris") || $0.hasSuffix("Bora") } == [true, true])
    #expect(page.all("ma-found").first?.allText.contains("@bor") == false)
  }

  @Test("Escape leaves what was found, and the rooms stand there as before")
  func left() throws {
    let page = Self.page()
    try Self.type("garden", page)
    #expect(page.all("ma-list").first?.has("ma-searching") == true)
    try Self.press("Escape", page)
    #expect(page.all("ma-filter-input").first?.value == "")
    #expect(page.all("ma-list").first?.has("ma-searching") == false && page.all("ma-entry").count == 3)
  }

  // Proves C26, C27, J3, J46
  @Test("the directory shows public rooms page by page; one joins, or asks where that is what they want")
  func directory() throws {
    let page = Page()
    page.signIn()
    page.sync([])
    // What an empty client wants to know for its cards.
    page.answer("/publicRooms", #"{"chunk":[]}"#)
    page.click(Strings[.newConversation])
    page.click(Strings[.joinRoom])
    page.answer(
      "/publicRooms",
      """
      {"chunk":[{"room_id":"!tea","name":"Tea","num_joined_members":7,"join_rule":"public"},
      {"room_id":"!club","name":"Club","num_joined_members":3,"join_rule":"knock"},
      {"room_id":"!odd","name":"Odd","num_joined_members":1,"join_rule":"private"}],"next_batch":"two"}
      """)
    #expect(page.all("ma-listed").count == 3)
    page.click(Strings[.askToJoin, of: "Club"])
    #expect(page.requests.contains { $0.request.target.contains("/knock/") })
    page.click(Strings[.showMore])
    #expect(page.requests.contains { $0.request.target.contains("since=two") })
    page.answer("/publicRooms", #"{"chunk":[{"room_id":"!late","name":"Late","num_joined_members":1}]}"#)
    #expect(page.all("ma-listed").count == 4)
    page.click(Strings[.join, of: "Tea"])
    #expect(page.requests.contains { $0.request.target.contains("tea/join") })
  }

  // Proves J48
  @Test("where the server tells its people by pages they stand there before a name is written; a click starts a chat")
  func everybody() throws {
    let page = Page()
    page.signIn()
    page.sync([])
    page.click(Strings[.newConversation])
    #expect(!page.requests.contains { $0.request.target.contains("martlet.paging") })
    page.app.dialogs.closeAll()
    page.answer("/capabilities", #"{"capabilities":{"martlet.paging":{"enabled":true}}}"#)
    page.click(Strings[.newConversation])
    let users = #"[{"user_id":"@alice:chat.example"},{"user_id":"@boris:chat.example","display_name":"Bo"}]"#
    page.answer("martlet.paging/users", #"{"users":\#(users),"has_next":true,"next_batch":"two"}"#)
    #expect(page.all("ma-member").map { page.all("ma-entry-name", in: $0).map(\.text) } == [["Bo"]])
    page.click(Strings[.showMore])
    #expect(page.requests.contains { $0.request.target.contains("from=two") })
    page.answer("martlet.paging/users", #"{"users":[{"user_id":"@carla:chat.example"}],"has_next":false}"#)
    #expect(page.all("ma-member").count == 2 && !page.all("ma-wide").contains { $0.allText == Strings[.showMore] })
    page.type("@d", into: Strings[.personField])
    #expect(page.all("ma-member").isEmpty)
    page.type("", into: Strings[.personField])
    page.dom.fire(.click, on: try #require(page.all("ma-member").last).node)
    page.answer("/createRoom", #"{"room_id":"!new"}"#)
    #expect(page.app.place.room?.string == "!new")
  }

  @Test("a new space is made as one")
  func space() throws {
    let page = Page()
    page.signIn()
    page.sync([])
    page.click(Strings[.newConversation])
    page.click(Strings[.newRoom])
    let kind = try #require(page.all("ma-choice").first { $0.attributes["aria-label"] == Strings[.kindOfRoom] })
    page.dom.fire(.change, on: kind.node, text: "space")
    page.type("Club", into: Strings[.roomName])
    page.submit()
    #expect(page.body(of: "/createRoom").contains("m.space"))
  }

  @Test("a page of the directory that cannot be had says why and can be asked for again")
  func troubled() throws {
    let page = Page()
    page.signIn()
    page.sync([])
    // What an empty client wants to know for its cards.
    page.answer("/publicRooms", #"{"chunk":[]}"#)
    page.click(Strings[.newConversation])
    page.click(Strings[.joinRoom])
    page.answer("/publicRooms", status: 502, #"{"errcode":"M_UNKNOWN","error":""}"#)
    #expect(page.text.contains(Strings[.serverInTrouble]))
    page.click(Strings[.retry])
    #expect(!page.text.contains(Strings[.serverInTrouble]))
    #expect(page.answer("/publicRooms", #"{"chunk":[]}"#))
    #expect(page.text.contains(Strings[.noPublicRooms]) && !page.text.contains(Strings[.retry]))
  }

  // Proves J48
  @Test("the people of a server come by pages as one scrolls near the end, once each, and the arrows go through them")
  func scrolled() throws {
    let page = Page()
    page.signIn()
    page.sync([])
    page.answer("/capabilities", #"{"capabilities":{"martlet.paging":{"enabled":true}}}"#)
    page.click(Strings[.newConversation])
    func answer(_ numbers: Range<Int>, _ next: String?) {
      let users = numbers.map { #"{"user_id":"@u\#($0):chat.example"}"# }.joined(separator: ",")
      page.answer(
        "martlet.paging/users",
        #"{"users":[\#(users)],"has_next":\#(next != nil)"# + (next.map { #","next_batch":"\#($0)"}"# } ?? "}"))
    }
    answer(0..<20, "two")
    let body = try #require(page.all("ma-dialog-body").last)
    let height = page.dom.height(of: try #require(page.all("ma-members", in: body).first))
    page.dom.fire(.scroll, on: body.node, x: height - 1_000, y: 600)
    #expect(page.count("from=two") == 0)
    for _ in 0..<2 { page.dom.fire(.scroll, on: body.node, x: height - 700, y: 600) }
    #expect(page.count("from=two") == 1)
    answer(20..<30, nil)
    #expect(page.all("ma-member").count == 30)
    let first = try #require(page.all("ma-member").first).node
    page.dom.fire(.keyDown, on: first, text: "ArrowDown")
    #expect(page.dom.focused == page.all("ma-member")[1].node)
  }
}
