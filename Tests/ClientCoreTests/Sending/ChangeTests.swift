import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Edits, reactions and redactions on their way.
@Suite struct ChangeTests {
  private let own = [Wire.message("one", "$1"), Wire.message("mine", "$2", by: "@me:test")]

  private func text(_ json: JSON?) -> String { json.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "" }
  private func reactions(_ host: Host, _ i: Int) -> [String] {
    host.items()[i].reactions.map { "\($0.key) \($0.count)\($0.isOwn ? " own" : "")\($0.isPending ? " pending" : "")" }
  }
  private func event(_ id: String) -> SendTarget { .event(EventID(trusted: ByteString(id))) }
  private func transaction(_ host: Host, _ part: String) -> String {
    host.request(part)?.request.target.split(separator: "/").last.map { String($0) } ?? ""
  }

  // MARK: Edits

  @Test func `an edit shows at once and stays when the server has it`() {
    var host = Host.inRoom(own)
    host.command(.sending(.edit(.test, .item(host.items()[1].id), .markdown("*new*"))))
    #expect(host.texts() == ["one", "*new*"])
    #expect(host.items()[1].isEdited)
    guard case .edit(.sending)? = host.items()[1].pendingChange else { return #expect(Bool(false), "no mark") }
    #expect(
      text(host.body("/send/m.room.message/"))
        == #"{"msgtype":"m.text","body":"* *new*","format":"org.matrix.custom.html","formatted_body":"* <em>new</em>","m.mentions":{},"#
        + #""m.new_content":{"msgtype":"m.text","body":"*new*","format":"org.matrix.custom.html","formatted_body":"<em>new</em>","m.mentions":{}},"#
        + #""m.relates_to":{"rel_type":"m.replace","event_id":"$2"}}"#)
    let content = text(host.body("/send/"))
    let transaction = transaction(host, "/send/")
    host.answer("/send/", #"{"event_id":"$3"}"#)
    #expect(host.texts() == ["one", "*new*"])
    host.sync(
      Wire.join([
        Wire.event("m.room.message", "$3", by: "@me:test", content, unsigned: #"{"transaction_id":"\#(transaction)"}"#)
      ]))
    #expect(host.texts() == ["one", "*new*"])
    #expect(host.items()[1].pendingChange == nil)
    #expect(host.client.outbox.entries.isEmpty)
  }

  @Test func `a refused edit brings the text back, says why and can be tried again or dropped`() {
    var host = Host.inRoom(own)
    let item = host.items()[1].id
    host.command(.sending(.edit(.test, .item(item), FormattedText("new"))))
    host.answer("/send/", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    #expect(host.texts() == ["one", "mine"])
    #expect(!host.items()[1].isEdited)
    guard case .edit(.failed(.refused(403, .forbidden, _, _)))? = host.items()[1].pendingChange else {
      return #expect(Bool(false), "no reason")
    }
    host.command(.sending(.retry(.test, .item(item))))
    #expect(host.texts() == ["one", "new"])
    host.answer("/send/", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts() == ["one", "mine"])
    next.command(.sending(.cancel(.test, .item(next.items()[1].id))))
    #expect(next.items()[1].pendingChange == nil)
    #expect(next.client.outbox.entries.isEmpty)
  }

  @Test func `an edit survives a restart and shows after it`() {
    var host = Host.inRoom(own)
    host.handle(.networkChanged(isOnline: false))
    host.command(.sending(.edit(.test, event("$2"), FormattedText("new"))))
    host = host.restarted()
    host.command(.timeline(.openRoom(.test)))
    #expect(host.texts() == ["one", "new"])
    #expect(host.body("/send/")?["m.new_content"]?["body"]?.string == "new")
  }

  @Test func `messages of others cannot be edited`() {
    var host = Host.inRoom(own)
    host.command(.sending(.edit(.test, .item(host.items()[0].id), FormattedText("x"))))
    #expect(host.result() == "notAllowed")
    host.command(.sending(.edit(.test, .item(999), FormattedText("x"))))
    #expect(host.result() == "unknownEvent")
  }

  @Test func `what has not gone out is edited in place`() {
    var host = Host.inRoom()
    host.handle(.networkChanged(isOnline: false))
    host.command(.sending(.send(.test, .text("a").replying(to: event("$1")))))
    let item = host.items()[1].id
    host.command(.sending(.edit(.test, .item(item), .markdown("**b**"))))
    #expect(host.texts() == ["one", "**b** queued"])
    #expect(host.client.outbox.entries.count == 1)
    host = host.restarted()
    #expect(host.body("/send/")?["body"]?.string == "**b**")
    #expect(host.body("/send/")?["formatted_body"]?.string == "<strong>b</strong>")
    #expect(host.body("/send/")?["m.relates_to"]?["m.in_reply_to"]?["event_id"]?.string == "$1")
  }

  @Test func `an edit of a message under way waits for its event ID`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("a"))))
    host.command(.sending(.edit(.test, .item(host.items()[1].id), FormattedText("b"))))
    #expect(host.texts() == ["one", "b sending"])
    #expect(host.body("/send/")?["body"]?.string == "a")
    host.answer("/send/", #"{"event_id":"$a"}"#)
    #expect(host.body("/send/")?["m.relates_to"]?["event_id"]?.string == "$a")
    #expect(host.body("/send/")?["m.new_content"]?["body"]?.string == "b")
  }

  @Test func `an edit notifies only users that the message did not mention before`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .message(.markdown("@alice:test")))))
    host.command(.sending(.edit(.test, .item(host.items()[1].id), .markdown("@alice:test @bob:test"))))
    host.answer("/send/", #"{"event_id":"$a"}"#)
    #expect(text(host.body("/send/")?["m.mentions"]) == #"{"user_ids":["@bob:test"]}"#)
    #expect(text(host.body("/send/")?["m.new_content"]?["m.mentions"]) == #"{"user_ids":["@alice:test","@bob:test"]}"#)
  }

  @Test func `the caption of a picture is edited, its file stays`() {
    let content =
      #"{"msgtype":"m.image","body":"old","filename":"cat.png","url":"mxc://test/a","info":{"w":64,"h":48,"size":9}}"#
    var host = Host.inRoom([Wire.event("m.room.message", "$2", by: "@me:test", content)])
    host.command(.sending(.edit(.test, event("$2"), FormattedText("new"))))
    let new = host.body("/send/")?["m.new_content"]
    #expect(new?["msgtype"]?.string == "m.image")
    #expect(new?["body"]?.string == "new")
    #expect(new?["filename"]?.string == "cat.png")
    #expect(new?["url"]?.string == "mxc://test/a")
    #expect(new?["info"]?["w"]?.integer == 64)
  }

  @Test func `a poll is replaced as a whole`() {
    var host = Host.inRoom(own)
    host.command(.sending(.replace(.test, event("$2"), .poll(OutgoingPoll(question: "new?", answers: ["a"])))))
    let body = host.body("/send/org.matrix.msc3381.poll.start/")
    #expect(body?["m.new_content"]?["org.matrix.msc3381.poll.start"]?["question"]?["body"]?.string == "new?")
    #expect(body?["m.relates_to"]?["rel_type"]?.string == "m.replace")
  }

  // MARK: Reactions

  @Test func `a reaction shows at once and is counted once`() {
    let alice = Wire.event(
      "m.reaction", "$r", #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"$1","key":"+"}}"#)
    var host = Host.inRoom([Wire.message("one", "$1"), alice])
    host.command(.sending(.toggleReaction(.test, event("$1"), key: "+")))
    #expect(reactions(host, 0) == ["+ 2 own pending"])
    let body = text(host.body("/send/m.reaction/"))
    #expect(body == #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"$1","key":"+"}}"#)
    let transaction = transaction(host, "/send/")
    host.sync(
      Wire.join([Wire.event("m.reaction", "$o", by: "@me:test", body, unsigned: #"{"transaction_id":"\#(transaction)"}"#)]))
    #expect(reactions(host, 0) == ["+ 2 own"])
    host.command(.sending(.toggleReaction(.test, event("$1"), key: "+")))
    #expect(reactions(host, 0) == ["+ 1 pending"])
    #expect(host.request("/redact/%24o/") != nil)
    host.answer("/redact/", #"{"event_id":"$x"}"#)
    #expect(reactions(host, 0) == ["+ 1 pending"])
    host.sync(Wire.join([Wire.event("m.room.redaction", "$x", by: "@me:test", #"{"redacts":"$o"}"#)]))
    #expect(reactions(host, 0) == ["+ 1"])
    #expect(host.client.outbox.entries.isEmpty)
  }

  @Test func `a double tap leaves none, also while the first is under way`() {
    var host = Host.inRoom()
    host.handle(.networkChanged(isOnline: false))
    host.command(.sending(.toggleReaction(.test, event("$1"), key: "+")))
    host.command(.sending(.toggleReaction(.test, event("$1"), key: "+")))
    #expect(reactions(host, 0).isEmpty)
    #expect(host.client.outbox.entries.isEmpty)
    host.handle(.networkChanged(isOnline: true))
    host.command(.sending(.toggleReaction(.test, event("$1"), key: "+")))
    host.command(.sending(.toggleReaction(.test, event("$1"), key: "+")))
    #expect(reactions(host, 0).isEmpty)
    host.answer("/send/m.reaction/", #"{"event_id":"$r"}"#)
    #expect(host.request("/redact/%24r/") != nil)
    // A third tap while the redaction is under way reacts again.
    host.command(.sending(.toggleReaction(.test, event("$1"), key: "+")))
    #expect(reactions(host, 0) == ["+ 1 own pending"])
  }

  @Test func `a try that may have reached the server is taken back for certain`() {
    var host = Host.inRoom()
    host.command(.sending(.toggleReaction(.test, event("$1"), key: "+")))
    host.respond("/send/m.reaction/", .networkError)
    host.command(.sending(.toggleReaction(.test, event("$1"), key: "+")))
    #expect(reactions(host, 0).isEmpty)
    host.wait(2_000)
    host.answer("/send/m.reaction/", #"{"event_id":"$r"}"#)
    #expect(host.request("/redact/%24r/") != nil)
  }

  @Test func `a refused reaction goes away`() {
    var host = Host.inRoom()
    host.command(.sending(.toggleReaction(.test, event("$1"), key: "+")))
    host.answer("/send/", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    #expect(reactions(host, 0).isEmpty)
    #expect(host.store.keys.allSatisfy { !$0.hasPrefix("a/outbox/") })
  }

  @Test func `a key has a length`() {
    var host = Host.inRoom()
    host.command(.sending(.toggleReaction(.test, event("$1"), key: "")))
    #expect(host.result() == "invalidContent")
    host.command(
      .sending(.toggleReaction(.test, event("$1"), key: ByteString(String(repeating: "x", count: Limits.reactionBytes + 1)))))
    #expect(host.result() == "invalidContent")
    host.command(
      .sending(.toggleReaction(.test, event("$1"), key: ByteString(String(repeating: "x", count: Limits.reactionBytes)))))
    #expect(host.result() == "queued")
  }

  // MARK: Redactions

  // Proves P5
  @Test func `a redaction shows at once, a refused one brings the message back`() {
    var host = Host.inRoom(own)
    host.command(.sending(.redact(.test, .item(host.items()[1].id), reason: "typo")))
    #expect(host.texts() == ["one", "[redacted]"])
    #expect(text(host.body("/redact/%242/")) == #"{"reason":"typo"}"#)
    #expect(host.result() == "nothing")
    host.answer("/redact/", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    #expect(host.result().contains("refused"))
    #expect(host.texts() == ["one", "mine"])
    host.command(
      .sending(.redact(.test, event("$2"), reason: nil, relationTypes: ["m.replace", "*"])))
    #expect(
      text(host.body("/redact/"))
        == #"{"with_rel_types":["m.replace","*"],"org.matrix.msc3912.with_relations":["m.replace","*"]}"#)
    host.answer("/redact/", #"{"event_id":"$x"}"#)
    #expect(host.result() == "done")
    host.sync(Wire.join([Wire.event("m.room.redaction", "$x", by: "@me:test", #"{"redacts":"$2"}"#)]))
    #expect(host.texts() == ["one", "[redacted]"])
    #expect(host.items()[1].pendingChange == nil)
  }

  @Test func `a redaction of what has not gone out is its cancel`() {
    var host = Host.inRoom()
    host.handle(.networkChanged(isOnline: false))
    host.command(.sending(.send(.test, .text("a"))))
    let item = host.items()[1].id
    host.command(.sending(.toggleReaction(.test, .item(item), key: "+")))
    host.command(.sending(.send(.test, .text("b").replying(to: .item(item)))))
    host.command(.sending(.redact(.test, .item(item), reason: nil)))
    #expect(host.result() == "done")
    // What waited for it goes with it.
    #expect(host.texts() == ["one"])
    #expect(host.client.outbox.entries.isEmpty)
    #expect(host.store.keys.allSatisfy { !$0.hasPrefix("a/outbox/") })
  }

  @Test func `a redaction of a message under way waits for its event ID`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("a"))))
    host.command(.sending(.redact(.test, .item(host.items()[1].id), reason: nil)))
    #expect(host.texts() == ["one", "[redacted] sending"])
    host.answer("/send/", #"{"event_id":"$a"}"#)
    #expect(host.request("/redact/%24a/") != nil)
  }

  // MARK: Waiting for each other

  // Proves B5, P23
  @Test func `a reaction and a reply to an unsent message wait for it and know its event`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("a"))))
    let item = host.items()[1].id
    host.command(.sending(.toggleReaction(.test, .item(item), key: "+")))
    host.command(.sending(.send(.test, .text("b").replying(to: .item(item)))))
    #expect(reactions(host, 1) == ["+ 1 own pending"])
    let transaction = host.transaction
    // The sync is faster than the answer.
    host.sync(Wire.join([Wire.message("a", "$a", by: "@me:test", transaction: transaction)]))
    #expect(host.items()[1].id == item)
    #expect(reactions(host, 1) == ["+ 1 own pending"])
    #expect(host.body("/send/m.reaction/")?["m.relates_to"]?["event_id"]?.string == "$a")
    host.answer("/send/m.reaction/", #"{"event_id":"$r"}"#)
    #expect(
      host.waiting.last?.request.body.flatMap { try? JSON.parse($0) }?["m.relates_to"]?["m.in_reply_to"]?["event_id"]?.string
        == "$a")
  }

  @Test func `what waits for a failed message fails with it and is tried again with it`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("a"))))
    let item = host.items()[1].id
    host.command(.sending(.send(.test, .text("b").replying(to: .item(item)))))
    host.command(.sending(.send(.test, .text("c"))))
    host.answer("/send/", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    #expect(host.texts() == ["one", "a failed", "b failed", "c sending"])
    guard case .failed(.targetFailed) = host.items()[2].delivery else { return #expect(Bool(false), "no reason") }
    // Also what is asked for later, and after a restart.
    host.command(.sending(.toggleReaction(.test, .item(item), key: "+")))
    host.answer("/send/", #"{"event_id":"$c"}"#)
    host = host.restarted()
    host.command(.timeline(.openRoom(.test)))
    #expect(host.texts() == ["one", "a failed", "b failed", "c sent"])
    #expect(host.request("/send/") == nil)
    host.command(.sending(.retry(.test, .item(host.items()[2].id))))
    #expect(host.request("/send/") == nil)
    host.command(.sending(.retryAll(.test)))
    #expect(host.body("/send/")?["body"]?.string == "a")
    host.answer("/send/", #"{"event_id":"$a"}"#)
    #expect(host.body("/send/")?["m.relates_to"]?["m.in_reply_to"]?["event_id"]?.string == "$a")
    host.answer("/send/", #"{"event_id":"$b"}"#)
    #expect(host.body("/send/m.reaction/")?["m.relates_to"]?["event_id"]?.string == "$a")
  }

  @Test func `a cancelled message takes along what waits for it`() {
    var host = Host.inRoom()
    host.command(.sending(.setSending(.test, isEnabled: false)))
    host.command(.sending(.send(.test, .text("a"))))
    let item = host.items()[1].id
    host.command(.sending(.send(.test, .text("b").replying(to: .item(item)))))
    host.command(.sending(.send(.test, .text("c").replying(to: .item(host.items()[2].id)))))
    host.command(.sending(.send(.test, .text("d"))))
    host.command(.sending(.cancel(.test, .item(item))))
    #expect(host.texts() == ["one", "d queued"])
    #expect(host.client.outbox.entries.count == 1)
  }

  @Test func `sending is switched off and on, for a room and for all`() {
    var host = Host.inRoom()
    host.command(.sending(.setSending(.test, isEnabled: false)))
    host.command(.sending(.send(.test, .text("a"))))
    #expect(host.request("/send/") == nil)
    host.command(.sending(.setSending(nil, isEnabled: false)))
    host.command(.sending(.setSending(.test, isEnabled: true)))
    #expect(host.request("/send/") == nil)
    host.command(.sending(.setSending(nil, isEnabled: true)))
    #expect(host.body("/send/")?["body"]?.string == "a")
  }

  @Test func `a limit of the server shows until when, and a new connection does not break it`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("a"))))
    host.answer("/send/", status: 429, #"{"errcode":"M_LIMIT_EXCEEDED","error":"","retry_after_ms":20000}"#)
    guard case .held(let until) = host.items()[1].delivery else { return #expect(Bool(false), "not held") }
    #expect(until >= host.now + 20_000 && until < host.now + 20_500)
    host.handle(.networkChanged(isOnline: false))
    host.handle(.networkChanged(isOnline: true))
    #expect(host.request("/send/") == nil)
    host.wait(20_500)
    #expect(host.texts() == ["one", "a sending"])
  }

  @Test func `what waited when the page was closed may have been sent meanwhile: an edit of it is an event of its own`() {
    var host = Host.inRoom()
    host.handle(.networkChanged(isOnline: false))
    for text in ["a", "b"] { host.command(.sending(.send(.test, .text(ByteString(text))))) }
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    let second = next.items().last?.id ?? 0
    next.command(.sending(.edit(.test, .item(second), FormattedText("c"))))
    for (body, event) in [("a", "$a"), ("b", "$b")] {
      #expect(next.body("/send/")?["body"]?.string == body)
      next.answer("/send/", #"{"event_id":"\#(event)"}"#)
    }
    #expect(next.body("/send/")?["m.relates_to"]?["event_id"]?.string == "$b")
    #expect(next.body("/send/")?["m.new_content"]?["body"]?.string == "c")
  }

  @Test func `where the server wants longer than is waited at a time, it is asked in between, and until when stays right`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("a"))))
    let end = host.now + 3_600_000
    for _ in 0..<2 {
      host.answer(
        "/send/", status: 429, #"{"errcode":"M_LIMIT_EXCEEDED","error":"","retry_after_ms":\#(end - host.now)}"#)
      guard case .held(let until) = host.items()[1].delivery else { return #expect(Bool(false), "not held") }
      #expect(until == end)
      host.wait(600_500)
      #expect(host.request("/send/") != nil)
    }
  }

  @Test func `a waiting command hears the outcome, whether the room is open or not`() {
    var host = Host.inRoom()
    host.command(.timeline(.closeRoom(.test)))
    host.changes = []
    host.command(.sending(.send(.test, .text("a"))))
    host.answer("/send/", #"{"event_id":"$a"}"#)
    var seen: [String] = []
    for case .sending(.test, _, let progress) in host.changes { seen.append("\(progress)") }
    #expect(seen == ["waiting(untilMilliseconds: nil)", "sending", "sent($a)"])
  }

  @Test func `records of the first version are still sent`() {
    var host = Host.inRoom()
    host.handle(.networkChanged(isOnline: false))
    let content =
      #"{"msgtype":"m.image","body":"c.png","filename":"c.png","info":{"size":9},"m.relates_to":{"m.in_reply_to":{"event_id":"$1"}}}"#
    let record =
      #"{"id":1,"room":"!room:test","transaction":"t1","time":5,"kind":3,"content":\#(content),"blob":"file-1"}"#
    host.store[StoreKey.outbox(1)] = Array(record.utf8)
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    next.answer("/media/config", "{}")
    #expect(next.request("/upload")?.blob == BlobHandle("file-1"))
    next.answer("/upload", #"{"content_uri":"mxc://test/c"}"#)
    #expect(next.transaction == "t1")
    #expect(next.body("/send/")?["url"]?.string == "mxc://test/c")
    #expect(next.body("/send/")?["m.relates_to"]?["m.in_reply_to"]?["event_id"]?.string == "$1")
  }
}
