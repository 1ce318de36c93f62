import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct IgnoringTests {
  static let alice = UserID(trusted: "@alice:test")

  static func list(_ users: String...) -> String {
    let entries = users.map { #""\#($0)":{"since":1}"# }.joined(separator: ",")
    return #","account_data":{"events":[{"type":"m.ignored_user_list","content":{"ignored_users":{\#(entries)}}}]}"#
  }

  static let conversation = [
    Wire.message("from Bob", "$1", by: "@bob:test"), Wire.message("from Alice", "$2"),
    Wire.event("m.room.topic", "$3", #"{"topic":"Tea"}"#, stateKey: ""),
    Wire.event(
      "m.reaction", "$4", #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"$1","key":"👍"}}"#),
    Wire.message("again Alice", "$5")
  ]

  // Proves J33, P25
  @Test func `what an ignored user said vanishes, what they did to the room stays, and all is back afterwards`() {
    var host = Host.inRoom(Self.conversation)
    #expect(host.items().first?.reactions.count == 1)
    #expect(host.texts() == ["from Bob", "from Alice", "(topicSet(Optional(Tea)))", "again Alice"])
    host.sync(extra: Self.list("@alice:test"))
    #expect(host.texts() == ["from Bob", "(topicSet(Optional(Tea)))"])
    #expect(host.items().first?.reactions.isEmpty == true)
    #expect(host.client.room(.test)?.preview == nil)
    host.sync(extra: Self.list())
    #expect(host.texts() == ["from Bob", "from Alice", "(topicSet(Optional(Tea)))", "again Alice"])
    #expect(host.items().first?.reactions.count == 1)
    #expect(host.client.room(.test)?.preview?.content?.body == "again Alice")
  }

  @Test func `events of an ignored user that a server sends all the same are not shown`() {
    var host = Host.inRoom([Wire.message("from Bob", "$1", by: "@bob:test")])
    host.sync(extra: Self.list("@alice:test"))
    host.sync(Wire.join(Array(Self.conversation.dropFirst())))
    #expect(host.texts() == ["from Bob", "(topicSet(Optional(Tea)))"])
    #expect(host.client.room(.test)?.preview?.content?.body == "from Bob")
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.client.ignoredUsers.users == [Self.alice])
    #expect(next.texts() == ["from Bob", "(topicSet(Optional(Tea)))"])
  }

  @Test func `ignoring somebody leaves the push rules as they are`() {
    var host = Host.inRoom()
    let rules =
      #"{"global":{"override":[{"rule_id":".m.rule.master","default":true,"enabled":true,"conditions":[],"actions":[]}]}}"#
    host.sync(extra: #","account_data":{"events":[{"type":"m.push_rules","content":\#(rules)}]}"#)
    let stored = host.store[StoreKey.data(.pushRules)]
    #expect(stored != nil)
    host.command(.people(.setIgnored(Self.alice, true)))
    host.answer("/account_data/m.ignored_user_list", status: 404, #"{"errcode":"M_NOT_FOUND","error":""}"#)
    #expect(host.body("/account_data/m.ignored_user_list") != nil)
    host.answer("/account_data/m.ignored_user_list", "{}")
    host.sync(extra: Self.list("@alice:test"))
    #expect(host.store[StoreKey.data(.pushRules)] == stored)
    #expect(!host.waiting.contains { $0.request.target.contains("pushrules") && $0.request.method != .get })
  }

  @Test func `a timeline beside the live one hides and shows them as well`() {
    var host = Host.inRoom(Self.conversation)
    let key = TimelineKey(.test, .event(EventID(trusted: "$2")))
    let context =
      #"{"start":"a","end":"b","event":"# + Self.conversation[1] + #","events_before":["# + Self.conversation[0]
      + #"],"events_after":[]}"#
    host.command(.timeline(.open(key)))
    host.answer("/context/", context)
    #expect(host.texts(key) == ["from Bob", "from Alice"])
    host.sync(extra: Self.list("@alice:test"))
    #expect(host.texts(key) == ["from Bob"])
    host.sync(extra: Self.list())
    host.answer("/context/", context)
    #expect(host.texts(key) == ["from Bob", "from Alice"])
  }

  @Test func `a reply to an ignored user does not quote them`() {
    let reply = Wire.event(
      "m.room.message", "$6", by: "@bob:test",
      #"{"msgtype":"m.text","body":"No","m.relates_to":{"m.in_reply_to":{"event_id":"$2"}}}"#)
    var host = Host.inRoom(Self.conversation + [reply])
    #expect(describe(host.items().last?.quoted) == "> @alice:test: from Alice")
    host.sync(extra: Self.list("@alice:test"))
    #expect(describe(host.items().last?.quoted) == "")
    host.command(.timeline(.loadReply(.test, host.items().last?.id ?? 0)))
    #expect(describe(host.items().last?.quoted) == "> ?")
  }

  @Test func `who has read up to what is hidden has read up to what stands before it`() {
    let receipts =
      #","ephemeral":{"events":[{"type":"m.receipt","content":{"$5":{"m.read":{"@bob:test":{"ts":1}}}}}]}"#
    var host = Host.signedIn()
    host.sync(Wire.join(Self.conversation, state: Wire.members, extra: Wire.counts + receipts))
    host.command(.timeline(.openRoom(.test)))
    host.sync(extra: Self.list("@alice:test"))
    let last = host.items().last?.id ?? 0
    #expect(host.client.room(.test)?.timeline.readers(at: last).contains(UserID(trusted: "@bob:test")) == true)
  }

  @Test func `an ignored user writes unseen`() {
    var host = Host.inRoom()
    let typing = #","ephemeral":{"events":[{"type":"m.typing","content":{"user_ids":["@alice:test","@bob:test"]}}]}"#
    host.sync(Wire.join(extra: typing))
    #expect(host.client.room(.test)?.typing.count == 2)
    host.sync(extra: Self.list("@alice:test"))
    #expect(host.client.room(.test)?.typing == [UserID(trusted: "@bob:test")])
    host.sync(Wire.join(extra: typing))
    #expect(host.client.room(.test)?.typing == [UserID(trusted: "@bob:test")])
  }

  static let path = "/account_data/m.ignored_user_list"

  @Test func `the ignore list keeps unknown members, and users cannot add themselves`() {
    var host = Host.inRoom()
    let list = #"{"ignored_users":{"@x:test":{"since":1},"no user":{"since":1}}}"#
    host.command(.people(.setIgnored(Self.alice, true)))
    host.answer(Self.path, list)
    let users = host.body(Self.path)?["ignored_users"]
    #expect(users?.members.map { $0.key.string } == ["@x:test", "no user", "@alice:test"])
    #expect(users?["@x:test"]?["since"]?.integer == 1)
    host.answer(Self.path, "{}")
    #expect(host.result() == "done")
    host.command(.people(.setIgnored(UserID(trusted: "@me:test"), true)))
    #expect(host.result() == "ownUserID")
    host.command(.people(.setIgnored(UserID(trusted: "@x:test"), true)))
    host.answer(Self.path, list)
    #expect(host.result() == "done")
    #expect(host.request(Self.path) == nil)
  }

  @Test func `who ignores two people at once ignores both, and who takes one back before a sync has told it ignores one`() {
    var host = Host.inRoom()
    host.command(.people(.setIgnored(Self.alice, true)), id: 11)
    host.command(.people(.setIgnored(UserID(trusted: "@bob:test"), true)), id: 12)
    host.answer(Self.path, status: 404, #"{"errcode":"M_NOT_FOUND","error":""}"#)
    #expect(host.body(Self.path)?["ignored_users"]?.members.map { $0.key.string } == ["@alice:test", "@bob:test"])
    host.command(.people(.setIgnored(Self.alice, false)), id: 13)
    host.answer(Self.path, "{}")
    #expect(host.result(11) == "done" && host.result(12) == "done" && host.result(13) == "nothing")
    host.answer(Self.path, #"{"ignored_users":{"@alice:test":{},"@bob:test":{}}}"#)
    #expect(host.body(Self.path)?["ignored_users"]?.members.map { $0.key.string } == ["@bob:test"])
    host.answer(Self.path, status: 500, "{}")
    #expect(host.result(13) != "nothing" && host.result(13) != "done")
  }
}
