import JSON
import MatrixModel
import Testing

@testable import RoomRules

private let alice = TestRoom.alice
private let bob = TestRoom.bob
private let carol = TestRoom.carol

/// Forks of a public room in which Bob may moderate.
@Suite struct StateResolutionTests {
  private func room(_ version: RoomVersion) throws -> TestRoom {
    var room = try TestRoom(version)
    try room.add(.powerLevels, from: alice, stateKey: "", levels(version, bob: 50))
    try room.setJoinRule("public")
    try room.setMember(bob, "join")
    return room
  }

  private func levels(_ version: RoomVersion, bob: Int, more: String = "") -> String {
    let creator = version.hasPrivilegedCreators ? "" : #""@alice:a.example":100,"#
    return #"{\#(more)"events":{"m.room.power_levels":50},"users":{\#(creator)"@bob:a.example":\#(bob)}}"#
  }

  /// The resolution of the forks' states, checked to be the same in every order.
  private func resolve(_ forks: TestRoom...) throws -> TestRoom {
    var merged = forks[0]
    for fork in forks.dropFirst() { merged.learn(fork) }
    merged.state = try merged.version.resolve(forks.map(\.state)) { merged.events[$0] }
    let reversed = try merged.version.resolve(forks.reversed().map(\.state)) { merged.events[$0] }
    #expect(merged.state == reversed)
    return merged
  }

  @Test(arguments: versions) func `states that agree need no events`(version: RoomVersion) throws {
    let state = try room(version).state
    #expect(try version.resolve([state, state, state]) { _ in nil } == state)
    #expect(try version.resolve([state]) { _ in nil } == state)
    #expect(try version.resolve([]) { _ in nil } == [:])
  }

  @Test(arguments: versions) func `an event that is not at hand is named`(version: RoomVersion) throws {
    var fork = try room(version)
    let base = fork
    let name = try fork.add(.name, from: alice, stateKey: "", #"{"name":"x"}"#)
    #expect(throws: StateResolutionError.missingEvent(name.eventID)) {
      try version.resolve([base.state, fork.state]) { base.events[$0] }
    }
  }

  @Test(arguments: versions) func `a ban beats what the banned did meanwhile`(version: RoomVersion) throws {
    var one = try room(version)
    var two = one
    let levelsBefore = one.state[StateMapKey(.powerLevels)]
    try one.setMember(bob, "ban", by: alice)
    try two.add(.powerLevels, from: bob, stateKey: "", levels(version, bob: 50, more: #""ban":50,"#))
    try two.add(.topic, from: bob, stateKey: "", #"{"topic":"mine"}"#)
    let resolved = try resolve(one, two)
    #expect(resolved.membership(of: bob) == .ban)
    #expect(resolved.state[StateMapKey(.powerLevels)] == levelsBefore)
    #expect(resolved.event(StateMapKey(.topic)) == nil)
  }

  @Test(arguments: versions) func `nobody evades a join rule by a fork`(version: RoomVersion) throws {
    var one = try room(version)
    var two = one
    try one.setJoinRule("invite")
    try two.setMember(carol, "join")
    let resolved = try resolve(one, two)
    #expect(resolved.joinRule == .invite)
    #expect(resolved.membership(of: carol) == nil)
  }

  @Test(arguments: versions) func `the more powerful sender's change comes first`(version: RoomVersion) throws {
    var one = try room(version)
    var two = one
    try one.add(.powerLevels, from: alice, stateKey: "", levels(version, bob: 0), at: 9_000)
    try two.add(.powerLevels, from: bob, stateKey: "", levels(version, bob: 50, more: #""invite":50,"#), at: 2_000)
    let resolved = try resolve(one, two)
    #expect(resolved.state[StateMapKey(.powerLevels)] == one.state[StateMapKey(.powerLevels)])
    #expect(resolved.powerLevels.level(of: bob) == 0)
  }

  @Test(arguments: versions) func `of two changes by equals the later holds`(version: RoomVersion) throws {
    for (first, second) in [(2_000, 3_000), (3_000, 2_000)] as [(Int64, Int64)] {
      var one = try room(version)
      var two = one
      try one.add(.topic, from: alice, stateKey: "", #"{"topic":"one"}"#, at: first)
      try two.add(.topic, from: alice, stateKey: "", #"{"topic":"two"}"#, at: second)
      let resolved = try resolve(one, two)
      #expect(resolved.state[StateMapKey(.topic)] == (first > second ? one : two).state[StateMapKey(.topic)])
    }
  }

  @Test(arguments: versions) func `at the same time the greater event ID holds`(version: RoomVersion) throws {
    var one = try room(version)
    var two = one
    let a = try one.add(.topic, from: alice, stateKey: "", #"{"topic":"one"}"#, at: 2_000)
    let b = try two.add(.topic, from: alice, stateKey: "", #"{"topic":"two"}"#, at: 2_000)
    #expect(try resolve(one, two).state[StateMapKey(.topic)] == max(a.eventID, b.eventID))
  }

  @Test(arguments: versions) func `what follows newer power levels holds, whatever the clocks say`(version: RoomVersion)
    throws
  {
    var one = try room(version)
    var two = one
    try one.add(.topic, from: bob, stateKey: "", #"{"topic":"old"}"#, at: 99_000)
    try two.add(.powerLevels, from: alice, stateKey: "", levels(version, bob: 50, more: #""invite":1,"#))
    try two.add(.topic, from: bob, stateKey: "", #"{"topic":"new"}"#, at: 2_000)
    let resolved = try resolve(one, two)
    #expect(resolved.state[StateMapKey(.topic)] == two.state[StateMapKey(.topic)])
    #expect(resolved.state[StateMapKey(.powerLevels)] == two.state[StateMapKey(.powerLevels)])
  }

  @Test(arguments: versions) func `changes of different state are all kept`(version: RoomVersion) throws {
    let base = try room(version)
    var (one, two, three) = (base, base, base)
    try one.add(.topic, from: bob, stateKey: "", #"{"topic":"t"}"#)
    try two.add(.name, from: bob, stateKey: "", #"{"name":"n"}"#)
    try three.setMember(carol, "join")
    let resolved = try resolve(one, two, three)
    #expect(resolved.event(StateMapKey(.topic)) != nil && resolved.event(StateMapKey(.name)) != nil)
    #expect(resolved.membership(of: carol) == .join)
  }

  /// The first change of version 12's algorithm: Bob's topic was allowed when he sent it, and he left afterwards.
  @Test(arguments: versions) func `only from version 12 on does resolution start from nothing`(version: RoomVersion)
    throws
  {
    var one = try room(version)
    var two = one
    try one.add(.topic, from: bob, stateKey: "", #"{"topic":"bob"}"#, at: 3_000)
    try two.add(.topic, from: alice, stateKey: "", #"{"topic":"alice"}"#, at: 2_000)
    try one.setMember(bob, "leave")
    two.learn(one)
    two.state[StateMapKey(.member, bob.text)] = one.state[StateMapKey(.member, bob.text)]
    let resolved = try resolve(one, two)
    let winner = version.stateResolution == .v2dot1 ? one : two
    #expect(resolved.state[StateMapKey(.topic)] == winner.state[StateMapKey(.topic)])
    #expect(resolved.membership(of: bob) == .leave)
  }

  /// The second change: a power levels event between two conflicted ones that both states have in their auth chains. Without
  /// it Bob would not have had the power for his own.
  @Test func `the conflicted subgraph has what lies between conflicted events`() throws {
    var room = try room(.v12)
    let first = room.state
    try room.add(.powerLevels, from: alice, stateKey: "", levels(.v12, bob: 100))
    let between = try #require(room.event(StateMapKey(.powerLevels)))
    let name = try room.add(.name, from: alice, stateKey: "", #"{"name":"n"}"#)
    try room.add(.powerLevels, from: bob, stateKey: "", levels(.v12, bob: 100, more: #""invite":100,"#))
    var old = first
    old[StateMapKey(.name)] = name.eventID
    let graph = try AuthGraph(states: [old, room.state], version: .v12) { room.events[$0] }
    let conflicted = ConflictedSets([old, room.state]).conflicted
    #expect(conflicted == Set([first, room.state].compactMap { $0[StateMapKey(.powerLevels)] }))
    func ids(_ set: Set<Int>) -> Set<EventID> { Set(set.map { graph.events[$0].eventID }) }
    #expect(!ids(graph.authDifference(of: [old, room.state])).contains(between.eventID))
    let bobsWay = [StateMapKey(.joinRules), StateMapKey(.member, bob.text)].compactMap { first[$0] }
    #expect(ids(graph.conflictedSubgraph(of: conflicted)) == conflicted.union([between.eventID] + bobsWay))
    let resolved = try RoomVersion.v12.resolve([old, room.state]) { room.events[$0] }
    #expect(resolved == room.state)
  }

  @Test(arguments: versions) func `a rejected auth event does not stand in`(version: RoomVersion) throws {
    var one = try room(version)
    var two = one
    try one.add(.topic, from: bob, stateKey: "", #"{"topic":"bob"}"#)
    try two.add(.name, from: bob, stateKey: "", #"{"name":"n"}"#)
    let bobsJoin = try #require(one.state[StateMapKey(.member, bob.text)])
    one.state[StateMapKey(.member, bob.text)] = nil
    two.state[StateMapKey(.member, bob.text)] = nil
    two.learn(one)
    func topic(isRejected: Bool) throws -> EventID? {
      try version.resolve([one.state, two.state]) { id in
        var event = two.events[id]
        if id == bobsJoin { event?.isRejected = isRejected }
        return event
      }[StateMapKey(.topic)]
    }
    #expect(try topic(isRejected: false) == one.state[StateMapKey(.topic)])
    #expect(try topic(isRejected: true) == nil)
  }
}
