import JSON
import MatrixModel

/// What the rules come to, in the terms that people set them in.
extension PushRuleSet {
  /// What was set for that room; nil where nothing was, and the default of its kind holds.
  public func mode(of room: RoomID) -> NotificationMode? {
    let overrides = self[.override].filter { $0.isEnabled && $0.isOnly(about: room) }
    if let rule = overrides.first { return rule.actions.notifies ? .allMessages : .mute }
    guard let rule = rule(.room, room.text), rule.isEnabled else { return nil }
    return rule.actions.notifies ? .allMessages : .mentionsAndKeywords
  }

  /// What holds in rooms for which nothing was set; never `mute`.
  public func defaultMode(of kind: NotificationRoomKind) -> NotificationMode {
    // What a one-to-one rule that is off leaves goes to the rule of groups.
    var kinds = [kind]
    if kind == .oneToOne { kinds.append(.group) }
    if kind == .encryptedOneToOne { kinds.append(.encryptedGroup) }
    for kind in kinds {
      guard let rule = rule(.underride, kind.ruleIDs[0]), rule.isEnabled else { continue }
      return rule.actions.notifies ? .allMessages : .mentionsAndKeywords
    }
    return .mentionsAndKeywords
  }

  /// Words that one is told of, without the server's own rules, in the order of the rules.
  public var keywords: [ByteString] {
    var keywords: [ByteString] = []
    for rule in self[.content] where !rule.isDefault && rule.isEnabled && rule.actions.notifies {
      if let pattern = rule.pattern, !keywords.contains(pattern) { keywords.append(pattern) }
    }
    return keywords
  }

  /// Whether events of this subject notify.
  public func notifies(of subject: NotificationSubject) -> Bool {
    let known = subject.rules.compactMap { self.rule($0.kind, $0.ruleID) }
    if subject == .everything { return !(known.first?.isEnabled ?? false) }
    return known.first.map { $0.isEnabled && $0.actions.notifies } ?? false
  }

  /// Rules of the user's own about that room and nothing else.
  func ownRules(about room: RoomID) -> [(kind: PushRuleKind, rule: PushRule)] {
    var found: [(kind: PushRuleKind, rule: PushRule)] = []
    for kind in [PushRuleKind.override, .room, .underride] {
      for rule in self[kind] where !rule.isDefault {
        if kind == .room ? rule.ruleID == room.text : rule.isOnly(about: room) { found.append((kind, rule)) }
      }
    }
    return found
  }
}

extension PushRule {
  /// Whether its one condition is the room; whatever its ID is: clients differ in that.
  fileprivate func isOnly(about room: RoomID) -> Bool {
    guard !isDefault, conditions.count == 1, let json = Answer.parse(conditions[0].json) else { return false }
    return json["kind"]?.isString("event_match") ?? false && json["key"]?.isString("room_id") ?? false
      && json.text("pattern") == room.text
  }
}
