import ClientCore
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import Testing

@testable import WebApp

/// A relation to an event, as content.
private func related(_ kind: String, to event: String, _ rest: String = "") -> String {
  #"{"m.relates_to":{"rel_type":"\#(kind)","event_id":"\#(event)"\#(rest)}}"#
}

private func edit(_ event: String, _ body: String) -> String {
  #"{"msgtype":"m.text","body":"* \#(body)","m.new_content":{"msgtype":"m.text","body":"\#(body)"},"#
    + #""m.relates_to":{"rel_type":"m.replace","event_id":"\#(event)"}}"#
}

private func receipt(_ event: String, of user: String = "@boris:chat.example") -> String {
  #","ephemeral":{"events":[{"type":"m.receipt","content":{"\#(event)":{"m.read":{"\#(user)":{"ts":1700000000000}}}}}]}"#
}

@Suite("What is known of a message")
struct MessageTests {
  private let page = Page()
  private static let alice = "@alice:chat.example"

  // Proves P3
  @Test("who reacted to a message is listed: each emoji with all who gave it")
  func reactors() throws {
    try page.openRoom([
      boris, event("$1", text("beans")),
      event("$2", related("m.annotation", to: "$1", #","key":"👍""#), type: "m.reaction", at: 11),
      event("$3", related("m.annotation", to: "$1", #","key":"👍""#), type: "m.reaction", by: Self.alice, at: 12),
      event("$4", related("m.annotation", to: "$1", #","key":"🎉""#), type: "m.reaction", at: 13)
    ])
    try page.choose("reactions", of: "beans")
    let lines = page.all("ma-reactors").map(\.allText)
    #expect(lines.count == 2 && lines.last == "🎉Bo")
    #expect(lines.first?.hasPrefix("👍") == true && lines[0].contains("Bo") && lines[0].contains("youName"))
  }

  @Test("words of an encrypted room go where nothing is encrypted only after a question, and nowhere if the user cancels")
  func forwarding() throws {
    page.signIn()
    let secret = #"{"algorithm":"m.megolm.v1.aes-sha2"}"#
    let garden =
      event("$n", #"{"name":"Garden"}"#, type: "m.room.name", state: "")
    page.sync([
      (
        "!b",
        #"{"summary":{"m.joined_member_count":3},"state":{"events":[\#(garden)]},"timeline":{"limited":false,"events":[]}}"#
      ),
      (
        "!a",
        """
        {"summary":{"m.joined_member_count":3},"timeline":{"limited":false,"prev_batch":"t1","events":[
        \(event("$v", #"{"name":"Vault"}"#, type: "m.room.name", state: "")),
        \(event("$e", secret, type: "m.room.encryption", state: "")),\(event("$1", text("beans")))]}}
        """
      )
    ])
    try page.enterRoom("Vault")
    try page.choose("forward", of: "beans")
    let line = try #require(page.all("ma-target").first { $0.allText.contains("Garden") })
    page.dom.fire(.change, on: try #require(line.tags("input").first).node, x: 1)
    for answer in ["cancel", "forwardAnyway"] {
      page.submitForm()
      #expect(page.all("ma-dialog").last?.allText.contains("forwardToOpen Garden") == true)
      #expect(page.count("/rooms/%21b/send/") == 0)
      page.click(answer)
      page.settleStore()
    }
    #expect(page.count("/rooms/%21b/send/") == 1 && page.all("ma-dialog").isEmpty)
  }

  @Test("the first message that is saved asks for nothing that is not there, and the next one for what stands there by then")
  func saving() throws {
    try page.openRoom([event("$1", text("beans")), event("$2", text("peas"), at: 11)])
    let asked = { (method: Endpoint.Method) in
      page.requests.filter { $0.request.method == method && $0.request.target.contains("m.tagged_events") }.count
    }
    page.app.saved.set([EventID(trusted: "$1")], true, in: RoomID(trusted: "!a"))
    #expect(asked(.get) == 0 && asked(.put) == 1)
    page.answer("m.tagged_events", "{}")
    page.app.saved.set([EventID(trusted: "$2")], true, in: RoomID(trusted: "!a"))
    #expect(asked(.get) == 1 && asked(.put) == 0)
    page.answer("m.tagged_events", #"{"tags":{"m.favourite":{"$1":{"tagged_at":1}}}}"#)
    #expect(page.body(of: "m.tagged_events").contains("$1") && page.body(of: "m.tagged_events").contains("$2"))
  }

  @Test("what other clients have tagged is read first")
  func savingBesideOthers() throws {
    try page.openRoom(
      [event("$1", text("beans"))],
      #","account_data":{"events":[{"type":"m.tagged_events","content":{"tags":{"m.hidden":{"$0":{}}}}}]}"#)
    page.app.saved.set([EventID(trusted: "$1")], true, in: RoomID(trusted: "!a"))
    #expect(page.body(of: "m.tagged_events").isEmpty)
    page.answer("m.tagged_events", #"{"tags":{"m.hidden":{"$0":{"keywords":["x"]}}}}"#)
    #expect(page.body(of: "m.tagged_events").contains(#""m.hidden":{"$0":{"keywords":["x"]}}"#))
  }

  // Proves C50, P4
  @Test("the history of a message has all its versions, the first of them first")
  func history() throws {
    try page.openRoom([
      event("$1", text("first words"), by: Self.alice), event("$2", edit("$1", "second words"), by: Self.alice, at: 11)
    ])
    try page.choose("messageInfo", of: "second words")
    #expect(page.all("ma-version").map(\.text) == ["first words", "second words"])
  }

  // Proves C54
  @Test("a message's information says how often it was edited, its event, and who has read it, with the time where they stand")
  func info() throws {
    try page.openRoom(
      [
        boris, event("$1", text("the deed"), by: Self.alice),
        event("$2", edit("$1", "the deed is here"), by: Self.alice, at: 11),
        event("$3", edit("$1", "the deed is gone"), by: Self.alice, at: 12),
        event("$4", text("who took it?"), by: Self.alice, at: 13)
      ], receipt("$1"))
    page.app.showsSources = true
    func shown() -> [String] { page.all("ma-dialog").last.map { page.all("ma-copy-text", in: $0).map(\.text) } ?? [] }
    func readers() -> [FakeElement] { page.all("ma-dialog").last.map { page.all("ma-member", in: $0) } ?? [] }
    try page.choose("messageInfo", of: "the deed is gone")
    #expect(page.text.contains("editedTimes 2") && shown().contains("$1"))
    #expect(readers().map { page.all("ma-entry-name", in: $0).map(\.text) } == [["Bo"]])
    #expect(readers().flatMap { page.all("ma-entry-preview", in: $0) }.count == 1)
    page.app.dialogs.closeAll()
    try page.choose("messageInfo", of: "who took it?")
    #expect(!page.text.contains("editedTimes") && shown().contains("$4") && readers().isEmpty)
    page.app.dialogs.closeAll()
    // A member who has read further has read this, too; nobody knows when.
    page.syncRoom([], receipt("$4"))
    try page.choose("messageInfo", of: "the deed is gone")
    #expect(readers().count == 1 && readers().flatMap { page.all("ma-entry-preview", in: $0) }.isEmpty)
    page.dom.fire(.click, on: try #require(readers().first).node)
    #expect(page.all("ma-dialog").last?.allText.contains("@boris:chat.example") == true)
  }

  @Test("a message's source is the event as the server has it")
  func source() throws {
    try page.openRoom([event("$1", text("look at me"))])
    try page.choose("messageInfo", of: "look at me")
    #expect(!page.text.contains("viewSource"), "only with developer settings")
    page.app.dialogs.closeAll()
    page.app.showsSources = true
    try page.choose("messageInfo", of: "look at me")
    page.click("viewSource")
    page.settleStore()
    page.answer("/event/", event("$1", text("look at me")))
    let source = try #require(page.all("ma-source").first).text
    for words in [#""event_id": "$1""#, #""type": "m.room.message""#, #""body": "look at me""#, "@boris:chat.example"] {
      #expect(source.contains(words))
    }
  }

  private static func levels(_ users: String) -> String {
    event("$p\(users.utf8.count)", #"{"users":{\#(users)}}"#, type: "m.room.power_levels", at: 2, state: "")
  }

  // Proves J29, J32
  @Test("roles of moderators and administrators are said of their messages, as long as they have them; a direct chat has none")
  func roles() throws {
    let events = [
      event("$c", #"{"room_version":"10"}"#, type: "m.room.create", by: "@owner:chat.example", at: 1, state: ""),
      Self.levels(#""@owner:chat.example":100,"@carol:chat.example":50"#),
      event("$1", text("order, please"), by: "@carol:chat.example"), event("$2", text("I was first"), at: 11),
      event("$3", text("next one"), by: "@owner:chat.example", at: 12)
    ]
    try page.openRoom(events)
    #expect(try page.spoken("order, please").contains(", roleModerator, "))
    #expect(try page.spoken("next one").contains(", roleAdministrator, "))
    #expect(try !page.spoken("I was first").contains("role"))
    page.syncRoom([Self.levels(#""@owner:chat.example":100"#)])
    #expect(try !page.spoken("order, please").contains("role"))
    #expect(try page.spoken("next one").contains("roleAdministrator"))
    let direct = Page()
    direct.signIn()
    direct.sync(
      answer: #""account_data":{"events":[{"type":"m.direct","content":{"@owner:chat.example":["!a"]}}]}"#)
    direct.syncRoom(events)
    try direct.enterRoom()
    for words in ["next one", "order, please"] { #expect(try !direct.spoken(words).contains("role")) }
  }

  // Proves C65
  @Test("a message is one spoken sentence: who, what, what it answers, and what became of it")
  func sentences() throws {
    let html = #"<p>very <strong>hot</strong></p><ul><li>the cup</li><li>the pot</li></ul>"#
    try page.openRoom([
      boris,
      event(
        "$a", #"{"membership":"join","displayname":"Alice"}"#, type: "m.room.member", by: Self.alice, at: 1, state: Self.alice),
      event("$1", text("the kettle is on")),
      event(
        "$2", #"{"msgtype":"m.text","body":"coming","m.relates_to":{"m.in_reply_to":{"event_id":"$1"}}}"#, by: Self.alice,
        at: 11),
      event("$3", related("m.annotation", to: "$1", #","key":"🎉""#), type: "m.reaction", at: 12),
      event("$4", text("with mlik?"), at: 13), event("$5", edit("$4", "with milk?"), at: 14),
      event(
        "$6", #"{"msgtype":"m.text","body":"yes","m.relates_to":{"rel_type":"m.thread","event_id":"$1"}}"#, by: Self.alice,
        at: 15),
      event("$7", #"{"msgtype":"m.text","body":"hot","format":"org.matrix.custom.html","formatted_body":"\#(html)"}"#, at: 16)
    ])
    func said(_ words: String) throws -> String {
      try page.spoken(words).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
    let first = try said("the kettle is on")
    #expect(first.contains("Bo, ") && first.hasSuffix(": the kettle is on, reaction 🎉 1, replies 1"), "\(first)")
    for (words, end) in [
      ("coming", ", read, replyTo Bo: coming"), ("with milk?", ", edited: with milk?"),
      ("the cup", ": very hot the cup the pot")
    ] {
      let sentence = try said(words)
      #expect(sentence.hasSuffix(end), "\(sentence)")
    }
  }

  // Proves P36
  @Test("a mail address in a message becomes a link; a user ID does not")
  func mail() throws {
    try page.openRoom([event("$1", text("order at seeds@farm.example, not at @farm:farm.example"))])
    let links = try page.row("order at").tags("a").filter { $0.attributes["href"]?.hasPrefix("mailto:") == true }
    #expect(links.map(\.allText) == ["seeds@farm.example"])
    #expect(links.first?.attributes["href"] == "mailto:seeds@farm.example")
  }

  // Proves J30, P25
  @Test("what the server takes no more of for a while says so, and goes out when that is over")
  func held() throws {
    try page.openRoom([event("$1", text("beans"))])
    try page.write("in a hurry")
    try page.key("Enter")
    page.answer("/send/", status: 429, #"{"errcode":"M_LIMIT_EXCEEDED","error":"slower","retry_after_ms":4000}"#)
    #expect(try page.row("in a hurry").allText.contains("heldMessage") && page.count("/send/") == 0)
    page.runTimers()
    #expect(page.body(of: "/send/").contains("in a hurry"))
    page.answer("/send/", #"{"event_id":"$2"}"#)
    #expect(try !page.row("in a hurry").allText.contains("heldMessage"))
  }

  // Proves J5, N7
  @Test("from a message one comes to a chat with who wrote it")
  func write() throws {
    try page.openRoom([boris, event("$1", text("psst"))])
    let avatar = try #require(page.all("mg-avatar", in: try page.row("psst")).first { $0.tag == "button" })
    page.dom.fire(.click, on: avatar.node)
    #expect(page.all("ma-dialog").last?.attributes["aria-label"] == "Bo")
    page.click("message")
    page.answer("/versions", #"{"versions":["v1.11"]}"#)
    while page.answer("/capabilities", #"{"capabilities":{}}"#) {}
    #expect(page.body(of: "/createRoom").contains("@boris:chat.example"))
    page.answer("/createRoom", #"{"room_id":"!new"}"#)
    #expect(page.app.place.room?.string == "!new" && !page.app.dialogs.isOpen)
  }

  // MARK: Polls

  private static func poll(_ question: String, _ kind: String = "disclosed", several: Bool = false) -> String {
    #"{"org.matrix.msc3381.poll.start":{"kind":"org.matrix.msc3381.poll.\#(kind)","max_selections":\#(several ? 2 : 1),"#
      + #""question":{"org.matrix.msc1767.text":"\#(question)"},"answers":[{"id":"y","org.matrix.msc1767.text":"Soup"},"#
      + #"{"id":"n","org.matrix.msc1767.text":"Bread"}]}}"#
  }

  private static func vote(_ id: String, _ poll: String, _ answers: String) -> String {
    event(
      id,
      #"{"org.matrix.msc3381.poll.response":{"answers":[\#(answers)]},"m.relates_to":{"rel_type":"m.reference","event_id":"\#(poll)"}}"#,
      type: "org.matrix.msc3381.poll.response", at: 20)
  }

  private func vote(for answer: String, expecting answers: String) throws {
    let button = try #require(page.all("mg-answer").first { $0.allText.hasPrefix(answer) })
    page.dom.fire(.click, on: button.node)
    page.settleStore()
    #expect(page.body(of: "poll.response").contains(#""answers":[\#(answers)]"#), "\(page.body(of: "poll.response"))")
    page.answer("poll.response", #"{"event_id":"$own\#(answers.utf8.count)\#(answer)"}"#)
  }

  // Proves C46
  @Test("of a poll with several answers each is counted and can be taken back")
  func several() throws {
    let start = event("$7", Self.poll("Lunch?", several: true), type: "org.matrix.msc3381.poll.start")
    try page.openRoom([boris, start, Self.vote("$8", "$7", #""y","n""#)])
    #expect(page.all("mg-answer").map { $0.allText.contains("votes 1") } == [true, true])
    #expect(try page.row("Lunch?").allText.contains("pollVoters 1"))
    try vote(for: "Soup", expecting: #""y""#)
    try vote(for: "Bread", expecting: #""y","n""#)
    try vote(for: "Soup", expecting: #""n""#)
  }

  // Proves C46
  @Test("a secret poll shows who voted how only once it was ended")
  func secret() throws {
    let start = event("$7", Self.poll("Who washes up?", "undisclosed"), type: "org.matrix.msc3381.poll.start", by: Self.alice)
    try page.openRoom([boris, start, Self.vote("$8", "$7", #""n""#)])
    let before = try page.row("washes up").allText
    #expect(before.contains("pollVoters 1") && !before.contains("votes 1"))
    try page.choose("endPoll", of: "washes up")
    let ended = page.body(of: "poll.end")
    #expect(ended.contains(#""event_id":"$7""#))
    page.answer("poll.end", #"{"event_id":"$9"}"#)
    page.syncRoom([event("$9", ended, type: "org.matrix.msc3381.poll.end", by: Self.alice, at: 30)])
    let after = try page.row("washes up").allText
    #expect(after.contains("pollEnded 1") && after.contains("votes 1"), "\(after)")
  }

  // MARK: Places in the room

  // Proves C49
  @Test("a jump to a date asks for the first message of that day, and shows what stands around it")
  func date() throws {
    try page.openRoom([event("$1", text("beans"))])
    try page.press("roomMenu")
    page.click("jumpToDate")
    page.type("1970-01-03", into: "date")
    page.submitForm()
    #expect(page.requests.contains { $0.request.target.contains("timestamp_to_event?") && $0.request.target.contains("dir=f") })
    page.answer("timestamp_to_event", #"{"event_id":"$far","origin_server_ts":172800000}"#)
    let far = event("$far", text("long ago"), at: 172_800)
    #expect(
      page.answer("/context/", #"{"event":\#(far),"events_before":[],"events_after":[],"start":"s","end":"e","state":[]}"#))
    #expect(page.all("mg-text").map(\.text) == ["long ago"] && !page.app.dialogs.isOpen)
  }

  // Proves W26
  @Test("a room that was open before is shown from what is kept, without asking the server")
  func kept() throws {
    page.signIn()
    page.sync([
      ("!a", room("Attic", [("@boris:chat.example", "an old lantern", 20)])),
      ("!b", room("Cellar", [("@boris:chat.example", "jars of plums", 10)]))
    ])
    try page.enterRoom("Attic")
    try page.enterRoom("Cellar")
    #expect(page.all("mg-text").map(\.text) == ["jars of plums"])
    let before = page.requests.map(\.id)
    try page.enterRoom("Attic")
    #expect(page.all("mg-text").map(\.text) == ["an old lantern"])
    let asked = page.requests.filter { request in !before.contains(request.id) }.map(\.request.target)
    #expect(
      !asked.contains { target in ["/messages", "/context", "/event/", "/state", "/members"].contains { target.contains($0) } })
  }
}
