import ClientCore
import Foundation
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import WebApp

@Suite("Emoji, stickers and pictures in a chat")
struct EmoticonTests: RoomTesting {
  let page = Page()

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
    #expect(page.answer("im.ponies", status: 502, #"{"errcode":"M_UNKNOWN","error":""}"#))
    #expect(page.text.contains(Strings[.serverInTrouble]))
    page.click("retry")
    let packs = """
      "account_data":{"events":[{"type":"im.ponies.user_emotes","content":{"images":{"cat":{"url":"mxc://b.example/cat"}}}}]},\
      "rooms":{"join":{"!a":{"state":{"events":[{"type":"im.ponies.room_emotes","state_key":"","sender":"@b:b.example",\
      "event_id":"$p","content":\(Self.pack)}]},"timeline":{"events":[]}}}}
      """
    #expect(page.answer("im.ponies", #"{"next_batch":"x",\#(packs)}"#))
    #expect(page.all("ma-sticker-packs").first?.tags("h3").map(\.text) == ["ownStickers", "Birds"])
    #expect(page.all("ma-wide").isEmpty)
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
}
