import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct DraftTests {
  private let root = EventID(trusted: "$root")
  private let one = EventID(trusted: "$1")

  // Proves C51, P22, W15
  @Test func `room and thread have drafts of their own, with what they answer, over a restart`() {
    var host = Host.inRoom()
    host.command(.sending(.setDraft(.test, Draft("a", kind: .reply(to: one)))))
    host.command(.sending(.setDraft(.test, thread: root, Draft("b", kind: .edit(of: one)))))
    let longer = host.client.room(.test)?.draft(saying: "ab")
    host.command(.sending(.setDraft(.test, longer ?? Draft(""))))
    host.wait(Limits.draftDelayMilliseconds)
    host = host.restarted()
    #expect(host.client.room(.test)?.draft == "ab")
    #expect(host.client.room(.test)?.draft(in: nil) == Draft("ab", kind: .reply(to: one)))
    #expect(host.client.room(.test)?.draft(in: root) == Draft("b", kind: .edit(of: one)))
    host.command(.sending(.setDraft(.test, thread: root, Draft(""))))
    #expect(host.client.room(.test)?.draft(saying: "") == Draft(""))
    host.command(.sending(.setDraft(.test, Draft(""))))
    host.wait(Limits.draftDelayMilliseconds)
    #expect(host.store.keys.allSatisfy { !$0.hasPrefix("a/draft/") })
  }

  @Test func `a message takes the draft of its own place with it`() {
    var host = Host.inRoom()
    host.command(.sending(.setDraft(.test, Draft("a"))))
    host.command(.sending(.setDraft(.test, thread: root, Draft("b"))))
    host.command(.sending(.send(.test, .text("b").inThread(.event(root)))))
    #expect(host.client.room(.test)?.draft == "a")
    #expect(host.client.room(.test)?.draft(in: root) == nil)
    host.command(.sending(.send(.test, .text("a"))))
    #expect(host.client.room(.test)?.draft == "")
    #expect(host.restarted().client.room(.test)?.draft == "")
  }

  @Test func `an edit takes only the draft that edits it`() {
    var host = Host.inRoom([Wire.message("mine", "$1", by: "@me:test")])
    host.command(.sending(.setDraft(.test, Draft("x", kind: .reply(to: one)))))
    host.command(.sending(.edit(.test, .event(one), FormattedText("y"))))
    #expect(host.client.room(.test)?.draft == "x")
    host.command(.sending(.setDraft(.test, Draft("x", kind: .edit(of: one)))))
    host.command(.sending(.edit(.test, .event(one), FormattedText("y"))))
    #expect(host.client.room(.test)?.draft == "")
  }

  // Proves W15
  @Test func `a message that is refused here leaves the draft`() {
    var host = Host.inRoom()
    host.handle(.networkChanged(isOnline: false))
    host.comparesMirrors = false
    for _ in 0..<Limits.outboxEntries { host.command(.sending(.send(.test, .text("a")))) }
    host.command(.sending(.setDraft(.test, Draft("draft"))))
    host.command(.sending(.send(.test, .text("draft"))))
    #expect(host.result() == "outboxIsFull")
    #expect(host.client.room(.test)?.draft == "draft")
  }

  @Test func `a draft has an end`() {
    var host = Host.inRoom()
    host.command(.sending(.setDraft(.test, Draft(ByteString(String(repeating: "x", count: ContentLimits.contentBytes + 1))))))
    #expect(host.result() == "tooLarge(limitBytes: 60000)")
    host.command(.sending(.setDraft(.test, Draft(ByteString(String(repeating: "x", count: ContentLimits.contentBytes))))))
    #expect(host.client.room(.test)?.draft.count == ContentLimits.contentBytes)
  }

  @Test func `a forgotten room leaves no drafts`() {
    var host = Host.inRoom()
    host.command(.sending(.setDraft(.test, thread: root, Draft("b"))))
    host.wait(Limits.draftDelayMilliseconds)
    host.command(.rooms(.forget(.test)))
    host.answer("/forget", "{}")
    #expect(host.store.keys.allSatisfy { !$0.hasPrefix("a/draft/") })
  }

  // MARK: From device to device

  /// The room with account data as another device, or this one, wrote it.
  private func drafted(_ content: String, thread: String = "") -> String {
    Wire.join(extra: #","account_data":{"events":[{"type":"martlet.draft\#(thread)","content":\#(content)}]}"#)
  }

  private func passing() -> Host {
    var host = Host.inRoom()
    host.client.syncsDrafts = true
    return host
  }

  // Proves P22
  @Test func `a draft is passed on in a while, and what was sent by then is not`() {
    var host = passing()
    host.command(.sending(.setDraft(.test, Draft("a"))))
    host.command(.sending(.send(.test, .text("a"))))
    host.wait(Limits.draftSyncMilliseconds)
    #expect(host.request("martlet.draft") == nil)
    host.command(.sending(.setDraft(.test, thread: root, Draft("b", kind: .reply(to: one)))))
    host.command(.sending(.setDraft(.test, thread: root, Draft("bc", kind: .reply(to: one)))))
    host.wait(Limits.draftSyncMilliseconds)
    let body = host.body("martlet.draft.$root") ?? host.body("martlet.draft.%24root")
    #expect(body?["text"]?.text == "bc" && body?["reply"]?.text == "$1" && body?["at"]?.integer != nil)
    #expect(host.waiting.filter { $0.request.target.contains("martlet.draft") }.count == 1)
    host.answer("martlet.draft", "{}")
    host.command(.sending(.setDraft(.test, thread: root, Draft(""))))
    host.wait(Limits.draftSyncMilliseconds)
    #expect(host.body("martlet.draft").map { $0["text"] == nil && $0["at"] != nil } == true)
  }

  @Test func `the draft of another device comes here, unless this one is newer, and is gone when it is gone there`() {
    var host = passing()
    let far = 9_000_000_000_000
    host.sync(drafted(#"{"at":\#(far),"text":"from there","edit":"$1"}"#))
    #expect(host.client.room(.test)?.draft(in: nil) == Draft("from there", kind: .edit(of: one)))
    host.sync(drafted(#"{"at":\#(far - 1),"text":"older"}"#))
    #expect(host.client.room(.test)?.draft == "from there")
    host.sync(drafted(#"{"at":\#(far + 1)}"#))
    #expect(host.client.room(.test)?.draft(in: nil) == nil)
    host.sync(drafted(#"{"at":\#(far),"text":"in the thread"}"#, thread: ".$root"))
    #expect(host.client.room(.test)?.draft(in: root)?.text == "in the thread" && host.client.room(.test)?.draft == "")
    host.wait(Limits.draftDelayMilliseconds)
    #expect(host.restarted().client.room(.test)?.draft(in: root)?.text == "in the thread")
  }

  @Test func `a sent message does not come back as a draft`() {
    var host = passing()
    host.command(.sending(.setDraft(.test, Draft("hello"))))
    host.wait(Limits.draftSyncMilliseconds)
    let at = host.body("martlet.draft")?["at"]?.integer ?? 0
    host.answer("martlet.draft", "{}")
    host.wait(1)
    host.command(.sending(.send(.test, .text("hello"))))
    host.sync(drafted(#"{"at":\#(at),"text":"hello"}"#))
    #expect(host.client.room(.test)?.draft == "")
  }

  @Test(arguments: [
    "{}", "[]", #"{"at":"now","text":"x"}"#, #"{"at":-1,"text":"x"}"#, #"{"text":"x"}"#, #"{"at":9000000000000,"text":7}"#
  ])
  func `what is no draft changes nothing`(_ content: String) {
    var host = passing()
    host.command(.sending(.setDraft(.test, Draft(""))))
    host.sync(drafted(content))
    host.sync(drafted(#"{"at":9000000000000,"text":"x"}"#, thread: ".no event"))
    host.sync(drafted(#"{"at":9000000000000,"text":"x"}"#, thread: "s"))
    #expect(host.client.room(.test)?.draft == "")
  }

  @Test func `drafts stay here where that was not asked for`() {
    var host = Host.inRoom()
    host.command(.sending(.setDraft(.test, Draft("a"))))
    host.wait(Limits.draftSyncMilliseconds)
    host.sync(drafted(#"{"at":9000000000000,"text":"x"}"#))
    #expect(host.request("martlet.draft") == nil && host.client.room(.test)?.draft == "a")
  }
}
