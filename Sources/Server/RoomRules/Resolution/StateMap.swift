import MatrixModel

/// A room's state: which event stands for each event type and state key.
package typealias StateMap = [StateMapKey: EventID]

/// Why states could not be resolved.
package enum StateResolutionError: Error, Equatable, Sendable {
  /// An event of a state or of its auth chain is not at hand.
  case missingEvent(EventID)
}

extension RoomVersion {
  /// One state out of several: the state before an event with several `prev_events`.
  ///
  /// Pure, and the same whatever the order of the states. O(states × events), where events are those of the states and
  /// their auth chains, each fetched once; nothing is fetched where the states agree.
  /// - Parameter event: an event by its ID, `isRejected` set where it is.
  /// Spec: "State resolution" of room versions 2 and 12.
  package func resolve(
    _ states: [StateMap], event: (EventID) -> PDU?
  ) throws(StateResolutionError) -> StateMap {
    let sets = ConflictedSets(states)
    guard !sets.conflicted.isEmpty else { return sets.unconflicted }
    let graph = try AuthGraph(states: states, version: self, event: event)
    var replay = StateReplay(graph: graph, version: self, start: stateResolution == .v2 ? sets.unconflicted : [:])

    var full = graph.authDifference(of: states)
    full.formUnion(graph.indices(of: sets.conflicted))
    if stateResolution == .v2dot1 { full.formUnion(graph.conflictedSubgraph(of: sets.conflicted)) }

    let order = ResolutionOrder(graph: graph, version: self)
    let power = order.powerEvents(in: full)
    replay.apply(order.reverseTopologicalPowerOrder(power))
    let mainline = order.mainline(of: replay.event(StateMapKey(.powerLevels)))
    replay.apply(order.mainlineOrder(full.subtracting(power), mainline: mainline))
    return replay.state.merging(sets.unconflicted) { _, unconflicted in unconflicted }
  }
}

/// The states' entries, divided. Spec: "Unconflicted state map and conflicted state set".
struct ConflictedSets {
  private(set) var unconflicted: StateMap = [:]
  private(set) var conflicted: Set<EventID> = []

  init(_ states: [StateMap]) {
    guard let first = states.first else { return }
    for (key, eventID) in first where states.allSatisfy({ $0[key] == eventID }) { unconflicted[key] = eventID }
    for state in states {
      for (key, eventID) in state where unconflicted[key] == nil { conflicted.insert(eventID) }
    }
  }
}
