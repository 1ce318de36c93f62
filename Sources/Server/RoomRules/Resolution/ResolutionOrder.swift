import JSON
import MatrixModel

/// The two orders in which resolution replays events.
struct ResolutionOrder {
  let graph: AuthGraph
  let version: RoomVersion

  // MARK: Power events

  /// The power events of a set, and what they lead to by auth events without leaving the set. Spec: "Algorithm", step 1.
  ///
  /// The specification follows the whole auth chain, through events outside the set, too. Servers do not, and a server that
  /// does resolves a room differently from all others.
  func powerEvents(in full: Set<Int>) -> Set<Int> {
    var power = full.filter { isPowerEvent(graph.events[$0]) }
    var open = Array(power)
    while let event = open.popLast() {
      for authEvent in graph.authEvents[event] where full.contains(authEvent) {
        if power.insert(authEvent).inserted { open.append(authEvent) }
      }
    }
    return power
  }

  /// Spec: "Power events". As on other servers, `m.room.create` is one, too, and only the empty state key counts.
  private func isPowerEvent(_ event: PDU) -> Bool {
    guard let stateKey = event.stateKey else { return false }
    switch event.type {
    case .create, .powerLevels, .joinRules: return stateKey.isEmpty
    case .member:
      let membership = Membership(event.content["membership"])
      return event.sender.text != stateKey && (membership == .leave || membership == .ban)
    default: return false
    }
  }

  /// Spec: "Reverse topological power ordering": Kahn's algorithm, always the smallest event whose auth events are done.
  /// Only auth events within the set count.
  func reverseTopologicalPowerOrder(_ set: Set<Int>) -> [Int] {
    let sorted = sortedByPower(set)
    let rank = Dictionary(uniqueKeysWithValues: sorted.enumerated().map { ($1, $0) })
    var waitingFor: [Int: Int] = [:]
    var citedBy: [Int: [Int]] = [:]
    for event in sorted {
      let authEvents = Set(graph.authEvents[event]).intersection(set)
      waitingFor[event] = authEvents.count
      for authEvent in authEvents { citedBy[authEvent, default: []].append(event) }
    }
    var ready = DescendingRanks(sorted.indices.filter { waitingFor[sorted[$0]] == 0 })
    var order: [Int] = []
    order.reserveCapacity(sorted.count)
    while let smallest = ready.popSmallest() {
      let event = sorted[smallest]
      order.append(event)
      for citing in citedBy[event] ?? [] {
        let left = (waitingFor[citing] ?? 0) - 1
        waitingFor[citing] = left
        if left == 0, let rank = rank[citing] { ready.insert(rank) }
      }
    }
    return order
  }

  private func sortedByPower(_ set: Set<Int>) -> [Int] {
    var parsed: [Int: PowerLevels] = [:]
    let keyed = set.map { (event: $0, level: senderLevel($0, &parsed)) }
    return keyed.sorted { a, b in
      if a.level != b.level { return a.level > b.level }
      return isEarlier(a.event, b.event)
    }.map(\.event)
  }

  /// The sender's power level "when looking at their respective `auth_event`s".
  private func senderLevel(_ event: Int, _ parsed: inout [Int: PowerLevels]) -> PowerLevel {
    let createKey = StateMapKey(.create)
    let create = (graph.authEvent(of: event, createKey).map { graph.events[$0] } ?? graph.impliedCreate)
      .map { RoomCreate($0) }
    let sender = graph.events[event].sender
    guard let powerLevels = graph.authEvent(of: event, StateMapKey(.powerLevels)) else {
      return (create?.powerLevels(nil) ?? PowerLevels(creator: nil)).level(of: sender)
    }
    let levels =
      parsed[powerLevels]
      ?? PowerLevels(
        graph.events[powerLevels].content, creators: create?.privilegedCreators ?? [])
    parsed[powerLevels] = levels
    return levels.level(of: sender)
  }

  private func isEarlier(_ a: Int, _ b: Int) -> Bool {
    let (x, y) = (graph.events[a], graph.events[b])
    if x.originServerTimestamp != y.originServerTimestamp { return x.originServerTimestamp < y.originServerTimestamp }
    return x.eventID < y.eventID
  }

  // MARK: Mainline

  /// The position in the mainline of each power levels event that leads to `eventID` by auth events. Spec: "Mainline ordering".
  func mainline(of eventID: EventID?) -> [Int: Int] {
    var positions: [Int: Int] = [:]
    var event = eventID.flatMap { graph.index[$0] }
    while let current = event, positions[current] == nil {
      positions[current] = positions.count
      event = graph.authEvent(of: current, StateMapKey(.powerLevels))
    }
    return positions
  }

  /// From events based on old power levels to events based on new ones. Spec: "Mainline ordering".
  func mainlineOrder(_ set: Set<Int>, mainline: [Int: Int]) -> [Int] {
    var known: [Int: Int] = [:]
    let keyed = set.map { (event: $0, position: position(of: $0, mainline: mainline, &known)) }
    return keyed.sorted { a, b in
      a.position == b.position ? isEarlier(a.event, b.event) : a.position > b.position
    }.map(\.event)
  }

  /// - Parameter known: the positions of power levels events already walked, so that each is walked once.
  private func position(of event: Int, mainline: [Int: Int], _ known: inout [Int: Int]) -> Int {
    var walked: [Int] = []
    var found = Int.max
    var next = graph.authEvent(of: event, StateMapKey(.powerLevels))
    while let powerLevels = next {
      if let position = mainline[powerLevels] ?? known[powerLevels] {
        found = position
        break
      }
      walked.append(powerLevels)
      known[powerLevels] = found
      next = graph.authEvent(of: powerLevels, StateMapKey(.powerLevels))
    }
    for powerLevels in walked { known[powerLevels] = found }
    return found
  }
}

/// A set of ranks that gives back the smallest.
private struct DescendingRanks {
  private var ranks: [Int]

  init(_ ranks: [Int]) { self.ranks = ranks.sorted(by: >) }

  mutating func popSmallest() -> Int? { ranks.popLast() }

  mutating func insert(_ rank: Int) {
    var low = 0
    var high = ranks.count
    while low < high {
      let middle = (low + high) / 2
      if ranks[middle] > rank { low = middle + 1 } else { high = middle }
    }
    ranks.insert(rank, at: low)
  }
}
