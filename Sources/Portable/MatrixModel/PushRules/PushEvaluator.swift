import JSON

/// Tries the rules of many users on one event.
///
/// What does not depend on the user (nearly all of the default rules) is decided once, when the evaluator is made; a user
/// with default rules then costs a few bit tests.
public struct PushEvaluator: Sendable {
  /// Steps that all patterns of one user have together on one event. It is ten times what a hundred keywords need on the
  /// longest text; rules behind the one that uses it up match only where they have no patterns.
  public static let stepsLimit = 1 << 20

  public let event: PushEvent
  private let body: ByteString?
  /// Bit i: whether the conditions of default rule i hold.
  private let shared: UInt64
  /// The user that the event invites.
  private let invited: ByteString?
  /// The users that the event mentions.
  private let mentioned: Set<ByteString>
  /// Whether the event has mentions, even an empty list.
  private let hasMentions: Bool

  public init(_ event: PushEvent) {
    self.event = event
    body = event.content.text("body")
    var budget = Self.stepsLimit
    var shared: UInt64 = 0
    var bit: UInt64 = 1
    for definition in DefaultPushRules.definitions {
      if case .shared = definition.matcher, Self.hold(definition.conditions, event, nil, &budget) { shared |= bit }
      bit <<= 1
    }
    self.shared = shared
    let isInvite = event.type == .member && (event.content["membership"]?.isString("invite") ?? false)
    invited = isInvite ? event.stateKey : nil
    var mentioned: Set<ByteString> = []
    let mentions = event.content["m.mentions"]
    hasMentions = mentions != nil
    if let userIDs = mentions?["user_ids"] {
      for userID in userIDs.elements { if let text = userID.text { mentioned.insert(text) } }
    }
    self.mentioned = mentioned
  }

  /// The actions of the first rule that matches; nil where none does, and for the sender's own rules: nobody is notified
  /// of what they sent themselves.
  ///
  /// - Parameter displayName: of the user in the event's room; nil if they have none.
  public func actions(of rules: PushRuleSet, displayName: ByteString?) -> PushActions? {
    var budget = Self.stepsLimit
    return actions(of: rules, displayName: displayName, budget: &budget)
  }

  /// The rule whose actions those are.
  public func rule(of rules: PushRuleSet, displayName: ByteString?) -> PushRule? {
    var budget = Self.stepsLimit
    return step(of: rules, displayName: displayName, budget: &budget).map { rules[$0.kind][Int($0.place)] }
  }

  func actions(of rules: PushRuleSet, displayName: ByteString?, budget: inout Int) -> PushActions? {
    step(of: rules, displayName: displayName, budget: &budget).map { rules[$0.kind][Int($0.place)].actions }
  }

  private func step(of rules: PushRuleSet, displayName: ByteString?, budget: inout Int) -> PushRuleSet.Step? {
    guard event.sender != rules.userID else { return nil }
    for step in rules.steps {
      let matches =
        switch step.test {
        case .shared: shared >> UInt64(step.sharedIndex) & 1 == 1
        case .invitesMe: invited.map { $0 == rules.userID.text } ?? false
        case .mentionsMe: !mentioned.isEmpty && mentioned.contains(rules.userID.text)
        case .own: self.matches(rules[step.kind][Int(step.place)], displayName, &budget)
        }
      if matches { return step }
    }
    return nil
  }

  private func matches(_ rule: PushRule, _ displayName: ByteString?, _ budget: inout Int) -> Bool {
    if rule.isOldMentionRule, hasMentions { return false }
    switch rule.matcher {
    case .conditions: return Self.hold(rule.conditions, event, displayName, &budget)
    case .body(let pattern):
      guard let body else { return false }
      return pattern.matchesWords(in: body, budget: &budget)
    case .room: return rule.ruleID == event.roomID.text
    case .sender: return rule.ruleID == event.sender.text
    case .shared, .invitesMe, .mentionsMe: return false
    }
  }

  private static func hold(
    _ conditions: [PushCondition], _ event: PushEvent, _ displayName: ByteString?, _ budget: inout Int
  ) -> Bool {
    for condition in conditions where !condition.holds(for: event, displayName: displayName, budget: &budget) {
      return false
    }
    return true
  }
}
