import ClientCore
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import WebApp

private func member(_ user: String, at seconds: Int = 10) -> String {
  event("$m\(user)\(seconds)", #"{"membership":"join"}"#, type: "m.room.member", by: user, at: seconds, state: user)
}

@Suite("The open room")
struct RoomTests {
  private let page = Page()

  /// The room with these events, open.
  private func open(_ events: [String]) throws {
    page.signIn()
    sync(events)
    page.dom.fire(.click, on: try #require(page.all("ma-entry").first).node)
    page.settleStore()
    page.dom.fire(.resize, on: try #require(page.root.first("mg-scroller")).node, x: 600, y: 900)
  }

  private func sync(_ events: [String], ephemeral: String = "") {
    page.sync([
      (
        "!a",
        """
        {"summary":{"m.joined_member_count":3},"timeline":{"limited":false,"prev_batch":"t1",\
        "events":[\(events.joined(separator: ","))]},"ephemeral":{"events":[\(ephemeral)]}}
        """
      )
    ])
  }

  private func row(_ text: String) throws -> FakeElement {
    try #require(page.all("mg-row").first { $0.allText.contains(text) })
  }

  /// Chooses from the menu of the message with that text.
  private func choose(_ choice: String, of text: String) throws {
    page.dom.fire(.contextMenu, on: try row(text).node, x: 5, y: 5)
    let button = try #require(page.all("ma-menu-item").first { $0.saidText == choice })
    page.dom.fire(.click, on: button.node)
    page.settleStore()
  }

  private var field: FakeElement { get throws { try #require(page.all("mg-input").first) } }

  private func write(_ text: String) throws {
    page.dom.fire(.input, on: try field.node, x: Double(text.utf8.count), text: text)
  }

  private func enter() throws {
    page.dom.fire(.keyDown, on: try field.node, text: "Enter")
    page.settleStore()
  }

  @Test("a room is muted from its own menu")
  func mute() throws {
    try open([member("@alice:chat.example")])
    page.click("roomMenu")
    page.dom.fire(.click, on: try #require(page.all("ma-menu-item").first { $0.allText == "muteRoom" }).node)
    #expect(
      page.requests.contains {
        $0.request.target.contains("/pushrules/global/override/!a")
          || $0.request.target.contains("/pushrules/global/override/%21a")
      })
  }

  @Test("the header says how many are in the room, and what it is about")
  func header() throws {
    let own = member("@alice:chat.example")
    try open([own])
    let line = { try #require(page.all("ma-room-line").first).allText }
    #expect(try !line().isEmpty && !line().contains("·"))
    sync([event("$t", #"{"topic":"Planes and chisels"}"#, type: "m.room.topic", at: 20, state: "")])
    #expect(try line().hasSuffix(" · Planes and chisels"))
  }

  @Test("HTML in a message becomes elements of ours, and what others set is never markup")
  func formatted() throws {
    try open([
      event(
        "$1",
        #"""
        {"msgtype":"m.text","body":"x","format":"org.matrix.custom.html","formatted_body":"<b>bold</b><img src=x onerror=alert(1)><script>1</script>"}
        """#)
    ])
    #expect(page.root.tags("strong").map(\.text) == ["bold"])
    #expect(page.root.tags("script").isEmpty)
  }

  // Proves W38
  @Test("state changes in a row are one line until it is opened; a message between keeps them apart")
  func folded() throws {
    let joins = (0..<5).map { member("@u\(String(repeating: "x", count: $0)):b.example", at: 10 + $0) }
    try open(joins + [event("$1", text("hello"), at: 20), member("@late:b.example", at: 21)])
    #expect(page.all("mg-line").count == 2)
    let toggle = try #require(page.all("mg-line").first?.all("mg-button").first)
    #expect(toggle.attributes["aria-expanded"] == "false")
    page.dom.fire(.click, on: toggle.node)
    #expect(page.all("mg-line").count == 7)
    page.dom.fire(.click, on: toggle.node)
    #expect(page.all("mg-line").count == 2)
    // A second change behind the last one folds with it, in the same row.
    sync([member("@later:bb.example", at: 22)])
    #expect(page.all("mg-line").count == 2)
    #expect(page.all("mg-line").last?.all("mg-button").first?.isHidden == false)
    sync([event("$2", text("behind"), at: 23)])
    #expect(page.all("mg-row").last?.allText.contains("behind") == true)
  }

  @Test("a reply quotes what it answers, reactions are counted, a thread stands at its root and not between the messages")
  func relations() throws {
    try open([
      event("$1", text("beans"), at: 10),
      event(
        "$2", #"{"msgtype":"m.text","body":"yes","m.relates_to":{"m.in_reply_to":{"event_id":"$1"}}}"#,
        by: "@carol:chat.example", at: 11),
      event(
        "$3", #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"$1","key":"👍"}}"#, type: "m.reaction", at: 12),
      event(
        "$4", #"{"msgtype":"m.text","body":"aside","m.relates_to":{"rel_type":"m.thread","event_id":"$1"}}"#, at: 13)
    ])
    #expect(page.all("mg-quote-text").map(\.text) == ["beans"])
    #expect(page.all("mg-chip-key").map(\.text) == ["👍"])
    #expect(page.all("mg-thread-count").count == 1)
    #expect(!page.all("mg-part-text").contains { $0.text == "aside" } && !page.all("mg-text").contains { $0.text == "aside" })
    let chip = try #require(page.all("mg-thread").first)
    page.dom.fire(.click, on: chip.node)
    #expect(page.all("ma-side").count == 1)
  }

  // Proves C8, C47
  @Test("pictures, sounds, polls, places and files have parts of their own")
  func kinds() throws {
    let file = #""url":"mxc://b.example/x","info":{"w":400,"h":300,"size":10,"duration":4000,"mimetype":"x/y"}"#
    try open([
      event("$1", #"{"msgtype":"m.image","body":"cat.png",\#(file)}"#),
      event("$2", #"{"msgtype":"m.video","body":"film.mp4",\#(file)}"#),
      event("$3", #"{"msgtype":"m.audio","body":"song.ogg",\#(file),"org.matrix.msc3245.voice":{}}"#),
      event("$4", #"{"msgtype":"m.file","body":"plan.pdf",\#(file)}"#),
      event("$5", #"{"msgtype":"m.location","body":"Here","geo_uri":"geo:52.5,13.4;u=10"}"#),
      event("$6", #"{"body":"hi",\#(file)}"#, type: "m.sticker"),
      event(
        "$7",
        #"{"org.matrix.msc3381.poll.start":{"kind":"org.matrix.msc3381.poll.disclosed","question":{"org.matrix.msc1767.text":"Tea?"},"answers":[{"id":"y","org.matrix.msc1767.text":"Yes"},{"id":"n","org.matrix.msc1767.text":"No"}]}}"#,
        type: "org.matrix.msc3381.poll.start"),
      event(
        "$8",
        #"{"org.matrix.msc3381.poll.response":{"answers":["y"]},"m.relates_to":{"rel_type":"m.reference","event_id":"$7"}}"#,
        type: "org.matrix.msc3381.poll.response")
    ])
    for kind in ["mg-video-badge", "mg-voice", "mg-location", "mg-sticker-box", "mg-poll"] {
      #expect(page.all(kind).count == 1, "\(kind)")
    }
    #expect(page.all("mg-file-name").map(\.text).contains("plan.pdf"))
    #expect(page.all("mg-file-detail").map(\.text).contains("52.5,13.4"))
    #expect(page.all("mg-answer").map(\.allText).first?.hasPrefix("Yes") == true)
    page.dom.fire(.click, on: try #require(page.all("mg-answer").last).node)
    page.settleStore()
    #expect(page.body(of: "poll.response").contains("\"n\""))
  }

  // Proves P18, W14
  @Test("the divider stands above the first unread message of somebody else, not above the user's own")
  func divider() throws {
    page.signIn()
    let events = [
      event("$1", text("read")), event("$2", text("my own"), by: "@alice:chat.example"), event("$3", text("first")),
      event("$4", text("second"))
    ]
    page.sync([
      (
        "!a",
        """
        {"summary":{"m.joined_member_count":3},"unread_notifications":{"notification_count":2,"highlight_count":0},\
        "account_data":{"events":[{"type":"m.fully_read","content":{"event_id":"$1"}}]},\
        "timeline":{"limited":false,"prev_batch":"t1","events":[\(events.joined(separator: ","))]}}
        """
      )
    ])
    page.dom.fire(.click, on: try #require(page.all("ma-entry").first).node)
    page.settleStore()
    page.dom.fire(.resize, on: try #require(page.root.first("mg-scroller")).node, x: 600, y: 900)
    let divided = page.all("mg-row").filter { !page.all("mg-divider", in: $0).allSatisfy(\.text.isEmpty) }
    #expect(divided.count == 1 && divided.first?.allText.contains("first") == true)
  }

  @Test("a small picture is fetched as it is where its type is one of pictures that any browser draws, else a smaller version")
  func wholePictures() throws {
    for (index, (type, size)) in [("image/png", 900), ("image/svg+xml", 900), ("", 900), ("image/avif", 300_001)].enumerated() {
      let info = #""info":{"w":40,"h":30,"size":\#(size),"mimetype":"\#(type)"}"#
      let picture = #"{"msgtype":"m.image","body":"a.png","url":"mxc://b.example/x",\#(info)}"#
      if index == 0 { try open([event("$0", picture)]) } else { sync([event("$\(index)", picture)]) }
    }
    let sources = page.all("mg-picture-image").map { $0.image ?? "" }
    #expect(sources.map { $0.contains("/media/download/") } == [true, false, false, false], "\(sources)")
  }

  // Proves C37, J27, P7
  @Test("one replies from the menu, writes Markdown with a mention, and both go out")
  func reply() throws {
    try open([
      event("$b", #"{"membership":"join","displayname":"Bo Ris"}"#, type: "m.room.member", at: 9, state: "@boris:chat.example"),
      event("$1", text("beans"))
    ])
    try choose("reply", of: "beans")
    #expect(page.all("ma-writer-text").first?.text.contains("Bo Ris") == true)
    try write("@bo")
    #expect(page.all("ma-completion-name").map(\.text) == ["Bo Ris"])
    page.dom.fire(.keyDown, on: try field.node, text: "Enter")
    #expect(try field.value == "@Bo Ris ")
    try write("@Bo Ris **yes**")
    try enter()
    let sent = page.body(of: "/send/m.room.message/")
    #expect(sent.contains(#""m.in_reply_to":{"event_id":"$1"}"#) && sent.contains("<strong>yes</strong>"))
    #expect(sent.contains(#""user_ids":["@boris:chat.example"]"#) && sent.contains("matrix.to"))
    #expect(page.all("ma-writer-banner").isEmpty)
  }

  // Proves J47, P7
  @Test("in a large room names are asked for by pages; those that are known show at once, and two of one name are told apart")
  func crowd() throws {
    page.signIn()
    page.sync([
      (
        "!a",
        """
        {"summary":{"m.joined_member_count":10000},"timeline":{"limited":false,"prev_batch":"t1","events":[\
        \(event("$b", #"{"membership":"join","displayname":"Bo"}"#, type: "m.room.member", at: 9, state: "@boris:chat.example")),\
        \(event("$1", text("beans")))]}}
        """
      )
    ])
    page.dom.fire(.click, on: try #require(page.all("ma-entry").first).node)
    page.settleStore()
    try write("@bo")
    #expect(page.all("ma-completion-name").map(\.text) == ["Bo"])
    page.dom.fire(.keyDown, on: try field.node, text: "ArrowDown")
    let second = #"{"user_id":"@bo2:chat.example","display_name":"Bo"},{"user_id":"@zed:chat.example"}"#
    #expect(page.answer("limit=250", #"{"members":[\#(second)],"next_batch":"p2"}"#))
    #expect(page.all("ma-completion-note").map(\.text) == ["@boris:chat.example", "@bo2:chat.example"])
    #expect(page.answer("from=p2", #"{"members":[{"user_id":"@d:chat.example","display_name":"Big Bo"}]}"#))
    #expect(page.all("ma-completion-name").map(\.text) == ["Bo", "Bo", "Big Bo"])
    page.dom.fire(.keyDown, on: try field.node, text: "ArrowDown")
    page.dom.fire(.keyDown, on: try field.node, text: "Enter")
    #expect(try field.value == "@Bo (@bo2:chat.example) ")
    try enter()
    #expect(page.body(of: "/send/m.room.message/").contains(#""user_ids":["@bo2:chat.example"]"#))
    #expect(!page.answer("/members?not_membership", "{}"))
  }

  // Proves W31
  @Test("of 10,000 members a key reads 250 and draws eight; those after it read nobody again, a change one")
  func crowdIsReadInSlices() throws {
    page.signIn()
    let members = (1..<10_000).map { member("@m\($0):chat.example") }
    page.sync([
      (
        "!a",
        """
        {"summary":{"m.joined_member_count":10000},"state":{"events":[\(members.joined(separator: ","))]},\
        "timeline":{"limited":false,"prev_batch":"t1","events":[\(event("$1", text("beans"), by: "@m7:chat.example"))]}}
        """
      )
    ])
    page.dom.fire(.click, on: try #require(page.all("ma-entry").first).node)
    page.settleStore()
    for typed in ["@", "@m", "@m7"] { try write(typed) }
    #expect(page.all("ma-completion-name").count == 8 && page.all("ma-completion-name").first?.text == "@m7:chat.example")
    #expect(page.requests.filter { $0.request.target.contains("/members") }.count == 1)

    // The same by itself: what its timer would do is called here.
    let crowd = Crowd(page.app)
    let room = try #require(page.app.client.roomIDs.first.flatMap { page.app.client.room($0) })
    for _ in 0..<5 { crowd.gather(room) }
    // Who spoke is read twice, and known once.
    #expect((249...250).contains(crowd.finder.people.count))
    var slices = 1
    while crowd.finder.people.count < 9_999, slices < 100 {
      let before = crowd.finder.people.count
      crowd.readSlice()
      #expect(crowd.finder.people.count - before <= 250)
      slices += 1
    }
    #expect(slices == 40)
    let users = crowd.finder.people.map(\.userID)
    for _ in 0..<5 { crowd.gather(room) }
    #expect(crowd.finder.people.map(\.userID) == users)
    crowd.changed([users[5]])
    #expect(crowd.finder.people.map(\.userID) == users[..<5] + users[6...] + [users[5]])
  }

  @Test("where a server has no pages of members the whole list is asked for")
  func crowdElsewhere() throws {
    page.signIn()
    page.sync([
      (
        "!a",
        """
        {"summary":{"m.joined_member_count":600},"timeline":{"limited":false,"prev_batch":"t1","events":[\(event("$1", text("x")))]}}
        """
      )
    ])
    page.dom.fire(.click, on: try #require(page.all("ma-entry").first).node)
    page.settleStore()
    try write("@ca")
    #expect(page.answer("limit=250", status: 404, #"{"errcode":"M_UNRECOGNIZED"}"#))
    let carol = event(
      "$c", #"{"membership":"join","displayname":"Carol"}"#, type: "m.room.member", state: "@carol:chat.example")
    #expect(page.answer("/members?not_membership", #"{"chunk":[\#(carol)]}"#))
    #expect(page.all("ma-completion-name").map(\.text) == ["Carol"])
  }

  @Test("a slash at the beginning of what is edited stays one; a command ends the reply that was begun")
  func slashes() throws {
    try open([event("$1", text("/leave is a command"), by: "@alice:chat.example"), event("$2", text("theirs"), at: 11)])
    try choose("edit", of: "/leave is a command")
    #expect(try field.value == "//leave is a command")
    try enter()
    #expect(!page.requests.contains { $0.request.target.contains("/leave") })
    let edit = page.body(of: "/send/m.room.message/")
    #expect(edit.contains(#""m.new_content":{"msgtype":"m.text","body":"/leave is a command""#))
    try choose("reply", of: "theirs")
    #expect(!page.all("ma-writer-banner").isEmpty)
    try write("/topic Tea")
    try enter()
    #expect(page.all("ma-writer-banner").isEmpty)
    #expect(page.body(of: "/state/m.room.topic").contains("Tea"))
  }

  // Proves C46
  @Test("a poll is asked with a question and two answers at least, and goes out as what it is")
  func poll() throws {
    try open([event("$1", text("beans"))])
    func press(_ label: String) throws {
      let button = try #require(page.all("mg-composer-button").first { $0.attributes["aria-label"] == label })
      page.dom.fire(.click, on: button.node)
    }
    try press("sendMore")
    page.click("newPoll")
    page.submitForm()
    #expect(page.text.contains("pollIncomplete"))
    page.type("Tea?", into: "pollQuestion")
    page.type("Yes", into: "pollAnswer 1")
    page.click("pollAddAnswer")
    page.type("No", into: "pollAnswer 3")
    page.submitForm()
    page.settleStore()
    let sent = page.body(of: "poll.start")
    #expect(sent.contains("Tea?") && sent.contains("Yes") && sent.contains("No") && sent.contains(#""max_selections":1"#))
    #expect(page.all("mg-answer").count == 2)
  }

  // Proves C43, C44, P13, P14
  @Test("files wait for words; pictures go out as one message, or each for itself")
  func files() throws {
    try open([event("$1", text("beans"))])
    let files = (1...2).map { number in
      PickedFile(
        handle: Int32(number), name: "p\(number).png", mediaType: "image/png", byteCount: 9, width: 2, height: 2,
        onRelease: { _ in })
    }
    page.dom.fire(.files, on: try #require(page.all("mg-composer").first).node, files: files)
    #expect(page.body(of: "/upload").isEmpty)
    page.type("Two of *them*", into: "caption")
    page.submitForm()
    page.settleStore()
    #expect(page.all("mg-gallery").count == 1 && page.text.contains("Two of them"))
    page.dom.fire(.files, on: try #require(page.all("mg-composer").first).node, files: [files[0]])
    page.type("One", into: "caption")
    page.submitForm()
    page.settleStore()
    #expect(page.all("mg-gallery").count == 1 && page.all("mg-picture").count == 3 && page.text.contains("One"))
  }

  // Proves P26
  @Test("files are sent without a notification where that is ticked, and a message's information says that it was")
  func silentFiles() throws {
    try open([
      event("$1", text("beans")), event("$2", #"{"msgtype":"m.text","body":"hush","martlet.silent":true}"#, at: 11)
    ])
    let file = PickedFile(
      handle: 1, name: "p.png", mediaType: "image/png", byteCount: 9, width: 2, height: 2, onRelease: { _ in })
    for isSilent in [true, false] {
      page.dom.fire(.files, on: try #require(page.all("mg-composer").first).node, files: [file])
      let check = try #require(page.all("ma-check").last { $0.allText == Strings[.sendSilently] }?.children.first)
      if isSilent { page.dom.fire(.change, on: check.node, x: 1) }
      page.submitForm()
      page.settleStore()
      page.answer("/media/config", "{}")
      page.answer("/upload", #"{"content_uri":"mxc://chat.example/p"}"#)
      #expect(page.body(of: "/send/").contains(#""martlet.silent":true"#) == isSilent)
      #expect(page.answer("/send/", #"{"event_id":"$sent\#(isSilent)"}"#))
    }
    for (words, isSilent) in [("beans", false), ("hush", true)] {
      try choose(Strings[.messageInfo], of: words)
      #expect(page.all("ma-note").contains { $0.text == Strings[.sentSilently] } == isSilent)
      page.app.dialogs.closeAll()
    }
  }

  // Proves P5
  @Test("what was deleted leaves a line, or none where one wants none, at once; a thread stays where its root is gone")
  func deletedLines() throws {
    try open([
      event("$1", text("beans"), at: 10), event("$2", text("peas"), at: 11), event("$3", text("root"), at: 12),
      event("$4", #"{"msgtype":"m.text","body":"aside","m.relates_to":{"rel_type":"m.thread","event_id":"$3"}}"#, at: 13),
      event("$5", text("last"), at: 14)
    ])
    func deleted() -> Int { page.all("mg-row").count { $0.allText.contains(Strings[.removedMessage]) } }
    for (number, gone) in ["$2", "$3"].enumerated() {
      sync([event("$r\(number)", #"{"redacts":"\#(gone)"}"#, type: "m.room.redaction", at: 20 + number)])
    }
    #expect(deleted() == 2)
    page.app.hidesDeleted = true
    page.app.main?.room?.renewRows()
    #expect(deleted() == 1 && page.all("mg-thread-count").count == 1)
    // A row that comes or goes behind a line that is not there knows its place.
    sync([event("$r5", #"{"redacts":"$5"}"#, type: "m.room.redaction", at: 22), event("$6", text("after"), at: 23)])
    #expect(deleted() == 1 && page.all("mg-row").last?.allText.contains("after") == true)
    page.app.hidesDeleted = false
    page.app.main?.room?.renewRows()
    #expect(deleted() == 3)
  }

  // Proves P14
  @Test("pictures, sounds and files go out as one message: the pictures together, the others beneath")
  func mixedFiles() throws {
    try open([event("$1", text("beans"))])
    let types = ["image/png", "audio/ogg", "application/pdf", "image/png"]
    let files = types.enumerated().map { number, type in
      PickedFile(
        handle: Int32(number + 1), name: "f\(number)", mediaType: type, byteCount: 9, width: 2, height: 2, onRelease: { _ in })
    }
    page.dom.fire(.files, on: try #require(page.all("mg-composer").first).node, files: files)
    page.submitForm()
    page.settleStore()
    #expect(page.all("mg-row").count == 2 && page.all("mg-gallery").count == 1 && page.all("mg-picture").count == 2)
    #expect(page.all("mg-file").count == 1 && page.all("mg-audio").count == 1)
    // More than a message may have are messages of their own.
    page.dom.fire(
      .files, on: try #require(page.all("mg-composer").first).node,
      files: Array(repeating: files[0], count: OutgoingMessage.galleryLimit + 1))
    #expect(page.all("ma-dialog").last?.allText.contains(Strings[.asOneMessage]) == false)
  }

  // Proves P46
  @Test("ArrowUp in the empty field edits the last own message; Escape gives it up")
  func editLast() throws {
    try open([event("$1", text("mine"), by: "@alice:chat.example"), event("$2", text("theirs"), at: 11)])
    page.dom.fire(.keyDown, on: try field.node, text: "ArrowUp")
    #expect(try field.value == "mine")
    page.dom.fire(.keyDown, on: try field.node, text: "Escape")
    #expect(try field.value == "")
    page.dom.fire(.keyDown, on: try field.node, text: "ArrowUp")
    try write("mine, mended")
    try enter()
    #expect(page.body(of: "/send/m.room.message/").contains("m.new_content"))
    #expect(page.all("mg-text").map(\.text).contains("mine, mended"))
  }

  // Proves P11
  @Test("an unknown command is refused with words and stays in the field")
  func unknownCommand() throws {
    try open([event("$1", text("beans"))])
    try write("/dance")
    page.dom.fire(.keyDown, on: try field.node, text: "Escape")
    try enter()
    #expect(page.text.contains("unknownCommand dance") && page.body(of: "/send/").isEmpty)
  }

  // Proves P10
  @Test("the bar of buttons comes to the row under the pointer and reacts from the picker")
  func react() throws {
    try open([event("$1", text("beans")), event("$2", text("peas"), at: 11)])
    page.dom.fire(.pointerOver, on: try row("beans").node)
    page.dom.fire(.pointerOver, on: try row("peas").node)
    #expect(page.all("mg-tools").count == 1)
    page.app.emoji.all = Emoji.read(Array("👍 thumbs up\n🚀 rocket\n".utf8))
    func tools() throws -> [FakeElement] { page.all("mg-tool", in: try row("peas")) }
    #expect(try tools().filter { $0.has("mg-tool-sign") }.map(\.text) == EmojiHabits.common)
    page.dom.fire(.click, on: try #require(try tools().first { !$0.has("mg-tool-sign") }).node)
    page.type("rocket", into: "emojiSearch")
    page.dom.fire(.click, on: try #require(page.all("ma-emoji").first).node)
    page.settleStore()
    #expect(page.body(of: "/send/m.reaction/").contains("🚀") && page.body(of: "/send/m.reaction/").contains("$2"))
    page.answer("/send/m.reaction/", #"{"event_id":"$3"}"#)
    // What was used stands there first from now on, and is one touch.
    page.dom.fire(.pointerOver, on: try row("beans").node)
    let first = try #require(page.all("mg-tool-sign", in: try row("beans")).first)
    #expect(first.text == "🚀")
    page.dom.fire(.click, on: first.node)
    page.settleStore()
    #expect(page.body(of: "/send/m.reaction/").contains("🚀") && page.body(of: "/send/m.reaction/").contains("$1"))
  }

  // Proves C50, P21
  @Test("who has read the newest own message stands below it, and below no other")
  func readers() throws {
    let receipt = { (event: String) in
      #"{"type":"m.receipt","content":{"\#(event)":{"m.read":{"@carol:chat.example":{"ts":1}}}}}"#
    }
    page.signIn()
    sync(
      [
        member("@carol:chat.example", at: 1), event("$1", text("one"), by: "@alice:chat.example"),
        event("$2", text("two"), by: "@alice:chat.example", at: 11)
      ], ephemeral: receipt("$1"))
    page.dom.fire(.click, on: try #require(page.all("ma-entry").first).node)
    page.settleStore()
    page.dom.fire(.resize, on: try #require(page.root.first("mg-scroller")).node, x: 600, y: 900)
    #expect(page.all("mg-readers").isEmpty && page.all("mg-state").map(\.text) == [Strings[.sent]])
    sync([], ephemeral: receipt("$2"))
    #expect(page.all("mg-readers", in: try row("one")).isEmpty)
    #expect(page.all("mg-readers", in: try row("two")).count == 1)
  }

  @Test(
    "rows that changed step by step are those of a fresh look at the room, also where nothing deleted is shown",
    arguments: [1, 2, 3] as [UInt64], [false, true])
  func stepByStep(_ seed: UInt64, hidesDeleted: Bool) throws {
    page.app.hidesDeleted = hidesDeleted
    var random = seed
    func pick(_ count: Int) -> Int {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(random >> 33) % count
    }
    try open([event("$0", text("first"))])
    for step in 1...40 {
      let events = (0...pick(3)).map { number in
        let (id, at) = ("$\(step)x\(number)", 20 + step)
        return switch pick(6) {
        case 0: event(id, text("said \(step) \(number)"), at: at)
        case 1: event(id, #"{"redacts":"$\#(pick(step))x0"}"#, type: "m.room.redaction", at: at)
        case 2:
          event(
            id, #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"$\#(pick(step))x0","key":"👍"}}"#, type: "m.reaction",
            at: at)
        default: event(id, #"{"topic":"\#(step) \#(number)"}"#, type: "m.room.topic", at: at, state: "")
        }
      }
      sync(events)
      if pick(5) == 0, let fold = page.all("mg-line").last?.all("mg-button").first, !fold.isHidden {
        page.dom.fire(.click, on: fold.node)
        page.dom.fire(.click, on: fold.node)
      }
    }
    let shown = page.all("mg-row").map(\.allText)
    #expect(!hidesDeleted || !page.text.contains(Strings[.removedMessage]))
    page.app.goTo(.list)
    page.app.goTo(.room(try #require(RoomID("!a"))))
    page.settleStore()
    #expect(shown.count > 3 && shown == page.all("mg-row").map(\.allText))
  }

  @Test("pages that only lengthen one folded row are fetched so often by themselves, then when the reader asks")
  func barrenPages() throws {
    var pages = 0
    func answerPage() -> Bool {
      pages += 1
      let joins = (0..<50).map { member("@u\(pages)-\($0):chat.example", at: 1000 - pages) }
      return page.answer("/messages", #"{"start":"s","end":"t\#(pages)","chunk":[\#(joins.joined(separator: ","))]}"#)
    }
    try open([event("$1", text("the last word"))])
    while pages < 20, answerPage() {}
    #expect(pages < 10)
    let more = try #require(page.all("mg-button").first { $0.allText == Strings[.showMore] })
    page.dom.fire(.click, on: more.node)
    #expect(answerPage())
  }
}
