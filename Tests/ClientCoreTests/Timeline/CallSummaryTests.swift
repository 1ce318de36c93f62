import MatrixModel
import Testing

@testable import ClientCore

/// How a call between two went, from its events. Spec: "Voice over IP".
@Suite struct CallSummaryTests {
  private static let start = 1_700_000_000_000

  private static func event(_ kind: String, by sender: String, after seconds: Int, call: String = "c1") -> String {
    Wire.event(
      "m.call.\(kind)", "$\(kind)-\(sender.dropFirst())-\(seconds)", by: sender, time: start + seconds * 1_000,
      #"{"call_id":"\#(call)","party_id":"p","version":"1"}"#)
  }

  private static let (alice, bob) = ("@alice:test", "@bob:test")

  private static func shown(_ events: [String]) -> [String] {
    let host = Host.inRoom(events)
    return host.texts()
  }

  private typealias Sign = (kind: String, sender: String, after: Int)

  // The types are written out: the compiler takes seconds to find them.
  private static let endings: [(signs: [Sign], words: String)] = [
    ([], "[a call]"),
    ([("answer", bob, 5)], "[a call]"),
    ([("answer", bob, 5), ("hangup", alice, 70)], "[a call of 65 seconds]"),
    ([("answer", bob, 5), ("reject", bob, 6), ("hangup", bob, 7)], "[a call of 2 seconds]"),
    ([("reject", bob, 5)], "[a call, declined]"),
    ([("hangup", bob, 5)], "[a call, declined]"),
    ([("hangup", alice, 60)], "[a call, not answered]"),
    ([("candidates", bob, 5), ("select_answer", alice, 6), ("negotiate", bob, 7)], "[a call]")
  ]

  // Proves M43
  @Test(arguments: endings)
  private func `a call's row tells how it ended, whatever comes first`(
    _ signs: [Sign], _ words: String
  ) {
    let invite = Self.event("invite", by: Self.alice, after: 0)
    let others = signs.map { Self.event($0.kind, by: $0.sender, after: $0.after) }
    #expect(Self.shown([invite] + others) == [words])
    // As by pages of history, and as news.
    #expect(Self.shown(others.reversed() + [invite]) == [words])
    var host = Host.inRoom([invite])
    for event in others { host.sync(Wire.join([event])) }
    #expect(host.texts() == [words])
  }

  @Test func `what is said of one call is not said of another, and times are as they are`() {
    let two = [
      Self.event("invite", by: Self.alice, after: 0), Self.event("invite", by: Self.bob, after: 100, call: "c2"),
      Self.event("reject", by: Self.alice, after: 101, call: "c2")
    ]
    #expect(Self.shown(two) == ["[a call]", "[a call, declined]"])
    let hostile = [
      Wire.event("m.call.invite", "$i", by: Self.alice, #"{"call_id":"c"}"#),
      Wire.event("m.call.answer", "$a", by: Self.bob, time: .min, #"{"call_id":"c"}"#),
      Wire.event("m.call.hangup", "$h", by: Self.bob, time: .max, #"{"call_id":"c"}"#),
      Wire.event("m.call.invite", "$n", by: Self.alice, #"{"call_id":7}"#),
      Wire.event("m.call.hangup", "$o", by: Self.bob, "{}")
    ]
    #expect(Self.shown(hostile).count == 2)
  }
}
