import ClientCore
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import WebApp

@Suite("What is unread")
struct UnreadTests {
  private let page = Page()

  private static let books = ["one book", "two books", "three books"].enumerated().map {
    event("$\($0.offset + 1)", text($0.element), at: 10 + $0.offset)
  }

  /// As an account has them: mentions, a keyword, all messages.
  private static let pushRules: String = {
    let rule = { (id: String, rest: String) in
      #"{"rule_id":"\#(id)","default":true,"enabled":true,"actions":["notify"]\#(rest)}"#
    }
    let mention =
      #","conditions":[{"kind":"event_property_contains","key":"content.m\\.mentions.user_ids","value":"@alice:chat.example"}]"#
    let message = #","conditions":[{"kind":"event_match","key":"type","pattern":"m.room.message"}]"#
    let rules = """
      {"global":{"override":[\(rule(".m.rule.is_user_mention", mention))],"room":[],"sender":[],\
      "content":[{"rule_id":"lantern","default":false,"enabled":true,"pattern":"lantern","actions":["notify"]}],\
      "underride":[\(rule(".m.rule.message", message))]}}
      """
    return #""account_data":{"events":[{"type":"m.push_rules","content":\#(rules)}]}"#
  }()

  private var divided: [String] {
    page.all("mg-row").filter { !page.all("mg-divider", in: $0).allSatisfy(\.text.isEmpty) }.map(\.allText)
  }

  // Proves P20, W14
  @Test("a room is marked as unread from a message on: it is left, and the divider stands above it when one comes back")
  func fromHere() throws {
    try page.openRoom(Self.books)
    try page.choose("unreadFromHere", of: "two books")
    #expect(page.app.place == .list)
    let mark = page.body(of: "m.marked_unread")
    #expect(mark.contains(#""unread":true"#) && mark.contains(#""martlet.read":"$1""#))
    page.answer("m.marked_unread", "{}")
    page.syncRoom([], #","account_data":{"events":[{"type":"m.marked_unread","content":\#(mark)}]}"#)
    #expect(page.all("ma-entry").first?.attributes["aria-label"]?.hasSuffix(", markedUnread") == true)
    page.lookAway()
    try page.enterRoom()
    #expect(
      divided.count == 1 && divided.first?.contains("two books") == true, "\(divided) \(page.all("mg-row").map(\.allText))")
  }

  // Proves J37
  @Test("all that is unread is marked as read at once, where only that is shown")
  func all() throws {
    page.signIn()
    page.answer("/capabilities", #"{"capabilities":{"martlet.read_all":{"enabled":true}}}"#)
    page.sync((0..<9).map { ("!r\($0)", room("Room \($0)", unread: $0, [("@boris:chat.example", "x", $0)])) })
    #expect(!page.text.contains("markAllRead"))
    page.click("shownConversations")
    page.click("unreadOnly")
    page.click("markAllRead")
    #expect(page.body(of: "read_all") == "{}")
    page.answer("read_all", "{}")
    #expect(page.app.shownCount == 0 && page.badges.allSatisfy(\.isEmpty))
  }

  // Proves P18
  @Test("a room whose unread messages begin far behind says how many there are, and leads to the first")
  func farBehind() throws {
    try page.openRoom(
      Self.books,
      #","unread_notifications":{"notification_count":300,"highlight_count":0},"#
        + #""account_data":{"events":[{"type":"m.fully_read","content":{"event_id":"$long"}}]}"#)
    page.click("newMessages 300 ↑")
    let read = event("$long", text("read long ago"), at: 5), next = event("$next", text("the first new one"), at: 6)
    #expect(
      page.answer(
        "/context/", #"{"event":\#(read),"events_before":[],"events_after":[\#(next)],"start":"s","end":"e","state":[]}"#))
    #expect(divided.count == 1 && divided.first?.contains("the first new one") == true)
    #expect(!page.all("ma-button").contains { $0.allText.contains("newMessages 300") })
  }

  // Proves B4
  @Test("why a room is unread: each message with the rule that says so; a click leads there")
  func why() throws {
    page.signIn()
    page.sync(answer: Self.pushRules)
    let mentioned = #"{"msgtype":"m.text","body":"for you","m.mentions":{"user_ids":["@alice:chat.example"]}}"#
    page.syncRoom(
      [
        event("$0", text("read"), at: 9), event("$1", text("plain words")), event("$2", mentioned, at: 11),
        event("$3", text("an old lantern"), at: 12)
      ],
      #","state":{"events":[{"type":"m.room.name","state_key":"","event_id":"$n","sender":"@a:b","content":{"name":"Landing"}}]},"#
        + #""unread_notifications":{"notification_count":3,"highlight_count":1},"#
        + #""ephemeral":{"events":[{"type":"m.receipt","content":{"$0":{"m.read":{"@alice:chat.example":{"ts":1}}}}}]}"#)
    try page.openMenu(ofRoom: "Landing")
    page.click("whyUnread")
    page.settleStore()
    let lines = page.all("ma-result")
    #expect(lines.count == 3)
    let expected = [("plain words", "inRooms: notifyAll"), ("for you", "tellMentions"), ("an old lantern", "keywords: lantern")]
    for (words, rule) in expected {
      let line = lines.first { $0.allText.contains(words) }
      #expect(line.map { page.all("ma-note", in: $0).map(\.text) } == [rule])
    }
    page.dom.fire(.click, on: try #require(lines.first { $0.allText.contains("for you") }).node)
    #expect(page.app.place.room?.string == "!a" && !page.app.dialogs.isOpen)
  }

  // Proves P2
  @Test("the threads of a room are listed, those with something unread apart; a click opens one, an empty list says so")
  func threads() throws {
    let reply = #"{"msgtype":"m.text","body":"green","m.relates_to":{"rel_type":"m.thread","event_id":"$1"}}"#
    page.signIn()
    page.lookAway()
    page.syncRoom([boris, event("$1", text("which colour?"))])
    try page.enterRoom()
    try page.press("roomMenu")
    page.click("threads")
    page.answer("/threads", status: 502, #"{"errcode":"M_UNKNOWN","error":""}"#)
    #expect(page.text.contains(Strings[.serverInTrouble]))
    page.click("retry")
    page.answer("/threads", #"{"chunk":[]}"#)
    #expect(page.text.contains("noThreads") && !page.all("ma-wide").contains { $0.allText == "retry" })
    page.syncRoom(
      [event("$2", reply, at: 11)],
      #","unread_notifications":{"notification_count":0},"unread_thread_notifications":{"$1":{"notification_count":1,"highlight_count":0}}"#
    )
    #expect(page.all("mg-thread-unread").count == 1)
    try page.press("roomMenu")
    page.click("threads")
    let root = event("$1", text("which colour?")).dropLast() + #","unsigned":{"m.relations":{"m.thread":{"count":1}}}}"#
    while page.answer("/threads", #"{"chunk":[\#(root)]}"#) {}
    let line = try #require(page.all("ma-result").first)
    #expect(line.has("ma-unread") && line.allText.contains("which colour?") && line.allText.contains("replies 1"))
    page.dom.fire(.click, on: line.node)
    #expect(page.all("ma-side").first?.attributes["aria-label"] == "thread")
  }

  // Proves P26
  @Test("a room is snoozed for an hour, until the morning or for a week, and woken")
  func snoozed() throws {
    page.signIn()
    page.sync([("!a", room("Night", [("@boris:chat.example", "x", 10)]))])
    func openSnooze() throws {
      try page.openMenu(ofRoom: "Night")
      page.click("snooze")
    }
    let lines = { page.all("ma-menu-item").map(\.allText) }
    // Natively it is always the first of January of 1970, at midnight.
    for (words, until) in [("snoozeHour", 3_600_000), ("snoozeMorning", 115_200_000), ("snoozeWeek", 604_800_000)] {
      try openSnooze()
      #expect(lines().suffix(3) == ["snoozeHour", "snoozeMorning", "snoozeWeek"])
      page.click(words)
      #expect(page.body(of: "martlet.snooze") == #"{"until":\#(until)}"#)
      page.answer("martlet.snooze", "{}")
      page.sync([
        ("!a", #"{"account_data":{"events":[{"type":"martlet.snooze","content":{"until":\#(until)}}]}}"#)
      ])
    }
    try openSnooze()
    #expect(page.all("ma-menu-note").first?.text.hasPrefix("snoozedUntil") == true)
    page.click("wake")
    #expect(page.body(of: "martlet.snooze") == #"{"until":0}"#)
    page.answer("martlet.snooze", "{}")
    page.sync([("!a", #"{"account_data":{"events":[{"type":"martlet.snooze","content":{"until":0}}]}}"#)])
    try openSnooze()
    #expect(lines() == ["snoozeHour", "snoozeMorning", "snoozeWeek"] && page.all("ma-menu-note").isEmpty)
  }

  @Test("a room that says nothing has a mark in its header, as long as it does")
  func muted() throws {
    try page.openRoom(Self.books)
    #expect(page.all("ma-room-muted").isEmpty)
    func rules(_ override: String) -> String {
      #""account_data":{"events":[{"type":"m.push_rules","content":{"global":{"override":[\#(override)]}}}]}"#
    }
    let mute =
      #"{"rule_id":"!a","default":false,"enabled":true,"actions":[],"conditions":[{"kind":"event_match","key":"room_id","pattern":"!a"}]}"#
    page.sync(answer: rules(mute))
    #expect(page.all("ma-room-muted").map { $0.attributes["aria-label"] } == ["notificationsOff"])
    page.sync(answer: rules(""))
    #expect(page.all("ma-room-muted").isEmpty)
  }

  // Proves J31
  @Test("a room of the server's notices is told apart, in the list and in its header")
  func notices() throws {
    page.signIn()
    let tagged =
      room("Board", [("@boris:chat.example", "we restart at noon", 10)]).dropLast()
      + #","account_data":{"events":[{"type":"m.tag","content":{"tags":{"m.server_notice":{}}}}]}}"#
    page.sync([("!a", String(tagged)), ("!b", room("Kitchen", [("@boris:chat.example", "x", 9)]))])
    let labels = page.all("ma-entry").map { $0.attributes["aria-label"] ?? "" }
    #expect(labels.contains("Board, fromServer") && labels.contains("Kitchen"))
    try page.enterRoom("Board")
    #expect(page.all("ma-room-line").map(\.text) == ["fromServer"])
    try page.enterRoom("Kitchen")
    #expect(page.all("ma-room-line").map(\.text) != ["fromServer"])
  }
}
