import ClientCore
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import Testing
import WebHost

@testable import WebApp

@Suite("The composer of a room")
struct ComposerTests {
  private let page = Page()

  // Proves P11
  @Test(
    "behind a slash at the beginning the commands are offered, by their first letters; the key that takes one leaves room for the rest"
  )
  func commands() throws {
    try page.openRoom([event("$1", text("beans"))])
    try page.write("/")
    #expect(
      page.completions == [
        "/me", "/shrug", "/plain", "/invite", "/kick", "/ban", "/topic", "/nick", "/join", "/leave", "/silent"
      ])
    try page.write("/to")
    #expect(page.completions == ["/topic"])
    try page.key("Tab")
    #expect(try page.field.value == "/topic " && page.completions.isEmpty)
    try page.write("/topic Planes and chisels")
    try page.key("Enter")
    #expect(page.body(of: "/state/m.room.topic").contains("Planes and chisels"))
    #expect(try page.field.value == "")
    // Elsewhere a slash is a slash.
    try page.write("either /to")
    #expect(page.completions.isEmpty)
  }

  // Proves C37
  @Test("of those whose names fit who spoke last is offered first")
  func speakers() throws {
    let names = ["a", "b", "c", "d"]
    let members = names.map {
      event(
        "$m\($0)", #"{"membership":"join","displayname":"Zoe \#($0.uppercased())"}"#, type: "m.room.member", at: 1,
        state: "@zoe\($0):chat.example")
    }
    let said = ["a", "d", "b"].enumerated().map {
      event("$\($0.offset)", text("hi"), by: "@zoe\($0.element):chat.example", at: 10 + $0.offset)
    }
    try page.openRoom(members + said)
    try page.write("@zoe")
    #expect(page.completions == ["Zoe B", "Zoe D", "Zoe A", "Zoe C"])
  }

  // Proves C40, P10
  @Test("an emoji goes where the caret is, and a picture of a pack never right behind a word")
  func caret() throws {
    try page.openRoom([event("$1", text("beans"))])
    page.app.emoji.all = Emoji.read(Array("👍 thumbs up\n🐈 cat\n".utf8))
    try page.write("goodbye", caret: 4)
    try page.press("emoji")
    page.type("thumbs up", into: "emojiSearch")
    let search = try #require(page.all("ma-input").last { $0.attributes["aria-label"] == "emojiSearch" })
    page.dom.fire(.keyDown, on: search.node, text: "Enter")
    #expect(try page.field.value == "good👍bye" && !page.app.dialogs.isOpen)
    for (written, caret, expected) in [("what an !", 8, "what an :owl:!"), ("hello", 5, "hello :owl:")] {
      try page.write(written, caret: caret)
      try page.press("emoji")
      page.answer(
        "im.ponies",
        #"{"next_batch":"x","account_data":{"events":[{"type":"im.ponies.user_emotes","content":{"images":{"owl":{"url":"mxc://b.example/owl"}}}}]}}"#
      )
      page.type("owl", into: "emojiSearch")
      page.dom.fire(.click, on: try #require(page.all("ma-emoji").first).node)
      #expect(try page.field.value == expected)
    }
  }

  @Test("the grid of emoji stays as it is, with the focus in it, when the room turns out to have no pictures of its own")
  func grid() throws {
    try page.openRoom([event("$1", text("beans"))])
    page.app.emoji.all = Emoji.read(Array("🦉 owl\n🐈 cat\n".utf8))
    try page.press("emoji")
    let cat = try #require(page.all("ma-emoji").last).node
    page.dom.focus(cat)
    #expect(page.answer("im.ponies", #"{"next_batch":"x"}"#))
    #expect(page.dom.exists(cat) && page.all("ma-emoji").last?.node == cat && page.dom.focused == cat)
  }

  // Proves C51, P22
  @Test("a thread keeps a draft of its own, the list shows the room's, and both outlive the page")
  func drafts() throws {
    page.signIn()
    page.sync([
      ("!a", room("Drafts", [("@boris:chat.example", "how about it?", 20)])),
      ("!b", room("Else", [("@boris:chat.example", "x", 10)]))
    ])
    try page.enterRoom("Drafts")
    try page.choose("replyInThread", of: "how about it?")
    try page.write("half a thought")
    let side = try #require(page.all("ma-side").first)
    page.dom.fire(.click, on: try #require(page.all("ma-round", in: side).first).node)
    try page.write("half a sentence")
    try page.enterRoom("Else")
    page.app.pageChanged(.leaving)
    page.settleStore()
    func preview(_ page: Page) -> String? {
      page.all("ma-entry").first { $0.allText.contains("Drafts") }.flatMap { page.all("ma-entry-preview", in: $0).first?.text }
    }
    #expect(preview(page) == "half a sentence")
    let again = Page(stored: page.stored)
    #expect(preview(again) == "half a sentence")
    try again.enterRoom("Drafts")
    #expect(try again.field.value == "half a sentence")
    try again.choose("replyInThread", of: "how about it?")
    #expect(try again.field.value == "half a thought")
    try again.key("Enter")
    // Before the first sync of a page the server is asked whether the room is encrypted.
    #expect(again.answer("/state/m.room.encryption", status: 404, #"{"errcode":"M_NOT_FOUND","error":""}"#))
    #expect(again.body(of: "/send/m.room.message/").contains("m.thread") && again.body(of: "/send/").contains("half a thought"))
  }

  // Proves J30, P25
  @Test("who may not write is told so in place of the composer, and has it as soon as they may")
  func silenced() throws {
    func levels(_ level: Int) -> String {
      event("$p\(level)", #"{"events_default":\#(level)}"#, type: "m.room.power_levels", at: 2 + level, state: "")
    }
    try page.openRoom([
      event("$c", #"{"room_version":"10"}"#, type: "m.room.create", at: 1, state: ""), levels(50),
      event("$1", text("only I speak"))
    ])
    #expect(page.all("ma-room-notice").map(\.allText) == ["mayNotWrite"] && page.all("mg-composer").isEmpty)
    try page.openMenu(of: "only I speak")
    #expect(page.menu.contains("copyText") && !page.menu.contains("reply"))
    page.app.dialogs.closeAll()
    page.syncRoom([levels(0)])
    #expect(page.all("ma-room-notice").isEmpty && page.all("mg-composer").count == 1)
    try page.openMenu(of: "only I speak")
    #expect(page.menu.contains("reply"))
  }

  // MARK: Without a notification

  // Proves P26
  @Test("a poll and a sticker go out without a notification where that is ticked")
  func silence() throws {
    try page.openRoom([event("$1", text("beans"))])
    for isSilent in [true, false] {
      try page.press("sendMore")
      page.click("newPoll")
      for (words, label) in [("Tea?", "pollQuestion"), ("Yes", "pollAnswer 1"), ("No", "pollAnswer 2")] {
        page.type(words, into: label)
      }
      if isSilent { try page.tick("sendSilently") }
      page.submitForm()
      page.settleStore()
      #expect(page.body(of: "poll.start").contains(#""martlet.silent":true"#) == isSilent)
      page.answer("poll.start", #"{"event_id":"$poll\#(isSilent)"}"#)
      try page.press("emoji")
      page.answer("im.ponies", #"{"next_batch":"x"}"#)
      page.click("stickers")
      page.answer(
        "im.ponies",
        #"{"next_batch":"x","account_data":{"events":[{"type":"im.ponies.user_emotes","content":{"images":{"owl":{"url":"mxc://b.example/owl"}}}}]}}"#
      )
      if isSilent { try page.tick("sendSilently") }
      page.dom.fire(.click, on: try #require(page.all("ma-sticker").last).node)
      page.settleStore()
      #expect(page.body(of: "/send/m.sticker/").contains(#""martlet.silent":true"#) == isSilent)
      page.answer("/send/m.sticker/", #"{"event_id":"$sticker\#(isSilent)"}"#)
    }
  }

  // MARK: Files

  private func give(_ names: [String]) throws {
    let files = names.enumerated().map { number, name in
      PickedFile(
        handle: Int32(number + 1), name: name, mediaType: name.hasSuffix("png") ? "image/png" : "text/plain", byteCount: 9,
        width: 2,
        height: 2, onRelease: { _ in })
    }
    page.dom.fire(.files, on: try #require(page.all("ma-column").first).node, files: files)
  }

  // Proves P26
  @Test("of several files some are left out before they are sent; the last one stays, and the focus goes on")
  func leftOut() throws {
    try page.openRoom([event("$1", text("beans"))])
    try give(["list.txt", "secret.txt", "cat.png"])
    func removers() -> [String] {
      page.all("ma-round").compactMap { $0.attributes["aria-label"] }.filter { $0.hasPrefix("removeNamed") }
    }
    page.click("removeNamed cat.png")
    #expect(removers() == ["removeNamed list.txt", "removeNamed secret.txt"])
    page.click("removeNamed secret.txt")
    #expect(removers().isEmpty && page.dom[page.dom.focused].attributes["aria-label"] == "caption")
    page.submitForm()
    page.settleStore()
    page.answer("/media/config", "{}")
    page.answer("/upload", #"{"content_uri":"mxc://chat.example/f"}"#)
    let sent = page.body(of: "/send/m.room.message/")
    #expect(sent.contains(#""msgtype":"m.file""#) && sent.contains("list.txt") && !sent.contains("secret"))
  }

  // Proves C43, C44, P13, P14
  @Test(
    "pictures are messages of their own where that is wanted; one with words has them as its text, and its name beside them")
  func apart() throws {
    try page.openRoom([event("$1", text("beans"))])
    try give(["a.png", "b.png"])
    try page.tick("asOneMessage", false)
    page.submitForm()
    page.settleStore()
    #expect(page.all("mg-gallery").isEmpty && page.all("mg-picture").count == 2)
    for number in 0..<2 {
      page.answer("/media/config", "{}")
      page.answer("/upload", #"{"content_uri":"mxc://chat.example/\#(number)"}"#)
      page.answer("/send/", #"{"event_id":"$\#(number)s"}"#)
    }
    try give(["dune.png"])
    page.type("The last one", into: "caption")
    page.submitForm()
    page.settleStore()
    page.answer("/upload", #"{"content_uri":"mxc://chat.example/2"}"#)
    let sent = page.body(of: "/send/m.room.message/")
    #expect(sent.contains(#""body":"The last one""#) && sent.contains(#""filename":"dune.png""#) && sent.contains("m.image"))
    try give(["dune.png"])
    page.click("cancel")
    #expect(!page.app.dialogs.isOpen && page.all("mg-picture").count == 3)
  }
}
