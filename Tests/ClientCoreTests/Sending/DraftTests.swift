import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct DraftTests {
  private let root = EventID(trusted: "$root")
  private let one = EventID(trusted: "$1")

  @Test func `room and thread have drafts of their own, with what they answer, over a restart`() {
    var host = Host.inRoom()
    host.command(.saveDraft(.test, thread: nil, Draft("a", kind: .reply(to: one))))
    host.command(.saveDraft(.test, thread: root, Draft("b", kind: .edit(of: one))))
    host.command(.setDraft(.test, "ab"))
    host.wait(Limits.draftDelayMilliseconds)
    host = host.restarted()
    #expect(host.client.room(.test)?.draft == "ab")
    #expect(host.client.room(.test)?.draft(in: nil) == Draft("ab", kind: .reply(to: one)))
    #expect(host.client.room(.test)?.draft(in: root) == Draft("b", kind: .edit(of: one)))
    host.command(.saveDraft(.test, thread: root, Draft("")))
    host.command(.setDraft(.test, ""))
    host.wait(Limits.draftDelayMilliseconds)
    #expect(host.store.keys.allSatisfy { !$0.hasPrefix("a/draft/") })
  }

  @Test func `a message takes the draft of its own place with it`() {
    var host = Host.inRoom()
    host.command(.saveDraft(.test, thread: nil, Draft("a")))
    host.command(.saveDraft(.test, thread: root, Draft("b")))
    host.command(.send(.test, .text("b").inThread(.event(root))))
    #expect(host.client.room(.test)?.draft == "a")
    #expect(host.client.room(.test)?.draft(in: root) == nil)
    host.command(.send(.test, .text("a")))
    #expect(host.client.room(.test)?.draft == "")
    #expect(host.restarted().client.room(.test)?.draft == "")
  }

  @Test func `an edit takes only the draft that edits it`() {
    var host = Host.inRoom([Wire.message("mine", "$1", by: "@me:test")])
    host.command(.saveDraft(.test, thread: nil, Draft("x", kind: .reply(to: one))))
    host.command(.edit(.test, .event(one), FormattedText("y")))
    #expect(host.client.room(.test)?.draft == "x")
    host.command(.saveDraft(.test, thread: nil, Draft("x", kind: .edit(of: one))))
    host.command(.edit(.test, .event(one), FormattedText("y")))
    #expect(host.client.room(.test)?.draft == "")
  }

  @Test func `a message that is refused here leaves the draft`() {
    var host = Host.inRoom()
    host.handle(.networkChanged(isOnline: false))
    host.comparesMirrors = false
    for _ in 0..<Limits.outboxEntries { host.command(.send(.test, .text("a"))) }
    host.command(.setDraft(.test, "draft"))
    host.command(.send(.test, .text("draft")))
    #expect(host.result() == "outboxIsFull")
    #expect(host.client.room(.test)?.draft == "draft")
  }

  @Test func `a draft has an end`() {
    var host = Host.inRoom()
    host.command(.setDraft(.test, ByteString(String(repeating: "x", count: Limits.contentBytes + 1))))
    #expect(host.result() == "tooLarge(limitBytes: 60000)")
    host.command(.setDraft(.test, ByteString(String(repeating: "x", count: Limits.contentBytes))))
    #expect(host.client.room(.test)?.draft.count == Limits.contentBytes)
  }

  @Test func `a forgotten room leaves no drafts`() {
    var host = Host.inRoom()
    host.command(.saveDraft(.test, thread: root, Draft("b")))
    host.wait(Limits.draftDelayMilliseconds)
    host.command(.forget(.test))
    host.answer("/forget", "{}")
    #expect(host.store.keys.allSatisfy { !$0.hasPrefix("a/draft/") })
  }
}
