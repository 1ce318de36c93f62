import JSON
import Testing

@testable import MatrixModel

@Suite struct PushBudgetTests {
  private static let user = UserID(trusted: "@ann:example.org")

  private static func evaluator(_ body: String) throws -> PushEvaluator {
    let content = try JSON.object { writer in
      writer.member("msgtype", "m.text")
      writer.member("body", body)
    }
    return PushEvaluator(
      PushEvent(
        type: .message, stateKey: nil, sender: UserID(trusted: "@bob:example.org"), roomID: RoomID(trusted: "!r:example.org"),
        eventID: nil, content: content, memberCount: 3, senderPowerLevel: 0, notificationLevels: nil))
  }

  private static func rules(_ patterns: [String]) throws -> PushRuleSet {
    let actions = try #require(PushActions(try JSON.parse(Array(#"["notify",{"set_tweak":"highlight"}]"#.utf8))))
    var rules = PushRuleSet(defaultsFor: user)
    // The last that is put stands first.
    for (index, pattern) in patterns.enumerated().reversed() {
      try rules.put(
        PushRule(.content, ruleID: ByteString("r\(index)"), actions: actions, pattern: ByteString(pattern)), .content)
    }
    return rules
  }

  @Test("A thousand patterns made to take long on a long text cost what one evaluation may, and no more")
  func bounded() throws {
    let evaluator = try Self.evaluator(String(repeating: "aab ", count: 15_000))
    let rules = try Self.rules((0..<999).map { "*a*a*a*a*a*a*a*a*a*a*a*a*aac\($0)" })
    var budget = PushEvaluator.stepsLimit
    let actions = evaluator.actions(of: rules, displayName: nil, budget: &budget)
    // The default rule for messages is left, which has no pattern of the user's.
    #expect(actions?.highlights == false && actions?.notifies == true)
    #expect(budget <= 0, "the test should use it up")
    #expect(budget > -GlobPattern.stepsLimit)
  }

  @Test("A hundred keywords are all tried on a text of several pages")
  func enough() throws {
    let evaluator = try Self.evaluator(String(repeating: "lorem ipsum ", count: 600) + "needle99")
    let rules = try Self.rules((0..<100).map { "needle\($0)" })
    #expect(evaluator.actions(of: rules, displayName: nil)?.highlights == true)
  }
}
