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

  // MARK: As other servers read the algorithm

  /// Bob's membership is in both states. Only the topic, which one of them has, cites it.
  @Test(arguments: versions) func `an event of every state is not in the auth difference`(version: RoomVersion) throws {
    var one = try room(version)
    let two = one
    try one.add(.topic, from: bob, stateKey: "", #"{"topic":"t"}"#)
    let graph = try AuthGraph(states: [one.state, two.state], version: version) { one.events[$0] }
    let difference = Set(graph.authDifference(of: [one.state, two.state]).map { graph.events[$0].eventID })
    #expect(difference == Set([one.state[StateMapKey(.topic)]].compactMap(\.self)))
  }

  @Test(arguments: versions) func `power events lead on only within the conflicted set`(version: RoomVersion) throws {
    var room = try room(version)
    let first = try #require(room.state[StateMapKey(.member, bob.text)])
    try room.setMember(bob, "join")
    let second = try #require(room.state[StateMapKey(.member, bob.text)])
    try room.add(.powerLevels, from: bob, stateKey: "", levels(version, bob: 50, more: #""invite":50,"#))
    let graph = try AuthGraph(states: [room.state], version: version) { room.events[$0] }
    let order = ResolutionOrder(graph: graph, version: version)
    func powerEvents(_ ids: [EventID?]) -> Set<EventID> {
      let power = order.powerEvents(in: Set(graph.indices(of: ids.compactMap(\.self))))
      return Set(power.map { graph.events[$0].eventID })
    }
    let powerLevels = try #require(room.state[StateMapKey(.powerLevels)])
    #expect(powerEvents([first, second, powerLevels]) == [first, second, powerLevels])
    #expect(powerEvents([first, powerLevels]) == [powerLevels])
  }

  @Test(arguments: versions) func `only events with the empty state key are power events`(version: RoomVersion) throws {
    var room = try room(version)
    for type in [EventType.powerLevels, .joinRules] {
      try room.add(type, from: alice, stateKey: "odd", #"{"join_rule":"public"}"#)
    }
    let graph = try AuthGraph(states: [room.state], version: version) { room.events[$0] }
    let order = ResolutionOrder(graph: graph, version: version)
    let keys = [StateMapKey(.create), StateMapKey(.powerLevels), StateMapKey(.joinRules)]
    let odd = [StateMapKey(.powerLevels, "odd"), StateMapKey(.joinRules, "odd")]
    for key in keys + odd {
      let event = try #require(room.state[key].flatMap { graph.index[$0] })
      #expect(order.powerEvents(in: [event]) == (keys.contains(key) ? [event] : []))
    }
  }

  @Test(arguments: versions) func `a rejected event is not replayed`(version: RoomVersion) throws {
    var one = try room(version)
    var two = one
    let old = try one.add(.topic, from: alice, stateKey: "", #"{"topic":"old"}"#, at: 2_000).eventID
    let new = try two.add(.topic, from: alice, stateKey: "", #"{"topic":"new"}"#, at: 3_000).eventID
    two.learn(one)
    func topic(rejected: EventID?) throws -> EventID? {
      try version.resolve([one.state, two.state]) { id in
        var event = two.events[id]
        if id == rejected { event?.isRejected = true }
        return event
      }[StateMapKey(.topic)]
    }
    #expect(try topic(rejected: nil) == new)
    #expect(try topic(rejected: new) == old)
  }

  @Test(arguments: versions) func `a rejected event that stands in every state authorizes nothing`(version: RoomVersion)
    throws
  {
    var one = try room(version)
    try one.setMember(carol, "join")
    let join = try #require(one.state[StateMapKey(.member, carol.text)])
    var two = one
    let topic = try one.add(
      .topic, from: carol, stateKey: "", #"{"topic":"t"}"#, authEvents: one.state.filter { $0.value != join })
    two.learn(one)
    try two.add(.powerLevels, from: alice, stateKey: "", #"{"state_default":0}"#)
    one.learn(two)
    one.state[StateMapKey(.powerLevels)] = two.state[StateMapKey(.powerLevels)]
    func resolved(isRejected: Bool) throws -> EventID? {
      try version.resolve([one.state, two.state]) { id in
        var event = two.events[id] ?? one.events[id]
        if id == join { event?.isRejected = isRejected }
        return event
      }[StateMapKey(.topic)]
    }
    // From version 12 on resolution starts from nothing: only the event's own auth events would let Carol speak.
    #expect(try resolved(isRejected: false) == (version.stateResolution == .v2 ? topic.eventID : nil))
    #expect(try resolved(isRejected: true) == nil)
  }
}
