import JSON
import MatrixModel

/// The state that grows while events are replayed. Spec: "Iterative auth checks".
struct StateReplay {
  private let graph: AuthGraph
  private let version: RoomVersion
  private(set) var state: StateMap
  private var powerLevels: [EventID: PowerLevels] = [:]

  init(graph: AuthGraph, version: RoomVersion, start: StateMap) {
    self.graph = graph
    self.version = version
    state = start
  }

  func event(_ key: StateMapKey) -> EventID? { state[key] }

  /// Applies the events that the rules allow, in order, and skips the others.
  ///
  /// An event that was rejected before stays so: the specification would try it again, but other servers do not.
  mutating func apply(_ order: [Int]) {
    for index in order {
      let event = graph.events[index]
      guard !event.isRejected, let key = event.stateMapKey, (try? version.authorize(event, in: view(for: index))) != nil
      else { continue }
      state[key] = event.eventID
    }
  }

  private mutating func view(for index: Int) -> ReplayView {
    var entries: [StateMapKey: PDU] = [:]
    for authEvent in graph.authEvents[index].map({ graph.events[$0] }) where !authEvent.isRejected {
      if let key = authEvent.stateMapKey { entries[key] = authEvent }
    }
    for key in [StateMapKey(.create)] + version.authEventKeys(for: graph.events[index]) {
      guard let known = state[key].flatMap({ graph.index[$0] }), !graph.events[known].isRejected else { continue }
      entries[key] = graph.events[known]
    }
    let create = (entries[StateMapKey(.create)] ?? graph.impliedCreate).map { RoomCreate($0) }
    return ReplayView(create: create, powerLevels: levels(entries[StateMapKey(.powerLevels)], create), entries: entries)
  }

  private mutating func levels(_ event: PDU?, _ create: RoomCreate?) -> PowerLevels {
    guard let event else { return create?.powerLevels(nil) ?? PowerLevels(creator: nil) }
    if let known = powerLevels[event.eventID] { return known }
    let levels = PowerLevels(event.content, creators: create?.privilegedCreators ?? [])
    powerLevels[event.eventID] = levels
    return levels
  }
}

/// What one replayed event is authorized against: the state so far, and its own auth events where that has nothing.
private struct ReplayView: AuthorizationState {
  let create: RoomCreate?
  let powerLevels: PowerLevels
  let entries: [StateMapKey: PDU]

  var joinRule: JoinRule? {
    guard let event = entries[StateMapKey(.joinRules)] else { return .invite }
    return JoinRule(event.content["join_rule"])
  }

  func membership(of user: UserID) -> Membership? {
    entries[StateMapKey(.member, user.text)].flatMap { Membership($0.content["membership"]) }
  }

  func thirdPartyInvite(token: ByteString) -> ThirdPartyInvite? {
    entries[StateMapKey(.thirdPartyInvite, token)].map { ThirdPartyInvite(sender: $0.sender, content: $0.content) }
  }
}
