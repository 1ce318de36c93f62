import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct DehydrationTests {
  private let key = Secret([UInt8](repeating: 7, count: 32))

  /// Ann has set up recovery at her desk, and Bob writes from his phone.
  private func world() throws -> World {
    var world = try World([(ann, "DESK"), (bob, "PHONE")], dehydrates: true)
    for host in world.hosts {
      host.handle(.track(world.server.members), at: world.now)
      try world.run(.setUpIdentity, by: host)
    }
    try world.run(.setUpRecovery(key, passphrase: nil), by: world.hosts[0])
    try world.settle()
    return world
  }

  /// Ann signs out everywhere.
  private func signOut(_ world: inout World) throws {
    world.server.remove(world.hosts[0].name)
    world.hosts.removeFirst()
    try world.settle()
  }

  private func signIn(_ world: inout World, _ device: String = "TABLET", dehydrates: Bool = true) throws -> TestHost {
    let host = TestHost(ann, device, at: world.server, dehydrates: dehydrates, now: world.now)
    host.handle(.encryption(ModelServer.room, try parsed(encryption)), at: world.now)
    world.hosts.append(host)
    try world.settle()
    return host
  }

  private func recover(_ host: TestHost, _ world: inout World) throws {
    try world.run(.recover(try #require(try world.server.storage(of: ann)), key), by: host)
    try world.settle()
  }

  private func asked(_ endpoint: Endpoint, _ world: World) -> Int {
    world.server.asked.count {
      $0.request.endpoint.method == endpoint.method && "\($0.request.endpoint.pattern)" == "\(endpoint.pattern)"
    }
  }

  private func pass(_ milliseconds: Int64, _ world: inout World) throws {
    world.now += milliseconds
    for host in world.hosts { host.handle(.woken, at: world.now) }
    try world.settle()
  }

  // MARK: The device

  // Proves E11
  @Test func `the first recovery key makes a device that the account has signed, and others give it keys`() throws {
    var world = try world()
    let device = try #require(world.server.dehydrated[ann]?.device)
    let listed = try #require(world.hosts[1].machine.tracker.device(device, of: ann))
    #expect(listed.isDehydrated && device.text == ByteString(decoding: listed.identity.text))
    #expect(world.hosts[1].machine.identities.identity(of: ann)?.hasSigned(listed) == true)
    #expect(world.hosts[0].machine.encryptionState.dehydration == .ready(keys: 0))
    let stored = try #require(world.server.devices[ModelServer.Name(user: ann, device: device)])
    #expect(stored.oneTimeKeys.count == OwnKeys.wantedKeys && stored.fallback != nil)
    try world.write("to both", by: 1)
    #expect(world.server.dehydratedMessages(of: ann).count == 1)
    let news = (world.hosts[0].news + world.hosts[1].news).compactMap { result -> TrustNews? in
      if case .devices(let news) = result { world.hosts[0].machine.trustNews(news) } else { nil }
    }
    #expect(!news.contains { if case .deviceAppeared(_, device, _, _) = $0 { true } else { false } }, "nobody signed in")
  }

  // Proves E11
  @Test func `a message that was sent while the user was signed out everywhere is read after recovery`() throws {
    var world = try world()
    try signOut(&world)
    // A session each, so that there are several pages.
    for number in 0..<8 {
      try world.write("while away \(number)", by: 0)
      world.hosts[0].handle(.departed(ModelServer.room, []), at: world.now)
    }
    #expect(world.server.dehydratedMessages(of: ann).count == 8)
    let tablet = try signIn(&world)
    #expect(tablet.bodies.isEmpty)
    try recover(tablet, &world)
    #expect(tablet.bodies == (0..<8).map { "while away \($0)" })
    #expect(tablet.durable.trust.values.allSatisfy { $0 == .pinned }, "the keys came from their owner")
    #expect(tablet.machine.encryptionState.dehydration == .ready(keys: 8))
    #expect(tablet.machine.encryptionState.dehydrationFailure == nil)
    #expect(world.server.dehydratedMessages(of: ann).isEmpty, "it is made anew")
    #expect(asked(.getDehydratedDeviceEvents, world) == 4)
    try world.write("to the new one", by: 0)
    #expect(world.server.dehydratedMessages(of: ann).count == 1 && tablet.bodies.last == "to the new one")
    tablet.restart(at: world.now)
    try world.settle()
    #expect(asked(.getDehydratedDevice, world) == 1 && tablet.machine.encryptionState.dehydration == .ready(keys: 0))
  }

  @Test(arguments: [TestHost.CrashPoint.beforeWriting, .afterWriting], 3..<15)
  func `a crash while the messages are read begins with the first page again`(_ point: TestHost.CrashPoint, _ delay: Int) throws
  {
    var world = try world()
    try signOut(&world)
    // Two pages.
    for number in 0..<4 {
      try world.write("while away \(number)", by: 0)
      world.hosts[0].handle(.departed(ModelServer.room, []), at: world.now)
    }
    let tablet = try signIn(&world)
    (tablet.crash, tablet.crashDelay) = (point, delay)
    tablet.begin(.recover(try #require(try world.server.storage(of: ann)), key), at: world.now)
    try world.settle()
    tablet.crash = nil
    try recover(tablet, &world)
    #expect(tablet.bodies.count == 4)
    #expect(tablet.machine.encryptionState.dehydrationFailure == nil)
    #expect(world.server.dehydratedMessages(of: ann).isEmpty)
  }

  @Test func `a new device that another one verifies reads it, too`() throws {
    var play = VerificationPlay(world: try world(), one: try world().hosts[0], other: try world().hosts[0])
    play.world.server.members = [ann, bob]
    let desk = play.world.hosts[0]
    try play.world.write("before the tablet", by: 1)
    let tablet = try signIn(&play.world)
    play = VerificationPlay(world: play.world, one: desk, other: tablet)
    let name = ModelServer.Name(user: ann, device: try #require(play.world.server.dehydrated[ann]?.device))
    try play.compare()
    try play.confirm()
    #expect(tablet.machine.dehydration.key?.isEqual(to: try #require(desk.machine.dehydration.key)) == true)
    #expect(tablet.bodies == ["before the tablet"])
    #expect(play.world.server.devices[name] == nil, "another is in its place")
  }

  // MARK: Its time

  @Test func `it is replaced each week, also after a restart, and not more often`() throws {
    var world = try world()
    let first = try #require(world.server.dehydrated[ann]?.device)
    #expect(world.hosts[0].wakeAt.map { $0 <= world.now + Dehydration.lifetimeMilliseconds } == true)
    world.hosts[0].restart(at: world.now)
    try pass(Dehydration.lifetimeMilliseconds - 60_000, &world)
    #expect(world.server.dehydrated[ann]?.device == first)
    try pass(60_000, &world)
    let second = try #require(world.server.dehydrated[ann]?.device)
    #expect(second != first)
    #expect(!world.hosts[1].news.contains { if case .devices(.gone) = $0 { true } else { false } }, "nobody signed out")
    try pass(60_000, &world)
    #expect(world.server.dehydrated[ann]?.device == second && asked(.putDehydratedDevice, world) == 2)
  }

  @Test func `a client whose key another has replaced makes no more devices with it`() throws {
    var world = try world(), random = SecretSource.repeating(seed: Array("another client".utf8))
    let other = try DehydratedAccount(
      Account(random: &random), with: Secret([UInt8](repeating: 1, count: 32)), random: &random)
    world.server.dehydrated[ann]?.data = try JSON.object { writer in
      writer.member("algorithm", "org.matrix.msc3814.v2")
      writer.member("device_pickle", base64: other.sealed)
      writer.member("nonce", base64: other.nonce)
    }
    try pass(Dehydration.lifetimeMilliseconds, &world)
    #expect(world.hosts[0].machine.dehydration.key == nil && asked(.putDehydratedDevice, world) == 1)
    #expect(world.hosts[0].machine.encryptionState.dehydration == .none)
    world.hosts[0].restart(at: world.now)
    try pass(Dehydration.lifetimeMilliseconds, &world)
    #expect(asked(.putDehydratedDevice, world) == 1)
    // The recovery key brings the new one.
    try recover(world.hosts[0], &world)
    #expect(asked(.putDehydratedDevice, world) == 2)
  }

  @Test func `a server without such devices is asked once a day`() throws {
    var world = try World([(ann, "DESK")], dehydrates: true)
    world.server.dehydrates = false
    try world.run(.setUpIdentity, by: world.hosts[0])
    try world.run(.setUpRecovery(key, passphrase: nil), by: world.hosts[0])
    try world.settle()
    #expect(asked(.putDehydratedDevice, world) == 1 && world.hosts[0].machine.encryptionState.dehydration == .none)
    try pass(Dehydration.pauseMilliseconds - 60_000, &world)
    #expect(asked(.putDehydratedDevice, world) == 1)
    try pass(60_000, &world)
    #expect(asked(.putDehydratedDevice, world) == 2)
  }

  @Test func `a new identity deletes the device that the old one has signed, and makes another with its recovery`() throws {
    var world = try world()
    let first = try #require(world.server.dehydrated[ann]?.device)
    try world.run(.resetIdentity, by: world.hosts[0])
    try world.settle()
    #expect(world.server.dehydrated[ann] == nil && world.hosts[0].machine.dehydration.key == nil)
    try world.run(.setUpRecovery(key, passphrase: nil), by: world.hosts[0])
    try world.settle()
    let second = try #require(world.server.dehydrated[ann]?.device)
    let listed = try #require(world.hosts[1].machine.tracker.device(second, of: ann))
    #expect(second != first && listed.signer == world.hosts[0].machine.identities.own.keys?.selfSigning)
  }

  @Test func `an account whose recovery is older gets one when a device recovers, and keeps its key with another recovery key`()
    throws
  {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    for host in world.hosts { try world.run(.setUpIdentity, by: host) }
    try world.run(.setUpRecovery(key, passphrase: nil), by: world.hosts[0])
    #expect(world.server.accounts[ann].data[SecretName.dehydrationKey.text] == nil && world.server.dehydrated.isEmpty)
    let tablet = try signIn(&world)
    try recover(tablet, &world)
    #expect(world.server.accounts[ann].data[SecretName.dehydrationKey.text] != nil && world.server.dehydrated[ann] != nil)
    let secret = try #require(tablet.machine.dehydration.key)
    // Also if that client does not make any itself.
    let phone = try signIn(&world, "PHONE", dehydrates: false)
    try recover(phone, &world)
    try world.run(.setUpRecovery(Secret([UInt8](repeating: 9, count: 32)), passphrase: nil), by: phone)
    #expect(phone.machine.dehydration.key?.isEqual(to: secret) == true)
    let stored = try #require(world.server.accounts[ann].data[SecretName.dehydrationKey.text])
    let description = try #require(try world.server.storage(of: ann))
    let opened = try description.key(Secret([UInt8](repeating: 9, count: 32))).decrypt(stored, as: .dehydrationKey)
    #expect(opened.isEqual(to: secret))
  }
}
