import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

/// What a server and others can do to a dehydrated device.
@Suite struct DehydrationAttackTests {
  private let key = Secret([UInt8](repeating: 7, count: 32))
  private var random = SecretSource.repeating(seed: Array("attacks".utf8))

  /// Ann is signed out everywhere, and Bob has written to her.
  private func world() throws -> World {
    var world = try World([(ann, "DESK"), (bob, "PHONE")], dehydrates: true)
    for host in world.hosts {
      host.handle(.track(world.server.members), at: world.now)
      try world.run(.setUpIdentity, by: host)
    }
    try world.run(.setUpRecovery(key, passphrase: nil), by: world.hosts[0])
    try world.settle()
    world.server.remove(world.hosts[0].name)
    world.hosts.removeFirst()
    try world.write("while away")
    return world
  }

  private func recovered(_ world: inout World) throws -> TestHost {
    let tablet = TestHost(ann, "TABLET", at: world.server, dehydrates: true, now: world.now)
    tablet.handle(.encryption(ModelServer.room, try parsed(encryption)), at: world.now)
    world.hosts.append(tablet)
    try world.settle()
    try world.run(.recover(try #require(try world.server.storage(of: ann)), key), by: tablet)
    try world.settle()
    return tablet
  }

  private static let zeros = ByteString(decoding: Base64.encode([UInt8](repeating: 0, count: 12)))

  @Test(arguments: [
    (#"{"algorithm":"org.matrix.msc3814.v2"}"#, RehydrationFailure.malformed),
    (#"{"algorithm":"org.matrix.msc3814.v2","device_pickle":"AAAA","nonce":"AAAA"}"#, .malformed),
    (#"{"algorithm":"org.matrix.msc3814.v2","device_pickle":7,"nonce":[]}"#, .malformed),
    (#"{"device_pickle":"AAAA"}"#, .malformed), (#"{"algorithm":"org.matrix.msc3814.v9"}"#, .unknownFormat)
  ])
  func `a device that is none is told, and only what a newer client may have made stays`(
    _ data: String, _ failure: RehydrationFailure
  ) throws {
    var world = try world()
    let device = try #require(world.server.dehydrated[ann]?.device)
    world.server.dehydrated[ann]?.data = try parsed(data)
    let tablet = try recovered(&world)
    #expect(tablet.machine.encryptionState.dehydrationFailure == failure && tablet.bodies.isEmpty)
    #expect(tablet.machine.encryptionState.isVerified, "recovery itself has worked")
    #expect((world.server.dehydrated[ann]?.device == device) == (failure == .unknownFormat))
  }

  // Proves E11
  @Test mutating func `a device under another key, or one that the server has changed, is a wrong key`() throws {
    for isOther in [true, false] {
      var world = try world()
      let data = try #require(world.server.dehydrated[ann]?.data)
      var sealed = try #require(data.base64("device_pickle")), nonce = try #require(data.base64("nonce"))
      if isOther {
        let other = try DehydratedAccount(
          Account(random: &random), with: Secret([UInt8](repeating: 1, count: 32)), random: &random)
        (sealed, nonce) = (other.sealed, other.nonce)
      } else {
        sealed[40] ^= 1
      }
      world.server.dehydrated[ann]?.data = try JSON.object { writer in
        writer.member("algorithm", "org.matrix.msc3814.v2")
        writer.member("device_pickle", base64: sealed)
        writer.member("nonce", base64: nonce)
      }
      let tablet = try recovered(&world)
      #expect(tablet.machine.encryptionState.dehydrationFailure == .wrongKey && tablet.bodies.isEmpty)
    }
  }

  @Test func `messages that do not fit are left out, and the others are read`() throws {
    var world = try world()
    let right = try #require(world.server.dehydratedMessages(of: ann).first)
    for event in [
      "{}", "[]", #"{"type":"m.room.encrypted","sender":"@bob:two.example","content":{}}"#,
      #"{"type":"m.room_key","sender":"@bob:two.example","content":{"algorithm":"m.megolm.v1.aes-sha2"}}"#,
      #"{"type":"m.secret.request","sender":"@ann:one.example","content":{"action":"request"}}"#,
      #"{"type":"m.room.encrypted","sender":"@bob:two.example","content":{"pad":"\#(String(repeating: "x", count: 70_000))"}}"#
    ] { world.server.sendDehydrated(try parsed(event), to: ann) }
    // The same once more, and under another sender's name.
    world.server.sendDehydrated(right, to: ann)
    world.server.sendDehydrated(
      try right.replacing(["sender"]) { $0.member("sender", "@carol:one.example" as ByteString) }, to: ann)
    world.hosts[0].handle(.departed(ModelServer.room, []), at: world.now)
    try world.write("after the attack")
    let tablet = try recovered(&world)
    #expect(tablet.bodies == ["while away", "after the attack"])
    #expect(tablet.machine.encryptionState.dehydration == .ready(keys: 2))
  }

  @Test func `more messages than the limit are told, and what came first is read`() throws {
    let world = try world()
    let tablet = TestHost(ann, "TABLET", at: world.server, dehydrates: true, now: world.now)
    let found = try #require(world.server.dehydrated[ann])
    let answer = try JSON.object { writer in
      writer.member("device_id", found.device)
      writer.member("device_data", found.data)
    }
    let secret = try #require(try secret(of: world))
    var reading = try Rehydration(answer, of: ann, with: secret)
    let right = try #require(world.server.dehydratedMessages(of: ann).first)
    let empty = try parsed("{}")
    func page(_ number: Int) throws -> JSON {
      try JSON.object { writer in
        writer.array("events", 0..<10_000) { $1.write($0 == 0 ? right : empty) }
        writer.member("next_batch", ByteString("d\(number)"))
      }
    }
    for number in 1...5 {
      let page = try page(number)
      #expect(reading.read(page, knowing: tablet.machine.tracker, at: world.now).count == (number == 1 ? 1 : 0))
      if number < 5 {
        #expect(try reading.advance(page))
      } else {
        #expect(throws: RehydrationFailure.tooManyMessages) { try reading.advance(page) }
      }
    }
    #expect(reading.messages == EncryptionLimits.eventsOfDehydrated)
  }

  @Test func `a server whose pages never end is left`() throws {
    let world = try world()
    let found = try #require(world.server.dehydrated[ann])
    let answer = try JSON.object { writer in
      writer.member("device_id", found.device)
      writer.member("device_data", found.data)
    }
    var reading = try Rehydration(answer, of: ann, with: try #require(try secret(of: world)))
    let tracker = world.hosts[0].machine.tracker
    var pages = 0
    func next(_ token: String) throws -> Bool {
      let page = try parsed(#"{"events":[{}],"next_batch":"\#(token)"}"#)
      _ = reading.read(page, knowing: tracker, at: world.now)
      pages += 1
      return try reading.advance(page)
    }
    #expect(try next("again"))
    #expect(try !next("again"), "the same token is the end")
    #expect(throws: RehydrationFailure.tooManyMessages) { while try next("d\(pages)") {} }
    #expect(pages == EncryptionLimits.pagesOfDehydrated)
    #expect(try !reading.advance(parsed(#"{"events":[{}]}"#)) && !reading.advance(parsed(#"{"events":[],"next_batch":"x"}"#)))
  }

  private func secret(of world: World) throws -> Secret? {
    let stored = try #require(world.server.accounts[ann].data[SecretName.dehydrationKey.text])
    return try world.server.storage(of: ann)?.key(key).decrypt(stored, as: .dehydrationKey)
  }

  // MARK: Devices of others

  @Test func `a dehydrated device that its user has not signed gets no keys, whatever the policy`() throws {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    world.hosts[0].handle(.share(SharingPolicy(readers: .all)), at: world.now)
    var random = SecretSource.repeating(seed: Array("made up".utf8))
    let account = Account(random: &random)
    let id = DeviceID(trusted: "MADEUP")
    world.server.devices[ModelServer.Name(user: bob, device: id)] = ModelServer.Device(
      keys: OwnKeys.deviceKeys(of: account, bob, id, isDehydrated: true))
    world.server.announce(bob)
    try world.write("not for it")
    #expect(world.hosts[0].machine.tracker.device(id, of: bob)?.isDehydrated == true)
    let got = world.server.toDevice(of: ModelServer.Name(user: bob, device: id)).map { $0.text("type") }
    #expect(got == ["m.room_key.withheld"] && world.hosts[1].bodies == ["not for it"])
    world.hosts[0].restart(at: world.now)
    #expect(world.hosts[0].machine.tracker.device(id, of: bob)?.isDehydrated == true, "the store knows, too")
  }

  @Test mutating func `nothing is taken from a dehydrated device`() throws {
    var own = TestDevice(of: ann, DeviceID(trusted: "DESK"), seed: "desk")
    own.own.account.makeOneTimeKeys(1, random: &random)
    let account = Account(random: &random)
    let (id, desk) = (DeviceID(trusted: "DRY"), own.own.deviceKeys)
    let dry = OwnKeys(user: bob, device: id, account: account)
    var sessions = DeviceSessions(), ours = DeviceSessions()
    try sessions.begin(with: desk, oneTime: own.own.account.oneTimeKeys[0].pair.key, from: dry, random: &random)
    let content = try #require(try sessions.encrypt("m.room_key", parsed("{}"), for: desk, from: dry, random: &random))
    var tracker = DeviceTracker()
    tracker.track([bob])
    let next = tracker.nextQuery(at: 0), query = try #require(next)
    let keys = try #require(OwnKeys.deviceKeys(of: account, bob, id, isDehydrated: true))
    _ = tracker.answered(query, try answer([(bob, id, keys)]), at: 0)
    #expect(throws: OlmRefusal.wrongKeys) { try ours.decrypt(JSON.parse(content), from: bob, to: &own.own, knowing: tracker) }
  }
}
