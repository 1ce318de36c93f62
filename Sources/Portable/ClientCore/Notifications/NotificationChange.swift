import JSON
import MatrixModel

/// What a person changes about what they are told of.
public enum NotificationChange: Sendable {
  /// nil for the default of the room's kind.
  case mode(RoomID, NotificationMode?)
  /// `mute` is as good as `mentionsAndKeywords`: only single rooms are muted.
  case defaultMode(NotificationRoomKind, NotificationMode)
  /// A word, or a glob pattern.
  case addKeyword(ByteString)
  case removeKeyword(ByteString)
  case subject(NotificationSubject, isOn: Bool)
  /// One rule as it is.
  case rule(PushRuleChange)

  /// Returns the steps, one request each; nil if the change is impossible. The rule that brings the new state comes before
  /// those that remove the old one, so that a failure in between never makes the user miss a notification.
  func steps(on rules: PushRuleSet) -> [PushRuleChange]? {
    switch self {
    case .mode(let room, let mode): NotificationChange.steps(to: mode, in: room, rules)
    case .defaultMode(let kind, let mode): NotificationChange.steps(to: mode, in: kind, rules)
    case .addKeyword(let keyword): NotificationChange.steps(adding: keyword, rules)
    case .removeKeyword(let keyword):
      rules[.content].filter { !$0.isDefault && $0.pattern == keyword }.map { .remove(.content, $0.ruleID) }
    case .subject(let subject, let isOn): NotificationChange.steps(to: isOn, subject, rules)
    case .rule(let change): [change]
    }
  }

  private static func steps(
    to mode: NotificationMode?, in room: RoomID, _ rules: PushRuleSet
  ) -> [PushRuleChange] {
    if mode == rules.mode(of: room), mode != nil { return [] }
    var steps: [PushRuleChange] = []
    let kept: PushRuleKind?
    switch mode {
    case nil: kept = nil
    case .mute:
      kept = .override
      let condition = JSONWriter.object { writer in
        writer.member("kind", "event_match" as ByteString)
        writer.member("key", "room_id" as ByteString)
        writer.member("pattern", room)
      }
      let conditions = Answer.parse(condition).flatMap { PushCondition($0) }.map { [$0] } ?? []
      steps += put(PushRule(.override, ruleID: room.text, actions: .none, conditions: conditions), .override, rules)
    case .allMessages, .mentionsAndKeywords:
      kept = .room
      let actions = mode == .allMessages ? PushActions.sounding : .none
      steps += put(PushRule(.room, ruleID: room.text, actions: actions), .room, rules)
    }
    for (kind, rule) in rules.ownRules(about: room) where kind != kept || rule.ruleID != room.text {
      steps.append(.remove(kind, rule.ruleID))
    }
    return steps
  }

  private static func put(_ rule: PushRule, _ kind: PushRuleKind, _ rules: PushRuleSet) -> [PushRuleChange] {
    // A rule that is replaced stays off where it was off.
    let isOff = rules.rule(kind, rule.ruleID).map { !$0.isEnabled } ?? false
    return [.put(kind, rule)] + (isOff ? [.setEnabled(kind, rule.ruleID, true)] : [])
  }

  private static func steps(
    to mode: NotificationMode, in kind: NotificationRoomKind, _ rules: PushRuleSet
  ) -> [PushRuleChange] {
    let notifies = mode == .allMessages
    var steps: [PushRuleChange] = []
    for id in kind.ruleIDs {
      guard let rule = rules.rule(.underride, id) else { continue }
      if rule.actions.notifies != notifies {
        let actions = !notifies ? PushActions.none : kind.isOneToOne ? .sounding : .notifying
        steps.append(.setActions(.underride, id, actions))
      }
      // One that is off would leave its messages to the rules behind it.
      if !rule.isEnabled { steps.append(.setEnabled(.underride, id, true)) }
    }
    return steps
  }

  private static func steps(adding keyword: ByteString, _ rules: PushRuleSet) -> [PushRuleChange]? {
    guard !keyword.isEmpty, keyword.count <= Limits.keywordBytes else { return nil }
    if let known = rules[.content].first(where: { !$0.isDefault && $0.pattern == keyword }) {
      var steps: [PushRuleChange] = []
      if !known.actions.notifies { steps.append(.setActions(.content, known.ruleID, .soundingAndHighlighting)) }
      if !known.isEnabled { steps.append(.setEnabled(.content, known.ruleID, true)) }
      return steps
    }
    var id = ruleID(for: keyword)
    while rules.rule(.content, id) != nil { id = ByteString(id.string + "~") }
    return [
      .put(.content, PushRule(.content, ruleID: id, actions: .soundingAndHighlighting, pattern: keyword))
    ]
  }

  /// Spec: `PUT /pushrules`: not with a dot in front, and no slashes.
  private static func ruleID(for keyword: ByteString) -> ByteString {
    var bytes = keyword.utf8.map { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") ? UInt8(ascii: "_") : $0 }
    if bytes.first == UInt8(ascii: ".") { bytes[0] = UInt8(ascii: "_") }
    return ByteString(decoding: bytes)
  }

  private static func steps(
    to isOn: Bool, _ subject: NotificationSubject, _ rules: PushRuleSet
  ) -> [PushRuleChange] {
    var steps: [PushRuleChange] = []
    let isInverted = subject == .everything
    for wanted in subject.rules {
      guard let rule = rules.rule(wanted.kind, wanted.ruleID) else { continue }
      if isOn, !isInverted, !rule.actions.notifies { steps.append(.setActions(wanted.kind, wanted.ruleID, wanted.actions)) }
      if rule.isEnabled != (isOn != isInverted) {
        steps.append(.setEnabled(wanted.kind, wanted.ruleID, isOn != isInverted))
      }
    }
    return steps
  }
}

/// One change of one push rule. Spec: Client-Server API, "Push Rules: API".
public enum PushRuleChange: Sendable {
  /// Adds the rule, or takes the place of the one with its ID, which stays enabled or disabled.
  case put(PushRuleKind, PushRule, before: ByteString? = nil, after: ByteString? = nil)
  case setEnabled(PushRuleKind, ByteString, Bool)
  case setActions(PushRuleKind, ByteString, PushActions)
  case remove(PushRuleKind, ByteString)

  /// The rules with it; as they were where the server must have known better.
  func applied(to rules: PushRuleSet) -> PushRuleSet {
    var new = rules
    do throws(PushRuleSet.ChangeError) {
      switch self {
      case .put(let kind, let rule, let before, let after): try new.put(rule, kind, before: before, after: after)
      case .setEnabled(let kind, let id, let isEnabled): try new.setEnabled(isEnabled, kind, id)
      case .setActions(let kind, let id, let actions): try new.setActions(actions, kind, id)
      case .remove(let kind, let id): try new.remove(kind, id)
      }
    } catch { return rules }
    return new
  }
}
