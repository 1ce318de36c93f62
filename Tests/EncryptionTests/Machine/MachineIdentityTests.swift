import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct MachineIdentityTests {
  /// Ann's desk has made her identity, and Bob's phone his.
  private func world(_ names: [(UserID, String)] = [(ann, "DESK"), (bob, "PHONE")]) throws -> World {
    var world = try World(names)
    for host in world.hosts { host.handle(.track(world.server.members), at: world.now) }
    for host in world.hosts.prefix(2) { try world.run(.setUpIdentity, by: host) }
    return world
  }

  private func blocks(_ host: TestHost) -> [Blocked] {
    host.news.compactMap { if case .blocked(_, let reason) = $0 { reason } else { nil } }
  }

  // MARK: Setting up

  @Test func `the first device makes the account's identity, and later ones are unverified`() throws {
    var world = try world()
    let desk = world.hosts[0], keys = try #require(desk.machine.identities.own.keys)
    #expect(desk.machine.encryptionState.isVerified)
    #expect(world.hosts[1].machine.identities.identity(of: ann)?.keys.master == keys.master)
    let listed = try #require(world.hosts[1].machine.tracker.device(desk.name.device, of: ann) ?? nil)
    #expect(listed.signer == keys.selfSigning)

    world.hosts.append(TestHost(ann, "TABLET", at: world.server, now: world.now))
    try world.run(.setUpIdentity, by: world.hosts[2])
    let tablet = world.hosts[2].machine
    #expect(tablet.encryptionState.hasIdentity && !tablet.encryptionState.isVerified)
    #expect(tablet.identities.own.keys?.master == keys.master, "it makes no other one")
  }

  @Test(arguments: [TestHost.CrashPoint.beforeWriting, .afterWriting], 0..<8)
  func `a crash at any step of the set-up is survived`(_ point: TestHost.CrashPoint, _ delay: Int) throws {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    let desk = world.hosts[0]
    (desk.crash, desk.crashDelay) = (point, delay)
    desk.begin(.setUpIdentity, at: world.now)
    try world.settle()
    desk.crash = nil
    // What was begun goes on by itself; what was not is begun by the next start of the client.
    try world.run(.setUpIdentity, by: desk)
    #expect(desk.machine.encryptionState.isVerified)
    let uploaded = world.server.accounts[ann].identity[.master]
    let key = try #require(desk.machine.identities.own.keys?.master.keyID)
    #expect(desk.machine.identities.own.holds(.master) && uploaded?["keys"]?[key] != nil)
  }

  // All of it takes 5 s without optimisation: sixteen times three identities and two storages are made, and each is read by two devices.
  @Test(arguments: [TestHost.CrashPoint.beforeWriting, .afterWriting], 0..<8)
  func `a crash at any step of a reset leaves a whole identity, and the next try another`(
    _ point: TestHost.CrashPoint, _ delay: Int
  ) throws {
    var world = try world()
    let desk = world.hosts[0], key = Secret([UInt8](repeating: 7, count: 32))
    try world.run(.setUpRecovery(key, passphrase: nil), by: desk)
    var seen = [try #require(desk.machine.identities.own.keys?.master)]
    func check() throws {
      let keys = try #require(desk.machine.identities.own.keys)
      let uploaded = world.server.accounts[ann].identity[.master]
      #expect(desk.machine.encryptionState.isVerified && !desk.machine.identities.own.isSettingUp)
      #expect(uploaded?["keys"]?[keys.master.keyID] != nil, "the server has the one that this device has")
      #expect(world.hosts[1].machine.identities.identity(of: ann)?.keys.master == keys.master)
      for use in CrossSigningUse.allCases { #expect(desk.machine.identities.own.holds(use)) }
      if keys.master != seen.last { seen.append(keys.master) }
    }
    (desk.crash, desk.crashDelay) = (point, delay)
    desk.begin(.resetIdentity, at: world.now)
    try world.settle()
    desk.crash = nil
    try check()
    try world.run(.resetIdentity, by: desk)
    try check()
    #expect(seen.count >= 2 && Set(seen).count == seen.count)
    // Of the recovery before nothing is of use. The next one is whole.
    #expect(desk.machine.encryptionState.backup == .off)
    try world.run(.setUpRecovery(key, passphrase: nil), by: desk)
    #expect(desk.machine.encryptionState.backup == .on(waiting: 0))
  }

  @Test func `a device whose first identity comes too late gives it up`() throws {
    var world = try World([(ann, "DESK"), (ann, "TABLET")])
    let (desk, tablet) = (world.hosts[0], world.hosts[1])
    // Both have seen that there is none.
    desk.begin(.setUpIdentity, at: world.now)
    tablet.begin(.setUpIdentity, at: world.now)
    for host in [desk, tablet] { try host.ask(at: world.now) }
    #expect(desk.machine.identities.own.isSettingUp && tablet.machine.identities.own.isSettingUp)
    try desk.ask(at: world.now)
    // The server wants the tablet's user to authenticate by now.
    let late = try #require(tablet.takeRequest(.uploadCrossSigningKeys))
    tablet.handle(.failed(late.id, .refused), at: world.now)
    try world.settle()
    #expect(!tablet.machine.identities.own.isSettingUp && tablet.machine.encryptionState.hasIdentity)
    #expect(tablet.machine.identities.own.keys?.master == desk.machine.identities.own.keys?.master)
    #expect(desk.machine.encryptionState.isVerified && !tablet.machine.encryptionState.isVerified)
  }

  // MARK: Who gets keys

  @Test func `devices that their user did not sign get no key, and those of a user who signs none do`() throws {
    var world = try world([(ann, "DESK"), (bob, "PHONE"), (bob, "OLD"), (UserID(trusted: "@bot:one.example"), "BOT")])
    try world.write("hello")
    #expect(world.hosts.map(\.bodies) == [["hello"], ["hello"], [], ["hello"]])
    #expect(world.hosts[2].durable.unread.values.map(\.reason) == [.withheld(.unverified)])

    world.hosts[0].handle(.share(SharingPolicy(readers: .signed)), at: world.now)
    try world.write("only for the signed")
    #expect(Set(world.sessions).count == 2, "the bot had the session's key")
    #expect(world.hosts[1].bodies.count == 2 && world.hosts[3].bodies.count == 1)
    world.hosts[0].restart(at: world.now)
    #expect(world.hosts[0].machine.policy.readers == .signed)
    world.hosts[0].handle(.share(SharingPolicy(readers: .all)), at: world.now)
    try world.write("for all")
    #expect(world.hosts.map(\.bodies.count) == [3, 2 + 1, 1, 2])
  }

  @Test func `a device gets keys while its user makes the identity, until one is signed`() throws {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    let phone = world.hosts[1]
    phone.begin(.setUpIdentity, at: world.now)
    while phone.machine.identities.own.identity == nil { try phone.ask(at: world.now) }
    // The signatures are on their way.
    let waiting = phone.requests
    phone.requests = []
    try world.write("between the steps")
    #expect(world.hosts[0].machine.identities.identity(of: bob) != nil && phone.bodies == ["between the steps"])
    phone.requests = waiting
    world.hosts.append(TestHost(bob, "OLD", at: world.server, now: world.now))
    try world.write("after them")
    #expect(phone.bodies == ["between the steps", "after them"] && world.hosts[2].bodies.isEmpty)
  }

  @Test func `a changed identity blocks what is written until the user accepts it`() throws {
    var world = try world()
    try world.write("before")
    let (desk, phone) = (world.hosts[0], world.hosts[1])
    try world.run(.resetIdentity, by: phone)
    try desk.write("blocked", at: world.now)
    #expect(blocks(desk) == [.undecided(.identitiesChanged([bob]))])
    desk.durable.unencrypted = [:]
    let changed = try #require(desk.machine.identities.changed.first)
    #expect(changed.keys.user == bob && changed.keys.master == phone.machine.identities.own.keys?.master)

    desk.restart(at: world.now)
    desk.handle(.acknowledge(bob, changed.pinned), at: world.now)
    #expect(!desk.machine.identities.changed.isEmpty, "that is not the key that the user has seen")
    desk.handle(.acknowledge(bob, changed.keys.master), at: world.now)
    desk.restart(at: world.now)
    #expect(desk.machine.identities.changed.isEmpty)
    try world.write("after")
    #expect(phone.bodies == ["before", "after"])
  }

  // MARK: Trust

  @Test func `an event says how far its sender is proven`() throws {
    let bot = UserID(trusted: "@bot:one.example")
    var world = try world([(ann, "DESK"), (bob, "PHONE"), (bot, "BOT")])
    try world.write("mine")
    try world.write("signed", by: 1)
    try world.write("unsigned", by: 2)
    let desk = world.hosts[0]
    #expect(desk.durable.trust == ["$0": .verified, "$1": .pinned, "$2": .unsignedDevice])
    try world.run(.resetIdentity, by: world.hosts[1])
    try world.write("with other keys", by: 1)
    #expect(desk.durable.trust["$3"] == .identityChanged)
  }

  @Test func `devices that an older store knows are asked for again, for their signatures`() throws {
    var world = try world()
    let phone = world.hosts[1]
    for key in phone.durable.store.keys
    where key == RecordNames.ownIdentity || key.utf8.starts(with: RecordNames.identities.utf8) {
      phone.durable.store[key] = nil
    }
    phone.restart(at: world.now)
    try world.settle()
    let desk = try #require(phone.machine.tracker.device(world.hosts[0].name.device, of: ann) ?? nil)
    #expect(phone.machine.identities.identity(of: ann)?.hasSigned(desk) == true)
  }
}

extension World {
  /// Carries out a command to its end.
  mutating func run(_ command: EncryptionCommand, by host: TestHost) throws {
    try settle()
    let number = host.begin(command, at: now)
    try settle()
    guard case .done? = host.outcome(of: number) else { throw Unfinished(outcome: host.outcome(of: number)) }
  }

  struct Unfinished: Error { let outcome: EncryptionOutcome? }
}

extension TestHost {
  /// The first request to an endpoint, which is not sent.
  func takeRequest(_ endpoint: Endpoint) -> MachineRequest? {
    guard let place = requests.firstIndex(where: { "\($0.endpoint.pattern)" == "\(endpoint.pattern)" }) else { return nil }
    return requests.remove(at: place)
  }
}
