import ClientCore
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import WebApp

@Suite("The settings")
struct SettingsTests {
  private static func page(_ tab: Strings.Key) -> Page {
    let page = Page()
    page.signIn()
    page.sync([])
    page.click(Strings[.profile])
    page.click(Strings[.settings])
    page.click(Strings[tab])
    return page
  }

  // Proves C32
  @Test("devices are listed, this one first, and another is signed out with the password")
  func devices() throws {
    let page = Self.page(.devices)
    page.answer("/devices", #"{"devices":[{"device_id":"OLD","display_name":"Phone","last_seen_ts":1000},{"device_id":"D"}]}"#)
    #expect(page.all("ma-device").flatMap { page.all("ma-entry-name", in: $0) }.map(\.text) == ["D", "Phone"])
    page.click(Strings[.logOut, of: "Phone"])
    let asked = #"{"session":"s","flows":[{"stages":["m.login.password"]}],"completed":[]}"#
    page.answer("/devices/OLD", status: 401, asked)
    page.type("wrong", into: Strings[.password])
    page.submitForm()
    page.answer(
      "/devices/OLD", status: 401,
      #"{"session":"s","flows":[{"stages":["m.login.password"]}],"completed":[],"errcode":"M_FORBIDDEN","error":"no"}"#)
    #expect(page.text.contains(Strings[.passwordWrong]))
    page.type("correct horse", into: Strings[.password])
    page.submitForm()
    #expect(page.body(of: "/devices/OLD").contains("correct horse") && page.body(of: "/devices/OLD").contains("\"s\""))
    page.answer("/devices/OLD", "{}")
    #expect(page.requests.contains { $0.request.method == .get && $0.request.target.hasSuffix("/devices") })
    #expect(!page.text.contains(Strings[.isItYou]))
  }

  @Test("closing the question for the password leaves the device signed in, and the page says nothing went wrong")
  func notSure() throws {
    let page = Self.page(.devices)
    page.answer("/devices", #"{"devices":[{"device_id":"OLD","display_name":"Phone"},{"device_id":"D"}]}"#)
    page.click(Strings[.logOut, of: "Phone"])
    page.answer("/devices/OLD", status: 401, #"{"session":"s","flows":[{"stages":["m.login.password"]}]}"#)
    page.dom.fire(.keyDown, on: try #require(page.all("ma-overlay").last).node, text: "Escape")
    #expect(page.all("ma-overlay").count == 1 && page.all("ma-device").count == 2)
    #expect(page.all("ma-trouble").allSatisfy { $0.text.isEmpty })
  }

  @Test(
    "a list of the settings that cannot be had says why and can be asked for again",
    arguments: [
      (Strings.Key.devices, "/devices", #"{"devices":[{"device_id":"OLD","display_name":"Phone"}]}"#, "Phone"),
      (.inviteLinks, "martlet.invite_links", #"{"invite_links":[]}"#, Strings[.noInviteLinks]),
      (.account, "/account/3pid", #"{"threepids":[{"medium":"email","address":"a@b.example","added_at":1}]}"#, "a@b.example")
    ])
  func troubled(_ tab: Strings.Key, _ path: String, _ answer: String, _ shown: String) {
    let page = Self.page(tab)
    #expect(page.answer(path, status: 502, #"{"errcode":"M_UNKNOWN","error":""}"#))
    #expect(page.text.contains(Strings[.serverInTrouble]) && !page.text.contains(shown))
    page.click(Strings[.retry])
    #expect(!page.text.contains(Strings[.serverInTrouble]))
    #expect(page.answer(path, answer))
    #expect(page.text.contains(shown) && !page.text.contains(Strings[.retry]))
  }

  @Test("a device gets another name")
  func rename() {
    let page = Self.page(.devices)
    page.answer("/devices", #"{"devices":[{"device_id":"D","display_name":"Here"}]}"#)
    page.click(Strings[.rename, of: "Here"])
    page.type("Desk", into: Strings[.deviceName])
    page.submitForm()
    #expect(page.body(of: "/devices/D").contains("Desk"))
    page.answer("/devices/D", "{}")
    page.answer("/devices", #"{"devices":[{"device_id":"D","display_name":"Desk"}]}"#)
    #expect(page.text.contains("Desk"))
  }

  // Proves J33
  @Test("an ignored person is listed when the list has come back, before the answer or after it", arguments: [true, false])
  func ignoring(isEarly: Bool) throws {
    let page = Self.page(.privacy)
    page.type("@mallory:x", into: Strings[.personField])
    page.dom.fire(.submit, on: try #require(page.all("ma-form").last { $0.tag == "form" }).node)
    let list = #""account_data":{"events":[{"type":"m.ignored_user_list","content":{"ignored_users":{"@mallory:x":{}}}}]}"#
    if isEarly { page.sync(answer: list) }
    #expect(page.answer("/account_data/m.ignored_user_list", "{}"))
    if !isEarly { page.sync(answer: list) }
    #expect(page.all("ma-button").contains { $0.attributes["aria-label"] == Strings[.stopIgnoring, of: "@mallory:x"] })
  }

  // Proves C31
  @Test("a new password is at least eight characters, and is changed with the old one")
  func password() {
    let page = Self.page(.account)
    page.type("short", into: Strings[.newPassword])
    page.submit()
    #expect(page.text.contains(Strings[.passwordShort]) && page.body(of: "/account/password").isEmpty)
    page.type("long enough", into: Strings[.newPassword])
    page.submit()
    page.answer("/account/password", status: 401, #"{"session":"s","flows":[{"stages":["m.login.password"]}]}"#)
    page.type("correct horse", into: Strings[.password])
    page.submitForm()
    #expect(page.body(of: "/account/password").contains("correct horse"))
    page.answer("/account/password", "{}")
    #expect(page.text.contains(Strings[.passwordChanged]))
  }

  // Proves C32
  @Test("all other devices are signed out at once, with the password")
  func otherDevices() {
    let page = Self.page(.devices)
    page.answer("/devices", #"{"devices":[{"device_id":"A"},{"device_id":"D"},{"device_id":"B"}]}"#)
    page.click(Strings[.signOutOthers])
    page.answer("/delete_devices", status: 401, #"{"session":"s","flows":[{"stages":["m.login.password"]}]}"#)
    page.type("correct horse", into: Strings[.password])
    page.submitForm()
    #expect(page.body(of: "/delete_devices").contains(#""devices":["A","B"]"#))
    page.answer("/delete_devices", "{}")
    page.answer("/devices", #"{"devices":[{"device_id":"D"}]}"#)
    #expect(page.all("ma-device").count == 1 && !page.all("ma-button").contains { $0.allText == Strings[.signOutOthers] })
  }

  // Proves C31
  @Test("the account gets an e-mail address once its mail is followed, and loses it again")
  func emails() throws {
    let page = Self.page(.account)
    page.answer("/account/3pid", #"{"threepids":[]}"#)
    #expect(page.text.contains(Strings[.noEmails]))
    page.click(Strings[.addEmail])
    page.type("ann@example.org", into: Strings[.email])
    page.submitForm()
    #expect(page.body(of: "/3pid/email/requestToken").contains("ann@example.org"))
    page.answer("/3pid/email/requestToken", #"{"sid":"7"}"#)
    #expect(page.text.contains(Strings[.mailSent, "ann@example.org"]))
    page.submitForm()
    page.answer("/3pid/add", status: 400, #"{"errcode":"M_THREEPID_AUTH_FAILED","error":"no"}"#)
    #expect(page.text.contains(Strings[.mailNotFollowed]))
    page.submitForm()
    page.answer("/3pid/add", status: 401, #"{"session":"s","flows":[{"stages":["m.login.password"]}]}"#)
    page.type("correct horse", into: Strings[.password])
    page.submitForm()
    #expect(page.body(of: "/3pid/add").contains(#""sid":"7""#) && page.body(of: "/3pid/add").contains("correct horse"))
    page.answer("/3pid/add", "{}")
    page.answer("/account/3pid", #"{"threepids":[{"medium":"email","address":"ann@example.org"}]}"#)
    page.click(Strings[.removeNamed, "ann@example.org"])
    #expect(page.body(of: "/3pid/delete") == #"{"medium":"email","address":"ann@example.org"}"#)
    page.answer("/3pid/delete", #"{"id_server_unbind_result":"no-support"}"#)
    page.answer("/account/3pid", #"{"threepids":[]}"#)
    #expect(page.text.contains(Strings[.noEmails]))
  }

  // Proves C31
  @Test("the account is closed with the password, and the page is where one signs in")
  func closing() throws {
    let page = Self.page(.account)
    let erases = try #require(page.all("ma-check").first { $0.allText == Strings[.eraseMessages] }?.children.first)
    page.dom.fire(.change, on: erases.node, x: 1)
    page.click(Strings[.closeAccount])
    #expect(page.body(of: "/account/deactivate").isEmpty)
    page.dom.fire(.click, on: try #require(page.all("ma-danger").last).node)
    page.answer("/account/deactivate", status: 401, #"{"session":"s","flows":[{"stages":["m.login.password"]}]}"#)
    page.type("correct horse", into: Strings[.password])
    page.submitForm()
    #expect(page.body(of: "/account/deactivate").contains(#""erase":true"#))
    page.answer("/account/deactivate", #"{"id_server_unbind_result":"no-support"}"#)
    #expect(page.text.contains(Strings[.welcome]) && !page.app.dialogs.isOpen)
  }

  // Proves C53
  @Test("a user is ignored by ID, and letters that nobody is known by ignore nobody")
  func ignored() {
    let page = Self.page(.privacy)
    page.type("mallory", into: Strings[.personField])
    page.submitForm()
    #expect(page.count("m.ignored_user_list") == 0)
    page.type("@mallory:chat.example", into: Strings[.personField])
    page.submitForm()
    page.answer("m.ignored_user_list", "{}")
    #expect(page.body(of: "m.ignored_user_list").contains("@mallory:chat.example"))
    page.answer("m.ignored_user_list", "{}")
    page.sync(
      answer:
        #""account_data":{"events":[{"type":"m.ignored_user_list","content":{"ignored_users":{"@mallory:chat.example":{}}}}]}"#)
    #expect(page.all("ma-listed").map(\.allText).contains { $0.contains("@mallory:chat.example") })
  }

  // Proves C33
  @Test("a keyword becomes a rule, and what all rooms tell is chosen")
  func notifications() throws {
    let page = Self.page(.notifications)
    page.type("beans", into: Strings[.newKeyword])
    page.submitForm()
    #expect(page.requests.contains { $0.request.target.contains("/pushrules/") && $0.request.target.contains("beans") })
    #expect(page.text.contains(Strings[.noNotificationsHere]))
    page.answer("/pushrules/", "{}")
    let rooms = try #require(page.all("ma-choice").first { $0.attributes["aria-label"] == Strings[.inRooms] })
    page.dom.fire(.change, on: rooms.node, text: "\(NotificationMode.mentionsAndKeywords.rawValue)")
    #expect(
      page.requests.contains { $0.request.target.contains("/pushrules/") && $0.request.target.contains(".m.rule.message") })
  }

  @Test("notifications of reactions can be turned on, and quiet hours belong to the account")
  func wishes() throws {
    let page = Self.page(.notifications)
    let box = try #require(page.all("ma-check").first { $0.allText == Strings[.tellReactions] }?.children.first)
    page.dom.fire(.change, on: box.node, x: 1)
    #expect(page.body(of: "martlet.reaction_notifications") == #"{"enabled":true}"#)
    page.answer("martlet.reaction_notifications", "{}")
    page.type("22:30", into: Strings[.quietFrom])
    page.type("07:05", into: Strings[.quietUntil])
    // Not with every digit.
    #expect(page.body(of: "martlet.quiet_hours").isEmpty)
    let until = try #require(page.all("ma-input").first { $0.attributes["aria-label"] == Strings[.quietUntil] })
    page.dom.fire(.change, on: until.node, text: "07:05")
    #expect(page.body(of: "martlet.quiet_hours") == #"{"from":1350,"to":425,"utc_offset":0}"#)
  }

  @Test("what was asked for in a room's details and is told after they were closed changes nothing")
  func lateAnswer() throws {
    let page = Page()
    page.signIn()
    page.sync([("!a", room("Choir", [("@boris:chat.example", "x", 10)]))])
    page.dom.fire(.click, on: try #require(page.all("ma-entry-more").first).node)
    page.click(Strings[.details])
    page.click(Strings[.roomSettings])
    page.click(Strings[.notifications])
    let choice = { words in page.all("ma-choice").first { $0.attributes["aria-label"] == Strings[words] } }
    page.dom.fire(.change, on: try #require(choice(.snooze)).node, text: "1")
    page.dom.fire(.change, on: try #require(choice(.notifications)).node, text: "\(NotificationMode.mute.rawValue)")
    page.app.dialogs.closeAll()
    page.click(Strings[.close])
    #expect(page.all("ma-details").isEmpty)
    // The page of a test ends where something is changed that is gone.
    #expect(page.answer("martlet.snooze", "{}"))
    #expect(page.answer("/pushrules/", status: 400, #"{"errcode":"M_UNKNOWN"}"#))
    #expect(page.text.contains("Choir"))
  }

  @Test("every page of the settings is there once, and goes when it is closed")
  func pages() {
    let page = Self.page(.appearance)
    #expect(
      page.all("ma-choice").compactMap { $0.attributes["aria-label"] } == [.theme, .density].map { Strings[$0] })
    page.click(Strings[.privacy])
    #expect(page.all("ma-choice").compactMap { $0.attributes["aria-label"] } == [Strings[.presence]])
    page.click(Strings[.close])
    #expect(page.all("ma-overlay").isEmpty)
  }

  // Proves P5
  @Test("lines of deleted messages are shown or not as the settings say, at once")
  func deleted() throws {
    let page = Page()
    page.signIn()
    let redaction = event("$r", #"{"redacts":"$1"}"#, type: "m.room.redaction", at: 20)
    page.syncRoom([event("$1", text("page 1")), event("$2", text("page 2"), at: 11), redaction])
    try page.enterRoom()
    func lines() -> Int { page.all("mg-row").count { $0.allText.contains(Strings[.removedMessage]) } }
    #expect(lines() == 1)
    page.click(Strings[.profile])
    page.click(Strings[.settings])
    page.click(Strings[.appearance])
    let box = try #require(page.all("ma-check").first { $0.allText == Strings[.showDeleted] }?.tags("input").first)
    #expect(box.attributes["checked"] != nil)
    for (isOn, count) in [(false, 0), (true, 1)] {
      page.dom.fire(.change, on: box.node, x: isOn ? 1 : 0)
      #expect(lines() == count && page.app.hidesDeleted == !isOn)
    }
  }
}
