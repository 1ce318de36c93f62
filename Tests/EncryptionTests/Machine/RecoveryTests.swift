import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct RecoveryTests {
  private let key = Secret([UInt8](repeating: 7, count: 32))

  /// Ann writes from her desk, has set up recovery there and has no other device.
  private func world() throws -> World {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    for host in world.hosts { host.handle(.track(world.server.members), at: world.now) }
    try world.write("before the backup")
    try world.run(.setUpIdentity, by: world.hosts[0])
    try world.run(.setUpRecovery(key, passphrase: nil), by: world.hosts[0])
    return world
  }

  private func backedUp(_ world: inout World) throws {
    world.now += KeyBackup.pauseMilliseconds
    for host in world.hosts { host.handle(.woken, at: world.now) }
    try world.settle()
  }

  private func description(_ world: inout World, by host: TestHost) throws -> RecoveryDescription {
    let number = host.begin(.inspectRecovery, at: world.now)
    try world.settle()
    guard case .recovery(let found)? = host.outcome(of: number) else {
      throw World.Unfinished(outcome: host.outcome(of: number))
    }
    return found
  }

  private func failure(_ command: EncryptionCommand, _ world: inout World, by host: TestHost) throws -> EncryptionFailure? {
    let number = host.begin(command, at: world.now)
    try world.settle()
    guard case .failed(let reason)? = host.outcome(of: number) else { return nil }
    return reason
  }

  private func tablet(_ world: inout World) throws -> TestHost {
    let tablet = TestHost(ann, "TABLET", at: world.server, now: world.now)
    world.hosts.append(tablet)
    try world.settle()
    return tablet
  }

  // MARK: Recovering

  @Test func `a new device recovers: it is verified, and reads what was written before it was there`() throws {
    var world = try world()
    try backedUp(&world)
    try world.write("with a backup")
    try world.write("from others", by: 1)
    try backedUp(&world)
    let tablet = try tablet(&world)
    #expect(tablet.bodies.isEmpty && tablet.durable.unread.count == 3)
    let found = try description(&world, by: tablet)
    #expect(found.missing.isEmpty && found.isFamiliar && found.key?.passphrase == nil)
    try world.run(.recover(try #require(found.key), key), by: tablet)
    #expect(tablet.machine.encryptionState.isVerified && tablet.machine.encryptionState.restore == nil)
    #expect(tablet.machine.encryptionState.backup == .on(waiting: 0))
    #expect(tablet.bodies == ["before the backup", "with a backup", "from others"])
    #expect(tablet.durable.trust["$2"].map { if case .notProven = $0 { true } else { false } } == true)
    for use in CrossSigningUse.allCases { #expect(tablet.machine.identities.own.holds(use)) }

    tablet.restart(at: world.now)
    try world.write("to the verified tablet")
    #expect(tablet.bodies.last == "to the verified tablet")
    #expect(world.hosts[1].machine.identities.identity(of: ann)?.change == nil)
    let requests = world.server.asked.filter {
      $0.by == tablet.name && "\($0.request.endpoint.pattern)" == "\(Endpoint.putRoomKeys.pattern)"
    }
    #expect(requests.allSatisfy { $0.request.body.isEmpty }, "what came from the backup does not go there again")
  }

  @Test func `another key does not open the storage, and what does not fit the account's identity verifies nothing`() throws {
    var world = try world()
    let tablet = try tablet(&world)
    let found = try #require(try description(&world, by: tablet).key)
    #expect(try failure(.recover(found, Secret([UInt8](repeating: 8, count: 32))), &world, by: tablet) == .wrongKey)
    #expect(try failure(.recover(found, Secret([7])), &world, by: tablet) == .wrongKey)
    #expect(!tablet.machine.encryptionState.isVerified)
    #expect(try failure(.setUpRecovery(key, passphrase: nil), &world, by: tablet) == .unverified)
    try world.run(.resetIdentity, by: world.hosts[0])
    #expect(try failure(.recover(found, key), &world, by: tablet) == .incomplete)
    #expect(!tablet.machine.encryptionState.isVerified)
    world.server.accounts[ann].data[SecretName.masterKey.text] = nil
    #expect(try failure(.recover(found, key), &world, by: tablet) == .incomplete)
    #expect(try description(&world, by: tablet).missing == [.masterKey])
    // Deleted account data is an empty object.
    world.server.accounts[ann].data[StorageKeyDescription.defaultKeyType] = try parsed("{}")
    #expect(try description(&world, by: tablet).key == nil)
  }

  @Test func `a key that another device has set up since is told from the familiar one`() throws {
    var world = try world()
    #expect(try description(&world, by: world.hosts[0]).isFamiliar)
    let tablet = try tablet(&world)
    try world.run(.recover(try #require(try description(&world, by: tablet).key), key), by: tablet)
    let version = world.server.accounts[ann].backups.count
    try world.run(.setUpRecovery(Secret([UInt8](repeating: 9, count: 32)), passphrase: nil), by: tablet)
    #expect(world.server.accounts[ann].backups.count == version, "the backup that is in use stays")
    world.hosts[0].restart(at: world.now)
    #expect(try !description(&world, by: world.hosts[0]).isFamiliar)
    #expect(try description(&world, by: tablet).isFamiliar)
  }

  @Test(arguments: [TestHost.CrashPoint.beforeWriting, .afterWriting], 0..<14)
  func `a crash at any step of the set-up leaves what the next try makes whole`(_ point: TestHost.CrashPoint, _ delay: Int)
    throws
  {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    let desk = world.hosts[0]
    try world.write("hello")
    try world.run(.setUpIdentity, by: desk)
    (desk.crash, desk.crashDelay) = (point, delay)
    desk.begin(.setUpRecovery(Secret([UInt8](repeating: 1, count: 32)), passphrase: nil), at: world.now)
    try world.settle()
    desk.crash = nil
    try world.run(.setUpRecovery(key, passphrase: nil), by: desk)
    try backedUp(&world)
    let tablet = try tablet(&world)
    (tablet.crash, tablet.crashDelay) = (point, delay)
    tablet.begin(.recover(try #require(try world.server.storage(of: ann)), key), at: world.now)
    try world.settle()
    tablet.crash = nil
    try world.run(.recover(try #require(try description(&world, by: tablet).key), key), by: tablet)
    #expect(tablet.machine.encryptionState.isVerified && tablet.bodies == ["hello"])
  }

  @Test(arguments: [TestHost.CrashPoint.beforeWriting, .afterWriting], stride(from: 0, to: 60, by: 4).map { $0 })
  func `a crash while the keys of a backup are taken over costs none of them`(_ point: TestHost.CrashPoint, _ delay: Int) throws
  {
    var world = try world()
    let texts = (0..<25).map { "message \($0)" }
    for text in texts {
      // Each under a key of its own: they come in more than one slice.
      world.hosts[0].handle(.departed(ModelServer.room, []), at: world.now)
      try world.write(text)
    }
    try backedUp(&world)
    let tablet = try tablet(&world)
    let found = try #require(try description(&world, by: tablet).key)
    (tablet.crash, tablet.crashDelay) = (point, delay)
    tablet.begin(.recover(found, key), at: world.now)
    try world.settle()
    tablet.crash = nil
    // Only if nothing of it was stored yet does the user enter the key again.
    if !tablet.machine.encryptionState.isVerified || tablet.machine.encryptionState.backup == .off {
      try world.run(.recover(found, key), by: tablet)
    }
    #expect(Set(tablet.bodies) == Set(texts + ["before the backup"]) && tablet.durable.unread.isEmpty)
    #expect(tablet.machine.encryptionState.restore == nil)
  }

  // MARK: The backup

  // Proves E8
  @Test func `keys of before the backup are in it, and each new one ten seconds after it came`() throws {
    var world = try world()
    try world.settle()
    func stored() -> Int { world.server.accounts[ann].backups.last?.sessions.count ?? 0 }
    #expect(stored() == 1, "of the store")
    try world.write("new", by: 1)
    #expect(stored() == 1 && world.hosts[0].machine.encryptionState.backup == .on(waiting: 1))
    #expect(world.hosts[0].wakeAt != nil)
    world.hosts[0].restart(at: world.now)
    try backedUp(&world)
    #expect(stored() == 2 && world.hosts[0].machine.encryptionState.backup == .on(waiting: 0))
  }

  @Test func `an event that waits for its key gets it from the backup`() throws {
    var world = try world()
    try backedUp(&world)
    let tablet = try tablet(&world)
    try world.run(.recover(try #require(try description(&world, by: tablet).key), key), by: tablet)
    // Nobody sends the key to the tablet.
    world.hosts[0].handle(.share(SharingPolicy(readers: .verified)), at: world.now)
    world.hosts[1].handle(.share(SharingPolicy(readers: .verified)), at: world.now)
    try world.write("only bob's own device has it", by: 1)
    #expect(tablet.bodies == ["before the backup"])
    let name = RoomKeys.Name(ModelServer.room, try #require(world.sessions.last))
    var random = SecretSource.repeating(seed: [3])
    let pair = try #require(tablet.machine.backup?.key)
    let session = BackupUpload.Session(
      try #require(world.hosts[1].machine.roomKeys.keys(of: name).first), isVerified: false, to: pair, random: &random)
    let upload = BackupUpload(version: "1", sessions: [try #require(session)])
    _ = try world.server.answer(
      MachineRequest(id: 0, endpoint: .putRoomKeys, version: "1", body: upload.body), of: world.hosts[0].name)
    tablet.restart(at: world.now)
    try world.settle()
    #expect(tablet.bodies == ["before the backup", "only bob's own device has it"] && tablet.durable.unread.isEmpty)
    let asked = world.server.asked.filter { $0.by == tablet.name && $0.request.parameters == [name.room.text, name.session] }
    #expect(asked.count >= 1 && asked.allSatisfy { $0.request.target.hasSuffix("?version=1") })
  }

  @Test func `a backup that another replaces, or that is deleted, is not written to any more, and says so`() throws {
    var world = try world()
    try backedUp(&world)
    let desk = world.hosts[0]
    world.server.accounts[ann].backups.append(world.server.accounts[ann].backups[0])
    try world.write("not in the first", by: 1)
    try backedUp(&world)
    #expect(desk.machine.encryptionState.backup == .stopped(.replaced))
    desk.restart(at: world.now)
    #expect(desk.machine.encryptionState.backup == .stopped(.replaced))
    // A new one has all keys.
    try world.run(.setUpRecovery(key, passphrase: nil), by: desk)
    try backedUp(&world)
    #expect(world.server.accounts[ann].backups.count == 3 && world.server.accounts[ann].backups[2].sessions.count == 2)

    for place in 0..<3 { world.server.accounts[ann].backups[place].isDeleted = true }
    desk.handle(.departed(ModelServer.room, []), at: world.now)
    try world.write("another session")
    try backedUp(&world)
    #expect(desk.machine.encryptionState.backup == .stopped(.deleted))
  }

  @Test func `what the server has lost of a backup goes there again, at most once an hour`() throws {
    var world = try world()
    let desk = world.hosts[0]
    func lose(_ body: String) throws -> Int {
      desk.handle(.departed(ModelServer.room, []), at: world.now)
      world.server.accounts[ann].backups[0].sessions = [:]
      try world.write(body)
      // The answer to this upload tells it, and the next has the rest.
      for _ in 0..<2 { try backedUp(&world) }
      return world.server.accounts[ann].backups[0].sessions.count
    }
    try backedUp(&world)
    try world.write("new", by: 1)
    try backedUp(&world)
    #expect(world.server.accounts[ann].backups[0].sessions.count == 2)
    #expect(try lose("one more") == 3 && desk.machine.encryptionState.backup == .on(waiting: 0))
    #expect(try lose("within the hour") == 1)
    world.now += BackupRefill.pauseMilliseconds
    _ = try lose("later")
    #expect(try lose("much later") == 1)
  }

  @Test func `with another identity comes another backup, with all keys`() throws {
    var world = try world()
    try backedUp(&world)
    try world.run(.resetIdentity, by: world.hosts[0])
    #expect(world.hosts[0].machine.encryptionState.backup == .off && world.hosts[0].machine.encryptionState.isVerified)
    try world.run(.setUpRecovery(Secret([UInt8](repeating: 5, count: 32)), passphrase: nil), by: world.hosts[0])
    try backedUp(&world)
    #expect(world.server.accounts[ann].backups.map(\.sessions.count) == [1, 1])
    let keys = world.server.accounts[ann].backups.map { $0.creation["auth_data"]?.text("public_key") }
    #expect(keys[0] != nil && keys[1] != nil && keys[0] != keys[1])
  }

  @Test func `a deleted backup is gone here, too`() throws {
    var world = try world()
    try world.run(.deleteBackup, by: world.hosts[0])
    #expect(world.server.accounts[ann].backups.map(\.isDeleted) == [true])
    world.hosts[0].restart(at: world.now)
    #expect(world.hosts[0].machine.encryptionState.backup == .off)
    #expect(
      !world.hosts[0].durable.store.keys.contains { $0 == RecordNames.backup || $0.utf8.starts(with: RecordNames.waiting.utf8) }
    )
    #expect(try failure(.restoreBackup, &world, by: world.hosts[0]) == .noBackup)
  }
}

extension ModelServer {
  /// The key of secret storage that account data describes.
  func storage(of user: UserID) throws -> StorageKeyDescription? {
    let data = accounts[user].data
    guard let id = data[StorageKeyDescription.defaultKeyType]?.text("key"),
      let content = data[StorageKeyDescription.type(of: id)]
    else {
      return nil
    }
    return try StorageKeyDescription(content, id: id)
  }
}
