import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct RelationTests {
  static func reply(_ body: String, to target: String, _ id: String, by sender: String = "@alice:test") -> String {
    Wire.event(
      "m.room.message", id, by: sender,
      #"{"msgtype":"m.text","body":"\#(body)","m.relates_to":{"m.in_reply_to":{"event_id":"\#(target)"}}}"#)
  }

  static func threaded(
    _ body: String, in root: String, _ id: String, by sender: String = "@bob:test", time: Int = 1_700_000_000_010
  ) -> String {
    Wire.event(
      "m.room.message", id, by: sender, time: time,
      #"{"msgtype":"m.text","body":"\#(body)","m.relates_to":{"rel_type":"m.thread","event_id":"\#(root)"}}"#)
  }

  private static func quotes(_ host: Host) -> [String] { host.items().map { describe($0.quoted) } }

  // MARK: Edits

  // Proves P4
  @Test func `the history of a message is its own edits in the order of time`() {
    var host = Host.inRoom()
    host.sync(
      Wire.join([
        TimelineTests.edit("third", of: "$1", "$e3", time: 1_700_000_000_003),
        TimelineTests.edit("second", of: "$1", "$e2", time: 1_700_000_000_002),
        TimelineTests.edit("forged", of: "$1", "$e4", by: "@bob:test", time: 1_700_000_000_004)
      ]))
    let timeline = host.client.room(.test)?.timeline
    #expect(timeline?.history(of: host.items()[0].id).map { $0.content.body.string } == ["one", "second", "third"])
    let times = timeline?.history(of: host.items()[0].id).map { $0.timestampMilliseconds } ?? []
    #expect(times.count == 3 && times == times.sorted() && times[0] < times[2])
  }

  @Test func `an edit of an edit is invalid, and so is one that changes the type`() {
    var host = Host.inRoom([Wire.message("one", "$1"), Wire.event("m.sticker", "$s", #"{"body":"cat"}"#)])
    host.sync(
      Wire.join([
        TimelineTests.edit("two", of: "$1", "$e"), TimelineTests.edit("three", of: "$e", "$ee"),
        TimelineTests.edit("dog", of: "$s", "$es")
      ]))
    #expect(host.texts() == ["two", "cat"])
  }

  @Test func `the caption of a file can be edited, the HTML of a text too`() {
    let file = #""msgtype":"m.image","filename":"cat.png","url":"mxc://test/cat""#
    var host = Host.inRoom([
      Wire.event("m.room.message", "$1", #"{\#(file),"body":"old"}"#),
      Wire.event(
        "m.room.message", "$2",
        #"{"msgtype":"m.text","body":"b","format":"org.matrix.custom.html","formatted_body":"<b>b</b>"}"#)
    ])
    host.sync(
      Wire.join([
        Wire.event(
          "m.room.message", "$e1",
          #"{"body":"* new","msgtype":"m.text","m.new_content":{\#(file),"body":"new"},"m.relates_to":{"rel_type":"m.replace","event_id":"$1"}}"#
        ),
        Wire.event(
          "m.room.message", "$e2",
          #"{"body":"* c","msgtype":"m.text","m.new_content":{"msgtype":"m.text","body":"c","format":"org.matrix.custom.html","formatted_body":"<i>c</i>"},"m.relates_to":{"rel_type":"m.replace","event_id":"$2"}}"#
        )
      ]))
    guard case .message(let image) = host.items()[0].content, case .message(let text) = host.items()[1].content else {
      return #expect(Bool(false))
    }
    #expect(image.caption == "new")
    #expect(image.attachment?.source?.string == "mxc://test/cat")
    #expect(text.formattedBody == "<i>c</i>")
  }

  @Test func `the preview follows the edit and goes back when the edit is redacted`() {
    var host = Host.inRoom()
    host.sync(Wire.join([TimelineTests.edit("two", of: "$1", "$e")]))
    host = host.restarted()
    #expect(host.client.room(.test)?.preview?.content?.body == "two")
    host.sync(Wire.join([TimelineTests.redaction(of: "$e", "$x")]))
    #expect(host.client.room(.test)?.preview?.content?.body == "one")
  }

  // MARK: Reactions

  @Test func `a reaction names who reacted and the own event to take it back`() {
    var host = Host.inRoom()
    host.sync(
      Wire.join([
        Wire.event(
          "m.reaction", "$r2", by: "@me:test", time: 2,
          #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"$1","key":"👍"}}"#),
        Wire.event(
          "m.reaction", "$r1", by: "@bob:test", time: 1,
          #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"$1","key":"👍"}}"#)
      ]))
    let reaction = host.items()[0].reactions[0]
    #expect(reaction.senders.map { $0.string } == ["@bob:test", "@me:test"])
    #expect(reaction.ownEventID?.string == "$r2")
    host.sync(Wire.join([TimelineTests.redaction(of: "$1", "$x")]))
    #expect(host.items()[0].reactions.isEmpty)
  }

  @Test func `two equal reactions of a user count once, also after one of them was redacted`() {
    var host = Host.inRoom()
    host.sync(
      Wire.join([
        TimelineTests.reaction("👍", to: "$1", "$r1", by: "@bob:test"),
        TimelineTests.reaction("👍", to: "$1", "$r2", by: "@bob:test")
      ]))
    #expect(host.items()[0].reactions.map { $0.count } == [1])
    host.sync(Wire.join([TimelineTests.redaction(of: "$r1", "$x")]))
    #expect(host.items()[0].reactions.map { $0.count } == [1])
  }

  @Test func `a reaction on its way counts at once, and once`() {
    var timeline = Timeline()
    var ids = ItemIDs()
    timeline.loadState = .loaded
    let me = UserID(trusted: "@me:test")
    _ = timeline.append(Wire.read([Wire.message("one", "$1")]), ownUserID: me, &ids)
    let echo = TimelineEvent(
      echo: .reaction(EventID(trusted: "$1"), key: "👍"), transactionID: TransactionID(trusted: "t1"), sender: me,
      timestampMilliseconds: 5)
    _ = timeline.takeRelations(of: [echo], ownUserID: me)
    #expect(timeline.items[0].reactions.map { "\($0.count) \($0.isOwn) \($0.ownEventID?.string ?? "-")" } == ["1 true -"])
    let event = Wire.event(
      "m.reaction", "$r", by: "@me:test", #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"$1","key":"👍"}}"#,
      unsigned: #"{"transaction_id":"t1"}"#)
    _ = timeline.append(Wire.read([event]), ownUserID: me, &ids)
    #expect(timeline.items[0].reactions.map { "\($0.count) \($0.isOwn) \($0.ownEventID?.string ?? "-")" } == ["1 true $r"])
  }

  // MARK: Replies

  @Test func `a reply quotes its event as it is now: edited, then redacted`() {
    var host = Host.inRoom([Wire.message("one", "$1"), Self.reply("yes", to: "$1", "$2")])
    #expect(Self.quotes(host) == ["", "> @alice:test: one"])
    host.sync(Wire.join([TimelineTests.edit("two", of: "$1", "$e")]))
    #expect(Self.quotes(host) == ["", "> @alice:test: two"])
    host.sync(Wire.join([TimelineTests.redaction(of: "$1", "$x")]))
    #expect(Self.quotes(host) == ["", "> @alice:test: [redacted]"])
  }

  @Test func `replies in a circle and to themselves end`() {
    let host = Host.inRoom([
      Self.reply("a", to: "$b", "$a"), Self.reply("b", to: "$a", "$b"), Self.reply("c", to: "$c", "$c")
    ])
    #expect(Self.quotes(host) == ["> @alice:test: b", "> @alice:test: a", "> @alice:test: c"])
  }

  @Test func `what a reply answers is fetched once, where it is not here`() {
    var host = Host.inRoom([Self.reply("yes", to: "$0", "$1"), Self.reply("no", to: "$0", "$2")])
    #expect(Self.quotes(host) == ["", ""])
    for item in host.items() { host.command(.timeline(.loadReply(.test, item.id))) }
    #expect(Self.quotes(host) == ["> …", "> …"])
    #expect(host.waiting.filter { $0.request.target.contains("/event/") }.count == 1)
    host.answer("/event/", Wire.message("zero", "$0", by: "@bob:test"))
    #expect(Self.quotes(host) == ["> @bob:test: zero", "> @bob:test: zero"])
    #expect(host.result() == "done")
    host.command(.timeline(.loadReply(.test, host.items()[0].id)))
    #expect(host.request("/event/") == nil)
    host.sync(Wire.join([TimelineTests.redaction(of: "$0", "$x")]))
    #expect(Self.quotes(host) == ["> @bob:test: [redacted]", "> @bob:test: [redacted]"])
  }

  @Test func `what a reply answers and nobody may see is unavailable`() {
    var host = Host.inRoom([Self.reply("yes", to: "$0", "$1")])
    host.command(.timeline(.loadReply(.test, host.items()[0].id)))
    host.answer("/event/", status: 404, #"{"errcode":"M_NOT_FOUND","error":"no"}"#)
    #expect(Self.quotes(host) == ["> ?"])
    #expect(host.result().hasPrefix("refused"))
  }

  @Test func `a page that brings the event shows it in the replies to it`() {
    var host = Host.inRoom([Self.reply("yes", to: "$0", "$1")])
    host.command(.timeline(.paginateBack(.test)))
    host.answer("/messages", TimelineTests.page([Wire.message("zero", "$0")], end: nil))
    #expect(Self.quotes(host) == ["", "> @alice:test: zero"])
  }

  @Test func `the HTML of a reply loses the old fallback`() {
    let content =
      #"{"msgtype":"m.text","body":"> <@bob:test> hm\n\nyes","format":"org.matrix.custom.html","formatted_body":"<mx-reply><blockquote>hm</blockquote></mx-reply><b>yes</b>","m.relates_to":{"m.in_reply_to":{"event_id":"$0"}}}"#
    guard case .message(let message)? = Host.inRoom([Wire.event("m.room.message", "$1", content)]).items().first?.content
    else { return #expect(Bool(false)) }
    #expect(message.formattedBody == "<b>yes</b>")
    #expect(message.body == "yes")
  }

  // MARK: Threads

  private static func summary(_ host: Host) -> String {
    guard let thread = host.items().first?.thread else { return "none" }
    return "\(thread.count) \(thread.latest.map { describe($0.content) } ?? "-") \(thread.isParticipating)"
  }

  // Proves P2
  @Test func `what is said in a thread stands at its root, not in the live timeline`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Self.threaded("a", in: "$1", "$t1"), Self.threaded("b", in: "$1", "$t2", time: 1_700_000_000_020)]))
    #expect(host.texts() == ["one"])
    #expect(Self.summary(host) == "2 b false")
    host.sync(Wire.join([Self.threaded("c", in: "$1", "$t3", by: "@me:test", time: 1_700_000_000_030)]))
    #expect(Self.summary(host) == "3 c true")
    host.sync(
      Wire.join([
        TimelineTests.edit("c2", of: "$t3", "$e", by: "@me:test", time: 1_700_000_000_040),
        TimelineTests.redaction(of: "$t1", "$x")
      ]))
    #expect(Self.summary(host) == "2 c2 true")
    host.sync(Wire.join([TimelineTests.redaction(of: "$t3", "$y")]))
    #expect(Self.summary(host) == "1 b false")
  }

  @Test func `a client without threads shows what is said there where it was said`() {
    var host = Host.signedIn()
    host.client.showsThreadsInline = true
    host.sync(Wire.join([Wire.message("one", "$1"), Self.threaded("a", in: "$1", "$t1")], state: Wire.members))
    host.command(.timeline(.openRoom(.test)))
    #expect(host.texts() == ["one", "a"])
    #expect(host.items()[1].threadRoot?.string == "$1")
  }

  @Test func `the server's count goes on with what comes`() {
    let latest = Self.threaded("l", in: "$1", "$t5", time: 1_700_000_000_050)
    let bundle = #"{"m.relations":{"m.thread":{"count":5,"current_user_participated":true,"latest_event":\#(latest)}}}"#
    var host = Host.inRoom([Wire.event("m.room.message", "$1", #"{"msgtype":"m.text","body":"one"}"#, unsigned: bundle)])
    #expect(Self.summary(host) == "5 l true")
    // Of those counted already, one arrives with a page, another is new, and a counted one goes.
    host.sync(
      Wire.join([
        Self.threaded("old", in: "$1", "$t4", time: 1_700_000_000_040),
        Self.threaded("new", in: "$1", "$t6", time: 1_700_000_000_060)
      ]))
    #expect(Self.summary(host) == "6 new true")
    host.sync(Wire.join([TimelineTests.redaction(of: "$t4", "$x")]))
    #expect(Self.summary(host) == "5 new true")
    host.sync(Wire.join([TimelineTests.redaction(of: "$t6", "$y")]))
    #expect(Self.summary(host) == "4 l true")
  }

  @Test func `events that refer to one are known, as bundled and as they come`() {
    let bundle = #"{"m.relations":{"m.reference":{"chunk":[{"event_id":"$r1"}]}}}"#
    var host = Host.inRoom([Wire.event("m.room.message", "$1", #"{"msgtype":"m.text","body":"one"}"#, unsigned: bundle)])
    host.sync(
      Wire.join([
        Wire.event("org.example.ref", "$r2", #"{"m.relates_to":{"rel_type":"m.reference","event_id":"$1"}}"#),
        Wire.event("org.example.ref", "$r1", #"{"m.relates_to":{"rel_type":"m.reference","event_id":"$1"}}"#)
      ]))
    let timeline = host.client.room(.test)?.timeline
    #expect(timeline?.references(to: EventID(trusted: "$1")).map { $0.string } == ["$r1", "$r2"])
    #expect(host.texts() == ["one"])
  }
}
