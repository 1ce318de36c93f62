import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct ReasonTests {
  private func world(_ names: [(UserID, String)] = [(ann, "DESK"), (bob, "PHONE")], signing: [Int] = []) throws -> World {
    var world = try World(names)
    for host in signing { try world.run(.setUpIdentity, by: world.hosts[host]) }
    return world
  }

  private func reasons(_ host: TestHost) -> [Undecryptable] {
    host.durable.unread.keys.sorted { $0 < $1 }.compactMap { host.durable.unread[$0]?.reason }
  }

  // MARK: No key

  @Test func `a message whose key is on its way waits, and is read when the key comes`() throws {
    var world = try world()
    let (desk, phone) = (world.hosts[0], world.hosts[1])
    try desk.write("hello", at: world.now)
    while !desk.requests.isEmpty { try desk.ask(at: world.now) }
    try desk.send()
    try phone.read(at: world.now)
    #expect(reasons(phone) == [.missingKey])
    try world.settle()
    #expect(phone.bodies == ["hello"] && reasons(phone).isEmpty)
  }

  @Test func `what cannot be read is counted by its reason until it is read, and how long that took`() throws {
    var world = try world([(ann, "DESK"), (bob, "PHONE"), (bob, "OLD")], signing: [0, 1])
    let (desk, phone, old) = (world.hosts[0], world.hosts[1], world.hosts[2])
    desk.handle(.share(SharingPolicy(readers: .signed)), at: world.now)
    for text in ["one", "two"] { try desk.write(text, at: world.now) }
    while !desk.requests.isEmpty { try desk.ask(at: world.now) }
    while !desk.durable.unsent.isEmpty { try desk.send() }
    let began = world.now
    for host in [phone, old] { try host.read(at: began) }
    #expect(phone.machine.unreadEvents[.missingKey]?.count == 2 && phone.machine.unreadEvents[.missingKey]?.since == began)
    world.now += 5_000
    try world.settle()
    #expect(phone.machine.unreadEvents.isEmpty && phone.machine.figures.unread == 2)
    let late = phone.machine.figures.late
    #expect(late.withinTenSeconds == 2 && late.longestMilliseconds >= 5_000 && late.withinSecond + late.later == 0)
    #expect(old.machine.unreadEvents.keys.map { $0 } == [.withheld(.unverified)] && old.machine.figures.unread == 2)
    #expect(desk.machine.figures.refusedDevices == 1 && old.machine.figures.late == EncryptionFigures.Late())
  }

  // Proves E3, E7
  @Test func `a device that its user has blocked, and one that nobody has signed, are told why they get no key`() throws {
    var world = try world([(ann, "DESK"), (bob, "PHONE"), (bob, "OLD")], signing: [0, 1])
    let phone = world.hosts[1].machine.own.deviceKeys
    world.hosts[0].handle(.share(SharingPolicy(readers: .signed)), at: world.now)
    try world.write("signed only")
    #expect(world.hosts[1].bodies == ["signed only"] && reasons(world.hosts[2]) == [.withheld(.unverified)])
    var policy = world.hosts[0].machine.policy
    policy.excluded = [phone.signing]
    world.hosts[0].handle(.share(policy), at: world.now)
    try world.write("nobody")
    #expect(reasons(world.hosts[1]) == [.withheld(.blacklisted)])
    let told = world.server.asked.filter { $0.request.parameters.first == "m.room_key.withheld" }
    #expect(told.count == 2, "once a session")
    try world.write("and nobody")
    #expect(world.server.asked.count { $0.request.parameters.first == "m.room_key.withheld" } == 2)
  }

  /// - Parameter isFollowing: whether the device knows those of the sender before.
  @Test(arguments: [true, false])
  func `a device that nobody can reach hears so, begins a session, and reads what comes next`(isFollowing: Bool) throws {
    var world = try world()
    let (desk, phone) = (world.hosts[0], world.hosts[1])
    for host in isFollowing ? world.hosts : [desk] { host.handle(.track(world.server.members), at: world.now) }
    try world.settle()
    let claim = Array(#"{"one_time_keys":{"@bob:two.example":{"PHONE":"signed_curve25519"}}}"#.utf8)
    for _ in 0..<50 {
      _ = try world.server.answer(
        MachineRequest(id: 0, endpoint: .claimKeys, parameters: [], body: claim), of: desk.name)
    }
    world.server.dropFallback(of: phone.name)
    try desk.write("lost", at: world.now)
    while !desk.requests.isEmpty { try desk.ask(at: world.now) }
    // The message overtakes the reason.
    try desk.send()
    try phone.read(at: world.now)
    #expect(reasons(phone) == [.missingKey])
    try world.settle()
    #expect(reasons(phone) == [.withheld(.noOlm)])
    // It has written to the desk, which needs no key of it any more.
    desk.handle(.departed(ModelServer.room, []), at: world.now)
    try world.write("read")
    #expect(phone.bodies == ["read"])
  }

  @Test func `what was sent before the user joined says so`() throws {
    var world = try world()
    world.server.members = [ann]
    try world.write("before")
    let event = try world.server.events[0].replacing(["unsigned"]) { writer in
      writer.key("unsigned")
      writer.object { $0.member("membership", "leave") }
    }
    let encrypted = try EncryptedEvent(try #require(Event(event)), in: ModelServer.room)
    world.hosts[1].handle(.decrypt(99, [encrypted]), at: world.now)
    #expect(reasons(world.hosts[1]) == [.beforeJoining])
  }

  @Test func `history is told from what is late: there is no backup, or the recovery key opens it`() throws {
    var world = try world()
    world.server.time = world.now
    try world.write("old")
    world.now += 100_000
    world.hosts.append(TestHost(ann, "TABLET", at: world.server, now: world.now))
    try world.settle()
    let tablet = world.hosts[2]
    #expect(reasons(tablet) == [.historyUnavailable(.noBackup)])
    try world.run(.setUpIdentity, by: world.hosts[0])
    try world.settle()
    #expect(reasons(tablet) == [.historyUnavailable(.unverifiedDevice)], "the reason follows what is known")
    let key = Secret([UInt8](repeating: 7, count: 32))
    try world.run(.setUpRecovery(key, passphrase: nil), by: world.hosts[0])
    world.now += KeyBackup.pauseMilliseconds
    for host in world.hosts { host.handle(.woken, at: world.now) }
    let inspection = tablet.begin(.inspectRecovery, at: world.now)
    try world.settle()
    guard case .recovery(let found)? = tablet.outcome(of: inspection) else { throw Lost() }
    try world.run(.recover(try #require(found.key), key), by: tablet)
    #expect(tablet.bodies == ["old"] && reasons(tablet).isEmpty)
  }

  private struct Lost: Error {}

  // MARK: Policies

  @Test func `who writes to signed devices only reads nothing of others, until they are signed or the policy ends`() throws {
    var world = try world([(ann, "DESK"), (bob, "PHONE")], signing: [0])
    let desk = world.hosts[0]
    desk.handle(.share(SharingPolicy(readers: .signed)), at: world.now)
    try world.write("from an unsigned device", by: 1)
    #expect(desk.bodies.isEmpty && reasons(desk) == [.unsignedDevice])
    try world.run(.setUpIdentity, by: world.hosts[1])
    #expect(desk.bodies == ["from an unsigned device"] && desk.durable.trust["$0"] == .pinned)
    try world.run(.resetIdentity, by: world.hosts[1])
    try world.write("with other keys", by: 1)
    #expect(reasons(desk) == [.identityChanged] && desk.bodies.count == 1)
    desk.handle(.share(SharingPolicy(readers: .all)), at: world.now)
    try world.settle()
    #expect(desk.bodies.last == "with other keys" && desk.durable.trust["$1"] == .identityChanged)
  }

  // MARK: Trust

  @Test func `a message is judged once its sender's devices are known, and never called unknown before`() throws {
    let world = try world([(ann, "DESK"), (bob, "PHONE")], signing: [0, 1])
    let (desk, phone) = (world.hosts[0], world.hosts[1])
    // Nobody has written here yet: Ann's desk does not follow Bob's devices.
    try phone.write("hello", at: world.now)
    while !phone.requests.isEmpty { try phone.ask(at: world.now) }
    try phone.send()
    desk.sync(at: world.now)
    try desk.read(at: world.now)
    #expect(desk.bodies == ["hello"] && desk.durable.trust["$0"] == nil, "not known yet")
    #expect(desk.requests.contains { "\($0.endpoint.pattern)" == "\(Endpoint.queryKeys.pattern)" })
    while !desk.requests.isEmpty { try desk.ask(at: world.now) }
    #expect(desk.durable.trust["$0"] == .pinned)
  }

  @Test func `a message of a device that its owner signs later is proven then`() throws {
    var world = try world([(ann, "DESK"), (bob, "PHONE")], signing: [0])
    try world.write("hello", by: 1)
    #expect(world.hosts[0].durable.trust["$0"] == .unsignedDevice)
    try world.run(.setUpIdentity, by: world.hosts[1])
    #expect(world.hosts[0].durable.trust["$0"] == .pinned)
  }

  @Test func `a device that is in no list stays unknown`() throws {
    var world = try world([(ann, "DESK"), (bob, "PHONE")], signing: [0])
    let phone = world.hosts[1].name
    try phone.write("hello", on: world)
    world.server.remove(phone)
    world.hosts[0].sync(at: world.now)
    try world.hosts[0].read(at: world.now)
    world.hosts.removeLast()
    try world.settle()
    #expect(world.hosts[0].bodies == ["hello"] && world.hosts[0].durable.trust["$0"] == .unknownDevice)
  }
}

extension ModelServer.Name {
  /// Writes and sends, and syncs nobody.
  fileprivate func write(_ body: String, on world: World) throws {
    guard let host = world.hosts.first(where: { $0.name == self }) else { return }
    try host.write(body, at: world.now)
    while !host.requests.isEmpty { try host.ask(at: world.now) }
    try host.send()
  }
}
