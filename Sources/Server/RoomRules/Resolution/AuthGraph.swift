import MatrixModel

/// The events of some states and of their auth chains, numbered, with their `auth_events` as edges.
struct AuthGraph {
  private(set) var events: [PDU] = []
  private(set) var authEvents: [[Int]] = []
  private(set) var index: [EventID: Int] = [:]
  /// The create event where `auth_events` do not lead to it. Spec: room version 12, "Event format".
  private(set) var impliedCreate: PDU?

  init(
    states: [StateMap], version: RoomVersion, event fetch: (EventID) -> PDU?
  ) throws(StateResolutionError) {
    for state in states {
      for eventID in state.values { _ = try add(eventID, fetch) }
    }
    var next = 0
    while next < events.count {
      var edges: [Int] = []
      for eventID in events[next].authEvents { edges.append(try add(eventID, fetch)) }
      authEvents.append(edges)
      next += 1
    }
    guard version.roomIDIsCreateHash, let room = events.first?.roomID else { return }
    let createID = EventID(createEventOf: room)
    guard let create = index[createID].map({ events[$0] }) ?? fetch(createID) else { throw .missingEvent(createID) }
    impliedCreate = create
  }

  private mutating func add(_ eventID: EventID, _ fetch: (EventID) -> PDU?) throws(StateResolutionError) -> Int {
    if let known = index[eventID] { return known }
    guard let event = fetch(eventID) else { throw .missingEvent(eventID) }
    index[eventID] = events.count
    events.append(event)
    return events.count - 1
  }

  func indices(of eventIDs: some Sequence<EventID>) -> [Int] { eventIDs.compactMap { index[$0] } }

  /// The event among an event's `auth_events` that stands for a key.
  func authEvent(of event: Int, _ key: StateMapKey) -> Int? {
    authEvents[event].first { events[$0].stateMapKey == key }
  }

  /// Tells for each event whether it is one of `roots` or in the auth chain of one.
  ///
  /// The specification leaves the roots out; every implementation counts them.
  func authChain(of roots: some Sequence<Int>) -> [Bool] {
    var isReached = [Bool](repeating: false, count: events.count)
    var open = Array(roots)
    for root in open { isReached[root] = true }
    while let event = open.popLast() {
      for authEvent in authEvents[event] where !isReached[authEvent] {
        isReached[authEvent] = true
        open.append(authEvent)
      }
    }
    return isReached
  }

  /// Spec: "Auth difference": in the auth chain of some state, but not of all.
  func authDifference(of states: [StateMap]) -> Set<Int> {
    var chains = [Int](repeating: 0, count: events.count)
    for state in states {
      for (event, isReached) in authChain(of: indices(of: state.values)).enumerated() where isReached {
        chains[event] += 1
      }
    }
    return Set(events.indices.filter { chains[$0] > 0 && chains[$0] < states.count })
  }

  /// Spec: room version 12, "Conflicted state subgraph": what lies on a path from one conflicted event to another.
  func conflictedSubgraph(of conflicted: Set<EventID>) -> Set<Int> {
    let ends = Set(indices(of: conflicted))
    let below = authChain(of: ends)
    let leads = leads(to: ends)
    return Set(events.indices.filter { ends.contains($0) || below[$0] && leads[$0] })
  }

  /// Tells for each event whether its auth chain has one of `ends`.
  func leads(to ends: Set<Int>) -> [Bool] {
    var citedBy = [[Int]](repeating: [], count: events.count)
    for event in events.indices {
      for authEvent in authEvents[event] { citedBy[authEvent].append(event) }
    }
    var leads = [Bool](repeating: false, count: events.count)
    var open = Array(ends)
    while let event = open.popLast() {
      for citing in citedBy[event] where !leads[citing] {
        leads[citing] = true
        open.append(citing)
      }
    }
    return leads
  }
}
