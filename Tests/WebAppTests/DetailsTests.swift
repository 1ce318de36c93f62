import ClientCore
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import WebApp

@Suite("The details of a room")
struct DetailsTests {
  /// A room where Alice has that level; Boris is in it, Mallory banned, Nora knocks.
  private static func page(level: Int, others: [String] = [], capabilities: String = "{}") -> Page {
    let page = Page()
    page.signIn()
    page.answer("/capabilities", #"{"capabilities":\#(capabilities)}"#)
    let member = { (user: String, membership: String) in
      """
      {"type":"m.room.member","state_key":"@\(user):chat.example","event_id":"$\(user)","sender":"@\(user):chat.example",\
      "content":{"membership":"\(membership)","displayname":"\(user.capitalized)"}}
      """
    }
    let state = """
      {"type":"m.room.create","state_key":"","event_id":"$c","sender":"@owner:chat.example","content":{"room_version":"11"}},
      {"type":"m.room.power_levels","state_key":"","event_id":"$p","sender":"@owner:chat.example",
      "content":{"users":{"@alice:chat.example":\(level),"@owner:chat.example":100}}},
      {"type":"m.room.join_rules","state_key":"","event_id":"$j","sender":"@owner:chat.example","content":{"join_rule":"invite"}},
      {"type":"m.room.name","state_key":"","event_id":"$n","sender":"@owner:chat.example","content":{"name":"Garden"}},
      \(member("alice", "join")),\(member("boris", "join"))
      """
    page.sync(
      answer: """
        "rooms":{"join":{"!a":{"summary":{"m.joined_member_count":3},"state":{"events":[\(state)]},
        "timeline":{"limited":false,"prev_batch":"t","events":[]}}}}
        """)
    page.app.goTo(.details(RoomID(trusted: "!a")))
    let all =
      [("alice", "join"), ("boris", "join"), ("owner", "join"), ("mallory", "ban"), ("nora", "knock")]
      + others.map { ($0, "join") }
    page.answer("/members", "{\"chunk\":[\(all.map { member($0.0, $0.1) }.joined(separator: ","))]}")
    return page
  }

  private static func buttons(_ page: Page) -> [String] {
    (page.all("ma-button") + page.all("ma-link") + page.all("ma-danger")).map { $0.attributes["aria-label"] ?? $0.allText }
  }

  @Test("the question before leaving names the room, and warns its only administrator", arguments: [0, 100], [false, true])
  func leaving(_ level: Int, ownerHasLeft: Bool) throws {
    let page = Self.page(level: level)
    if ownerHasLeft {
      let gone =
        #"{"type":"m.room.member","state_key":"@owner:chat.example","event_id":"$gone","sender":"@owner:chat.example","content":{"membership":"leave"}}"#
      page.sync([("!a", #"{"timeline":{"limited":false,"events":[\#(gone)]}}"#)])
    }
    page.click(Strings[.leave])
    let question = try #require(page.all("ma-dialog").last)
    #expect(question.allText.contains(Strings[.leaveQuestion, "Garden"]))
    #expect(question.allText.contains(Strings[.leaveOnlyAdmin]) == (level == 100 && ownerHasLeft))
    page.submitDialog()
    #expect(page.requests.contains { $0.request.target.hasSuffix("/leave") })
  }

  @Test("a room is left from its own menu, after the question")
  func leavingFromMenu() throws {
    let page = Self.page(level: 0)
    page.app.goTo(.room(RoomID(trusted: "!a")))
    try page.press("roomMenu")
    page.click(Strings[.leave])
    page.submitDialog()
    #expect(page.requests.contains { $0.request.target.hasSuffix("/leave") })
  }

  // Proves C26, C27, C28, C29, P25
  @Test("who may do nothing is offered nothing; who may do all is offered all", arguments: [0, 50, 100])
  func allowed(_ level: Int) {
    let page = Self.page(level: level)
    let lines = Self.buttons(page)
    #expect(lines.contains(Strings[.unban, of: "Mallory"]) == (level >= 50))
    #expect(lines.contains(Strings[.decline, of: "Nora"]) == (level >= 50))
    page.click(Strings[.roomSettings])
    let offered = Self.buttons(page)
    #expect(offered.contains(Strings[.edit, of: Strings[.roomName]]) == (level >= 50))
    #expect(offered.contains(Strings[.edit, of: Strings[.topic]]) == (level >= 50))
    #expect(offered.contains(Strings[.changePicture]) == (level >= 50))
    page.click(Strings[.access])
    let choices = page.all("ma-choice").compactMap { $0.attributes["aria-label"] }
    #expect(choices.contains(Strings[.whoMayJoin]) == (level >= 50))
    #expect(page.text.contains(Strings[.ruleInvited]))
  }

  @Test("members stand by what they may, with their roles; words find them")
  func members() throws {
    let page = Self.page(level: 50)
    let names = page.all("ma-member").flatMap { page.all("ma-entry-name", in: $0) }.map(\.text)
    #expect(names == ["Owner", "Alice", "Boris"])
    #expect(page.all("ma-outsider").flatMap { page.all("ma-entry-name", in: $0) }.map(\.text) == ["Nora", "Mallory"])
    #expect(page.all("ma-remark").map(\.text).contains(Strings[.roleAdministrator]))
    let crowd = Self.page(level: 50, others: ["carla", "david", "emil", "frida", "gustav"])
    crowd.type("bor", into: Strings[.searchMembers])
    #expect(crowd.all("ma-member").flatMap { crowd.all("ma-entry-name", in: $0) }.map(\.text) == ["Boris"])
  }

  // Proves C26, C27, C28, C29, P25
  @Test("a member is banned with a reason, made a moderator, and ignored, as far as one may")
  func moderation() throws {
    let page = Self.page(level: 100)
    let boris = try #require(page.all("ma-member").first { $0.allText.contains("Boris") })
    page.dom.fire(.click, on: boris.node)
    let role = try #require(page.all("ma-choice").first { $0.attributes["aria-label"] == Strings[.role] })
    page.dom.fire(.change, on: role.node, text: "50")
    page.answer("/state/m.room.power_levels", #"{"users":{"@alice:chat.example":100}}"#)
    #expect(page.body(of: "/state/m.room.power_levels").contains(#""@boris:chat.example":50"#))
    let check = try #require(page.all("ma-check").first { $0.allText == Strings[.ignoreUser] }?.children.first)
    page.dom.fire(.change, on: check.node, x: 1)
    page.answer("m.ignored_user_list", "{}")
    #expect(page.body(of: "m.ignored_user_list").contains("@boris:chat.example"))
    page.click(Strings[.ban])
    page.type("Spam", into: Strings[.reasonOptional])
    page.submitForm()
    #expect(page.body(of: "/ban").contains("Spam"))
  }

  // Proves P25
  @Test("a member is muted by their role, which says so, and speaks again")
  func muting() throws {
    let page = Self.page(level: 50)
    func choice() throws -> FakeElement {
      try #require(page.all("ma-choice").first { $0.attributes["aria-label"] == Strings[.role] })
    }
    page.dom.fire(.click, on: try #require(page.all("ma-member").first { $0.allText.contains("Boris") }).node)
    #expect(try choice().children.map(\.text) == [Strings[.roleMuted], Strings[.roleMember], Strings[.roleModerator]])
    page.dom.fire(.change, on: try choice().node, text: "-1")
    let levels = #"{"users":{"@alice:chat.example":50,"@owner:chat.example":100}}"#
    page.answer("/state/m.room.power_levels", levels)
    #expect(page.body(of: "/state/m.room.power_levels").contains(#""@boris:chat.example":-1"#))
  }

  // Proves J41
  @Test("how much was said since one joined stands there where the server counts it")
  func sinceJoined() throws {
    for (offered, says) in [(#"{"enabled":true}"#, true), (#"{"enabled":false}"#, false)] {
      let page = Self.page(level: 0, capabilities: #"{"martlet.since_joined":\#(offered)}"#)
      #expect(page.answer("martlet.since_joined/rooms/", #"{"messages":12}"#) == says)
      #expect(page.all("ma-note").contains { $0.text == Strings[.sinceJoined, count: 12] } == says)
    }
  }

  // Proves C28
  @Test("nobody is offered power over those who stand above them")
  func above() throws {
    let page = Self.page(level: 50)
    page.dom.fire(.click, on: try #require(page.all("ma-member").first { $0.allText.contains("Owner") }).node)
    #expect(!page.all("ma-choice").contains { $0.attributes["aria-label"] == Strings[.role] })
    #expect(!Self.buttons(page).contains(Strings[.ban]) && !Self.buttons(page).contains(Strings[.remove]))
  }

  // Proves C29
  @Test("who may join is changed, and goes back where the server refuses")
  func joinRule() throws {
    let page = Self.page(level: 100)
    page.click(Strings[.roomSettings])
    page.click(Strings[.access])
    let choice = try #require(page.all("ma-choice").first { $0.attributes["aria-label"] == Strings[.whoMayJoin] })
    let before = choice.value
    let knock = try #require(choice.children.first { $0.text == Strings[.ruleKnock] }?.attributes["value"])
    page.dom.fire(.change, on: choice.node, text: knock)
    #expect(page.body(of: "m.room.join_rules").contains("knock"))
    page.answer("m.room.join_rules", status: 403, #"{"errcode":"M_FORBIDDEN","error":"No."}"#)
    #expect(page.text.contains("No."))
    #expect(choice.value == before && choice.children.first { $0.attributes["value"] == before }?.text == Strings[.ruleInvited])
  }

  // Proves J47
  @Test("of many members one page is listed, and more as one asks for them; words find them among all")
  func manyMembers() {
    let page = Self.page(level: 50, others: (0..<449).map { "fan\($0)" })
    #expect(page.all("ma-member").count == 200)
    page.click(Strings[.moreResults] + " · " + Strings[.moreMembers, count: 252])
    #expect(page.all("ma-member").count == 400)
    page.click(Strings[.moreResults] + " · " + Strings[.moreMembers, count: 52])
    #expect(page.all("ma-member").count == 452 && !page.text.contains(Strings[.moreResults]))
    let smaller = Self.page(level: 50, others: (0..<240).map { "fan\($0)" })
    smaller.type("fan23", into: Strings[.searchMembers])
    #expect(smaller.all("ma-member").count == 11)
  }

  // Proves C58
  @Test("one sees who is there and what they say of it, and of who is away when they were here last")
  func presence() throws {
    let page = Self.page(level: 0)
    func presence(_ content: String) {
      page.sync(answer: #""presence":{"events":[{"type":"m.presence","sender":"@boris:chat.example","content":\#(content)}]}"#)
    }
    func line() throws -> FakeElement { try #require(page.all("ma-member").first { $0.allText.contains("Boris") }) }
    presence(#"{"presence":"online","currently_active":true,"status_msg":"in the shed"}"#)
    #expect(try line().allText.contains(Strings[.isHere] + " · in the shed"))
    #expect(
      page.all("ma-is-here").contains { $0.text == Strings[.hereNow, count: 2] || $0.text == Strings[.hereNow, count: 1] })
    page.dom.fire(.click, on: try line().node)
    #expect(page.all("ma-dialog").last?.allText.contains("in the shed") == true)
    page.app.dialogs.closeAll()
    presence(#"{"presence":"offline","last_active_ago":60000}"#)
    let away = try line().allText
    #expect(away.contains("lastSeen") && !away.contains(Strings[.isHere]))
  }

  // Proves C28, J8, J49, P25
  @Test("a person is reported with what it is and a reason")
  func reportPerson() throws {
    let page = Self.page(level: 0)
    page.dom.fire(.click, on: try #require(page.all("ma-member").first { $0.allText.contains("Boris") }).node)
    page.click(Strings[.reportPerson])
    try page.select(Strings[.reportSpam], in: Strings[.reportKind])
    page.type("They sell slugs", into: Strings[.reportReason])
    page.submitForm()
    #expect(page.body(of: "/users/") == #"{"reason":"Spam: They sell slugs"}"#)
    page.answer("/report", "{}")
    #expect(page.text.contains(Strings[.reported]))
  }

  // Proves C26, C27, C28, C29, P25
  @Test("who asks to be let in is, who was banned may come again, and who may read earlier messages is chosen")
  func letIn() throws {
    let page = Self.page(level: 100)
    page.click(Strings[.letIn, of: "Nora"])
    #expect(page.body(of: "/invite").contains("@nora:chat.example"))
    page.click(Strings[.unban, of: "Mallory"])
    #expect(page.body(of: "/unban").contains("@mallory:chat.example"))
    page.click(Strings[.roomSettings])
    page.click(Strings[.access])
    try page.select(Strings[.readSinceJoined], in: Strings[.whoMayRead])
    #expect(page.body(of: "m.room.history_visibility").contains(#""joined""#))
  }

  // MARK: Groups

  private static let groups =
    #"{"type":"martlet.mention_groups","state_key":"","event_id":"$g","sender":"@owner:chat.example","origin_server_ts":1,"#
    + #""content":{"groups":{"design":["@boris:chat.example"]}}}"#

  private static func showGroups(_ page: Page) {
    page.click(Strings[.roomSettings])
    page.click(Strings[.groups])
  }

  // Proves P7
  @Test("a room's group is made of members, changed and removed; a name that is no word, or is another's, is refused")
  func groups() throws {
    let page = Self.page(level: 100)
    Self.showGroups(page)
    page.click(Strings[.newGroup])
    func add(_ user: String) { page.type(user + " ", into: Strings[.groupMember]) }
    add("@boris:chat.example")
    add("@owner:chat.example")
    add("@boris:chat.example")
    #expect(page.all("ma-chip").map(\.allText) == ["Boris", "Owner"])
    for wrong in ["two words", "here"] {
      page.type(wrong, into: Strings[.groupName])
      page.submitForm()
      #expect(page.text.contains(Strings[.groupNameWrong]) && page.body(of: "martlet.mention_groups").isEmpty)
    }
    page.dom.fire(.click, on: try #require(page.all("ma-chip").last).node)
    #expect(page.all("ma-chip").map(\.allText) == ["Boris"])
    page.type("design", into: Strings[.groupName])
    page.submitForm()
    #expect(page.body(of: "martlet.mention_groups") == #"{"groups":{"design":["@boris:chat.example"]}}"#)
    page.answer("martlet.mention_groups", #"{"event_id":"$g"}"#)
    page.sync([("!a", #"{"timeline":{"events":[\#(Self.groups)]}}"#)])
    #expect(page.all("ma-listed").map(\.allText).contains { $0.contains("@design") && $0.contains("Boris") })

    page.click(Strings[.edit, of: "@design"])
    add("@owner:chat.example")
    page.submitForm()
    #expect(page.body(of: "martlet.mention_groups") == #"{"groups":{"design":["@boris:chat.example","@owner:chat.example"]}}"#)
    page.answer("martlet.mention_groups", #"{"event_id":"$h"}"#)
    page.click(Strings[.removeNamed, "@design"])
    #expect(page.body(of: "martlet.mention_groups") == #"{"groups":{}}"#)
  }

  // Proves P7
  @Test("who may not change the groups of a room sees who is in them")
  func othersGroups() {
    let page = Self.page(level: 0)
    page.sync([("!a", #"{"timeline":{"events":[\#(Self.groups)]}}"#)])
    Self.showGroups(page)
    #expect(page.all("ma-listed").map(\.allText).contains { $0.contains("@design") && $0.contains("Boris") })
    let offered = Self.buttons(page)
    #expect(!offered.contains(Strings[.newGroup]) && !offered.contains(Strings[.edit, of: "@design"]))
  }
}
