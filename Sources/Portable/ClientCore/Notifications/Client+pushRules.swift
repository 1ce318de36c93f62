import JSON
import MatrixModel

/// The rules by which one is told of events: read from the account, changed one request after the other.
struct PushRuleState: Sendable {
  /// nil until the server has told them.
  var rules: PushRuleSet?
  /// Changes that were asked for, in order; the first is under way.
  var queue: [(change: NotificationChange, command: CommandID)] = []
  /// What is left of the first.
  var steps: [PushRuleChange] = []
  /// Counts what makes an answer that is still to come old: changes that the server has made, and syncs that told rules.
  var age = 0
  /// The sync under way when the server made the last change: what it tells may be from before.
  var changedDuringSync = 0
  /// Whether the rules are asked for.
  var isAsking = false
}

extension Client {
  /// As the server has them, with what was changed here since; the default ones until they are known.
  public var pushRules: PushRuleSet {
    pushRuleState.rules ?? PushRuleSet(defaultsFor: session?.userID ?? UserID(trusted: ""))
  }

  /// The room's notification mode: what the user set, or the default for this kind of room.
  public func notificationMode(of id: RoomID) -> NotificationMode {
    let rules = pushRules
    return rules.mode(of: id) ?? rules.defaultMode(of: notificationKind(of: id))
  }

  /// By which default a room goes.
  public func notificationKind(of id: RoomID) -> NotificationRoomKind {
    let room = rooms[id]
    return NotificationRoomKind(
      isEncrypted: room?.isEncrypted ?? false, isOneToOne: (room?.joinedMemberCount ?? 0) == 2)
  }

  // MARK: Reading

  /// Stores that do not have the rules do not get them by a sync.
  mutating func completePushRules() {
    guard pushRuleState.rules == nil, syncLoop.position.token != nil else { return }
    askForPushRules()
  }

  private mutating func askForPushRules() {
    pushRuleState.isAsking = true
    request(.getPushRules, Endpoint.getPushRules.path(), for: .ownPushRules(age: pushRuleState.age))
  }

  mutating func ownPushRulesAnswered(_ answer: Answer, age: Int) {
    guard pushRuleState.isAsking else { return }
    pushRuleState.isAsking = false
    guard case .success(let json) = answer, json["global"] != nil, let user = session?.userID else { return }
    guard age == pushRuleState.age else { return askForPushRules() }
    take(PushRuleSet(ofServer: json, for: user))
    write([.put(key: StoreKey.data(.pushRules), value: Array(json.bytes))])
  }

  /// A sync tells the rules. One that was under way while a rule was changed may tell those from before the change: the next change would
  /// be worked out from them. The server is asked then.
  mutating func takePushRules(of sync: PreparedSync) {
    guard let rules = sync.pushRules else { return }
    pushRuleState.age += 1
    guard sync.number > pushRuleState.changedDuringSync else {
      write([.delete(key: StoreKey.data(.pushRules))])
      if !pushRuleState.isAsking { askForPushRules() }
      return
    }
    pushRuleState.isAsking = false
    take(rules)
  }

  private mutating func take(_ rules: PushRuleSet) {
    let wereKnown = pushRuleState.rules != nil
    pushRuleState.rules = rules
    notify(.pushRules)
    if wereKnown { recountAllUnread() }
  }

  // MARK: Changing

  mutating func changeNotifications(_ change: NotificationChange, _ id: CommandID) {
    pushRuleState.queue.append((change, id))
    if pushRuleState.queue.count == 1 { beginPushRuleChange() }
  }

  private mutating func beginPushRuleChange() {
    guard let next = pushRuleState.queue.first else { return }
    guard let steps = next.change.steps(on: pushRules) else { return endPushRuleChange(.failed(.invalidContent)) }
    pushRuleState.steps = steps
    sendPushRuleStep()
  }

  private mutating func sendPushRuleStep() {
    guard let next = pushRuleState.queue.first else { return }
    guard let step = pushRuleState.steps.first else { return endPushRuleChange(.done) }
    let request = step.request
    self.request(
      request.endpoint, request.path, query: request.query, body: request.body, for: .pushRule(next.command))
  }

  mutating func pushRuleAnswered(_ answer: Answer) {
    guard !pushRuleState.steps.isEmpty else { return }
    let step = pushRuleState.steps.removeFirst()
    if let error = answer.error {
      // What was to be taken away is not there: that is what was asked for.
      guard case .remove = step, case .refused(404, _, _, _) = error else { return endPushRuleChange(.failed(error)) }
    }
    pushRuleState.rules = step.applied(to: pushRules)
    pushRuleState.age += 1
    pushRuleState.changedDuringSync = syncLoop.started
    notify(.pushRules)
    sendPushRuleStep()
  }

  private mutating func endPushRuleChange(_ result: CommandResult) {
    pushRuleState.steps = []
    let ended = pushRuleState.queue.removeFirst()
    finish(ended.command, result)
    beginPushRuleChange()
  }

  /// Lets a command wait no longer. Its running request still finishes.
  mutating func cancelPushRuleChange(_ id: CommandID) {
    guard let i = pushRuleState.queue.firstIndex(where: { $0.command == id }), i > 0 else { return }
    pushRuleState.queue.remove(at: i)
    finish(id, .failed(.cancelled))
  }

  /// The session is over: nobody answers any more. The first is ended with its request.
  mutating func endPushRuleChanges() {
    let queue = pushRuleState.queue
    pushRuleState.queue = []
    pushRuleState.steps = []
    for waiting in queue.dropFirst() { finish(waiting.command, .failed(.notSignedIn)) }
  }
}

extension PushRuleChange {
  fileprivate var request: (endpoint: Endpoint, path: String, query: String, body: [UInt8]?) {
    switch self {
    case .put(let kind, let rule, let before, let after):
      let query = URLQuery().adding("before", before).adding("after", after)
      return (.setPushRule, Endpoint.setPushRule.path(ByteString(kind.name), rule.ruleID), query.text, rule.body(kind))
    case .setEnabled(let kind, let id, let isEnabled):
      let body = JSONWriter.object { $0.member("enabled", isEnabled) }
      return (.setPushRuleEnabled, Endpoint.setPushRuleEnabled.path(ByteString(kind.name), id), "", body)
    case .setActions(let kind, let id, let actions):
      let body = JSONWriter.object { $0.member("actions", raw: actions.json) }
      return (.setPushRuleActions, Endpoint.setPushRuleActions.path(ByteString(kind.name), id), "", body)
    case .remove(let kind, let id):
      return (.deletePushRule, Endpoint.deletePushRule.path(ByteString(kind.name), id), "", nil)
    }
  }
}

extension PushRule {
  fileprivate func body(_ kind: PushRuleKind) -> [UInt8] {
    JSONWriter.object { writer in
      writer.member("actions", raw: actions.json)
      if let pattern, kind == .content { writer.member("pattern", pattern) }
      guard kind == .override || kind == .underride else { return }
      writer.key("conditions")
      writer.array { writer in for condition in conditions { writer.raw(condition.json) } }
    }
  }
}

extension ByteString {
  fileprivate init(_ text: StaticString) { self.init(text.description) }
}
