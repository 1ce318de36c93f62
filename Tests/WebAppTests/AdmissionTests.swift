import ClientCore
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import Testing

@testable import WebApp

private func state(_ type: String, _ content: String, key: String = "", at seconds: Int = 2) -> String {
  event("$\(type)\(key)\(seconds)", content, type: type, by: "@owner:chat.example", at: seconds, state: key)
}

@Suite("Into rooms and out of them")
struct AdmissionTests {
  private let page = Page()
  private static let refusal = #"{"errcode":"M_FORBIDDEN","error":"No."}"#

  /// A room that Alice has left by herself.
  private func leave(joinRule: String) throws {
    try page.openRoom([
      state("m.room.create", #"{"room_version":"10"}"#), state("m.room.name", #"{"name":"Garden"}"#),
      state("m.room.join_rules", #"{"join_rule":"\#(joinRule)"}"#),
      state("m.room.member", #"{"membership":"join"}"#, key: "@alice:chat.example")
    ])
    let left = event(
      "$left", #"{"membership":"leave"}"#, type: "m.room.member", by: "@alice:chat.example", at: 20,
      state: "@alice:chat.example")
    page.sync(answer: #""rooms":{"leave":{"!a":{"timeline":{"events":[\#(left)]}}}}"#)
  }

  private var notice: String { page.all("ma-room-notice").first?.allText ?? "" }

  // Proves J9
  @Test("who left a room that anybody may join comes back with one click")
  func open() throws {
    try leave(joinRule: "public")
    #expect(notice.contains("left") && page.all("mg-composer").isEmpty)
    page.click("join")
    #expect(page.count("/join") == 1)
    page.answer("/join", #"{"room_id":"!a"}"#)
    let back = event(
      "$back", #"{"membership":"join"}"#, type: "m.room.member", by: "@alice:chat.example", at: 30, state: "@alice:chat.example"
    )
    page.syncRoom([back])
    #expect(notice.isEmpty && page.all("mg-composer").count == 1)
  }

  // Proves J9
  @Test("where only invited people may come in it says so, unless the room lets back who left", arguments: [false, true])
  func closed(letsBack: Bool) throws {
    try leave(joinRule: "invite")
    page.click("join")
    page.answer("/join", status: 403, Self.refusal)
    while page.answer("/capabilities", #"{"capabilities":{"martlet.rejoin":{"enabled":\#(letsBack)}}}"#) {}
    #expect(page.count("martlet.rejoin") == (letsBack ? 1 : 0))
    #expect(page.text.contains("onlyInvited") != letsBack)
    if letsBack {
      page.answer("martlet.rejoin", status: 403, Self.refusal)
      #expect(page.text.contains("onlyInvited"))
    }
  }

  // Proves J9
  @Test("where one asks to be let in one does, waits, and accepts the invitation")
  func knock() throws {
    try leave(joinRule: "knock")
    page.click("askToJoin")
    #expect(page.count("/knock/") == 1 && page.count("/join") == 0)
    page.answer("/knock/", #"{"room_id":"!a"}"#)
    let member = { (membership: String) in
      #"{"type":"m.room.member","state_key":"@alice:chat.example","sender":"@alice:chat.example","content":{"membership":"\#(membership)"}}"#
    }
    page.sync(answer: #""rooms":{"knock":{"!a":{"knock_state":{"events":[\#(member("knock"))]}}}}"#)
    #expect(notice.contains("waitingForAnswer") && notice.contains("withdrawRequest"))
    page.sync(answer: #""rooms":{"invite":{"!a":{"invite_state":{"events":[\#(member("invite"))]}}}}"#)
    page.click("accept")
    #expect(page.count("/join") == 1)
  }

  // Proves C29
  @Test("who is in a room that was replaced is led to the one that took its place")
  func replaced() throws {
    try page.openRoom([
      state("m.room.create", #"{"room_version":"10"}"#),
      state("m.room.member", #"{"membership":"join"}"#, key: "@alice:chat.example"), event("$1", text("beans"))
    ])
    page.syncRoom([state("m.room.tombstone", #"{"body":"","replacement_room":"!next"}"#, at: 20)])
    #expect(notice.contains("upgraded") && page.all("mg-composer").isEmpty)
    page.click("goToNewRoom")
    #expect(page.requests.contains { $0.request.target.contains("next") && $0.request.target.contains("/join") })
    page.answer("/join", #"{"room_id":"!next"}"#)
    #expect(page.app.place.room?.string == "!next")
  }

  // Proves J7
  @Test("a new room invites everybody who is named in its form, and says which word names nobody")
  func invited() throws {
    page.signIn()
    page.sync([])
    page.click("newConversation")
    page.click("newRoom")
    page.type("Choir", into: "roomName")
    page.type("@boris:chat.example, nobody", into: "inviteOptional")
    page.submit()
    #expect(page.text.contains("personNotFound nobody") && page.count("/createRoom") == 0)
    page.type("@carla:chat.example ", into: "inviteOptional")
    page.submit()
    #expect(page.body(of: "/createRoom").contains(#""invite":["@boris:chat.example","@carla:chat.example"]"#))
  }

  // Proves C25, P46
  @Test("Control and K go to the box above the list, unless a dialog is open")
  func searchBox() throws {
    page.signIn()
    page.sync([("!a", room("Stage crew", [("@boris:chat.example", "x", 10)]))])
    let field = try #require(page.all("ma-filter-input").first)
    page.click("newConversation")
    page.app.pageChanged(.quickSwitch)
    #expect(page.dom.focused != field.node)
    page.app.dialogs.closeAll()
    page.app.pageChanged(.quickSwitch)
    #expect(page.dom.focused == field.node)
  }
}

@Suite("Spaces")
struct SpaceTests {
  private let page = Page()

  /// Alice's space of these rooms, with one more room beside it.
  private func open(_ children: [String]) {
    page.signIn()
    let alice = state("m.room.member", #"{"membership":"join"}"#, key: "@alice:chat.example")
    let levels = state("m.room.power_levels", #"{"users":{"@alice:chat.example":100}}"#)
    let create = state("m.room.create", #"{"room_version":"10"}"#)
    func content(_ events: [String]) -> String {
      #"{"state":{"events":[\#(events.joined(separator: ","))]},"timeline":{"limited":false,"prev_batch":"t","events":[]}}"#
    }
    let inside = children.enumerated().map { number, name in
      state(
        "m.space.child", #"{"via":["chat.example"],"order":"\#(Character(UnicodeScalar(UInt8(97 + 5 * number))))"}"#,
        key: "!\(name)")
    }
    page.sync(
      [
        (
          "!house",
          content(
            [
              state("m.room.create", #"{"room_version":"10","type":"m.space"}"#), state("m.room.name", #"{"name":"House"}"#),
              levels, alice
            ] + inside)
        )
      ]
        + (children + ["Shed"]).map {
          ("!\($0)", content([create, state("m.room.name", #"{"name":"\#($0)"}"#), levels, alice]))
        })
    page.app.goTo(.room(RoomID(trusted: "!house")))
  }

  private func showRooms(_ children: [String]) {
    let rooms = (["house"] + children).map {
      #"{"room_id":"!\#($0)","name":"\#($0)","num_joined_members":1,"children_state":[]}"#
    }
    page.answer("/hierarchy", #"{"rooms":[\#(rooms.joined(separator: ","))]}"#)
  }

  /// Of a room in the space's home; the list of rooms, which stands before it, has one too.
  private func openMenu(_ room: String) {
    if let button = page.all("ma-round").last(where: { $0.attributes["aria-label"] == "optionsOf " + room }) {
      page.dom.fire(.click, on: button.node)
    }
  }

  // Proves C26
  @Test("the rooms of a space are put in order by who may, with as few orders as it takes, and taken out")
  func order() throws {
    let names = ["Attic", "Cellar", "Kitchen"]
    open(names)
    showRooms(names)
    openMenu("Kitchen")
    page.click("moveUp")
    // Who serves it stays as it was.
    page.answer("m.space.child", #"{"via":["chat.example"],"order":"k"}"#)
    let moved = page.requests.filter { $0.request.target.contains("m.space.child") }
    #expect(moved.count == 1 && moved[0].request.target.contains("Kitchen"))
    let order = try #require(try JSON.parse(Array(page.body(of: "m.space.child").utf8))["order"]?.string)
    #expect("a" < order && order < "f")
    page.answer("m.space.child", #"{"event_id":"$x"}"#)
    openMenu("Attic")
    page.click("takeOut Attic")
    #expect(page.body(of: "m.space.child") == "{}")
  }

  // Proves C26, J3, J46
  @Test("a room that is made from a space is put into it, and so is one that is there", arguments: [false, true])
  func filled(isThere: Bool) throws {
    open([])
    page.click("addRoom")
    if isThere {
      page.click("existingRoom")
      let box = try #require(page.all("ma-check").first { $0.allText == "Shed" }?.tags("input").first)
      page.dom.fire(.change, on: box.node, x: 1)
      page.submitForm()
    } else {
      page.click("newRoom")
      #expect(page.all("ma-tab").first { $0.allText == "newRoom" }?.attributes["aria-selected"] == "true")
      page.type("Annex", into: "roomName")
      try page.select("space", in: "kindOfRoom")
      page.submitForm()
      #expect(page.body(of: "/createRoom").contains("m.space"))
      page.answer("/createRoom", #"{"room_id":"!annex"}"#)
      #expect(page.app.place.room?.string == "!annex")
    }
    page.answer("m.space.child", status: 404, #"{"errcode":"M_NOT_FOUND","error":"No."}"#)
    #expect(page.body(of: "m.space.child").contains(#""via":["chat.example"]"#))
    #expect(
      page.requests.contains {
        $0.request.target.contains("m.space.child") && $0.request.target.contains(isThere ? "Shed" : "annex")
      })
    page.answer("m.space.child", #"{"event_id":"$x"}"#)
    #expect(isThere ? !page.app.dialogs.isOpen : page.text.contains("addedToSpace"))
  }

  // Proves C26, J3, J46
  @Test("the list shows the rooms of a space alone where that is chosen")
  func shown() throws {
    open(["Attic"])
    page.dom.fire(.click, on: try #require(page.all("ma-rail-item").first { $0.allText.contains("House") }).node)
    func names() -> [String] { page.all("ma-entry").flatMap { page.all("ma-entry-name", in: $0) }.map(\.text) }
    #expect(names() == ["Attic"])
    page.dom.fire(.click, on: try #require(page.all("ma-rail-item").first).node)
    #expect(Set(names()).isSuperset(of: ["Attic", "Shed"]))
  }

  /// Spaces that the user is in, in the order of their names.
  private func showRail(_ count: Int) {
    page.signIn()
    let own = state("m.room.member", #"{"membership":"join"}"#, key: "@alice:chat.example")
    page.sync(
      (0..<count).map { number in
        let events = [
          state("m.room.create", #"{"room_version":"10","type":"m.space"}"#),
          state("m.room.name", #"{"name":"Space \#(1_000 + number)"}"#), own
        ]
        let content = #"{"state":{"events":[\#(events.joined(separator: ","))]},"timeline":{"events":[]}}"#
        return ("!s\(number)", content)
      })
  }

  private var railNames: [String] { page.all("ma-rail-name").map(\.text).filter { $0.hasPrefix("Space") } }

  @Test("a space that was carried stands where it was let go at once, and goes back if the server refuses")
  func carried() throws {
    showRail(3)
    let list = try #require(page.all("ma-rail-list").first)
    page.dom.fire(.reorder, on: try #require(page.all("ma-rail-item", in: list).last).node, x: 0)
    #expect(railNames == ["Space 1002", "Space 1000", "Space 1001"])
    #expect(
      page.requests.filter { $0.request.target.contains("space_order") }.map { $0.request.target.contains("s2") } == [true])
    page.answer("space_order", status: 403, #"{"errcode":"M_FORBIDDEN","error":"No."}"#)
    #expect(railNames == ["Space 1000", "Space 1001", "Space 1002"] && page.text.contains("No."))
    // Beyond the end is the end.
    page.dom.fire(.reorder, on: page.all("ma-rail-item", in: list)[2].node, x: 99)
    #expect(railNames == ["Space 1001", "Space 1002", "Space 1000"])
  }

  @Test("of 500 spaces each stands in the rail, and what changes in one makes none of them anew")
  func manySpaces() throws {
    showRail(500)
    #expect(railNames.count == 500)
    let before = page.all("ma-rail-item").map(\.node)
    page.sync([("!s77", #"{"state":{"events":[\#(state("m.room.name", #"{"name":"Space 1077"}"#))]}}"#)])
    #expect(page.all("ma-rail-item").map(\.node) == before)
  }
}
