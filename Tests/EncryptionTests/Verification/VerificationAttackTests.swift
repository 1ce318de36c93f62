import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

/// What a hostile server, or somebody in between, tries.
@Suite struct VerificationAttackTests {
  private func nobodyIsVerified(_ play: VerificationPlay) -> Bool {
    !play.other.machine.encryptionState.isVerified
      && play.one.machine.tracker.device(play.other.name.device, of: ann)?.signer == nil
  }

  private func replacing(_ json: JSON, _ key: StaticString, _ text: String) throws -> JSON {
    try json.replacing([key]) { $0.member(key, ByteString(text)) }
  }

  private func reasons(_ play: VerificationPlay) -> [CancelReason?] {
    [play.one.cancellation?.reason, play.other.cancellation?.reason]
  }

  // MARK: Keys

  @Test func `a changed key of the side that promised it is noticed`() throws {
    var play = try VerificationPlay.ownDevices()
    var keys = 0
    play.world.server.altered = { type, content in
      guard type == "m.key.verification.key" else { return content }
      keys += 1
      // The second is that of the device that has accepted.
      let other = ByteString(decoding: Base64.encode([UInt8](repeating: 9, count: 32)))
      return keys == 2 ? try content.replacing(["key"]) { $0.member("key", other) } : content
    }
    try play.compare()
    #expect(reasons(play) == [.mismatchedCommitment, .mismatchedCommitment] && nobodyIsVerified(play))
  }

  @Test func `a changed key of the side that began makes both show different things`() throws {
    var play = try VerificationPlay.ownDevices()
    var keys = 0
    play.world.server.altered = { type, content in
      guard type == "m.key.verification.key" else { return content }
      keys += 1
      let other = ByteString(decoding: Base64.encode([UInt8](repeating: 9, count: 32)))
      return keys == 1 ? try content.replacing(["key"]) { $0.member("key", other) } : content
    }
    try play.compare()
    #expect(play.one.strings != nil && play.one.strings != play.other.strings)
    try play.perform(.mismatch, by: play.one)
    #expect(reasons(play) == [.mismatchedSAS, .mismatchedSAS] && nobodyIsVerified(play))
  }

  @Test(arguments: [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31)])
  func `a key of small order is refused`(_ key: [UInt8]) throws {
    var play = try VerificationPlay.ownDevices()
    play.world.server.altered = { type, content in
      guard type == "m.key.verification.key" else { return content }
      return try content.replacing(["key"]) { $0.member("key", ByteString(decoding: Base64.encode(key))) }
    }
    try play.compare()
    #expect(reasons(play) == [.invalidMessage, .invalidMessage] && nobodyIsVerified(play))
  }

  @Test func `a wrong promise, or another start than was answered, is noticed`() throws {
    for (type, key, value) in [
      ("m.key.verification.accept", "commitment", "c29tZXRoaW5nIGVsc2U"), ("m.key.verification.start", "more", "x")
    ] as [(ByteString, StaticString, String)] {
      var play = try VerificationPlay.ownDevices()
      play.world.server.altered = { [self] in $0 == type ? try replacing($1, key, value) : $1 }
      try play.compare()
      #expect(reasons(play) == [.mismatchedCommitment, .mismatchedCommitment], "\(type)")
    }
  }

  // MARK: MACs

  // Proves E5
  @Test(arguments: ["value", "list", "another key", "no master key", "unknown key"])
  func `a MAC that is wrong, or a list of keys that was changed, verifies nothing`(_ change: String) throws {
    var play = try VerificationPlay.ownDevices()
    play.world.server.altered = { [self] type, content in
      guard type == "m.key.verification.mac" else { return content }
      if change == "list" { return try replacing(content, "keys", "c29tZXRoaW5nIGVsc2U") }
      let macs = content["mac"]?.members.map { $0 } ?? []
      return try content.replacing(["mac"]) { writer in
        writer.key("mac")
        writer.object { writer in
          for (place, member) in macs.enumerated() {
            if change == "no master key", macs.count == 2, place == 0 { continue }
            writer.key(change == "another key" && place == 0 ? "ed25519:OTHER" : member.key)
            writer.write(change == "value" && place == 0 ? "c29tZXRoaW5nIGVsc2U" : member.value.text ?? "")
          }
          if change == "unknown key" {
            writer.key("ed25519:MORE")
            writer.write("c29tZXRoaW5nIGVsc2U")
          }
        }
      }
    }
    try play.compare()
    try play.confirm()
    #expect(reasons(play).contains(.keyMismatch) && nobodyIsVerified(play))
  }

  @Test func `keys that the server changes during a verification change nothing in it`() throws {
    var play = try VerificationPlay.people()
    try play.compare()
    // Bob's identity is another one from now on.
    let before = try #require(play.one.machine.identities.identity(of: bob)?.keys.master)
    try play.world.run(.resetIdentity, by: play.other)
    try play.confirm()
    #expect(play.one.machine.identities.identity(of: bob)?.keys.master != before)
    #expect(!play.one.isVerified(bob), "what was compared is not what the server gives now")
  }

  @Test func `a device whose ID is the name of a cross-signing key takes part in no verification`() throws {
    var play = try VerificationPlay.people()
    let master = try #require(play.other.machine.identities.own.keys?.master.name)
    play.world.hosts.append(TestHost(bob, master.string, at: play.world.server, now: play.world.now))
    try play.settle()
    try play.begin()
    try play.perform(.accept, by: play.other)
    #expect(reasons(play).allSatisfy { $0 == .keyMismatch }, "\(play.stages)")
  }

  @Test func `two devices that nobody has verified prove nothing to each other`() throws {
    var play = try VerificationPlay.ownDevices()
    let sofa = TestHost(ann, "SOFA", at: play.world.server, now: play.world.now)
    play.world.hosts.append(sofa)
    try play.settle()
    let pair = VerificationPlay(world: play.world, one: sofa, other: play.other)
    var two = pair
    try two.compare()
    try two.confirm()
    #expect(reasons(two).contains(.keyMismatch))
    #expect(!sofa.machine.encryptionState.isVerified && !play.other.machine.encryptionState.isVerified)
  }

  // MARK: Messages

  @Test func `messages that come twice are taken once`() throws {
    var play = try VerificationPlay.ownDevices()
    try play.compare()
    try play.confirm()
    let log = play.world.server.toDevice(of: play.other.name).filter {
      $0.text("type")?.utf8.starts(with: "m.key.verification.".utf8) ?? false
    }
    #expect(log.count >= 4)
    var synced = SyncedKeys()
    synced.toDevice = log
    let cancels = play.sent("m.key.verification.cancel", by: play.other)
    play.other.replay(synced, at: play.world.now)
    try play.settle()
    #expect(play.stages == [.done, .done] && play.sent("m.key.verification.cancel", by: play.other) == cancels)
  }

  @Test func `each message is repeated while the verification is under way`() throws {
    var play = try VerificationPlay.ownDevices()
    play.world.server.repeats = true
    try play.compare()
    #expect(play.one.strings != nil && play.one.strings == play.other.strings)
    try play.confirm()
    #expect(play.stages == [.done, .done])
  }

  @Test func `a message of no verification is answered once, and an end or a result never`() throws {
    var play = try VerificationPlay.ownDevices()
    func send(_ type: String, _ more: String = "") throws {
      play.one.replay(try .verification(type, #""transaction_id":"x"\#(more)"#), at: play.world.now)
      try play.settle()
    }
    for _ in 0..<3 { try send("key", #","key":"AAAA""#) }
    #expect(play.sent("m.key.verification.cancel", by: play.one) == 1)
    for type in ["done", "cancel"] { try send(type) }
    #expect(play.sent("m.key.verification.cancel", by: play.one) == 1 && play.one.verification == nil)
  }

  @Test func `what does not fit the stage ends the verification`() throws {
    for (type, content) in [
      ("key", #""key":"AAAA""#), ("mac", #""mac":{},"keys":"""#), ("done", #""a":1"#),
      ("ready", #""methods":[],"from_device":"TABLET""#)
    ] {
      var play = try VerificationPlay.ownDevices()
      try play.begin()
      try play.perform(.accept, by: play.other)
      let transaction = try #require(play.one.machine.verifications.runs.first?.transaction)
      play.one.replay(try .verification(type, #""transaction_id":"\#(transaction)",\#(content)"#), at: play.world.now)
      try play.settle()
      #expect(reasons(play) == [.unexpectedMessage, .unexpectedMessage], "\(type)")
    }
  }

  @Test func `methods that are not known end the verification`() throws {
    for (type, change) in [
      ("m.key.verification.start", #""hashes":["md5"]"#), ("m.key.verification.start", #""method":"m.other""#),
      ("m.key.verification.accept", #""message_authentication_code":"hmac-sha256""#),
      ("m.key.verification.ready", #""methods":["m.other"]"#)
    ] as [(ByteString, String)] {
      var play = try VerificationPlay.ownDevices()
      let member = try #require(parsed("{\(change)}").members.map { $0 }.first)
      play.world.server.altered = { kind, content in
        guard kind == type else { return content }
        var members: [(ByteString, JSON)] = content.members.map { ($0.key, $0.value) }.filter { $0.0 != member.key }
        members.append((member.key, member.value))
        return try JSON.object { writer in
          for (key, value) in members {
            writer.key(key)
            writer.write(value)
          }
        }
      }
      try play.begin()
      try play.perform(.accept, by: play.other)
      if type != "m.key.verification.ready" { try play.perform(.compare, by: play.one) }
      #expect(reasons(play).contains(.unknownMethod), "\(type) \(change)")
    }
  }

  @Test func `other users ask in rooms only, and old or future requests are nothing`() throws {
    let play = try VerificationPlay.people()
    func request(_ sender: UserID, _ device: String, at timestamp: Int64) throws {
      play.one.replay(try .request("t\(timestamp)", device, at: timestamp, by: sender), at: play.world.now)
    }
    let now = play.world.now
    try request(bob, "PHONE", at: now)
    try request(ann, "DESK", at: now)
    try request(ann, "UNKNOWN", at: now)
    try request(ann, "UNKNOWN", at: now - VerificationRun.patienceMilliseconds)
    try request(ann, "UNKNOWN", at: now + VerificationRun.clockMilliseconds + 1)
    #expect(play.one.machine.verifications.views.isEmpty)
  }

  @Test func `a device that asks twice is answered that both are over`() throws {
    var play = try VerificationPlay.ownDevices()
    try play.begin()
    try play.begin()
    #expect(
      play.other.machine.verifications.views.map(\.stage) == [
        .cancelled(.init(.unexpectedMessage, isByUs: true)), .cancelled(.init(.unexpectedMessage, isByUs: true))
      ])
    #expect(play.one.machine.verifications.views.allSatisfy { $0.isOver })
  }

  @Test func `if two devices ask each other, the one that is accepted goes on`() throws {
    var play = try VerificationPlay.ownDevices()
    for host in [play.one, play.other] { host.begin(.verify(.ownDevices), at: play.world.now) }
    try play.settle()
    let asked = try #require(play.other.machine.verifications.views.first { !$0.isOurs })
    play.other.begin(.verification(asked.id, .accept), at: play.world.now)
    try play.settle()
    for host in [play.one, play.other] {
      let stages = host.machine.verifications.views.map(\.stage)
      #expect(stages.count == 2 && stages.count { if case .ready = $0 { true } else { false } } == 1, "\(stages)")
    }
  }

  @Test func `what another member says in the room first counts when the other side says it`() throws {
    var play = try VerificationPlay.people(isEncrypted: false)
    try play.begin()
    let transaction = try #require(play.one.machine.verifications.runs.first?.transaction)
    let content = try parsed(#"{"code":"m.user","m.relates_to":{"rel_type":"m.reference","event_id":"\#(transaction)"}}"#)
    for (sender, id) in [(UserID(trusted: "@eve:two.example"), "$e"), (bob, "$b")] {
      let message = VerificationMessage(
        EventType(trusted: "m.key.verification.cancel"), content, event: EventID(trusted: ByteString(id)),
        in: ModelServer.room, from: sender, at: play.world.now)
      #expect(play.one.cancellation == nil)
      play.one.machine.take(try #require(message), at: play.world.now)
    }
    #expect(play.one.cancellation?.reason == .user)
  }

  @Test func `requests of others do not keep the user from asking`() throws {
    var play = try VerificationPlay.ownDevices()
    let users = (0..<Verifications.runsLimit).map { UserID(trusted: ByteString("@\($0):two.example")) }
    for (number, user) in users.enumerated() {
      let end = play.world.now + VerificationRun.patienceMilliseconds
      var random = SecretSource.repeating(seed: [UInt8(number)])
      let run = play.one.machine.verifications.run(
        with: user, ModelServer.room, device: DeviceID(trusted: "PHONE"), isOurs: false,
        record: ByteString("e/verify/\(number)"),
        play.one.machine.own, end: end, random: &random)
      play.one.machine.verifications.append(run)
    }
    try play.begin()
    #expect(play.one.machine.verifications.views.count { $0.isOurs } == 1)
    #expect(play.one.machine.verifications.runs.count == Verifications.runsLimit)
  }

  @Test func `requests in a flood are kept within limits`() throws {
    let play = try VerificationPlay.ownDevices()
    for number in 0..<200 {
      let device = number % 2 == 0 ? "TABLET" : "U\(number)"
      play.one.replay(try .request("f\(number)", device, at: play.world.now), at: play.world.now)
    }
    #expect(play.one.machine.verifications.runs.count <= Verifications.runsLimit)
  }
}

extension SyncedKeys {
  /// A message of a verification for a device.
  static func verification(_ kind: String, _ members: String, by sender: UserID = ann) throws -> SyncedKeys {
    var synced = SyncedKeys()
    let content = "{\(members)}"
    synced.toDevice = [
      try parsed(#"{"sender":"\#(sender)","type":"m.key.verification.\#(kind)","content":\#(content)}"#)
    ]
    return synced
  }

  static func request(
    _ transaction: String, _ device: String, at timestamp: Int64, by sender: UserID = ann
  ) throws -> SyncedKeys {
    let members = #""transaction_id":"\#(transaction)","from_device":"\#(device)","timestamp":\#(timestamp)"#
    return try verification("request", members + #","methods":["m.sas.v1"]"#, by: sender)
  }
}

extension TestHost {
  /// A sync with what was not in the server's log.
  func replay(_ synced: SyncedKeys, at now: Int64) {
    expectSync()
    handle(.sync(synced), at: now)
  }
}
