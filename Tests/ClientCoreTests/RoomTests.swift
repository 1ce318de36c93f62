import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct RoomTests {
  static func room(_ state: [String], summary: String = "", membership: String = "join") -> Host {
    var host = Host.signedIn()
    host.sync(Wire.join(state: state, extra: summary.isEmpty ? "" : #","summary":{\#(summary)}"#))
    return host
  }

  static let alice = Wire.member("@alice:test", name: "Alice")
  static let bob = Wire.member("@bob:test", name: "Bob")

  // Spec: "Calculating the display name for a room".
  // Proves J41, J45
  @Test(arguments: [
    ([Wire.event("m.room.name", "$n", #"{"name":"Tea"}"#, stateKey: ""), alice], #""m.joined_member_count":2"#, "Tea"),
    (
      [Wire.event("m.room.name", "$n", #"{"name":""}"#, stateKey: ""), alice],
      #""m.joined_member_count":2,"m.heroes":["@alice:test"]"#, "Alice"
    ),
    (
      [Wire.event("m.room.canonical_alias", "$n", ##"{"alias":"#tea:test"}"##, stateKey: ""), alice],
      #""m.joined_member_count":2"#, "#tea:test"
    ),
    ([alice], #""m.joined_member_count":2,"m.heroes":["@alice:test"]"#, "Alice"),
    ([alice, bob], #""m.joined_member_count":3,"m.heroes":["@alice:test","@bob:test"]"#, "Alice and Bob"),
    ([alice, bob], #""m.joined_member_count":4,"m.heroes":["@alice:test","@bob:test"]"#, "Alice, Bob and 1 other"),
    (
      [alice, bob], #""m.joined_member_count":2,"m.invited_member_count":998,"m.heroes":["@alice:test","@bob:test"]"#,
      "Alice, Bob and 997 others"
    ),
    (
      [alice], #""m.joined_member_count":1,"m.invited_member_count":0,"m.heroes":["@alice:test"]"#,
      "Empty room (was Alice)"
    ),
    ([], #""m.joined_member_count":1,"m.invited_member_count":0"#, "Empty room"),
    ([], #""m.joined_member_count":2,"m.heroes":["@carol:test"]"#, "@carol:test"),
    (
      [alice, Wire.member("@carol:test", name: "Alice")],
      #""m.joined_member_count":3,"m.heroes":["@alice:test","@carol:test"]"#,
      "Alice (@alice:test) and Alice (@carol:test)"
    )
  ]) func `a room is named as the spec says`(state: [String], summary: String, expected: String) {
    #expect(Self.room(state, summary: summary).client.room(.test)?.name.english.string == expected)
  }

  @Test(arguments: [(1_073_741_823, 1_073_741_823), (1_073_741_824, 1_073_741_823), (Int64.max, 1_073_741_823)])
  func `counts end where two of them still fit into 32 bits`(count: Int64, expected: Int) {
    let host = Self.room(
      [Self.alice], summary: #""m.joined_member_count":\#(count),"m.invited_member_count":\#(count)"#)
    #expect(host.client.room(.test)?.joinedMemberCount == expected)
    #expect(host.client.room(.test)?.invitedMemberCount == expected)
  }

  // Spec: room version 12, "Authorisation rules": creators are not in the power levels and stand above them.
  @Test(arguments: [("12", true), ("11", false)], [false, true])
  func `a creator may do all from version 12 on, in whichever order the state comes, and after a restart`(
    version: (String, Bool), isCreateLast: Bool
  ) {
    let create = Wire.event("m.room.create", "$c", #"{"room_version":"\#(version.0)"}"#, stateKey: "")
    let levels = Wire.event("m.room.power_levels", "$p", #"{"users":{"@bob:test":50}}"#, stateKey: "")
    let first = Self.room(isCreateLast ? [levels, create] : [create, levels])
    for host in [first, first.restarted()] {
      let known = host.client.room(.test)?.powerLevels
      #expect(known?.canSend(.name, isState: true, by: UserID(trusted: "@alice:test")) == version.1)
      #expect(known?.canSend(.name, isState: true, by: UserID(trusted: "@bob:test")) == true)
      #expect(known?.canSend(.name, isState: true, by: UserID(trusted: "@carol:test")) == false)
    }
  }

  @Test func `where the ban is in what a sync left out, what was said after it stands behind it`() {
    func own(_ membership: String, _ before: String, _ id: String) -> String {
      Wire.event(
        "m.room.member", id, #"{"membership":"\#(membership)"}"#, stateKey: "@me:test",
        unsigned: #"{"prev_content":{"membership":"\#(before)"}}"#)
    }
    let unbanned = own("leave", "ban", "$u1")
    var host = Host.inRoom()
    host.sync(
      #""leave":{"!room:test":{"state":{"events":[\#(own("ban", "join", "$b1"))]},"#
        + #""timeline":{"limited":true,"prev_batch":"t9","events":[\#(unbanned)]}}}"#)
    #expect(host.client.room(.test)?.membership == .leave)
    func fill(_ page: [String]) {
      guard let gap = host.items().first(where: { $0.eventID == nil }) else { return #expect(Bool(false), "no gap") }
      host.command(.timeline(.fillGap(.test, gap.id)))
      host.answer("/messages", TimelineTests.page(page, end: "t1"))
    }
    fill([own("ban", "join", "$b1"), Wire.message("two", "$2"), Wire.message("one", "$1")])
    #expect(host.items().map { $0.eventID?.text.string } == ["$1", "$2", "$b1"])
    host.sync(Wire.join([unbanned, own("join", "leave", "$j1")], limited: true, token: "t10"))
    fill([Wire.message("meanwhile", "$3"), own("ban", "join", "$b1")])
    #expect(host.items().map { $0.eventID?.text.string } == ["$1", "$2", "$b1", "$3", "$u1", "$j1"])
  }

  @Test func `of a ban that is lifted one hears, also where both come at once`() {
    func own(_ membership: String, _ id: String) -> String {
      Wire.event("m.room.member", id, #"{"membership":"\#(membership)"}"#, stateKey: "@me:test")
    }
    func left(_ events: [String]) -> String {
      #""leave":{"!room:test":{"timeline":{"events":[\#(events.joined(separator: ","))]}}}"#
    }
    var host = Host.inRoom()
    host.sync(left([own("ban", "$b1")]))
    #expect(host.client.room(.test)?.membership == .ban)
    host.sync(left([own("leave", "$u1")]))
    #expect(host.client.room(.test)?.membership == .leave)
    // What was said meanwhile is there for who comes back, and stands where it was said.
    host.sync(Wire.join([Wire.message("meanwhile", "$2"), own("leave", "$u1"), own("join", "$j1")], limited: true))
    guard let gap = host.items().first(where: { $0.eventID == nil }) else { return #expect(Bool(false), "no gap") }
    host.command(.timeline(.fillGap(.test, gap.id)))
    host.answer("/messages", TimelineTests.page([own("ban", "$b1"), Wire.message("one", "$1")], end: "t1"))
    #expect(host.items().map { $0.eventID?.text.string } == ["$1", "$b1", "$2", "$u1", "$j1"])
    host.sync(left([own("ban", "$b2")]))
    #expect(host.client.room(.test)?.membership == .ban)
    host.sync(left([own("leave", "$u2"), own("ban", "$b3"), own("leave", "$u3")]))
    #expect(host.client.room(.test)?.membership == .leave)
    #expect(host.restarted().client.room(.test)?.membership == .leave)
  }

  @Test func `without its create event nothing is known of a room's powers`() {
    let levels = Wire.event("m.room.power_levels", "$p", #"{"users":{"@bob:test":50}}"#, stateKey: "")
    #expect(Self.room([levels]).client.room(.test)?.powerLevels == nil)
  }

  @Test func `names that two bear are told apart, until one goes`() {
    var host = Host.inRoom()
    #expect(host.client.room(.test)?.displayName(of: UserID(trusted: "@alice:test")) == "Alice")
    host.changes = []
    host.sync(Wire.join([Wire.member("@carol:test", name: "Alice")]))
    #expect(host.client.room(.test)?.displayName(of: UserID(trusted: "@alice:test")) == "Alice (@alice:test)")
    #expect(host.client.room(.test)?.displayName(of: UserID(trusted: "@carol:test")) == "Alice (@carol:test)")
    let told = host.changes.flatMap { change -> [String] in
      if case .members(_, let users) = change { return users.map { $0.string } }
      return []
    }
    #expect(Set(told) == ["@alice:test", "@carol:test"])
    host.sync(Wire.join([Wire.member("@carol:test", "leave", "$leave")]))
    #expect(host.client.room(.test)?.displayName(of: UserID(trusted: "@alice:test")) == "Alice")
    #expect(host.client.room(.test)?.displayName(of: UserID(trusted: "@nobody:test")) == "@nobody:test")
  }

  @Test(arguments: [false, true])
  func `a name, a topic, a picture or an alias that is redacted is gone, and what came after it stays`(restarts: Bool) {
    var host = Self.room(
      [
        Self.alice, Wire.event("m.room.name", "$n1", #"{"name":"Rude"}"#, stateKey: ""),
        Wire.event("m.room.topic", "$t", #"{"topic":"Rude"}"#, stateKey: ""),
        Wire.event("m.room.avatar", "$p", #"{"url":"mxc://test/rude"}"#, stateKey: ""),
        Wire.event("m.room.canonical_alias", "$a", ##"{"alias":"#rude:test"}"##, stateKey: "")
      ], summary: #""m.joined_member_count":2,"m.heroes":["@alice:test"]"#)
    if restarts { host = host.restarted() }
    #expect(host.client.room(.test)?.name.english.string == "Rude")
    func redact(_ event: String) {
      host.sync(Wire.join([Wire.event("m.room.redaction", "$x" + event, #"{"redacts":"\#(event)"}"#)], token: nil))
    }
    for event in ["$t", "$p", "$a"] { redact(event) }
    #expect(host.client.room(.test)?.topic == nil)
    #expect(host.client.room(.test)?.avatar == nil)
    host.sync(Wire.join([Wire.event("m.room.name", "$n2", #"{"name":"Tea"}"#, stateKey: "")], token: nil))
    redact("$n1")
    #expect(host.client.room(.test)?.name.english.string == "Tea")
    host.changes = []
    redact("$n2")
    #expect(host.client.room(.test)?.name.english.string == "Alice")
    #expect(host.changes.contains { if case .room(.test, let aspects) = $0 { aspects.contains(.name) } else { false } })
    #expect(host.restarted().client.room(.test)?.name.english.string == "Alice")
  }

  @Test func `rooms are in the order of their last message, invitations first`() {
    var host = Host.signedIn()
    let invite =
      #""invite":{"!i:test":{"invite_state":{"events":["#
      + Wire.event("m.room.member", "$i", #"{"membership":"invite","is_direct":true}"#, stateKey: "@me:test") + "]}}}"
    host.sync(
      #""join":{"# + Wire.joined([Wire.message("a", "$a", time: 1000)], room: "!a:test") + ","
        + Wire.joined([Wire.message("b", "$b", time: 2000)], room: "!b:test") + "}," + invite)
    #expect(host.client.roomIDs.map { $0.string } == ["!i:test", "!b:test", "!a:test"])
    host.changes = []
    host.sync(Wire.join([Wire.message("c", "$c", time: 3000)], room: "!a:test"))
    #expect(host.client.roomIDs.map { $0.string } == ["!i:test", "!a:test", "!b:test"])
    #expect(host.changes.contains { if case .roomOrder = $0 { true } else { false } })
    #expect(host.client.room(RoomID(trusted: "!i:test"))?.inviter?.string == "@alice:test")
    #expect(host.client.room(RoomID(trusted: "!i:test"))?.isDirect == true)
  }

  @Test func `who is invited asks for no history until joined`() {
    var host = Host.signedIn()
    let invited = RoomID(trusted: "!i:test")
    host.sync(
      #""invite":{"!i:test":{"invite_state":{"events":["#
        + Wire.event("m.room.member", "$i", #"{"membership":"invite"}"#, stateKey: "@me:test") + "]}}}")
    host.command(.timeline(.openRoom(invited)))
    host.command(.timeline(.paginateBack(.live(invited))))
    #expect(host.request("/messages") == nil)
    host.sync(
      #""join":{"#
        + Wire.joined([Wire.event("m.room.member", "$j", #"{"membership":"join"}"#, stateKey: "@me:test")], room: "!i:test")
        + "}")
    host.command(.timeline(.paginateBack(.live(invited))))
    #expect(host.request("/messages") != nil)
  }

  @Test func `a room one has left goes from the list and, forgotten, from the store`() {
    var host = Host.inRoom()
    host.command(.rooms(.leave(.test)))
    host.answer("/leave", "{}")
    host.sync(#""leave":{"!room:test":{"timeline":{"events":["# + Wire.member("@me:test", "leave", "$l") + "]}}}")
    #expect(host.client.roomIDs.isEmpty)
    #expect(host.client.room(.test)?.membership == .leave)
    host.command(.rooms(.forget(.test)))
    host.answer("/forget", "{}")
    #expect(host.client.room(.test) == nil)
    #expect(host.store.keys.allSatisfy { !$0.string.contains("room%3Atest") })
    #expect(host.restarted().client.room(.test) == nil)
  }

  @Test func `creating a room gives its ID, and it opens when the sync brings it`() {
    var host = Host.signedIn()
    host.sync()
    host.command(.rooms(.create(NewRoom(isEncrypted: true))))
    let state = host.body("/createRoom")?["initial_state"]?.elements.first { _ in true }
    #expect(state?.text("type") == "m.room.encryption" && state?["content"]?.text("algorithm") == "m.megolm.v1.aes-sha2")
    host.answer("/createRoom", #"{"room_id":"!secret:test"}"#)
    host.command(.rooms(.create(NewRoom(name: "Tea", topic: "Green", invited: [UserID(trusted: "@bob:test")]))))
    let body = host.body("/createRoom")
    #expect(body?["preset"]?.string == "private_chat")
    #expect(body?["name"]?.string == "Tea")
    #expect(body?["topic"]?.string == "Green")
    #expect(body?["invite"]?.elements.map { $0.string ?? "" } == ["@bob:test"])
    host.answer("/createRoom", #"{"room_id":"!room:test"}"#)
    #expect(host.result() == "!room:test")
    host.command(.timeline(.openRoom(.test)))
    host.sync(Wire.join([Wire.event("m.room.create", "$c", "{}", stateKey: "")], token: nil))
    #expect(host.texts() == ["(created(predecessor: nil))"])
    #expect(host.client.room(.test)?.timeline.backState == .atStart)
  }

  // Proves J6
  @Test func `a direct chat is made once and written into m.direct`() {
    var host = Host.inRoom()
    host.command(.rooms(.openDirectChat(with: "@carol:test")))
    host.answer("/capabilities", #"{"capabilities":{}}"#)
    #expect(host.body("/createRoom")?["is_direct"]?.bool == true)
    #expect(host.body("/createRoom")?["preset"]?.string == "trusted_private_chat")
    host.answer("/createRoom", #"{"room_id":"!dm:test"}"#)
    // What another device has written stays.
    host.answer("/account_data/m.direct", #"{"email:x":["!q:test"]}"#)
    #expect(host.body("/account_data/m.direct")?["@carol:test"]?.elements.map { $0.string ?? "" } == ["!dm:test"])
    #expect(host.body("/account_data/m.direct")?["email:x"] != nil)
    host.answer("/account_data/m.direct", "{}")
    host.sync(
      Wire.join([Wire.member("@carol:test", "invite", name: "Carol", "$ci")], room: "!dm:test"),
      extra:
        #","account_data":{"events":[{"type":"m.direct","content":{"@carol:test":["!dm:test"],"email:x":["!q:test"]}}]}"#
    )
    #expect(host.client.room(RoomID(trusted: "!dm:test"))?.directUserID?.string == "@carol:test")
    host.command(.rooms(.openDirectChat(with: "@carol:test")))
    #expect(host.result() == "!dm:test")
    #expect(host.request("/createRoom") == nil)
    var next = host.restarted()
    next.command(.rooms(.openDirectChat(with: "@carol:test")))
    #expect(next.result() == "!dm:test")
  }

  @Test(arguments: [
    ("carol", "invalidUserID"), ("@carol", "invalidUserID"), ("", "invalidUserID"), ("@:", "invalidUserID"),
    ("@me:test", "ownUserID")
  ])
  func `what is no user ID is said so`(text: String, expected: String) {
    var host = Host.inRoom()
    host.command(.rooms(.openDirectChat(with: ByteString(text))))
    #expect(host.result() == expected)
    #expect(host.request("/createRoom") == nil)
  }

  @Test func `accepting an invitation to a direct chat notes it in m.direct`() {
    var host = Host.signedIn()
    host.sync(
      #""invite":{"!i:test":{"invite_state":{"events":["#
        + Wire.event("m.room.member", "$i", #"{"membership":"invite","is_direct":true}"#, stateKey: "@me:test") + "]}}}"
    )
    host.command(.rooms(.join("!i:test")))
    host.answer("/rooms/%21i%3Atest/join", #"{"room_id":"!i:test"}"#)
    host.answer("/account_data/m.direct", status: 404, #"{"errcode":"M_NOT_FOUND","error":""}"#)
    #expect(host.body("/account_data/m.direct")?["@alice:test"] != nil)
    host.command(.rooms(.join("nonsense")))
    #expect(host.result() == "invalidRoomAddress")
    host.command(.rooms(.join("#tea:test")))
    #expect(host.request("/join/%23tea%3Atest") != nil)
    host.command(.rooms(.join("!far:test", via: [ServerName(trusted: "other.test")])))
    #expect(host.request("/join/%21far%3Atest") != nil)
  }

  @Test func `a refused command says why`() {
    var host = Host.inRoom()
    host.command(.people(.invite(.test, user: "@carol:test")))
    host.answer("/invite", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    #expect(host.result().contains("M_FORBIDDEN"))
    host.command(.people(.invite(.test, user: "carol")))
    #expect(host.result() == "invalidUserID")
  }

  @Test func `state and moderation go to their endpoints`() {
    var host = Host.inRoom()
    host.command(.rooms(.setName(.test, "Tea")))
    #expect(host.body("/state/m.room.name/")?["name"]?.string == "Tea")
    host.command(.rooms(.setTopic(.test, "Green")))
    #expect(host.body("/state/m.room.topic/")?["topic"]?.string == "Green")
    host.command(.people(.kick(.test, UserID(trusted: "@bob:test"), reason: "so")))
    #expect(host.body("/kick")?["reason"]?.string == "so")
    host.command(.people(.ban(.test, UserID(trusted: "@bob:test"), reason: nil)))
    #expect(host.body("/ban")?["user_id"]?.string == "@bob:test")
    host.command(.sending(.redact(.test, .item(host.items()[0].id), reason: nil)))
    #expect(host.request("/redact/%241/") != nil)
    host.command(.account(.setDisplayName("Neo")))
    host.answer("/displayname", "{}")
    #expect(host.client.ownDisplayName == "Neo")
    host.command(.account(.setAvatar(BlobHandle("b"), mimeType: "image/png")))
    host.answer("/upload", #"{"content_uri":"mxc://test/a"}"#)
    #expect(host.body("/avatar_url")?["avatar_url"]?.string == "mxc://test/a")
    host.answer("/avatar_url", "{}")
    #expect(host.client.ownAvatar == MediaURI("mxc://test/a"))
    #expect(host.result() == "done")
  }

  @Test func `members come with what they say: live, on older pages and around a link`() {
    var host = Host.signedIn()
    host.sync(
      Wire.join([Wire.message("hi", "$1", by: "@carol:test")], state: [Wire.member("@carol:test", name: "Carol")]))
    host.command(.timeline(.openRoom(.test)))
    func name(_ user: String) -> String? { host.client.room(.test)?.displayName(of: UserID(trusted: ByteString(user))).string }
    #expect(name("@carol:test") == "Carol" && name("@dave:test") == "@dave:test")
    host.sync(Wire.join([Wire.message("ho", "$2", by: "@dave:test")], state: [Wire.member("@dave:test", name: "Dave")]))
    #expect(name("@dave:test") == "Dave")
    host.command(.timeline(.paginateBack(.test)))
    host.answer(
      "/messages",
      #"{"chunk":[\#(Wire.message("he", "$0", by: "@erin:test"))],"state":[\#(Wire.member("@erin:test", name: "Erin"))]}"#)
    #expect(name("@erin:test") == "Erin")
    let key = TimelineKey(.test, .event(EventID(trusted: "$9")))
    host.command(.timeline(.open(key)))
    #expect(host.request("/context/")?.request.target.contains("lazy_load_members") == true)
    host.answer(
      "/context/",
      #"{"event":\#(Wire.message("x", "$9", by: "@frank:test")),"state":[\#(Wire.member("@frank:test", name: "Frank"))],"start":"s","end":"e"}"#
    )
    #expect(name("@frank:test") == "Frank")
    for (command, answer) in [
      (Command.timeline(.paginateBack(key)), Wire.member("@gina:test", name: "Gina")),
      (.timeline(.paginateForward(key)), Wire.member("@hugo:test", name: "Hugo"))
    ] {
      host.command(command)
      host.answer("/messages", #"{"chunk":[],"state":[\#(answer)]}"#)
    }
    #expect(name("@gina:test") == "Gina" && name("@hugo:test") == "Hugo")
    #expect(host.client.room(.test)?.hasAllMembers == false)
  }

  // Proves J44
  @Test func `the last message stays in the list, whatever is paged and renamed`() {
    var host = Host.inRoom([Wire.message("one", "$1"), Wire.message("two", "$2")])
    host.command(.timeline(.paginateBack(.test)))
    host.answer("/messages", TimelineTests.page([Wire.message("zero", "$0")], end: nil))
    host.sync(
      Wire.join([
        Wire.member("@alice:test", name: "Alice B."), Wire.event("m.room.name", "$n", #"{"name":"Tea"}"#, stateKey: "")
      ]))
    for host in [host, host.restarted()] {
      #expect(host.client.room(.test)?.preview?.content?.body == "two")
      #expect(host.client.room(.test)?.preview.map { host.client.room(.test)?.displayName(of: $0.sender) } == "Alice B.")
    }
  }

  @Test func `who comes back to a room has what was said before, and pages on over what was missed`() throws {
    var host = Host.inRoom()
    let (leave, join) = (Wire.member("@me:test", "leave", "$l"), Wire.member("@me:test", "join", name: "Me", "$j"))
    host.sync(#""leave":{"!room:test":{"timeline":{"events":[\#(leave)],"limited":false}}}"#)
    #expect(host.client.room(.test)?.membership == .leave)
    host.sync(Wire.join([join, Wire.message("three", "$3")], limited: true, token: "t3"))
    for var host in [host, host.restarted()] {
      host.command(.timeline(.openRoom(.test)))
      #expect(host.texts().first == "one" && host.texts().last == "three")
      let gap = try #require(host.items().first { if case .gap = $0.content { true } else { false } })
      host.command(.timeline(.fillGap(.test, gap.id)))
      host.answer("/messages", TimelineTests.page([Wire.message("two", "$2"), leave, Wire.message("one", "$1")], end: "t1"))
      let said = host.texts().filter { !$0.hasPrefix("(") }
      #expect(said == ["one", "two", "three"])
    }
  }

  @Test func `the whole member list comes on demand and stays`() {
    var host = Host.inRoom()
    host.command(.people(.loadMembers(.test)))
    host.answer(
      "/members",
      #"{"chunk":["# + (Wire.members + [Wire.member("@dan:test", name: "Dan")]).joined(separator: ",") + "]}")
    #expect(
      host.client.room(.test)?.members.map { $0.userID.string } == [
        "@alice:test", "@bob:test", "@dan:test", "@me:test"
      ])
    var next = host.restarted()
    next.command(.people(.loadMembers(.test)))
    #expect(next.client.room(.test)?.members.count == 4)
    #expect(next.request("/members") == nil)
    host.command(.people(.loadMembers(.test)))
    #expect(host.request("/members") == nil)
  }

  @Test func `members that come while a batch is being stored are not lost`() {
    var host = Host.inRoom()
    host.command(.people(.loadMembers(.test)))
    host.writesAtOnce = false
    host.sync(Wire.join([Wire.message("two", "$2")]))
    host.answer("/members", #"{"chunk":["# + Wire.member("@dan:test", name: "Dan") + "]}")
    host.finishWrites()
    #expect(host.client.room(.test)?.displayName(of: UserID(trusted: "@dan:test")) == "Dan")
    #expect(host.client.room(.test)?.hasAllMembers == true)
  }

  @Test func `who is not in the whole list has left, as a limited sync need not tell`() {
    var host = Host.inRoom()
    host.command(.people(.loadMembers(.test)))
    host.answer("/members", #"{"chunk":["# + Wire.member("@me:test") + "," + Wire.member("@alice:test", name: "Alice") + "]}")
    #expect(host.client.room(.test)?.members.map { $0.userID.string } == ["@alice:test", "@me:test"])
    #expect(host.client.room(.test)?.membership(of: UserID(trusted: "@bob:test")) == .leave)
    var next = host.restarted()
    next.command(.people(.loadMembers(.test)))
    #expect(next.client.room(.test)?.members.count == 2)
  }

  @Test func `a member list that comes late does not take back what syncs have told since it was asked for`() {
    var host = Host.inRoom()
    host.command(.people(.loadMembers(.test)))
    host.sync(Wire.join([Wire.member("@bob:test", "leave", "$l"), Wire.member("@dan:test", name: "Dan")]))
    host.answer("/members", #"{"chunk":["# + Wire.members.joined(separator: ",") + "]}")
    #expect(
      host.client.room(.test)?.members.map { $0.userID.string } == ["@alice:test", "@dan:test", "@me:test"])
  }

  /// Members of a large room, who come in three slices.
  private static let many = (0..<1_100).map { Wire.member("@m\($0):test", name: "Member \($0)") }

  @Test func `a large list is taken in by slices, between which syncs are heard`() {
    var host = Host.inRoom()
    host.command(.people(.loadMembers(.test)), id: 9)
    host.answer("/members", #"{"chunk":["# + (Self.many + Wire.members).joined(separator: ",") + "]}")
    #expect(host.client.room(.test)?.members.count == 503)
    #expect(host.finished[9] == nil)
    // Both are in slices that are still to come.
    host.sync(Wire.join([Wire.member("@m700:test", "leave", "$l"), Wire.member("@m800:test", name: "New name")]))
    host.writesAtOnce = false
    host.sync(Wire.join([Wire.message("two", "$2")]))
    host.wait(1)
    #expect(host.client.room(.test)?.members.count == 504)
    host.finishWrites()
    host.writesAtOnce = true
    host.wait(1)
    #expect(host.client.room(.test)?.members.count == 1_102)
    #expect(host.client.room(.test)?.hasAllMembers == true)
    #expect(host.result(9) == "done")
    #expect(host.client.room(.test)?.displayName(of: UserID(trusted: "@m800:test")) == "New name")
    #expect(host.client.room(.test)?.membership(of: UserID(trusted: "@m700:test")) == .leave)
  }

  @Test func `a list that is half read when the session ends is given up, and read anew afterwards`() {
    var host = Host.inRoom()
    host.command(.people(.loadMembers(.test)), id: 5)
    host.answer("/members", #"{"chunk":["# + (Self.many + Wire.members).joined(separator: ",") + "]}")
    host.command(.sync(.pause))
    #expect(host.result(5) == "cancelled")
    host.command(.sync(.resume))
    host.command(.people(.loadMembers(.test)), id: 10)
    host.answer("/members", #"{"chunk":["# + (Self.many + Wire.members).joined(separator: ",") + "]}")
    host.wait(1)
    host.wait(1)
    #expect(host.client.room(.test)?.members.count == 1_103)
    #expect(host.result(10) == "done")
  }

  @Test func `media requests carry the token`() {
    let client = Host.inRoom().client
    let request = client.thumbnail(MediaURI(trusted: "mxc://test/abc"), width: 96, height: 64, crops: true)
    #expect(request.target == "/_matrix/client/v1/media/thumbnail/test/abc?width=96&height=64&method=crop")
    #expect(request.accessToken == "T")
    #expect(client.download(MediaURI(trusted: "mxc://test/abc")).target == "/_matrix/client/v1/media/download/test/abc")
  }
}
