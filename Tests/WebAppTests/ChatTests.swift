import ClientCore
import Foundation
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import Testing

@testable import WebApp

@Suite("What users do in a chat")
struct ChatTests: RoomTesting {
  let page = Page()

  // MARK: Keys

  // Proves P46
  @Test("Escape, where nothing else wants it, marks the room as read; with a dialog open, or nothing unread, it does nothing")
  func escape() throws {
    try open([event("$1", text("beans"))])
    page.answer("/capabilities", #"{"capabilities":{"martlet.read_all":{"enabled":true}}}"#)
    sync([], #","account_data":{"events":[{"type":"m.marked_unread","content":{"unread":true}}]}"#)
    page.app.openShortcuts()
    page.app.pageChanged(.escape)
    #expect(count("read_all") == 0)
    page.app.dialogs.closeAll()
    page.app.pageChanged(.escape)
    #expect(page.body(of: "read_all").contains("!a"))
    page.answer("read_all", "{}")
    page.app.pageChanged(.escape)
    #expect(count("read_all") == 0)
  }

  // Proves P46
  @Test("the keyboard's shortcuts are listed, by a key and from the room's menu")
  func shortcuts() throws {
    try open([event("$1", text("beans"))])
    page.app.pageChanged(.shortcuts)
    #expect(page.root.tags("dt").map(\.text).contains("F6") && page.root.tags("dd").map(\.text).contains("nextPart"))
    page.app.pageChanged(.shortcuts)
    #expect(page.all("ma-dialog").count == 1)
    page.app.dialogs.closeAll()
    page.click("roomMenu")
    page.click("shortcuts")
    #expect(page.root.tags("dt").count == page.root.tags("dd").count && page.root.tags("dt").count > 8)
  }

  // Proves B20
  @Test("each part of the page is marked for F6, once")
  func parts() throws {
    try open([event("$1", text("beans"))])
    func marked(_ element: FakeElement) -> [String] {
      (element.attributes["data-region"] == nil ? [] : [element.classes.split(separator: " ").first.map { String($0) } ?? ""])
        + element.children.flatMap(marked)
    }
    #expect(marked(page.root) == ["ma-list", "ma-header", "ma-calls", "ma-timeline", "ma-writer", "ma-side"])
    page.app.goTo(.details(RoomID(trusted: "!a")))
    #expect(marked(page.root).last == "ma-details")
  }

  // MARK: Hiding

  private func openMenu(_ room: String) throws {
    let entry = try #require(page.all("ma-entry").first { $0.allText.contains(room) })
    page.dom.fire(.contextMenu, on: entry.node)
  }

  private func show(_ kind: String) {
    page.click("shownConversations")
    page.click(kind)
  }

  // Proves J10, J12, J50, P31
  @Test("a room is hidden from its menu, found among the hidden ones, and shown again")
  func hide() throws {
    page.signIn()
    page.sync([
      ("!a", room("Choir", [("@boris:chat.example", "la", 10)])), ("!b", room("Band", [("@boris:chat.example", "hm", 9)]))
    ])
    try openMenu("Choir")
    #expect(!page.text.contains("hideRoom"))
    page.app.dialogs.closeAll()
    page.answer("/capabilities", #"{"capabilities":{"martlet.hide":{"enabled":true}}}"#)
    try openMenu("Choir")
    page.click("hideRoom")
    #expect(page.answer("martlet.hide/rooms/!a", "{}") || page.answer("martlet.hide/rooms/", "{}"))
    let mark = { (content: String) in
      "{\"account_data\":{\"events\":[{\"type\":\"martlet.hidden\",\"content\":\(content)}]}}"
    }
    page.sync([("!a", mark(#"{"before":1}"#))])
    #expect(page.all("ma-entry-name").map(\.text) == ["Band"])
    show("hiddenRooms")
    #expect(page.all("ma-entry-name").map(\.text) == ["Choir"])
    try openMenu("Choir")
    page.click("showAgain")
    #expect(page.requests.contains { $0.request.method == .delete && $0.request.target.contains("martlet.hide/rooms/") })
    page.sync([("!a", mark("{}"))])
    #expect(page.all("ma-entry").isEmpty)
    show("allConversations")
    #expect(page.all("ma-entry-name").map(\.text) == ["Choir", "Band"])
  }

  // Proves J11, J12, J50, P31
  @Test("several rooms are chosen and hidden, read or left at once; none chosen is said")
  func several() throws {
    page.signIn()
    page.sync((0..<4).map { ("!r\($0)", room("Room \($0)", unread: 1, [("@boris:chat.example", "x", $0)])) })
    page.answer("/capabilities", #"{"capabilities":{"martlet.hide":{"enabled":true},"martlet.read_all":{"enabled":true}}}"#)
    func box(_ index: Int) throws -> FakeElement {
      let boxes = try #require(page.all("ma-dialog").last).tags("input")
      return try #require(boxes.indices.contains(index) ? boxes[index] : nil)
    }
    try openMenu("Room 3")
    page.click("chooseSeveral")
    page.dom.fire(.change, on: try box(1).node, x: 0)
    page.click("markRead")
    #expect(page.text.contains("nothingChosen") && count("read_all") == 0)
    page.dom.fire(.change, on: try box(2).node, x: 1)
    page.dom.fire(.change, on: try box(4).node, x: 1)
    page.click("hideRoom")
    #expect(page.body(of: "martlet.hide/rooms").contains(#"["!r2","!r0"]"#))
    page.answer("martlet.hide/rooms", #"{"rooms":2}"#)
    try openMenu("Room 3")
    page.click("chooseSeveral")
    page.dom.fire(.change, on: try box(0).node, x: 1)
    page.click("leave")
    #expect(page.text.contains("leaveRooms 4") && count("/leave") == 0)
    page.submitDialog()
    #expect(count("/leave") == 4)
  }

  // Proves J11
  @Test("where the server can, many rooms are left with one request; it says how far it is, and what could not be left")
  func leaveMany() throws {
    page.signIn()
    page.sync((0..<3).map { ("!r\($0)", room("Room \($0)", [("@boris:chat.example", "x", $0)])) })
    page.answer("/capabilities", #"{"capabilities":{"martlet.bulk":{"enabled":true}}}"#)
    func leaveAll() throws {
      try openMenu("Room 2")
      page.click("chooseSeveral")
      page.dom.fire(.change, on: try #require(page.all("ma-dialog").last?.tags("input").first).node, x: 1)
      page.click("leave")
      page.submitDialog()
    }
    try leaveAll()
    #expect(page.body(of: "martlet.bulk/leave") == #"{"room_ids":["!r2","!r1","!r0"]}"#)
    page.answer("martlet.bulk/leave", #"{"job":"j","state":"running","total":3,"done":1,"errors":{}}"#)
    #expect(page.text.contains("leftCount 1 3"))
    #expect(page.root.tags("progress").map { $0.attributes["value"] } == ["1"])
    page.app.dialogs.closeAll()
    try leaveAll()
    let refused = #"{"!r1":{"errcode":"M_FORBIDDEN","error":"no"}}"#
    page.answer("martlet.bulk/leave", #"{"job":"k","state":"finished","total":3,"done":3,"errors":\#(refused)}"#)
    #expect(page.all("ma-trouble").map(\.text).filter { !$0.isEmpty } == ["notLeft Room 1 notAllowed"])
    page.app.dialogs.closeAll()
    try leaveAll()
    page.answer("martlet.bulk/leave", #"{"job":"l","state":"finished","total":3,"done":3,"errors":{}}"#)
    #expect(!page.app.dialogs.isOpen && page.text.contains("roomsLeft 3"))
    #expect(count("/leave") == 0)
  }

  // MARK: Fingers

  @Test("a message that was swiped is the one that is answered")
  func swipe() throws {
    try open([event("$1", text("beans")), event("$2", text("peas"), at: 400)])
    page.dom.fire(.swipe, on: try row("beans").node)
    #expect(page.all("ma-writer-text").first?.text.contains("beans") == true)
  }

  @Test("who holds the microphone's button records until the finger goes; slid up it stays, slid away it is given up")
  func hold() throws {
    try open([event("$1", text("beans"))])
    let button = try #require(page.all("mg-composer-button").first { $0.attributes["aria-label"] == "voiceMessage" })
    page.dom.fire(.hold, on: button.node, x: 0)
    #expect(page.all("ma-voice-hint").count == 1 && page.all("ma-primary", in: page.all("ma-voice").first).isEmpty)
    page.dom.fire(.hold, on: button.node, x: 3)
    #expect(page.all("ma-voice-hint").isEmpty && page.all("ma-primary", in: page.all("ma-voice").first).count == 1)
    page.dom.fire(.hold, on: button.node, x: 1)
    #expect(page.all("ma-voice").count == 1)
    page.click("cancel")
    for phase in [1.0, 2] {
      page.dom.fire(.hold, on: button.node, x: 0)
      #expect(page.all("ma-voice").count == 1)
      // Nothing was heard: there is nothing to send.
      page.dom.fire(.hold, on: button.node, x: phase)
      #expect(page.all("ma-voice").isEmpty && page.all("mg-composer").first?.isHidden == false)
    }
  }

  // MARK: Writing

  // Proves P7
  @Test("@room is offered to those who may call everybody, and to nobody else", arguments: [true, false])
  func wholeRoom(_ mayNotify: Bool) throws {
    let levels = #"{"users":{"@alice:chat.example":50},"notifications":{"room":\#(mayNotify ? 50 : 60)}}"#
    try open([
      boris, event("$c", #"{"room_version":"11"}"#, type: "m.room.create", at: 1, state: ""),
      event("$p", levels, type: "m.room.power_levels", at: 2, state: ""), event("$1", text("beans"))
    ])
    try write("hey @ro")
    #expect(page.all("ma-completion-name").map(\.text) == (mayNotify ? ["@room"] : []))
    guard mayNotify else { return }
    try enter()
    #expect(try field.value == "hey @room ")
    try enter()
    #expect(page.body(of: "/send/m.room.message/").contains(#""room":true"#))
  }

  // Proves P7
  @Test("@moderators mentions each of them, and is offered if there is one besides the user")
  func moderators() throws {
    let levels = #"{"users":{"@alice:chat.example":100,"@boris:chat.example":50,"@gone:chat.example":50}}"#
    try open([
      boris, event("$c", #"{"room_version":"11"}"#, type: "m.room.create", at: 1, state: ""),
      event("$g", #"{"membership":"leave"}"#, type: "m.room.member", at: 2, state: "@gone:chat.example"),
      event("$p", levels, type: "m.room.power_levels", at: 2, state: ""), event("$1", text("beans"))
    ])
    try write("help @mod")
    #expect(page.all("ma-completion-name").map(\.text) == ["@moderators"])
    try enter()
    #expect(try field.value == "help @moderators ")
    try enter()
    #expect(page.body(of: "/send/m.room.message/").contains(#""m.mentions":{"user_ids":["@boris:chat.example"]}"#))
    #expect(page.answer("/send/m.room.message/", #"{"event_id":"$9"}"#))
    try write("no@moderators and @moderatorship")
    try enter()
    #expect(page.body(of: "/send/m.room.message/").contains(#""m.mentions":{}"#))
  }

  // Proves P7
  @Test("a group of the room mentions its present members, and is offered if there is one besides the user")
  func roomGroups() throws {
    let groups =
      #"{"groups":{"Design":["@boris:chat.example","@gone:chat.example","@alice:chat.example"],"deserted":["@gone:chat.example"]}}"#
    try open([
      boris, event("$c", #"{"room_version":"11"}"#, type: "m.room.create", at: 1, state: ""),
      event("$g", #"{"membership":"leave"}"#, type: "m.room.member", at: 2, state: "@gone:chat.example"),
      event("$m", groups, type: "martlet.mention_groups", at: 2, state: ""), event("$1", text("beans"))
    ])
    try write("help @des")
    #expect(page.all("ma-completion-name").map(\.text) == ["@Design"])
    try enter()
    #expect(try field.value == "help @Design ")
    try enter()
    #expect(page.body(of: "/send/m.room.message/").contains(#""m.mentions":{"user_ids":["@boris:chat.example"]}"#))
  }

  // Proves P7
  @Test("rooms with an address are offered behind #, and stand in the text by it")
  func rooms() throws {
    page.signIn()
    let named = { (name: String, alias: String, at: Int) in
      room(name, [("@boris:chat.example", "x", at)]).replacingFirst(
        "\"state\":{\"events\":[",
        with: "\"state\":{\"events\":["
          + event("$c\(at)", "{\"alias\":\"\(alias)\"}", type: "m.room.canonical_alias", state: "") + ",")
    }
    page.sync([
      ("!a", named("Choir", "#choir:b.example", 30)), ("!b", named("Garden club", "#club:b.example", 20)),
      ("!c", room("Chores", [("@boris:chat.example", "x", 10)]))
    ])
    page.dom.fire(.click, on: try #require(page.all("ma-entry").first).node)
    page.settleStore()
    try write("see #c")
    #expect(page.all("ma-completion-note").map(\.text) == ["#choir:b.example", "#club:b.example"])
    try write("see #clu")
    try enter()
    #expect(try field.value == "see #club:b.example ")
    try enter()
    #expect(page.body(of: "/send/m.room.message/").contains("matrix.to/#/%23club%3Ab.example"))
  }

  // Proves P2
  @Test("what is said in a thread is said in the room as well where that is ticked, and what is written there stays")
  func alsoInRoom() throws {
    try open([
      event("$1", text("beans")),
      event("$4", #"{"msgtype":"m.text","body":"aside","m.relates_to":{"rel_type":"m.thread","event_id":"$1"}}"#, at: 13)
    ])
    try write("half a thought")
    page.dom.fire(.click, on: try #require(page.all("mg-thread").first).node)
    page.settleStore()
    let tick = try #require(page.all("ma-side").first?.tags("input").first)
    try write("only here")
    try enter()
    #expect(count("/send/m.room.message/") == 1 && page.body(of: "/send/m.room.message/").contains("m.thread"))
    page.answer("/send/m.room.message/", #"{"event_id":"$5"}"#)
    page.dom.fire(.change, on: tick.node, x: 1)
    try write("everywhere")
    try enter()
    #expect(page.body(of: "/send/m.room.message/").contains("m.thread"))
    page.answer("/send/m.room.message/", #"{"event_id":"$6"}"#)
    let second = page.body(of: "/send/m.room.message/")
    #expect(
      second.contains(#""m.in_reply_to":{"event_id":"$1"}"#) && !second.contains("m.thread") && second.contains("everywhere"))
    #expect(page.all("mg-input").first?.value == "half a thought")
  }

  // Proves C51
  @Test("a draft of another device comes into the composer, and goes when it was sent there")
  func passedDraft() throws {
    try open([event("$1", text("beans"))])
    let data = { (content: String) in
      "{\"account_data\":{\"events\":[{\"type\":\"martlet.draft\",\"content\":\(content)}]}}"
    }
    page.sync([("!a", data(#"{"at":9000000000000,"text":"from the phone","reply":"$1"}"#))])
    #expect(try field.value == "from the phone")
    #expect(page.all("ma-writer-text").first?.text.contains("beans") == true)
    page.sync([("!a", data(#"{"at":1,"text":"older"}"#))])
    #expect(try field.value == "from the phone")
    page.sync([("!a", data(#"{"at":9000000000001}"#))])
    #expect(try field.value == "" && page.all("ma-writer-banner").isEmpty)
  }

  // MARK: Who and when

  // Proves C46
  @Test("who voted for what is listed where votes can be seen")
  func voters() throws {
    let question = { (kind: String) in
      #"{"org.matrix.msc3381.poll.start":{"kind":"org.matrix.msc3381.poll.\#(kind)","question":{"org.matrix.msc1767.text":"Tea \#(kind)?"},"answers":[{"id":"y","org.matrix.msc1767.text":"Yes"},{"id":"n","org.matrix.msc1767.text":"No"}]}}"#
    }
    let vote = { (id: String, poll: String) in
      event(
        id,
        #"{"org.matrix.msc3381.poll.response":{"answers":["y"]},"m.relates_to":{"rel_type":"m.reference","event_id":"\#(poll)"}}"#,
        type: "org.matrix.msc3381.poll.response", at: 20)
    }
    try open([
      boris, event("$7", question("disclosed"), type: "org.matrix.msc3381.poll.start"), vote("$8", "$7"),
      event("$9", question("undisclosed"), type: "org.matrix.msc3381.poll.start", at: 400), vote("$10", "$9")
    ])
    try choose("voters", of: "Tea disclosed?")
    #expect(page.all("ma-reactors").map(\.allText) == ["YesBo"])
    page.app.dialogs.closeAll()
    page.dom.fire(.contextMenu, on: try row("Tea undisclosed?").node, x: 5, y: 5)
    #expect(!page.all("ma-menu-item").contains { $0.allText == "voters" })
  }

  // Proves C50, J38, P4, P21
  @Test("the list of readers says who and when, and a click opens the person")
  func readers() throws {
    page.signIn()
    sync(
      [boris, event("$1", text("one"), by: "@alice:chat.example")],
      #","ephemeral":{"events":[{"type":"m.receipt","content":{"$1":{"m.read":{"@boris:chat.example":{"ts":1700000000000}}}}}]}"#
    )
    page.dom.fire(.click, on: try #require(page.all("ma-entry").first).node)
    page.settleStore()
    page.dom.fire(.resize, on: try #require(page.root.first("mg-scroller")).node, x: 600, y: 900)
    page.dom.fire(.click, on: try #require(page.all("mg-readers").first).node)
    let line = try #require(page.all("ma-dialog").last.map { page.all("ma-member", in: $0) }?.first)
    #expect(page.all("ma-entry-name", in: line).map(\.text) == ["Bo"])
    #expect(page.all("ma-entry-preview", in: line).count == 1)
    #expect(
      page.app.client.room(RoomID(trusted: "!a"))?.readTime(of: UserID(trusted: "@boris:chat.example")) == 1_700_000_000_000)
    page.dom.fire(.click, on: line.node)
    #expect(page.all("ma-dialog").count == 2)
  }

  // Proves C50, P4, P6
  @Test("the head of a room says how many messages are pinned, and leads to them")
  func pins() throws {
    try open([event("$1", text("beans"))])
    #expect(!page.all("ma-round").contains { $0.attributes["aria-label"]?.hasPrefix("pinnedCount") ?? false })
    sync([event("$p", #"{"pinned":["$1"]}"#, type: "m.room.pinned_events", at: 20, state: "")])
    try press("pinnedCount 1")
    #expect(page.all("ma-side").first?.attributes["aria-label"] == "pinnedMessages")
    sync([event("$q", #"{"pinned":[]}"#, type: "m.room.pinned_events", at: 21, state: "")])
    #expect(!page.all("ma-round").contains { $0.attributes["aria-label"]?.hasPrefix("pinnedCount") ?? false })
  }
}
