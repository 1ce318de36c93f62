import ClientCore
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import WebApp

@Suite("One room in the page of somebody else")
struct EmbeddingTests {
  private static let garden = room("Garden", [("@boris:chat.example", "Beans", 60)])

  private func page(room: String = "!garden:chat.example", guest: Bool = false, commands: String = "") throws -> Page {
    let wishes =
      #"{"page":"https://host.example","homeserver":"https://chat.example","room":"\#(room)","guest":\#(guest),"commands":"\#(commands)"}"#
    return Page(wishes: try JSON.parse(Array(wishes.utf8)))
  }

  private func ask(_ page: Page, _ request: String) throws {
    try #require(page.app.embedding).take(try JSON.parse(Array(request.utf8)))
    page.settleStore()
  }

  private func signedIn(room: String = "!garden:chat.example") throws -> Page {
    let page = try page(room: room)
    try ask(page, #"{"do":"signIn","number":1,"userID":"@alice:chat.example","deviceID":"D","accessToken":"secret"}"#)
    return page
  }

  @Test("nobody is signed in at first, and the sign-in form names the page around it")
  func start() throws {
    let page = try page()
    #expect(page.told == [#"{"event":"loaded"}"#, #"{"event":"signedout"}"#])
    #expect(page.text.contains("https://host.example"))
  }

  // Proves T14, T15
  @Test("the page hands over a session; the room is shown as soon as it is there; what is said in it is told")
  func session() throws {
    let page = try signedIn()
    #expect(page.told.contains(#"{"answer":1}"#))
    #expect(page.told.contains(#"{"event":"signedin","userID":"@alice:chat.example","deviceID":"D"}"#))
    #expect(!page.told.contains { $0.contains("secret") })
    page.sync([("!garden:chat.example", Self.garden)])
    #expect(page.text.contains("Beans"))
    page.sync([("!garden:chat.example", room("Garden", unread: 1, [("@boris:chat.example", "Peas", 61)]))])
    #expect(page.told.contains { $0.contains(#""event":"message""#) && $0.contains("Peas") && $0.contains(#""own":false"#) })
    #expect(page.told.contains(#"{"event":"unread","count":1}"#))
  }

  // Proves J26
  @Test("what the page sends is answered with its event, or with words where the server refuses it")
  func send() throws {
    let page = try signedIn()
    page.sync([("!garden:chat.example", Self.garden)])
    try ask(page, #"{"do":"send","number":2,"text":"Hello"}"#)
    #expect(!page.told.contains { $0.contains(#""answer":2"#) })
    page.answer("/send/m.room.message", #"{"event_id":"$sent"}"#)
    #expect(page.told.contains(#"{"answer":2,"value":"$sent"}"#))
    try ask(page, #"{"do":"send","number":3,"text":"Again"}"#)
    page.answer("/send/m.room.message", status: 403, #"{"errcode":"M_FORBIDDEN","error":"not you"}"#)
    #expect(page.told.contains(#"{"answer":3,"error":"\#(Strings[.notAllowed]) (not you)"}"#))
  }

  // Proves J25, T13
  @Test("a message with data of the page's own, and an event of its own type, go out as they are")
  func data() throws {
    let page = try signedIn()
    page.sync([("!garden:chat.example", Self.garden)])
    let content = #"{"msgtype":"m.text","body":"Two","com.example.order":{"id":7}}"#
    try ask(page, #"{"do":"send","number":2,"type":"m.room.message","content":\#(content)}"#)
    let request = try #require(page.requests.first { $0.request.target.contains("/send/m.room.message/") }).request
    #expect(String(decoding: request.body ?? [], as: UTF8.self).contains(#""com.example.order":{"id":7}"#))
    page.answer("/send/m.room.message", #"{"event_id":"$two"}"#)
    #expect(page.told.contains(#"{"answer":2,"value":"$two"}"#) && page.told.contains(#"{"event":"sent","id":"$two"}"#))
    try ask(page, #"{"do":"send","number":3,"type":"com.example.order","content":{"id":8}}"#)
    #expect(page.requests.contains { $0.request.target.contains("/send/com.example.order/") })
    page.answer("/send/com.example.order", status: 403, #"{"errcode":"M_FORBIDDEN","error":"not you"}"#)
    #expect(page.told.contains(#"{"event":"unsent","message":"\#(Strings[.notAllowed]) (not you)"}"#))
  }

  // Proves T14, T15
  @Test("the connection, who writes, who has read and who comes are told")
  func happenings() throws {
    let page = try signedIn()
    page.sync([("!garden:chat.example", Self.garden)])
    #expect(page.told.contains(#"{"event":"connection","up":true}"#))
    let came = #"""
      {"type":"m.room.member","event_id":"$in","state_key":"@chloe:chat.example","sender":"@chloe:chat.example",
      "origin_server_ts":62000,"content":{"membership":"join"},"unsigned":{"prev_content":{"membership":"invite"}}}
      """#
    let wrote = #"{"type":"m.typing","content":{"user_ids":["@boris:chat.example"]}}"#
    let read = #"{"type":"m.receipt","content":{"$6-60-0":{"m.read":{"@boris:chat.example":{"ts":1}}}}}"#
    page.sync([
      ("!garden:chat.example", #"{"timeline":{"events":[\#(came)]},"ephemeral":{"events":[\#(wrote),\#(read)]}}"#)
    ])
    #expect(page.told.contains(#"{"event":"typing","users":["@boris:chat.example"]}"#))
    #expect(page.told.contains(#"{"event":"receipt","userID":"@boris:chat.example","of":"$6-60-0","kind":0}"#))
    let end = #""stateKey":"@chloe:chat.example","before":{"membership":"invite"}}"#
    #expect(page.told.contains { $0.contains(#""type":"m.room.member""#) && $0.hasSuffix(end) })
    page.app.take(.networkChanged(isOnline: false))
    #expect(page.told.last == #"{"event":"connection","up":false}"#)
  }

  // MARK: Messages of the page's own kinds

  private static let order = #"{"msgtype":"com.example.order","body":"Two beans","count":2}"#

  /// An event of Boris, as a sync of the room has it.
  private static func said(_ id: String, _ content: String) -> String {
    let event =
      #"{"type":"m.room.message","event_id":"\#(id)","sender":"@boris:chat.example","origin_server_ts":70000,"content":\#(content)}"#
    return #"{"timeline":{"events":[\#(event)]}}"#
  }

  private func opened(_ page: Page) throws {
    page.sync([("!garden:chat.example", Self.garden)])
    page.dom.fire(.resize, on: try #require(page.root.first("mg-scroller")).node, x: 600, y: 900)
  }

  private func told(_ page: Page, _ event: String) -> [String] { page.told.filter { $0.hasPrefix(#"{"event":"\#(event)""#) } }

  // Proves P48
  @Test("a message of a kind that the page draws goes to it as it is, what it draws is shown, a button there is told")
  func drawn() throws {
    let page = try signedIn()
    try ask(page, #"{"do":"register","number":2,"kind":"com.example.order"}"#)
    #expect(page.told.contains(#"{"answer":2}"#))
    try opened(page)
    page.sync([("!garden:chat.example", Self.said("$order", Self.order))])
    let draw = try #require(told(page, "draw").last)
    #expect(draw.hasPrefix(#"{"event":"draw","drawing":1,"kind":"com.example.order","data":\#(Self.order),"row":"#))
    #expect(draw.contains(#""id":"$order""#) && draw.contains(#""sender":{"id":"@boris:chat.example""#))
    let more = #"{"tag":"button","element":3,"attributes":{"onclick":"x","title":"t"},"children":["More"]}"#
    let evil = #"{"tag":"script","children":["evil"]},{"tag":"a","attributes":{"href":"javascript:x"},"children":["there"]}"#
    let tree = #"{"tag":"div","children":["2 beans",\#(more),\#(evil)]}"#
    try ask(page, #"{"do":"drawn","drawing":1,"tree":\#(tree)}"#)
    let card = try #require(page.all("mg-custom").first)
    #expect(card.allText == "2 beansMoreevilthere" && card.tags("script").isEmpty)
    #expect(card.tags("a").first?.attributes.isEmpty == true)
    let button = try #require(card.tags("button").first)
    #expect(button.attributes == ["type": "button", "title": "t"])
    page.dom.fire(.click, on: button.node)
    #expect(page.told.last == #"{"event":"drawnclick","drawing":1,"element":3}"#)
  }

  @Test("an edit draws anew, one to another kind shows its words; what the page registers later is drawn then")
  func redrawn() throws {
    let page = try signedIn()
    try opened(page)
    page.sync([("!garden:chat.example", Self.said("$order", Self.order))])
    #expect(page.text.contains("Two beans") && told(page, "draw").isEmpty)
    try ask(page, #"{"do":"register","number":2,"kind":"com.example.order"}"#)
    #expect(told(page, "draw").count == 1)
    func edit(_ id: String, _ content: String) {
      let relation = #""m.relates_to":{"rel_type":"m.replace","event_id":"$order"}"#
      let edit = #"{"msgtype":"com.example.order","body":"* edited","m.new_content":\#(content),\#(relation)}"#
      page.sync([("!garden:chat.example", Self.said(id, edit))])
    }
    let three = #"{"msgtype":"com.example.order","body":"Three beans","count":3}"#
    edit("$three", three)
    #expect(told(page, "undraw").count == 1)
    #expect(told(page, "draw").last?.contains(#""data":\#(three)"#) == true)
    edit("$zero", #"{"msgtype":"com.example.other","body":"No beans"}"#)
    #expect(told(page, "undraw").count == 2 && told(page, "draw").count == 2 && page.text.contains("No beans"))
  }

  // MARK: Rules of the page's own

  /// Writes, and the page lets it through.
  private func write(_ page: Page, _ text: String, hasRules: Bool = true) throws {
    let field = try #require(page.all("mg-input").first).node
    page.dom.fire(.input, on: field, x: Double(text.utf8.count), text: text)
    page.dom.fire(.keyDown, on: field, text: "Enter")
    let token = try #require(told(page, "send").last?.split(separator: ":").last?.dropLast())
    try ask(page, #"{"do":"taken","number":9,"token":\#(token),"text":"\#(text)","hasRules":\#(hasRules)}"#)
  }

  private func answerFormat(_ page: Page, _ html: String?) throws {
    let token = try #require(told(page, "format").last?.split(separator: ":").last?.dropLast())
    try ask(page, #"{"do":"taken","number":10,"token":\#(token)\#(html.map { #","html":"\#($0)""# } ?? "")}"#)
  }

  // Proves P48
  @Test(
    "with rules of its own the page is asked what they make of the HTML; nothing harmful of that is sent, and the text stays the body"
  )
  func rules() throws {
    let page = try signedIn()
    page.sync([("!garden:chat.example", Self.garden)])
    try write(page, "**see** T-1")
    let asked = #"{"event":"format","text":"**see** T-1","html":"<strong>see</strong> T-1","token":"#
    #expect(told(page, "format").last?.hasPrefix(asked) == true)
    #expect(page.body(of: "/send/").isEmpty)
    let evil = "<script>x</script><img src='https://x.example'><a href='javascript:x'>no</a>"
    try answerFormat(page, "<strong>see</strong> <a href='https://example.org/1' onclick='x'>T-1</a>" + evil)
    let content = try JSON.parse(Array(page.body(of: "/send/").utf8))
    #expect(content["body"]?.string == "**see** T-1")
    #expect(
      content["formatted_body"]?.string == #"<strong>see</strong> <a href="https://example.org/1">T-1</a><a>no</a>"#)
  }

  @Test("where its rules change nothing, or it has none, a text is sent as it was; what is plain is not asked about")
  func noRules() throws {
    let page = try signedIn()
    page.sync([("!garden:chat.example", Self.garden)])
    try write(page, "one")
    try answerFormat(page, nil)
    #expect(page.body(of: "/send/") == #"{"msgtype":"m.text","body":"one","m.mentions":{}}"#)
    page.answer("/send/", #"{"event_id":"$one"}"#)
    try write(page, "two", hasRules: false)
    #expect(told(page, "format").count == 1 && page.body(of: "/send/").contains("two"))
    page.answer("/send/", #"{"event_id":"$two"}"#)
    try write(page, "/plain T-1")
    #expect(told(page, "format").count == 1)
  }

  @Test("commands of the page's own are offered behind a slash and told to it; nothing is sent, and others stay unknown")
  func commands() throws {
    let page = try page(commands: "weather giphy me")
    try ask(page, #"{"do":"signIn","number":1,"userID":"@alice:chat.example","deviceID":"D","accessToken":"secret"}"#)
    page.sync([("!garden:chat.example", Self.garden)])
    let field = try #require(page.all("mg-input").first).node
    func write(_ text: String) { page.dom.fire(.input, on: field, x: Double(text.utf8.count), text: text) }
    func send() {
      page.dom.fire(.keyDown, on: field, text: "Enter")
      page.settleStore()
    }
    write("/we")
    #expect(page.all("ma-completion").map(\.allText) == ["/weather"])
    write("/gi")
    #expect(page.all("ma-completion").map(\.allText) == ["/giphy"])
    write("/weather  in Bern ")
    send()
    #expect(page.told.last == #"{"event":"command","name":"weather","text":"in Bern"}"#)
    write("/other")
    send()
    #expect(page.text.contains(Strings[.unknownCommand, "other"]))
    write("/me waves")
    send()
    #expect(!page.told.contains { $0.contains(#""name":"me""#) }, "a name of the client's stays the client's")
  }

  @Test("other rooms are not opened: the page hears which one was asked for")
  func oneRoom() throws {
    let page = try signedIn()
    page.sync([("!garden:chat.example", Self.garden), ("!shed:chat.example", room("Shed", []))])
    let (garden, shed) = (try #require(RoomID("!garden:chat.example")), try #require(RoomID("!shed:chat.example")))
    page.app.goTo(.room(shed))
    #expect(page.app.place == .room(garden))
    #expect(page.told.last == #"{"event":"openroom","room":"!shed:chat.example"}"#)
    page.app.goTo(.details(garden))
    #expect(page.app.place == .details(garden))
    page.app.goTo(.list)
    #expect(page.app.place == .details(garden))
    page.app.search()
    #expect(page.app.place == .details(garden))
  }

  @Test("an alias is asked for once somebody is signed in; joining goes through the servers that know the room")
  func alias() throws {
    let page = try signedIn(room: "#garden:other.example")
    page.sync([])
    #expect(page.answer("/directory/room/", #"{"room_id":"!garden:other.example","servers":["other.example"]}"#))
    try ask(page, #"{"do":"join","number":2}"#)
    #expect(page.requests.contains { $0.request.target.contains("/join/") && $0.request.target.contains("via=other.example") })
  }

  @Test("an alias that nobody knows, and what is no room at all, keep the frame from being of use: it says so")
  func nowhere() throws {
    let page = try signedIn(room: "#nowhere:chat.example")
    page.answer("/directory/room/", status: 404, #"{"errcode":"M_NOT_FOUND","error":"no"}"#)
    #expect(page.told.last == #"{"event":"error","message":"\#(Strings[.notKnown])","isFinal":true}"#)
    #expect(try self.page(room: "garden").app.embedding?.destination == nil)
  }

  // Proves J1
  @Test("a guest is made where the page wants one, once")
  func guest() throws {
    let page = try page(guest: true)
    #expect(page.requests.contains { $0.request.target.contains("kind=guest") })
    page.answer("kind=guest", status: 403, #"{"errcode":"M_GUEST_ACCESS_FORBIDDEN","error":"no guests"}"#)
    #expect(page.text.contains("no guests"))
    #expect(!page.requests.contains { $0.request.target.contains("kind=guest") })
  }

  // Proves C5
  @Test(
    "what is no request, or wants what there is not, is refused",
    arguments: [#"{"do":"add","number":2}"#, #"{"do":"signIn","number":2,"userID":"x"}"#, #"{"do":"join","number":2}"#])
  func refused(_ request: String) throws {
    let page = try page()
    try ask(page, request)
    #expect(page.told.last?.hasPrefix(#"{"answer":2,"error":"#) ?? false)
  }

  @Test("after signing out the room stays for the next user")
  func signOut() throws {
    let page = try signedIn()
    page.sync([("!garden:chat.example", Self.garden)])
    try ask(page, #"{"do":"signOut","number":2}"#)
    page.answer("/logout", "{}")
    #expect(page.told.suffix(2).contains(#"{"event":"signedout"}"#))
    try ask(page, #"{"do":"signIn","number":3,"userID":"@alice:chat.example","deviceID":"E","accessToken":"other"}"#)
    page.sync([("!garden:chat.example", Self.garden)])
    #expect(page.text.contains("Beans"))
  }
}

@Suite("Addresses of rooms and messages")
struct LinkTests {
  private static let garden = room("Garden", [("@boris:chat.example", "Beans", 60), ("@boris:chat.example", "Peas", 61)])

  @Test("an address waits for the login, then for the room, then leads to the message")
  func afterLogin() throws {
    let page = Page()
    page.app.follow(Destination(fragment: "room/!garden:chat.example/$elsewhere"))
    page.signIn()
    #expect(page.app.place == .room(try #require(RoomID("!garden:chat.example"))))
    #expect(!page.requests.contains { $0.request.target.contains("/context/") })
    page.sync([("!garden:chat.example", Self.garden)])
    #expect(page.requests.contains { $0.request.target.contains("/context/%24elsewhere") })
  }

  @Test("the address of where one is closes nothing that lies over it; another one does")
  func sameAddress() throws {
    let page = Page()
    page.signIn()
    page.sync([("!garden:chat.example", Self.garden)])
    let garden = Destination(fragment: "room/!garden:chat.example")
    page.app.follow(garden)
    page.settleStore()
    page.click("roomMenu")
    page.app.follow(garden, isAddressSet: true)
    #expect(page.app.dialogs.isOpen)
    page.app.follow(nil, isAddressSet: true)
    #expect(!page.app.dialogs.isOpen && page.app.place == .list)
  }

  @Test("a message at hand is gone to without a request")
  func atHand() throws {
    let page = Page()
    page.signIn()
    page.sync([("!garden:chat.example", Self.garden)])
    page.app.follow(Destination(fragment: "room/!garden:chat.example/$6-60-0"))
    page.settleStore()
    #expect(page.app.wanted == nil)
    #expect(!page.requests.contains { $0.request.target.contains("/context/") })
  }

  @Test("who follows an address to a room they are not in can join it through its servers, and then sees the message")
  func joining() throws {
    let page = Page()
    page.signIn()
    page.sync([])
    page.app.follow(Destination(fragment: "room/!garden:chat.example/$elsewhere?via=one.example"))
    #expect(page.text.contains(Strings[.unknownRoom]))
    // What the server tells of it to people outside.
    #expect(page.requests.contains { $0.request.target.contains("/room_summary/%21garden%3Achat.example?via=one.example") })
    let summary =
      #"{"room_id":"!garden:chat.example","name":"Garden shop","topic":"Seeds","num_joined_members":7,"join_rule":"public","#
      + #""world_readable":true}"#
    #expect(page.answer("/room_summary/", summary))
    #expect(page.text.contains("Garden shop") && page.text.contains("Seeds") && page.text.contains(Strings[.members, count: 7]))
    #expect(!page.text.contains("!garden:chat.example"))
    let member = event(
      "$m", #"{"membership":"join","displayname":"Zoe"}"#, type: "m.room.member", by: "@zoe:chat.example",
      state: "@zoe:chat.example")
    let history = [
      event("$2", text("Half price"), by: "@zoe:chat.example"), event("$1", text("Tulips"), by: "@zoe:chat.example")
    ]
    #expect(
      page.answer(
        "/messages?", #"{"start":"a","chunk":[\#(history.joined(separator: ","))],"state":[\#(member)]}"#))
    #expect(page.all("ma-outside-message").map { $0.allText } == ["Zoe: Tulips", "Zoe: Half price"])
    page.click(Strings[.join])
    #expect(page.requests.contains { $0.request.target.contains("/join/") && $0.request.target.contains("via=one.example") })
    page.answer("/join/", #"{"room_id":"!garden:chat.example"}"#)
    page.sync([("!garden:chat.example", Self.garden)])
    #expect(page.requests.contains { $0.request.target.contains("/context/%24elsewhere") })
  }

  // Proves C73
  @Test(
    "where an address leads the directory says; where it is silent it is the room with that address that one is in",
    arguments: [nil, 502, 404])
  func aliasOfRooms(status: Int?) throws {
    let page = Page()
    page.signIn()
    let alias =
      ##"{"type":"m.room.canonical_alias","state_key":"","event_id":"$c","sender":"@eve:evil.example","##
      + ##""content":{"alias":"#garden:chat.example"}}"##
    let invited = #"{"invite_state":{"events":[\#(alias)]}}"#
    let joined = Self.garden.replacingFirst("\"state\":{\"events\":[", with: "\"state\":{\"events\":[" + alias + ",")
    page.answer(
      "/sync",
      #"{"next_batch":"s1","rooms":{"invite":{"!evil:evil.example":\#(invited)},"join":{"!garden:chat.example":\#(joined)}}}"#)
    page.app.follow(Destination(fragment: "room/#garden:chat.example"))
    #expect(page.app.place == .list)
    page.answer("/directory/room/", #"{"room_id":"!true:chat.example","servers":[]}"#)
    #expect(page.app.place == .room(try #require(RoomID("!true:chat.example"))))
    page.app.goTo(.list)
    page.app.follow(Destination(fragment: "room/#garden:chat.example"))
    if let status {
      page.answer("/directory/room/", status: status, #"{"errcode":"M_NOT_FOUND","error":"no"}"#)
    } else {
      let asked = try #require(page.requests.last { $0.request.target.contains("/directory/room/") })
      page.app.take(.response(asked.id, .networkError))
    }
    #expect(page.app.place == (status == 404 ? .list : .room(try #require(RoomID("!garden:chat.example")))))
  }

  @Test("an alias that nobody knows is said in words")
  func unknownAlias() {
    let page = Page()
    page.signIn()
    page.sync([])
    page.app.follow(Destination(fragment: "room/#nowhere:chat.example"))
    page.answer("/directory/room/", status: 404, #"{"errcode":"M_NOT_FOUND","error":"no"}"#)
    #expect(page.text.contains(Strings[.notKnown]))
  }
}
