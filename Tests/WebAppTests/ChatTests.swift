import ClientCore
import Foundation
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import Testing

@testable import WebApp

@Suite("What one does in a chat")
struct ChatTests {
  private let page = Page()

  private func sync(_ events: [String], _ rest: String = "") {
    page.sync([
      (
        "!a",
        """
        {"summary":{"m.joined_member_count":3},"timeline":{"limited":false,"prev_batch":"t1",\
        "events":[\(events.joined(separator: ","))]}\(rest)}
        """
      )
    ])
  }

  /// The room with these events, open.
  private func open(_ events: [String], _ rest: String = "") throws {
    page.signIn()
    sync(events, rest)
    page.dom.fire(.click, on: try #require(page.all("ma-entry").first).node)
    page.settleStore()
    page.dom.fire(.resize, on: try #require(page.root.first("mg-scroller")).node, x: 600, y: 900)
  }

  private func row(_ text: String) throws -> FakeElement {
    try #require(page.all("mg-row").first { $0.allText.contains(text) })
  }

  private func choose(_ choice: String, of text: String) throws {
    page.dom.fire(.contextMenu, on: try row(text).node, x: 5, y: 5)
    page.click(choice)
    page.settleStore()
  }

  private func press(_ label: String) throws {
    let button = try #require(
      (page.all("mg-composer-button") + page.all("ma-round")).first { $0.attributes["aria-label"] == label })
    page.dom.fire(.click, on: button.node)
  }

  private var field: FakeElement { get throws { try #require(page.all("mg-input").last) } }

  private func write(_ text: String) throws {
    page.dom.fire(.input, on: try field.node, x: Double(text.utf8.count), text: text)
  }

  private func enter() throws {
    page.dom.fire(.keyDown, on: try field.node, text: "Enter")
    page.settleStore()
  }

  private func count(_ path: String) -> Int { page.requests.filter { $0.request.target.contains(path) }.count }

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

  // MARK: Emoji and stickers

  private static let pack =
    #"{"pack":{"display_name":"Birds"},"images":{"owl":{"url":"mxc://b.example/owl","body":"An owl","info":{"w":64,"h":64}}}}"#

  // Proves P10
  @Test("stickers of the account and of the room are offered beside the emoji, and sent with a click")
  func stickers() throws {
    try open([event("$1", text("beans"))])
    try press("emoji")
    // Those among the emoji.
    #expect(page.answer("im.ponies", #"{"next_batch":"x"}"#))
    page.click("stickers")
    let packs = """
      "account_data":{"events":[{"type":"im.ponies.user_emotes","content":{"images":{"cat":{"url":"mxc://b.example/cat"}}}}]},\
      "rooms":{"join":{"!a":{"state":{"events":[{"type":"im.ponies.room_emotes","state_key":"","sender":"@b:b.example",\
      "event_id":"$p","content":\(Self.pack)}]},"timeline":{"events":[]}}}}
      """
    #expect(page.answer("im.ponies", #"{"next_batch":"x",\#(packs)}"#))
    #expect(page.all("ma-sticker-packs").first?.tags("h3").map(\.text) == ["ownStickers", "Birds"])
    page.dom.fire(.click, on: try #require(page.all("ma-sticker").last).node)
    page.settleStore()
    let sent = page.body(of: "/send/m.sticker/")
    #expect(sent.contains("mxc://b.example/owl") && sent.contains("An owl") && sent.contains("\"w\":64"))
    #expect(page.all("ma-dialog").isEmpty && page.all("mg-sticker-box").count == 1)
  }

  // Proves C47
  @Test("an own sticker is taken away with a click once that is ticked; those of a room stay")
  func removal() throws {
    try open([event("$1", text("beans"))])
    try press("emoji")
    #expect(page.answer("im.ponies", #"{"next_batch":"x"}"#))
    page.click("stickers")
    let own = #"{"images":{"cat":{"url":"mxc://b.example/cat"},"dog":{"url":"mxc://b.example/dog"}},"extra":1}"#
    page.answer(
      "im.ponies", #"{"next_batch":"x","account_data":{"events":[{"type":"im.ponies.user_emotes","content":\#(own)}]}}"#)
    let tick = try #require(page.all("ma-sticker-bar").first?.tags("input").first)
    page.dom.fire(.change, on: tick.node, x: 1)
    page.dom.fire(.click, on: try #require(page.all("ma-sticker").first).node)
    #expect(page.answer("account_data/im.ponies.user_emotes", own))
    let put = page.body(of: "account_data/im.ponies.user_emotes")
    #expect(put.contains("dog") && !put.contains("cat") && put.contains("\"extra\":1"))
    #expect(page.answer("account_data/im.ponies.user_emotes", "{}"))
    #expect(count("im.ponies") == 1)
  }

  @Test("a picture of a message becomes a sticker of the user")
  func madeSticker() throws {
    try open([
      event(
        "$1", #"{"msgtype":"m.image","body":"cat.png","url":"mxc://b.example/c","info":{"w":40,"h":30,"mimetype":"image/png"}}"#
      )
    ])
    page.dom.fire(.contextMenu, on: try #require(page.all("mg-row").last).node, x: 5, y: 5)
    page.click("makeSticker")
    #expect(page.answer("account_data/im.ponies", status: 404, #"{"errcode":"M_NOT_FOUND","error":"No."}"#))
    let put = page.body(of: "account_data/im.ponies")
    #expect(
      put.contains(#""cat":{"body":"cat.png","url":"mxc://b.example/c""#) && put.contains("sticker")
        && put.contains("image/png"))
    page.answer("account_data/im.ponies", "{}")
    #expect(page.text.contains("stickerMade"))
  }

  // Proves P10
  @Test("pictures of packs stand above the emoji in the dialog by packs, are found, and go into the text by their names")
  func picturesAmongEmoji() throws {
    try open([event("$1", text("beans"))])
    page.app.emoji.all = Emoji.read(Array("🦉 owl\n🐈 cat\n".utf8))
    try write("look ")
    try press("emoji")
    #expect(page.all("ma-emoji").map { $0.attributes["aria-label"] } == ["owl", "cat"] && !page.text.contains("Birds"))
    let packs = """
      "account_data":{"events":[{"type":"im.ponies.user_emotes","content":{"images":{"tom":{"url":"mxc://b.example/tom"},\
      "big":{"url":"mxc://b.example/big","usage":["sticker"]}}}}]},\
      "rooms":{"join":{"!a":{"state":{"events":[{"type":"im.ponies.room_emotes","state_key":"","sender":"@b:b.example",\
      "event_id":"$p","content":\(Self.pack)}]},"timeline":{"events":[]}}}}
      """
    #expect(page.answer("im.ponies", #"{"next_batch":"x",\#(packs)}"#))
    let grid = try #require(page.all("ma-emoji-grid").first)
    #expect(grid.tags("h3").map(\.text) == ["ownStickers", "Birds", "emojiRecent"])
    #expect(page.all("ma-emoji").map { $0.attributes["aria-label"] } == [":tom:", ":owl:", "owl", "cat"])
    page.type("OW", into: "emojiSearch")
    #expect(page.all("ma-emoji").map { $0.attributes["aria-label"] } == [":owl:", "owl"])
    page.dom.fire(.click, on: try #require(page.all("ma-emoji").first).node)
    #expect(page.all("ma-dialog").isEmpty)
    #expect(try field.value == "look :owl:")
    // They are known now; a reaction has none.
    try press("emoji")
    #expect(page.all("ma-emoji").count == 4 && count("im.ponies") == 0)
  }

  // Proves P10
  @Test("GIFs are offered where the server has some, come by pages, again after a failure, and are sent as a picture")
  func gifs() throws {
    try open([event("$1", text("beans"))])
    // What the client itself wanted to know.
    page.answer("/capabilities", #"{"capabilities":{}}"#)
    try press("emoji")
    #expect(page.answer("/capabilities", #"{"capabilities":{}}"#))
    #expect(!page.text.contains("gifs"))
    page.click("close")
    try press("emoji")
    #expect(page.answer("/capabilities", #"{"capabilities":{"martlet.gifs":{"enabled":true,"provider":"Some"}}}"#))
    page.click("gifs")
    #expect(page.text.contains("gifsFrom Some") && page.text.contains("loadingGifs"))
    #expect(page.answer("martlet.gifs/search?q=&", status: 502, #"{"errcode":"M_UNKNOWN","error":"No."}"#))
    page.click("retry")
    let gif = { (name: String) in #"{"id":"\#(name)","title":"A \#(name)","preview":"mxc://chat.example/\#(name)"}"# }
    #expect(page.answer("martlet.gifs/search?q=&", #"{"gifs":[\#(gif("cat")),{"id":"x"}],"next":24}"#))
    page.click("showMore")
    #expect(page.answer("from=24", #"{"gifs":[\#(gif("owl"))]}"#))
    #expect(page.all("ma-gif").map { $0.attributes["aria-label"] } == ["A cat", "A owl"] && !page.text.contains("showMore"))
    page.dom.fire(.click, on: try #require(page.all("ma-gif").last).node)
    #expect(page.body(of: "martlet.gifs/take") == #"{"id":"owl"}"#)
    #expect(
      page.answer(
        "martlet.gifs/take",
        #"{"content_uri":"mxc://chat.example/full","info":{"mimetype":"image/gif","w":48,"h":32,"size":900}}"#))
    page.settleStore()
    let sent = page.body(of: "/send/m.room.message/")
    #expect(
      sent.contains(#""msgtype":"m.image""#) && sent.contains(#""body":"A owl""#) && sent.contains("mxc://chat.example/full")
        && sent.contains(#""w":48"#), "\(sent)")
    #expect(page.all("ma-dialog").isEmpty)
  }

  // Proves P10
  @Test("a skin tone goes to the emoji that take one, and to no other")
  func skinTone() {
    let all = Emoji.read(Array("👋 wave,*\n✌️ victory,*\n🚀 rocket\n".utf8))
    #expect(all.map { $0.text(tone: "🏽") } == ["👋🏽", "✌🏽", "🚀"])
    #expect(all.map { $0.text(tone: "") } == ["👋", "✌️", "🚀"])
  }

  // MARK: Pictures in texts

  // Proves P10
  @Test("pictures of packs are offered behind a colon beside the emoji, and stand in the text by their name")
  func emoticons() throws {
    try open([event("$1", text("beans"))])
    page.app.emoji.all = Emoji.read(Array("🦉 owl\n".utf8))
    try write("an :ow")
    #expect(page.all("ma-completion-note").map(\.text) == ["owl"])
    let packs = """
      "account_data":{"events":[{"type":"im.ponies.user_emotes","content":{"images":{"cat":{"url":"mxc://b.example/cat"}}}},\
      {"type":"im.ponies.emote_rooms","content":{"rooms":{"!far":{"":{}}}}}]},\
      "rooms":{"join":{"!a":{"state":{"events":[{"type":"im.ponies.room_emotes","state_key":"","sender":"@b:b.example",\
      "event_id":"$p","content":\(Self.pack)}]},"timeline":{"events":[]}}}}
      """
    #expect(page.answer("im.ponies", #"{"next_batch":"x",\#(packs)}"#))
    #expect(page.all("ma-completion-note").map(\.text) == [":owl:", "owl"])
    let far = Self.pack.replacingOccurrences(of: "b.example/owl", with: "b.example/barn").replacingOccurrences(
      of: "\"owl\"", with: "\"barn_owl\"")
    #expect(
      page.answer(
        "im.ponies",
        #"{"next_batch":"x","rooms":{"join":{"!far":{"state":{"events":[{"type":"im.ponies.room_emotes","state_key":"","sender":"@b:b.example","event_id":"$p","content":\#(far)}]}}}}}"#
      ))
    // What one was about to take is still what is taken.
    #expect(page.all("ma-completion-note").map(\.text) == [":owl:", ":barn_owl:", "owl"])
    #expect(page.all("ma-completion").map { $0.attributes["aria-selected"] } == ["false", "false", "true"])
    try write("an :ba")
    try enter()
    #expect(try field.value == "an :barn_owl:")
    try write("an :barn_owl: and a **:cat:**, no :dog:")
    try enter()
    let sent = page.body(of: "/send/m.room.message/")
    #expect(sent.contains(#""body":"an :barn_owl: and a **:cat:**, no :dog:""#), "\(sent)")
    for (name, uri) in [("barn_owl", "barn"), ("cat", "cat")] {
      #expect(
        sent.contains(
          #"<img data-mx-emoticon src=\"mxc://b.example/\#(uri)\" alt=\":\#(name):\" title=\":\#(name):\" height=\"32\">"#),
        "\(sent)")
    }
    #expect(page.all("mg-emoji").map { $0.attributes["alt"] } == [":barn_owl:", ":cat:"])
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

extension String {
  func replacingFirst(_ part: String, with other: String) -> String {
    guard let range = range(of: part) else { return self }
    return replacingCharacters(in: range, with: other)
  }
}
