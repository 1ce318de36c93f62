import MatrixModel
import Testing

@testable import ClientCore

/// Which leaving ended a call of a room, from the comings and goings.
@Suite struct CallStaysTests {
  private struct Step {
    let user: String
    let at: Int
    /// After how many seconds somebody left; nil for a coming.
    var leavesAfter: Int?
  }

  private static func event(_ step: Step, device: String = "D") -> String {
    let start = 1_700_000_000_000
    let member =
      #"{"application":"m.call","device_id":"\#(device)","created_ts":\#(start + (step.at - (step.leavesAfter ?? 0)) * 1_000)}"#
    return Wire.event(
      "org.matrix.msc3401.call.member", "$\(step.user)-\(step.at)", by: "@\(step.user):test", time: start + step.at * 1_000,
      step.leavesAfter == nil ? member : "{}", stateKey: "_@\(step.user):test_\(device)",
      unsigned: step.leavesAfter == nil ? nil : #"{"prev_content":\#(member)}"#)
  }

  private static func ended(_ host: Host) -> [String] {
    host.items().compactMap { item in
      guard case .state(.callLeft(_, let call?)) = item.content else { return nil }
      let people = call.participants.map { String($0.string.dropFirst().prefix { $0 != ":" }) }.joined(separator: " ")
      return "\(item.eventID?.string ?? ""): \(call.durationMilliseconds / 1_000) \(people)"
    }
  }

  // Proves M43
  @Test(arguments: [
    ([Step(user: "ann", at: 0), Step(user: "ann", at: 60, leavesAfter: 60)], ["$ann-60: 60 ann"]),
    (
      [
        Step(user: "ann", at: 0), Step(user: "bob", at: 10), Step(user: "ann", at: 20, leavesAfter: 20),
        Step(user: "cid", at: 25), Step(user: "bob", at: 30, leavesAfter: 20), Step(user: "cid", at: 90, leavesAfter: 65)
      ], ["$cid-90: 90 ann bob cid"]
    ),
    (
      [
        Step(user: "ann", at: 0), Step(user: "ann", at: 5, leavesAfter: 5), Step(user: "bob", at: 10),
        Step(user: "bob", at: 17, leavesAfter: 7)
      ], ["$ann-5: 5 ann", "$bob-17: 7 bob"]
    ),
    ([Step(user: "ann", at: 0), Step(user: "bob", at: 10), Step(user: "ann", at: 20, leavesAfter: 20)], []),
    // Whose coming was not seen came when they say.
    ([Step(user: "ann", at: 50, leavesAfter: 40), Step(user: "bob", at: 70, leavesAfter: 45)], ["$bob-70: 60 ann bob"]),
    // Who came and was never seen to leave is thought gone after four hours.
    (
      [Step(user: "eve", at: 0), Step(user: "ann", at: 20_000), Step(user: "ann", at: 20_030, leavesAfter: 30)],
      ["$ann-20030: 30 ann"]
    )
  ])
  private func `who left last ended the call, whatever comes first`(_ steps: [Step], _ expected: [String]) {
    let events = steps.map { Self.event($0) }
    #expect(Self.ended(Host.inRoom(events)) == expected)
    #expect(Self.ended(Host.inRoom(events.reversed())).sorted() == expected.sorted())
    var host = Host.inRoom([events[0]])
    for event in events.dropFirst() { host.sync(Wire.join([event])) }
    #expect(Self.ended(host) == expected)
  }

  // Proves M43
  @Test func `a person with two devices is in the call until both have left`() {
    let events = [
      Self.event(Step(user: "ann", at: 0)), Self.event(Step(user: "ann", at: 5), device: "E"),
      Self.event(Step(user: "ann", at: 9, leavesAfter: 9)), Self.event(Step(user: "ann", at: 30, leavesAfter: 25), device: "E")
    ]
    #expect(Self.ended(Host.inRoom(events)) == ["$ann-30: 30 ann"])
  }

  @Test func `absurd times trap nothing, and more than the limit is left out`() {
    var events: [String] = []
    for time in [Int.min, .max, 0, -5] {
      for content in ["{}", #"{"application":"m.call","created_ts":\#(Int.max)}"#] {
        events.append(
          Wire.event(
            "org.matrix.msc3401.call.member", "$\(events.count)", time: time, content, stateKey: "k",
            unsigned: content == "{}" ? #"{"prev_content":{"created_ts":\#(time)}}"# : nil))
      }
    }
    #expect(Host.inRoom(events).items().count == events.count)
    var stays = CallStays()
    for i in 0...Limits.callStays {
      let json = Self.event(Step(user: "ann", at: i, leavesAfter: i % 2 == 0 ? nil : 1))
      guard let event = Wire.read([json]).first, case .item(.state(let change), _) = event.kind else { continue }
      _ = stays.take(change, event)
    }
    #expect(stays.ended(by: EventID("$ann-\(Limits.callStays - 1)")!) != nil)
    #expect(stays.ended(by: EventID("$ann-\(Limits.callStays)")!) == nil)
  }
}
