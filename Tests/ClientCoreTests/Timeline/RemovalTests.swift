import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Messages that a user hides from their own view.
@Suite struct RemovalTests {
  static func list(_ events: String...) -> String {
    let listed = events.map { #""\#($0)""# }.joined(separator: ",")
    return #","account_data":{"events":[{"type":"martlet.removed","content":{"events":[\#(listed)]}}]}"#
  }

  static let conversation = [
    Wire.message("one", "$1", by: "@bob:test"), Wire.message("two", "$2"), Wire.message("three", "$3")
  ]
  static let second = EventID(trusted: "$2")
  static let third = EventID(trusted: "$3")

  // Proves P5
  @Test func `a message that the user hides goes at once, and stays hidden on all devices and after a restart`() {
    var host = Host.inRoom(Self.conversation)
    host.command(.timeline(.removeForMe(.test, Self.second)))
    #expect(host.texts() == ["one", "three"])
    #expect(host.body("/account_data/martlet.removed")?["events"]?.elements.map { $0.string } == ["$2"])
    host.answer("/account_data/martlet.removed", "{}")
    #expect(host.result() == "done")
    host.sync(Wire.join(extra: Self.list("$2")))
    // Another device.
    host.sync(Wire.join(extra: Self.list("$2", "$3")))
    #expect(host.texts() == ["one"])
    #expect(host.client.room(.test)?.preview == nil)
    // A page brings it once more.
    host.sync(Wire.join([Wire.message("four", "$4")]))
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts() == ["one", "four"])
  }

  @Test func `two that go one after the other are both told of, though no sync came between`() {
    var host = Host.inRoom(Self.conversation)
    host.command(.timeline(.removeForMe(.test, Self.second)))
    host.answer("/account_data/martlet.removed", "{}")
    // Asked for before the server knew.
    host.sync(Wire.join([Wire.message("four", "$4")]))
    host.command(.timeline(.removeForMe(.test, Self.third)))
    #expect(host.body("/account_data/martlet.removed")?["events"]?.elements.map { $0.string } == ["$2", "$3"])
    #expect(host.texts() == ["one", "four"])
  }

  @Test func `what the server refuses to remove comes back`() {
    var host = Host.inRoom(Self.conversation)
    host.command(.timeline(.removeForMe(.test, Self.third)))
    #expect(host.client.room(.test)?.preview == nil)
    host.answer("/account_data/martlet.removed", status: 413, #"{"errcode":"M_TOO_LARGE","error":"no"}"#)
    #expect(host.result() != "done")
    #expect(host.texts() == ["one", "two", "three"])
    #expect(host.client.room(.test)?.preview?.content?.body == "three")
  }

  @Test func `a reply does not quote a message that the user has hidden`() {
    let reply = Wire.event(
      "m.room.message", "$6", by: "@bob:test",
      #"{"msgtype":"m.text","body":"No","m.relates_to":{"m.in_reply_to":{"event_id":"$2"}}}"#)
    var host = Host.inRoom(Self.conversation + [reply])
    host.command(.timeline(.removeForMe(.test, Self.second)))
    host.command(.timeline(.loadReply(.test, host.items().last?.id ?? 0)))
    #expect(describe(host.items().last?.quoted) == "> ?")
  }

  @Test func `of a list without end the first thousand are taken`() {
    var host = Host.inRoom(Self.conversation)
    let endless = (0..<3_000).map { #""$e\#($0)""# }.joined(separator: ",")
    let content = #"{"events":[\#(endless),7]}"#
    host.sync(Wire.join(extra: #","account_data":{"events":[{"type":"martlet.removed","content":\#(content)}]}"#))
    #expect(host.client.room(.test)?.removedEvents.count == 1_000)
    host.command(.timeline(.removeForMe(.test, Self.second)))
    #expect(host.body("/account_data/martlet.removed")?["events"].map { Array($0.elements).count } == 1_000)
    #expect(host.texts() == ["one", "three"])
  }
}
