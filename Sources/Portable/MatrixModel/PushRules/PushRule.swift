import JSON

/// Which list of a rule set a rule stands in; the lists are tried in this order.
public enum PushRuleKind: UInt8, Sendable, CaseIterable {
  case override, content, room, sender, underride

  public var name: StaticString {
    switch self {
    case .override: "override"
    case .content: "content"
    case .room: "room"
    case .sender: "sender"
    case .underride: "underride"
    }
  }

  /// nil for any other name.
  public init?(_ name: ByteString) {
    for kind in Self.allCases where name == kind.name {
      self = kind
      return
    }
    return nil
  }
}

/// When and how to notify. Spec: Client-Server API, "Push Rules".
public struct PushRule: Sendable {
  public let ruleID: ByteString
  /// Whether the server defines it.
  public let isDefault: Bool
  public var isEnabled: Bool
  public var actions: PushActions
  /// Of `override` and `underride` rules.
  public let conditions: [PushCondition]
  /// Of `content` rules.
  public let pattern: ByteString?
  let matcher: Matcher
  /// Whether this rule is older than `m.mentions`. Such rules skip events with mentions.
  let isOldMentionRule: Bool

  /// Whether it is the one that is silent of reactions, so that nobody has said more of them.
  public var isOfReactions: Bool { ruleID == ".m.rule.reaction" }

  /// How the rule is tried.
  enum Matcher: Sendable {
    /// A default rule whose conditions are the same for everyone: tried once an event, see `PushEvaluator`.
    case shared(index: Int)
    case invitesMe
    case mentionsMe
    case conditions
    case body(GlobPattern)
    case room
    case sender
  }

  /// A rule of a user.
  public init(
    _ kind: PushRuleKind, ruleID: ByteString, isEnabled: Bool = true, actions: PushActions,
    conditions: [PushCondition] = [], pattern: ByteString? = nil
  ) {
    let matcher: Matcher =
      switch kind {
      case .override, .underride: .conditions
      case .content: .body(GlobPattern(pattern ?? ""))
      case .room: .room
      case .sender: .sender
      }
    self.init(
      ruleID: ruleID, isDefault: false, isEnabled: isEnabled, actions: actions, conditions: conditions,
      pattern: pattern, matcher: matcher)
  }

  init(
    ruleID: ByteString, isDefault: Bool, isEnabled: Bool, actions: PushActions, conditions: [PushCondition],
    pattern: ByteString?, matcher: Matcher
  ) {
    self.ruleID = ruleID
    self.isDefault = isDefault
    self.isEnabled = isEnabled
    self.actions = actions
    self.conditions = conditions
    self.pattern = pattern
    self.matcher = matcher
    isOldMentionRule =
      isDefault
      && (ruleID == ".m.rule.contains_display_name" || ruleID == ".m.rule.contains_user_name"
        || ruleID == ".m.rule.roomnotif")
  }

  /// Returns nil if the rule is not valid.
  init?(ofServer json: JSON, _ kind: PushRuleKind) {
    guard let ruleID = json.text("rule_id"), let actions = json["actions"].flatMap({ PushActions($0) }) else { return nil }
    let rule = PushRule(
      kind, ruleID: ruleID, actions: actions, conditions: json["conditions"]?.elements.compactMap { PushCondition($0) } ?? [],
      pattern: kind == .content ? json.text("pattern") ?? "" : nil)
    self.init(
      ruleID: ruleID, isDefault: json.bool("default") ?? ruleID.hasPrefix("."), isEnabled: json.bool("enabled") ?? true,
      actions: actions, conditions: rule.conditions, pattern: rule.pattern, matcher: rule.matcher)
  }

  /// As the API shows it. `conditions` stand in rules that have them by their kind.
  public func write(to writer: inout JSONWriter, _ kind: PushRuleKind) {
    writer.object { writer in
      writer.member("rule_id", ruleID)
      writer.member("default", isDefault)
      writer.member("enabled", isEnabled)
      if let pattern { writer.member("pattern", pattern) }
      if kind == .override || kind == .underride {
        writer.key("conditions")
        writer.array { writer in for condition in conditions { writer.raw(condition.json) } }
      }
      writer.member("actions", raw: actions.json)
    }
  }
}
