import ClientCore
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import WebApp

@Suite("The settings of a room")
struct RoomSettingsTests {
  static func event(_ type: String, _ content: String, key: String = "", sender: String = "@owner:chat.example") -> String {
    """
    {"type":"\(type)","state_key":"\(key)","event_id":"$\(type)\(key)","sender":"\(sender)","origin_server_ts":1000,"content":\(content)}
    """
  }

  /// A room in a space, where Alice has that level.
  private static func page(level: Int, joinRule: String = "invite", levels: String = "", state more: [String] = []) -> Page {
    let page = Page()
    page.signIn()
    let alice = event("m.room.member", #"{"membership":"join"}"#, key: "@alice:chat.example")
    let state =
      [
        event("m.room.create", #"{"room_version":"10"}"#),
        event("m.room.power_levels", "{\"users\":{\"@alice:chat.example\":\(level),\"@owner:chat.example\":100}\(levels)}"),
        event("m.room.join_rules", "{\"join_rule\":\"\(joinRule)\"}"), event("m.room.name", #"{"name":"Garden"}"#),
        event("m.room.canonical_alias", ##"{"alias":"#main:chat.example","alt_aliases":["#other:chat.example"]}"##), alice
      ] + more
    let space = [
      event("m.room.create", #"{"room_version":"10","type":"m.space"}"#), event("m.room.name", #"{"name":"House"}"#),
      event("m.space.child", #"{"via":["chat.example"]}"#, key: "!a"), alice
    ]
    let rooms = [("!a", state), ("!s", space)].map { id, events in
      """
      "\(id)":{"summary":{"m.joined_member_count":2},"state":{"events":[\(events.joined(separator: ","))]},
      "timeline":{"limited":false,"prev_batch":"t","events":[]}}
      """
    }
    page.sync(answer: "\"rooms\":{\"join\":{\(rooms.joined(separator: ","))}}")
    page.app.goTo(.details(RoomID(trusted: "!a")))
    page.answer("/members", "{\"chunk\":[\(alice)]}")
    return page
  }

  private static func more(_ page: Page, _ tab: Strings.Key, extensions: String = "") {
    page.click(Strings[.roomSettings])
    page.click(Strings[tab])
    page.answer("/aliases", ##"{"aliases":["#main:chat.example","#local:chat.example"]}"##)
    page.answer("/directory/list/room/", #"{"visibility":"private"}"#)
    let capabilities = #"{"capabilities":{"m.room_versions":{"default":"11","available":{"11":"stable"}}\#(extensions)}}"#
    while page.answer("/capabilities", capabilities) {}
  }

  private static func choice(_ page: Page, _ label: Strings.Key) throws -> FakeElement {
    try #require(page.all("ma-choice").last { $0.attributes["aria-label"] == Strings[label] })
  }

  private static func choose(_ page: Page, _ label: Strings.Key, _ words: String) throws {
    let choice = try choice(page, label)
    let value = try #require(choice.children.first { $0.text == words }?.attributes["value"])
    page.dom.fire(.change, on: choice.node, text: value)
  }

  private static let refusal = #"{"errcode":"M_FORBIDDEN","error":"No."}"#

  // Proves C29
  @Test("members of a space may be let in where the room is in one")
  func restricted() throws {
    let page = Self.page(level: 100)
    Self.more(page, .access)
    try Self.choose(page, .whoMayJoin, Strings[.ruleSpace, "House"])
    let body = page.body(of: "m.room.join_rules")
    #expect(body.contains(#""restricted""#) && body.contains(#""room_id":"!s""#))
  }

  // Proves C27, C29, P25
  @Test("a level is chosen by the role, goes back where the server refuses, and stays with everything else as it was")
  func permissions() throws {
    let page = Self.page(level: 100)
    Self.more(page, .roles)
    let choice = try Self.choice(page, .sendMessages)
    #expect(choice.value == "0")
    try Self.choose(page, .sendMessages, Strings[.roleModerator])
    page.answer("/state/m.room.power_levels", #"{"ban":60}"#)
    #expect(page.body(of: "/state/m.room.power_levels") == #"{"ban":60,"events_default":50}"#)
    page.answer("/state/m.room.power_levels", status: 403, Self.refusal)
    #expect(page.text.contains("No.") && choice.value == "0")
  }

  // Proves C29
  @Test("nobody is offered a level above their own, and what stands above them is shown without a choice")
  func limits() throws {
    let page = Self.page(level: 50, levels: #","events":{"m.room.power_levels":50,"m.room.tombstone":100,"m.room.topic":33}"#)
    Self.more(page, .roles)
    #expect(try Self.choice(page, .invite).children.map(\.text) == [Strings[.roleMember], Strings[.roleModerator]])
    #expect(try Self.choice(page, .topic).children.map(\.text).contains(Strings[.roleOfLevel, "33"]))
    #expect(!page.all("ma-choice").contains { $0.attributes["aria-label"] == Strings[.upgrade] })
    #expect(page.text.contains(Strings[.upgrade] + Strings[.roleAdministrator]))
    let none = Self.page(level: 0)
    Self.more(none, .roles)
    #expect(none.all("ma-page").flatMap { none.all("ma-choice", in: $0) }.isEmpty)
  }

  // Proves C27, C29, P25
  @Test("addresses are listed, made the main one, added and taken away; who may not only sees them")
  func addresses() throws {
    let page = Self.page(level: 100)
    Self.more(page, .access)
    let names = page.all("ma-page").flatMap { page.all("ma-listed", in: $0) }.map { page.all("ma-entry-lines", in: $0)[0].text }
    #expect(names == ["#main:chat.example", "#other:chat.example", "#local:chat.example"])
    page.click(Strings[.makeMain, of: "#local:chat.example"])
    #expect(
      page.body(of: "m.room.canonical_alias")
        == ##"{"alias":"#local:chat.example","alt_aliases":["#main:chat.example","#other:chat.example"]}"##)
    page.answer("m.room.canonical_alias", #"{"event_id":"$x"}"#)
    page.type("a b", into: Strings[.aliasName])
    page.submitForm()
    #expect(page.text.contains(Strings[.aliasWrong]))
    page.type("taken", into: Strings[.aliasName])
    page.submitForm()
    page.answer("/directory/room/%23taken", status: 409, #"{"errcode":"M_UNKNOWN","error":"no"}"#)
    #expect(page.text.contains(Strings[.roomAddressTaken]))
    page.type("new", into: Strings[.aliasName])
    page.submitForm()
    #expect(page.answer("/directory/room/%23new%3Achat.example", "{}"))
    page.click(Strings[.removeNamed, "#main:chat.example"])
    #expect(page.answer("/directory/room/%23main%3Achat.example", "{}"))
    #expect(page.body(of: "m.room.canonical_alias") == ##"{"alt_aliases":["#other:chat.example"]}"##)
    let none = Self.page(level: 0)
    Self.more(none, .access)
    #expect(none.text.contains("#other:chat.example") && !none.text.contains(Strings[.makeMain]))
    #expect(!none.text.contains(Strings[.addAddress]))
  }

  // Proves C27, C29, P25
  @Test("a room is put into the directory, and stays out of it where the server refuses")
  func listed() throws {
    let page = Self.page(level: 100)
    Self.more(page, .access)
    try Self.choose(page, .isListed, Strings[.yes])
    #expect(page.body(of: "/directory/list/room/") == #"{"visibility":"public"}"#)
    page.answer("/directory/list/room/", status: 403, Self.refusal)
    #expect(try Self.choice(page, .isListed).value == "" && page.text.contains("No."))
  }

  // Proves C27, C29, J41, P25
  @Test("guests are let in, the room tells its version and when it was made, and is replaced after a question")
  func advanced() throws {
    let page = Self.page(level: 100)
    Self.more(page, .access)
    try Self.choose(page, .guestsMayJoin, Strings[.yes])
    #expect(page.body(of: "m.room.guest_access").contains("can_join"))
    page.app.dialogs.closeAll()
    Self.more(page, .advanced)
    #expect(page.text.contains(Strings[.roomVersion, "10"]))
    page.click(Strings[.upgrade])
    #expect(page.text.contains(Strings[.upgradeNote, "11"]))
    page.submitDialog()
    #expect(page.body(of: "/upgrade") == #"{"new_version":"11"}"#)
    page.answer("/upgrade", #"{"replacement_room":"!new"}"#)
    #expect(page.requests.contains { $0.request.target.contains("new/join") })
  }

  // Proves P25
  @Test("where the server or the room has slow mode, the time is chosen by who may, and seen by the others; spaces have none")
  func slowMode() throws {
    let offered = #","martlet.slow_mode":{"enabled":true}"#
    let page = Self.page(level: 100)
    Self.more(page, .advanced, extensions: offered)
    try Self.choose(page, .slowMode, Strings[.minutes, "5"])
    #expect(page.body(of: "martlet.slow_mode") == #"{"interval_ms":300000}"#)
    let none = Self.page(level: 100)
    Self.more(none, .advanced)
    #expect(!none.text.contains(Strings[.slowMode]))
    let bound = Self.page(level: 0, state: [Self.event("martlet.slow_mode", #"{"interval_ms":90000}"#)])
    #expect(bound.all("ma-pace").map(\.text) == [Strings[.slowModeNote, Strings[.seconds, "90"]]])
    Self.more(bound, .advanced)
    #expect(bound.text.contains(Strings[.slowMode] + Strings[.seconds, "90"]))
    let free = Self.page(level: 100, state: [Self.event("martlet.slow_mode", #"{"interval_ms":90000}"#)])
    #expect(free.all("ma-pace").map(\.text) == [""])
    free.app.goTo(.details(RoomID(trusted: "!s")))
    Self.more(free, .advanced, extensions: offered)
    #expect(!free.text.contains(Strings[.slowMode]))
  }

  // Proves P25
  @Test("the room is put among those whose bans keep invitations away, and taken out, the others stay")
  func policyLists() throws {
    let page = Self.page(level: 0)
    Self.more(page, .advanced, extensions: #","martlet.policy_lists":{"enabled":true}"#)
    #expect(!page.text.contains(Strings[.followBans]))
    page.answer("/account_data/martlet.policy_lists", #"{"rooms":["!other"]}"#)
    try Self.choose(page, .followBans, Strings[.yes])
    #expect(page.body(of: "martlet.policy_lists") == #"{"rooms":["!a","!other"]}"#)
    page.answer("martlet.policy_lists", "{}")
    try Self.choose(page, .followBans, Strings[.no])
    #expect(page.body(of: "martlet.policy_lists") == #"{"rooms":["!other"]}"#)
  }

  // Proves C28, J8, J49, P25
  @Test("a room is reported with a reason")
  func report() {
    let page = Self.page(level: 0)
    page.click(Strings[.reportRoom])
    page.type("Spam", into: Strings[.reportReason])
    page.submitForm()
    #expect(page.body(of: "/rooms/%21a/report") == #"{"reason":"Spam"}"#)
    page.answer("/report", "{}")
    #expect(page.text.contains(Strings[.reported]))
  }

  // Proves C28, J8, J49, P25
  @Test("several are invited one after the other; who could not be is named")
  func invitations() {
    let page = Self.page(level: 100)
    page.click(Strings[.invite])
    page.type("@boris:x, @carla:x @dan:x", into: Strings[.personField])
    page.submitForm()
    for (name, status) in [("boris", 200), ("carla", 403), ("dan", 200)] {
      #expect(page.body(of: "/invite").contains(name))
      page.answer("/invite", status: status, status == 200 ? "{}" : Self.refusal)
    }
    #expect(
      page.text.contains(Strings[.invited, count: 2])
        || page.text.contains(Strings[.notInvited, "@carla:x", Strings[.notAllowed] + " (No.)"]))
    #expect(!page.app.dialogs.isOpen)
  }
}
