import JSON

/// All push rules of one user, ready to be tried on events.
///
/// Within a kind the more important rule stands first: the user's own before the server's, but for `.m.rule.master`, which
/// comes before everything. Spec: Client-Server API, "Push Rules".
public struct PushRuleSet: Sendable {
  /// One step of an evaluation: trivial to copy, only for enabled rules.
  struct Step: Sendable {
    enum Test: UInt8, Sendable { case shared, invitesMe, mentionsMe, own }

    let test: Test
    let kind: PushRuleKind
    /// Of the default rule in its table, for `.shared`.
    let sharedIndex: UInt16
    /// Of the rule in its list.
    let place: UInt16
  }

  public let userID: UserID
  private var lists: [[PushRule]]
  private(set) var steps: [Step] = []

  /// The default rules.
  public init(defaultsFor userID: UserID) {
    self.userID = userID
    lists = PushRuleKind.allCases.map { DefaultPushRules.rules($0, for: userID) }
    compile()
  }

  /// Rules as `m.push_rules` has them (`{"global":{…}}`), brought up to date: of a default rule what the user may change
  /// is taken over, default rules that are missing are added, what is no rule is left out.
  public init(_ content: JSON, for userID: UserID) {
    self.init(defaultsFor: userID)
    guard let global = content["global"] else { return }
    for kind in PushRuleKind.allCases {
      var own: [PushRule] = []
      guard let rules = global[kind.name] else { continue }
      for json in rules.elements {
        guard let ruleID = json.text("rule_id"), let actions = json["actions"].flatMap({ PushActions($0) }) else {
          continue
        }
        let isEnabled = json.bool("enabled") ?? true
        if ruleID.hasPrefix(".") {
          guard let place = place(of: ruleID, kind) else { continue }
          lists[Int(kind.rawValue)][place].isEnabled = isEnabled
          lists[Int(kind.rawValue)][place].actions = actions
        } else if lists[Int(kind.rawValue)].count + own.count < Self.rulesLimit {
          own.append(
            PushRule(
              kind, ruleID: ruleID, isEnabled: isEnabled, actions: actions,
              conditions: json["conditions"]?.elements.compactMap { PushCondition($0) } ?? [],
              pattern: kind == .content ? json.text("pattern") ?? "" : nil))
        }
      }
      lists[Int(kind.rawValue)].insert(contentsOf: own, at: firstOwnPlace(kind))
    }
    compile()
  }

  /// Rules as a server gives them to its client: in its order and with its conditions, those of the server included that are
  /// not in this version of the specification, or not any more. What is no rule is left out.
  public init(ofServer content: JSON, for userID: UserID) {
    self.userID = userID
    lists = PushRuleKind.allCases.map { kind in
      let rules = content["global"]?[kind.name]
      return rules.map { $0.elements.prefix(Self.rulesLimit).compactMap { PushRule(ofServer: $0, kind) } } ?? []
    }
    compile()
  }

  /// Rules of one kind, the server's included.
  public static let rulesLimit = 1_000

  /// The rules of a kind, the most important first.
  public subscript(_ kind: PushRuleKind) -> [PushRule] { lists[Int(kind.rawValue)] }

  public func rule(_ kind: PushRuleKind, _ ruleID: ByteString) -> PushRule? {
    place(of: ruleID, kind).map { lists[Int(kind.rawValue)][$0] }
  }

  // MARK: Changing

  /// Why a rule cannot be put where it was asked for.
  public enum ChangeError: Error, Equatable, Sendable {
    /// There is no such rule.
    case unknownRule
    /// The rule is one of the server's: none can be deleted, and none can be before or after one.
    case defaultRule
    /// There are `rulesLimit` rules of the kind already.
    case tooMany
  }

  /// Adds a rule, or replaces the one with its ID (which stays enabled or disabled as it is).
  ///
  /// - Parameters:
  ///   - before: the rule it shall be just more important than; counts before `after`.
  ///   - after: the rule it shall be just less important than.
  ///     With neither, a new rule becomes the most important of the user's and a replaced one stays where it is.
  public mutating func put(
    _ rule: PushRule, _ kind: PushRuleKind, before: ByteString? = nil, after: ByteString? = nil
  ) throws(ChangeError) {
    var rule = rule
    var list = lists[Int(kind.rawValue)]
    let old = place(of: rule.ruleID, kind)
    if let old {
      rule.isEnabled = list[old].isEnabled
      list.remove(at: old)
    } else if list.count >= Self.rulesLimit {
      throw .tooMany
    }
    var target = old ?? firstOwnPlace(kind)
    if let neighbour = before ?? after {
      if neighbour.hasPrefix(".") { throw .defaultRule }
      guard let place = list.firstIndex(where: { $0.ruleID == neighbour }) else { throw .unknownRule }
      target = before != nil ? place : place + 1
    }
    list.insert(rule, at: target)
    lists[Int(kind.rawValue)] = list
    compile()
  }

  public mutating func remove(_ kind: PushRuleKind, _ ruleID: ByteString) throws(ChangeError) {
    guard let place = place(of: ruleID, kind) else { throw .unknownRule }
    if lists[Int(kind.rawValue)][place].isDefault { throw .defaultRule }
    lists[Int(kind.rawValue)].remove(at: place)
    compile()
  }

  public mutating func setEnabled(_ isEnabled: Bool, _ kind: PushRuleKind, _ ruleID: ByteString) throws(ChangeError) {
    guard let place = place(of: ruleID, kind) else { throw .unknownRule }
    lists[Int(kind.rawValue)][place].isEnabled = isEnabled
    compile()
  }

  public mutating func setActions(_ actions: PushActions, _ kind: PushRuleKind, _ ruleID: ByteString)
    throws(ChangeError)
  {
    guard let place = place(of: ruleID, kind) else { throw .unknownRule }
    lists[Int(kind.rawValue)][place].actions = actions
  }

  // MARK: Writing

  /// `{"override":[…],"content":[…],…}`
  public func write(to writer: inout JSONWriter) {
    writer.object { writer in
      for kind in PushRuleKind.allCases {
        writer.key(kind.name)
        writer.array { writer in for rule in self[kind] { rule.write(to: &writer, kind) } }
      }
    }
  }

  /// The content of `m.push_rules`: `{"global":{…}}`.
  public func content() -> [UInt8] {
    var writer = JSONWriter(capacity: 4096)
    writer.object { writer in
      writer.key("global")
      write(to: &writer)
    }
    return writer.bytes
  }

  // MARK: Places

  private func place(of ruleID: ByteString, _ kind: PushRuleKind) -> Int? {
    lists[Int(kind.rawValue)].firstIndex { $0.ruleID == ruleID }
  }

  private func firstOwnPlace(_ kind: PushRuleKind) -> Int {
    guard kind == .override, let first = lists[Int(kind.rawValue)].first else { return 0 }
    return first.ruleID == DefaultPushRules.master ? 1 : 0
  }

  private mutating func compile() {
    steps = []
    for kind in PushRuleKind.allCases {
      let list = lists[Int(kind.rawValue)]
      for place in list.indices where list[place].isEnabled {
        var sharedIndex = 0
        let test: Step.Test
        switch list[place].matcher {
        case .shared(let index):
          test = .shared
          sharedIndex = index
        case .invitesMe: test = .invitesMe
        case .mentionsMe: test = .mentionsMe
        case .conditions, .body, .room, .sender: test = .own
        }
        steps.append(Step(test: test, kind: kind, sharedIndex: UInt16(sharedIndex), place: UInt16(place)))
      }
    }
  }
}
