import MatrixClient

/// What one may do: as it is answered here, and as the server has it.
extension LiveCase {
  static let power = [
    LiveCase("R8 whatever the levels are, the local verdict is the server's") { stage in
      let trial = try await PowerTrial(stage)
      for seed in 1...8 { try await trial.run(seed: UInt64(seed)) }
    },
    LiveCase("R8 a role is given to somebody, and taken again") { stage in
      let (alice, bob) = try await stage.pair()
      let user = try await bob.client.ownID
      try await bob.until("the levels") { $0.powerLevels != nil }
      try expect(await bob.can(.kick(user)), is: false)
      try await alice.setRole(.moderator, of: user)
      let known = try await bob.until("the role") { $0.powerLevels?.role(of: user) == .moderator }
      try expect(known.can(.redactOthers, by: user), is: true)
      try await alice.setPowerLevel(of: user, to: nil)
      try await bob.until("the role is gone") { $0.powerLevels?.role(of: user) == .user }
      do { try await bob.setPowerLevel(of: user, to: 100) } catch ClientError.notAllowed { return }
      throw Failure("it was asked for")
    },
    LiveCase("R8 in a room of version 12 nobody takes its maker's power") { stage in
      let alice = try await stage.user("alice")
      guard stage.announced.capabilities.roomVersions.contains(where: { $0.version == "12" }) else {
        throw NotAnnounced(what: "no room version 12")
      }
      let old = try await alice.createRoom(NewRoom(name: "Old"))
      let room = try await old.upgrade(to: "12")
      let user = try await alice.ownID
      let known = try await room.until("the levels") { $0.powerLevels != nil }
      try expect(known.powerLevels?.role(of: user), is: .creator)
      try expect(known.version, is: "12")
      try expect(await room.can(.setPowerLevel(of: user, to: 0)), is: false)
      try await room.setName("New")
    }
  ]
}

/// Alice sets random levels, Bob tries everything, on Carol and on what Carol said.
private struct PowerTrial: Sendable {
  let alice: MatrixRoom
  let bob: MatrixRoom
  let carol: MatrixRoom
  let users: [UserID]
  let stage: Stage

  init(_ stage: Stage) async throws {
    self.stage = stage
    (alice, bob) = try await stage.pair()
    carol = try await stage.user("carol").room(alice.id)
    try await carol.join()
    users = [try await alice.client.ownID, try await bob.client.ownID, try await carol.client.ownID]
    try await bob.loadMembers()
  }

  func run(seed: UInt64) async throws {
    var random = Dice(state: seed)
    func level() -> Int { [0, 0, 25, 50, 75][random.roll(5)] }
    // From room version 12 on the maker is above the levels and does not stand in them.
    let isCreator = await bob.state?.powerLevels?.creators.contains(users[0]) ?? false
    let maker = isCreator ? "" : "\"\(users[0])\":100,"
    let content = """
      {"users":{\(maker)"\(users[1])":\(level()),"\(users[2])":\(level())},"users_default":0,"events_default":\(level()),
      "state_default":\(level()),"invite":\(level()),"kick":\(level()),"ban":\(level()),"redact":\(level()),
      "events":{"m.room.name":\(level()),"m.room.redaction":\(level()),"m.room.power_levels":\(level())}}
      """
    try await carol.join()
    try await alice.setPowerLevel(of: users[2], to: 100)
    let theirs = try await carol.send("Said by Carol \(seed)").sent()
    try await alice.setState("m.room.power_levels", Array(content.utf8))
    let tag = seed
    let want = try JSON.parse(Array(content.utf8))
    try await bob.until("the levels \(tag)") { room in
      guard let levels = room.powerLevels else { return false }
      return levels.users.count == want["users"]?.count && levels.explicit(.kick) == want["kick"]?.integer
        && levels.explicit(.redact) == want["redact"]?.integer && levels.explicit(.invite) == want["invite"]?.integer
        && levels.explicit(.ban) == want["ban"]?.integer
        && levels.users[users[1].text] == want["users"]?[users[1].text]?.integer
        && levels.users[users[2].text] == want["users"]?[users[2].text]?.integer
        && levels.explicit(.stateDefault) == want["state_default"]?.integer
        && levels.explicit(.eventsDefault) == want["events_default"]?.integer
    }
    let stranger = try await stage.user("stranger").ownID
    try await compare(.setName, seed) { try await bob.setName("Name \(seed)") }
    try await compare(.setTopic, seed) { try await bob.setTopic("Topic \(seed)") }
    try await compare(.sendState("org.example.state"), seed) {
      try await bob.setState("org.example.state", Array(#"{"a":\#(seed)}"#.utf8))
    }
    try await compare(.send(.message), seed) { try await bob.send("Try \(seed)").sent() }
    try await compare(.redactOthers, seed) { try await bob.redact(.event(theirs)) }
    try await compare(.invite, seed) { try await bob.invite(stranger) }
    try await compare(.setPowerLevel(of: users[2], to: 10), seed) {
      try await bob.setState(
        "m.room.power_levels", Self.levels(try await bob.stateContent("m.room.power_levels"), users[2], 10))
    }
    try await compare(.kick(users[2]), seed) { try await bob.kick(users[2]) }
  }

  private func compare(_ action: RoomAction, _ seed: UInt64, _ act: () async throws -> Void) async throws {
    let verdict = try unwrap(await bob.can(action), "verdict on \(action)")
    var isDone = true
    do { try await act() } catch ClientError.refused(_, let code, let message, _) {
      guard code == "M_FORBIDDEN" else { throw Failure("\(action): \(code) \(message)") }
      isDone = false
    } catch ClientError.notAllowed { isDone = false }
    guard verdict == isDone else { throw Failure("\(action) of round \(seed): here \(verdict), there \(isDone)") }
    if case .setPowerLevel = action, isDone { try await settleLevel(of: users[2], 10) }
    if case .kick = action, isDone { try await carol.until("she is out") { $0.membership == .leave } }
  }

  /// What was changed has come back, so that the next verdict knows it.
  private func settleLevel(of user: UserID, _ level: Int64) async throws {
    try await bob.until("the new level") { $0.powerLevels?.users[user.text] == level }
  }

  private static func levels(_ content: JSON, _ user: UserID, _ level: Int) -> [UInt8] {
    var users = content["users"]?.members.map { ($0.key.string, $0.value.integer ?? 0) } ?? []
    users.removeAll { $0.0 == user.string }
    users.append((user.string, Int64(level)))
    var members = content.members.filter { $0.key.string != "users" }.map {
      "\"\($0.key)\":\(String(decoding: $0.value.bytes, as: UTF8.self))"
    }
    members.append("\"users\":{" + users.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}")
    return Array(("{" + members.joined(separator: ",") + "}").utf8)
  }
}

/// The same numbers for the same seed.
private struct Dice {
  var state: UInt64

  mutating func roll(_ sides: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(sides))
  }
}
