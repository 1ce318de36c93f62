import ClientCore
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import WebApp

@Suite("Looking for messages, and all that was shared")
struct SearchTests {
  private let page = Page()
  private static let day = 86_400

  /// The room open, with Boris in it and one message.
  private func open(_ choice: String, _ rest: String = "") throws {
    page.signIn()
    let boris = event(
      "$b", #"{"membership":"join","displayname":"Boris"}"#, type: "m.room.member", at: 1, state: "@boris:chat.example")
    page.sync([
      (
        "!a",
        """
        {"summary":{"m.joined_member_count":2},"timeline":{"limited":false,"prev_batch":"t1",\
        "events":[\(boris),\(event("$1", text("beans")))]}\(rest)}
        """
      )
    ])
    page.dom.fire(.click, on: try #require(page.all("ma-entry").first).node)
    page.settleStore()
    page.click("roomMenu")
    page.click(choice)
  }

  private func submit() throws { page.dom.fire(.submit, on: try #require(page.all("ma-search").first).node) }

  private func choose(_ kind: SoughtMessages.Kind) throws {
    let choice = try #require(page.all("ma-choice").first { $0.attributes["aria-label"] == "onlyKind" })
    page.dom.fire(.change, on: choice.node, text: "\(kind.rawValue)")
  }

  private func found(_ events: [String], next: String? = nil) -> String {
    let results = events.map { "{\"result\":\($0)}" }.joined(separator: ",")
    let batch = next.map { ",\"next_batch\":\"\($0)\"" } ?? ""
    return "{\"search_categories\":{\"room_events\":{\"results\":[\(results)]\(batch)}}}"
  }

  private func history(_ events: [String], next: String? = nil) -> String {
    "{\"chunk\":[\(events.joined(separator: ","))],\"start\":\"s\"" + (next.map { ",\"end\":\"\($0)\"}" } ?? "}")
  }

  private var chips: [String] { page.all("ma-chip").map(\.allText) }
  private var results: [String] { page.all("ma-result-text").map(\.text) }
  private var status: String { page.all("ma-note").last { $0.attributes["role"] == "status" }?.text ?? "" }
  private var target: String {
    page.requests.last { $0.request.target.contains("/messages") }?.request.target ?? ""
  }

  private func file(_ kind: String, _ name: String) -> String {
    #"{"msgtype":"\#(kind)","body":"\#(name)","url":"mxc://c.example/m","info":{"size":2000}}"#
  }

  // MARK: Searching

  // Proves P17
  @Test("a search is narrowed by who said it and to what has a file; what narrows is a chip that can be taken away")
  func narrowed() throws {
    try open("searchRoom")
    page.type("beans", into: "searchFor")
    page.type("bor", into: "saidBy")
    let offered = page.all("ma-target").filter { $0.allText.contains("Boris") }
    #expect(offered.count == 1 && !offered[0].allText.contains("@boris"))
    page.dom.fire(.click, on: offered[0].node)
    #expect(chips == ["saidBy: Boris"])
    #expect(page.body(of: "/search").contains(#""rooms":["!a"],"senders":["@boris:chat.example"]}"#))
    page.answer("/search", found([event("$7", text("old beans"))]))
    #expect(results == ["old beans"] && status == "shownCount 1")

    try choose(.pictures)
    #expect(chips == ["saidBy: Boris", "picturesAndVideos"])
    #expect(page.body(of: "/search").contains(#""senders":["@boris:chat.example"],"contains_url":true"#))
    page.answer("/search", found([event("$8", file("m.file", "beans.pdf")), event("$9", file("m.image", "beans.png"))]))
    #expect(results == ["beans.png"])

    let chip = try #require(page.all("ma-chip").first)
    #expect(chip.attributes["aria-label"] == "removeNamed saidBy: Boris")
    page.dom.fire(.click, on: chip.node)
    #expect(chips == ["picturesAndVideos"] && !page.body(of: "/search").contains("senders"))
    #expect(page.dom[page.dom.focused].attributes["aria-label"] == "searchFor")
  }

  @Test("a search by sender takes the user's own ID, and an unknown ID when it is complete")
  func somebody() throws {
    try open("searchRoom")
    page.type("@nora:other.ex", into: "saidBy")
    #expect(chips.isEmpty)
    page.type("@nora:other.example", into: "saidBy")
    try submit()
    #expect(chips == ["saidBy: @nora:other.example"])
    page.type("@alice:chat.example", into: "saidBy")
    try submit()
    #expect(chips.count == 1 && chips[0].contains("alice") || chips == ["saidBy: Alice"])
    #expect(target.contains("%40alice"))
  }

  // Proves P17
  @Test("without words the room's history is looked through; in all conversations a word is asked for")
  func wordless() throws {
    try open("searchRoom")
    try submit()
    #expect(page.requests.allSatisfy { !$0.request.target.contains("/messages") } && status == "")
    try choose(.links)
    #expect(target.contains("contains_url%22%3Afalse"))
    let address = event("$7", text("see https://beans.example/x, they said"))
    page.answer("/messages", history([address, event("$8", text("no: nothing"))]))
    #expect(results == ["see https://beans.example/x, they said"])
    let everywhere = try #require(page.all("ma-check").first?.tags("input").first)
    page.dom.fire(.change, on: everywhere.node, x: 1)
    #expect(status == "wordsWanted" && results.isEmpty)
    page.type("beans", into: "searchFor")
    try submit()
    #expect(page.body(of: "/search").contains(#""contains_url":false"#) && !page.body(of: "/search").contains("rooms"))
  }

  // Proves P17
  @Test("dates cut what the server finds: pages go on until enough is there, the first day, or the bound, and it says which")
  func dates() throws {
    try open("searchRoom")
    page.type("beans", into: "searchFor")
    // An incomplete year is ignored.
    page.type("0197-01-10", into: "sinceDay")
    #expect(chips.isEmpty)
    page.type("1970-01-10", into: "sinceDay")
    page.type("1970-01-20", into: "untilDay")
    #expect(chips.count == 2)
    // The one before the second day was set.
    page.answer("/search", found([event("$9", text("of before"))]))
    #expect(results.isEmpty)
    let late = event("$9", text("late"), at: 25 * Self.day), last = event("$8", text("last"), at: 19 * Self.day + 3_600)
    page.answer("/search", found([late, last], next: "2"))
    #expect(page.requests.contains { $0.request.target.contains("next_batch=2") } && status == "searching")
    let first = event("$7", text("first"), at: 9 * Self.day + 7_200)
    page.answer("/search", found([first, event("$6", text("early"), at: 100)], next: "3"))
    // A page with both may come from a clock that is wrong.
    #expect(page.requests.contains { $0.request.target.contains("next_batch=3") })
    page.answer("/search", found([event("$5", text("long ago"), at: 50)], next: "4"))
    #expect(results == ["last", "first"] && status == "shownCount 2")
    #expect(!page.requests.contains { $0.request.target.contains("next_batch=4") })

    page.type("", into: "sinceDay")
    for number in 0..<10 {
      #expect(status == "searching")
      page.answer("/search", found([late], next: "n\(number)"))
    }
    #expect(status == "notAllLookedAt" && page.requests.allSatisfy { !$0.request.target.contains("/search") })
    page.click("moreResults")
    page.answer("/search", found([last]))
    #expect(results == ["last"] && status == "shownCount 1")
  }

  @Test("an answer to what is not asked any more is not shown; a failed one says why and can be asked again")
  func late() throws {
    try open("searchRoom")
    page.type("beans", into: "searchFor")
    try submit()
    page.type("peas", into: "searchFor")
    try submit()
    page.answer("/search", found([event("$7", text("beans"))]))
    #expect(results.isEmpty)
    page.answer("/search", status: 502, #"{"errcode":"M_UNKNOWN","error":""}"#)
    #expect(status == Strings[.serverInTrouble])
    page.click("retry")
    #expect(!page.all("ma-button").contains { $0.allText == "retry" })
    page.answer("/search", found([event("$8", text("peas"))]))
    #expect(results == ["peas"] && status == "shownCount 1")
    #expect(!page.all("ma-button").contains { $0.allText == "retry" || $0.allText == "moreResults" })
  }

  // MARK: Shared

  // Proves P13
  @Test("what was shared is a grid by month; a click shows it large, from where a button leads to its message")
  func pictures() throws {
    try open("sharedInRoom")
    #expect(target.contains("contains_url%22%3Atrue") && target.contains("m.room.message"))
    #expect(page.all("ma-results").first?.attributes["aria-busy"] == "true")
    let gallery = """
      {"msgtype":"dm.filament.gallery","body":"","itemtypes":[
      {"itemtype":"m.image","body":"g.png","url":"mxc://c.example/g"},{"itemtype":"m.file","body":"g.pdf","url":"mxc://c.example/h"}]}
      """
    page.answer(
      "/messages",
      history([
        event("$9", file("m.image", "a.png")), event("$8", file("m.file", "b.pdf")), event("$7", gallery),
        event("$6", #"{"msgtype":"m.image","body":"sealed","file":{"url":"mxc://c.example/s"}}"#), event("$5", "{}"),
        event("$4", #"{"msgtype":"m.video","body":"v.mp4","url":"mxc://c.example/v"}"#)
      ]))
    #expect(
      page.all("ma-tile").map { $0.attributes["aria-label"] } == ["openImage a.png", "openImage g.png", "openVideo v.mp4"])
    #expect(page.all("ma-results").first?.attributes["aria-busy"] == "false")
    page.dom.fire(.click, on: page.all("ma-tile")[1].node)
    #expect(page.all("ma-dialog").last?.attributes["aria-label"] == "g.png")
    page.click("nextOne")
    #expect(page.all("ma-dialog").last?.attributes["aria-label"] == "v.mp4")
    page.click("previous")
    page.click("showMessage")
    #expect(page.all("ma-dialog").isEmpty && page.all("ma-shared").isEmpty)
    #expect(page.requests.contains { $0.request.target.contains("/context/$7") || $0.request.target.contains("/context/%247") })
  }

  @Test("files are downloaded from their lines, links open beside the page, and each leads to its message")
  func files() throws {
    try open("sharedInRoom")
    page.answer("/messages", history([]))
    #expect(status == "noPictures")
    page.click("files")
    page.answer("/messages", history([event("$9", file("m.image", "a.png")), event("$8", file("m.file", "b.pdf"))]))
    #expect(results == ["b.pdf"] && page.all("ma-result-name").last?.text.hasPrefix("Boris · ") == true)
    page.click("links")
    #expect(results.isEmpty && target.contains("contains_url%22%3Afalse"))
    page.answer("/messages", history([event("$7", text("look: https://beans.example/x")), event("$6", text("javascript://x"))]))
    let link = try #require(page.all("ma-result").first)
    #expect(link.tag == "a" && link.attributes["href"] == "https://beans.example/x" && link.attributes["target"] == "_blank")
    #expect(page.all("ma-result").count == 1 && link.attributes["rel"] == "noopener noreferrer")
    page.click("showMessage: https://beans.example/x")
    #expect(page.requests.contains { $0.request.target.contains("/context/$7") || $0.request.target.contains("/context/%247") })
  }

  @Test("the next page comes as one scrolls near the end, once; what ignored people shared stays out")
  func scrolled() throws {
    try open("sharedInRoom")
    let ignored = #"{"type":"m.ignored_user_list","content":{"ignored_users":{"@eve:c.example":{}}}}"#
    page.sync(answer: "\"account_data\":{\"events\":[\(ignored)]}")
    let pictures = (0..<20).map { event("$p\($0)", file("m.image", "p\($0)")) }
    page.answer(
      "/messages", history(pictures + [event("$e", file("m.image", "eve"), by: "@eve:c.example")], next: "two"))
    #expect(page.all("ma-tile").count == 20 && page.requests.allSatisfy { !$0.request.target.contains("/messages") })
    let scroller = try #require(page.all("ma-shared").first)
    for _ in 0..<3 { page.dom.fire(.scroll, on: scroller.node, x: 10, y: 600) }
    #expect(page.requests.filter { $0.request.target.contains("from=two") }.count == 1)
    page.answer("/messages", history([event("$z", file("m.image", "z"))]))
    #expect(page.all("ma-tile").count == 21)
    page.dom.fire(.scroll, on: scroller.node, x: 10, y: 600)
    #expect(page.requests.allSatisfy { !$0.request.target.contains("/messages") })
  }

  @Test("what comes after the panel was closed draws nothing", arguments: ["searchRoom", "sharedInRoom", "threads"])
  func closed(choice: String) throws {
    try open(choice)
    if choice == "searchRoom" {
      page.type("beans", into: "searchFor")
      page.type("x", into: "saidBy")
      try submit()
    }
    let side = try #require(page.all("ma-side").first)
    let close = try #require(page.all("ma-round", in: side).first)
    page.dom.fire(.click, on: close.node)
    let before = page.root.allText
    let picture = event("$9", file("m.image", "a.png"))
    #expect(
      page.answer("/search", found([picture])) || page.answer("/threads", history([picture]))
        || page.answer("/messages", history([picture], next: "two")))
    page.sync([("!a", #"{"summary":{"m.joined_member_count":2},"timeline":{"events":[]}}"#)])
    #expect(page.root.allText == before && page.requests.allSatisfy { !$0.request.target.contains("from=two") })
  }

  @Test("the details lead to what was shared")
  func details() throws {
    try open("searchRoom")
    page.click("details")
    page.click("sharedInRoom")
    #expect(page.all("ma-shared").count == 1 && page.app.place.showsDetails == false)
  }

  // Proves C57, P17
  @Test("what is found comes in pages; in all conversations each says of which it is, and a click leads there")
  func pages() throws {
    try open("searchRoom")
    page.sync([("!b", room("Cellar", [("@boris:chat.example", "x", 5)]))])
    page.type("lantern", into: "searchFor")
    try submit()
    page.answer("/search", found((0..<20).map { event("$s\($0)", text("lantern \($0)")) }, next: "2"))
    #expect(results.count == 20 && status == "shownCount 20")
    page.click("moreResults")
    #expect(page.requests.contains { $0.request.target.contains("next_batch=2") })
    page.answer("/search", found([event("$t", text("the last lantern"))]))
    #expect(results.count == 21 && !page.all("ma-button").contains { $0.allText == "moreResults" })

    let everywhere = try #require(page.all("ma-check").first?.tags("input").first)
    page.dom.fire(.change, on: everywhere.node, x: 1)
    #expect(!page.body(of: "/search").contains("rooms"))
    let elsewhere = event("$e", text("a lantern without oil")).dropLast() + #","room_id":"!b"}"#
    let here = event("$h", text("an old lantern")).dropLast() + #","room_id":"!a"}"#
    page.answer("/search", found([String(elsewhere), String(here)]))
    #expect(results == ["a lantern without oil", "an old lantern"])
    let line = try #require(page.all("ma-result").first)
    #expect(page.all("ma-result-name", in: line).first?.text == "Cellar")
    page.dom.fire(.click, on: line.node)
    #expect(page.app.place.room?.string == "!b")
    page.settleStore()
    #expect(page.requests.contains { $0.request.target.contains("/context/$e") || $0.request.target.contains("/context/%24e") })
  }
}
