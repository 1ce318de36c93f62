import JSON
import MatrixModel
import Testing

@testable import RoomRules

/// Rooms that fork and change at random, from a seed.
@Suite struct StateResolutionRandomTests {
  static let users = [TestRoom.alice, TestRoom.bob, TestRoom.carol, UserID(trusted: "@dave:c.example")]

  @Test(arguments: versions, [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
  func `the order of the states does not matter`(version: RoomVersion, seed: UInt64) throws {
    var random = SplitMix(state: seed)
    let (forks, events) = try forkedRoom(version, &random)
    let states = forks.map(\.state)
    let resolved = try version.resolve(states) { events[$0] }

    for _ in 0..<6 {
      let shuffled = states.shuffled(using: &random).map { state in
        StateMap(uniqueKeysWithValues: state.map { ($0, $1) }.shuffled(using: &random))
      }
      #expect(try version.resolve(shuffled) { events[$0] } == resolved)
    }
    #expect(try version.resolve(states + states) { events[$0] } == resolved)
    #expect(try version.resolve([resolved, resolved]) { events[$0] } == resolved)
    for (key, eventID) in ConflictedSets(states).unconflicted { #expect(resolved[key] == eventID) }
    for (key, eventID) in resolved { #expect(events[eventID]?.stateMapKey == key) }
    #expect(!ConflictedSets(states).conflicted.isEmpty)
  }

  @Test(arguments: versions) func `power order puts every auth event first`(version: RoomVersion) throws {
    var random = SplitMix(state: 11)
    let (forks, events) = try forkedRoom(version, &random)
    let graph = try AuthGraph(states: forks.map(\.state), version: version) { events[$0] }
    let order = ResolutionOrder(graph: graph, version: version)
    let power = order.powerEvents(in: Set(graph.events.indices))
    let sorted = order.reverseTopologicalPowerOrder(power)
    #expect(Set(sorted) == power && sorted.count == power.count && power.count > 3)
    let place = Dictionary(uniqueKeysWithValues: sorted.enumerated().map { ($1, $0) })
    for event in sorted {
      for authEvent in graph.authEvents[event] {
        if let before = place[authEvent], let here = place[event] { #expect(before < here) }
      }
    }
  }

  private func forkedRoom(
    _ version: RoomVersion, _ random: inout SplitMix
  ) throws -> ([TestRoom], [EventID: PDU]) {
    var base = try TestRoom(version)
    try base.setJoinRule("public")
    for user in Self.users.dropFirst() { try base.setMember(user, "join") }
    var forks = [base, base, base]
    for _ in 0..<40 {
      let fork = Int.random(in: forks.indices, using: &random)
      try step(&forks[fork], &random)
    }
    var events: [EventID: PDU] = [:]
    for fork in forks { events.merge(fork.events) { mine, _ in mine } }
    return (forks, events)
  }

  /// One random change, if the rules allow it.
  private func step(_ room: inout TestRoom, _ random: inout SplitMix) throws {
    let sender = Self.users[Int.random(in: 0..<4, using: &random)]
    let target = Self.users[Int.random(in: 0..<4, using: &random)]
    let number = Int.random(in: 0...100, using: &random)
    let change: (EventType, ByteString, String)
    switch Int.random(in: 0..<6, using: &random) {
    case 0: change = (.topic, "", #"{"topic":"\#(number)"}"#)
    case 1:
      let users = Self.users.filter { !(room.version.hasPrivilegedCreators && $0 == TestRoom.alice) }
      let entries = users.map { #""\#($0)":\#($0 == TestRoom.alice ? 100 : $0 == target ? number : 50)"# }
      change = (.powerLevels, "", #"{"users":{\#(entries.joined(separator: ","))}}"#)
    case 2: change = (.joinRules, "", #"{"join_rule":"\#(number < 50 ? "public" : "invite")"}"#)
    case 3: change = (.member, target.text, #"{"membership":"ban"}"#)
    case 4: change = (.member, target.text, #"{"membership":"leave"}"#)
    default: change = (.member, sender.text, #"{"membership":"join","displayname":"\#(number)"}"#)
    }
    guard try room.refusal(change.0, from: sender, stateKey: change.1, change.2) == nil else { return }
    try room.add(
      change.0, from: sender, stateKey: change.1, change.2, at: Int64.random(in: 1_000...1_030, using: &random))
  }
}

/// A generator from a seed (Steele, Lea and Flood's SplitMix64).
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
