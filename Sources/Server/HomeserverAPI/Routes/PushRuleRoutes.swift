import HTTPServer
import JSON
import MatrixModel
import ServerAccounts

/// Push rules, one by one and all together.
extension Routes {
  mutating func addPushRuleRoutes() {
    let pushRules = homeserver.pushRules
    addPushRulePropertyRoutes()

    on(.getPushRules, alsoAt: ["/_matrix/client/v3/pushrules"]) { _, session in
      .json(try await pushRules.rules(of: session.userID).content())
    }

    on(.getPushRulesGlobal, alsoAt: ["/_matrix/client/v3/pushrules/global"]) { _, session in
      let rules = try await pushRules.rules(of: session.userID)
      return .json(capacity: 4096) { rules.write(to: &$0) }
    }

    on(.getPushRule) { request, session in
      let (kind, rule) = try await Self.rule(request, session, pushRules)
      return .json { rule.write(to: &$0, kind) }
    }

    on(.setPushRule) { request, session in
      let kind = try Self.kind(request)
      let rule = try PushRule(kind, request.path("ruleId"), await request.object())
      let query = try request.query()
      let (before, after) = (query.text("before"), query.text("after"))
      try await pushRules.change(session.userID) { rules in
        try Self.mapped { () throws(PushRuleSet.ChangeError) in
          try rules.put(rule, kind, before: before, after: after)
        }
      }
      return .emptyObject
    }

    on(.deletePushRule) { request, session in
      let (kind, ruleID) = (try Self.kind(request), request.path("ruleId"))
      try await pushRules.change(session.userID) { rules in
        try Self.mapped { () throws(PushRuleSet.ChangeError) in try rules.remove(kind, ruleID) }
      }
      return .emptyObject
    }
  }

  private mutating func addPushRulePropertyRoutes() {
    let pushRules = homeserver.pushRules

    on(.getPushRuleActions) { request, session in
      let rule = try await Self.rule(request, session, pushRules).rule
      return .json { $0.object { $0.member("actions", raw: rule.actions.json) } }
    }

    on(.setPushRuleActions) { request, session in
      let (kind, ruleID) = (try Self.kind(request), request.path("ruleId"))
      let actions = try PushActions(parameterOf: await request.object())
      try await pushRules.change(session.userID) { rules in
        try Self.mapped { () throws(PushRuleSet.ChangeError) in try rules.setActions(actions, kind, ruleID) }
      }
      return .emptyObject
    }

    on(.isPushRuleEnabled) { request, session in
      let rule = try await Self.rule(request, session, pushRules).rule
      return .json { $0.object { $0.member("enabled", rule.isEnabled) } }
    }

    on(.setPushRuleEnabled) { request, session in
      let (kind, ruleID) = (try Self.kind(request), request.path("ruleId"))
      let isEnabled = try await request.object().requiredBool("enabled")
      try await pushRules.change(session.userID) { rules in
        try Self.mapped { () throws(PushRuleSet.ChangeError) in try rules.setEnabled(isEnabled, kind, ruleID) }
      }
      return .emptyObject
    }
  }

  private static func kind(_ request: APIRequest) throws -> PushRuleKind {
    guard let kind = PushRuleKind(request.path("kind")) else {
      throw MatrixError.invalidParameter("'kind' is not a kind of push rule.")
    }
    return kind
  }

  private static func rule(_ request: APIRequest, _ session: Session, _ pushRules: PushRules) async throws
    -> (kind: PushRuleKind, rule: PushRule)
  {
    let kind = try kind(request)
    guard let rule = try await pushRules.rules(of: session.userID).rule(kind, request.path("ruleId")) else {
      throw unknownRule
    }
    return (kind, rule)
  }

  private static func mapped(_ change: () throws(PushRuleSet.ChangeError) -> Void) throws(MatrixError) {
    do { try change() } catch {
      switch error {
      case .unknownRule: throw unknownRule
      case .defaultRule:
        throw .invalidParameter("A rule of the server's cannot be deleted, and none can be put beside one.")
      case .tooMany: throw .tooLarge("There are \(PushRuleSet.rulesLimit) rules of this kind already.")
      }
    }
  }

  private static let unknownRule = MatrixError.notFound("There is no such push rule.")
}

extension PushActions {
  /// `actions` of a body. Throws `M_MISSING_PARAM`, `M_BAD_JSON`, `M_INVALID_PARAM`.
  init(parameterOf body: JSON) throws(MatrixError) {
    let list = try body.requiredArray("actions")
    guard let actions = PushActions(list) else {
      throw .badJSON("An action is a string or an object with 'set_tweak'.")
    }
    // Stored rules may have others: earlier versions took any.
    for action in list.elements where action.isString {
      guard action.isString("notify") || action.isString("dont_notify") || action.isString("coalesce") else {
        throw .invalidParameter("The actions are 'notify' and objects with 'set_tweak'.")
      }
    }
    self = actions
  }
}

extension PushRule {
  /// Bytes of a rule's ID and of a pattern; conditions of a rule.
  private static let idBytesLimit = 255
  private static let patternBytesLimit = 512
  private static let conditionsLimit = 100

  /// A rule as a client puts it. Throws `M_INVALID_PARAM`, `M_MISSING_PARAM`, `M_BAD_JSON`.
  init(_ kind: PushRuleKind, _ ruleID: ByteString, _ body: JSON) throws(MatrixError) {
    guard !ruleID.isEmpty, ruleID.count <= Self.idBytesLimit, !ruleID.hasPrefix("."),
      !ruleID.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") })
    else {
      throw .invalidParameter(
        "A rule's ID does not begin with a dot, has no slashes or backslashes, and at most \(Self.idBytesLimit) bytes.")
    }
    let actions = try PushActions(parameterOf: body)
    let pattern = kind == .content ? try body.requiredText("pattern") : nil
    guard pattern?.count ?? 0 <= Self.patternBytesLimit else {
      throw .invalidParameter("A pattern has at most \(Self.patternBytesLimit) bytes.")
    }
    let conditions = kind == .override || kind == .underride ? try Self.conditions(of: body) : []
    self.init(kind, ruleID: ruleID, actions: actions, conditions: conditions, pattern: pattern)
  }

  private static func conditions(of body: JSON) throws(MatrixError) -> [PushCondition] {
    var conditions: [PushCondition] = []
    guard let list = try body.optionalArray("conditions") else { return [] }
    for json in list.elements {
      guard let condition = PushCondition(json) else {
        throw .invalidParameter("A condition is an object with a 'kind'.")
      }
      guard !condition.lacksFields else {
        throw .invalidParameter("A condition lacks a field that its 'kind' needs, or has one that is not valid.")
      }
      guard condition.json.count <= 4 * patternBytesLimit else { throw .invalidParameter("A condition is too long.") }
      conditions.append(condition)
      guard conditions.count <= conditionsLimit else {
        throw .invalidParameter("A rule has at most \(conditionsLimit) conditions.")
      }
    }
    return conditions
  }
}
