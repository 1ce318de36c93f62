import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct VerificationTests {
  // MARK: Emoji

  @Test func `two devices of a user verify each other by emoji, and the new one gets secrets and backup`() throws {
    var play = try VerificationPlay.ownDevices(hasBackup: true)
    try play.world.write("before the tablet was there")
    try play.pass(KeyBackup.pauseMilliseconds)
    let (desk, tablet) = (play.one, play.other)
    #expect(!tablet.machine.encryptionState.isVerified && tablet.bodies.isEmpty)
    try play.begin()
    #expect(play.stages == [.requested, .requested])
    #expect(desk.verification?.isOurs == true && tablet.verification?.isOurs == false && tablet.verification?.isOwn == true)
    #expect(desk.verification?.device == nil && tablet.verification?.device == desk.name.device)
    try play.perform(.accept, by: tablet)
    #expect(desk.verification?.device == tablet.name.device)
    try play.perform(.compare, by: tablet)
    let strings = try #require(desk.strings)
    #expect(strings == tablet.strings && strings.emoji.count == 7 && strings.decimals.count == 3)
    #expect(strings.emoji.allSatisfy { VerificationEmoji($0) != nil })
    try play.perform(.confirm, by: desk)
    #expect(play.stages == [.confirmed, .comparing(strings)])
    #expect(!tablet.machine.encryptionState.isVerified)
    try play.perform(.confirm, by: tablet)
    #expect(play.stages == [.done, .done])
    #expect(tablet.machine.encryptionState.isVerified)
    for use in CrossSigningUse.allCases { #expect(tablet.machine.identities.own.holds(use)) }
    #expect(tablet.machine.backup?.pair != nil && tablet.bodies == ["before the tablet was there"])
    #expect(desk.machine.trust.isVerifiedOwn(tablet.machine.own.deviceKeys.listed(by: desk)))
    // The master key has the tablet's signature, too.
    let master = try #require(play.world.server.accounts[ann].identity[.master])
    #expect(master.isSigned(by: ann, DeviceKeys.keyID(of: tablet.name.device), tablet.machine.own.account.signing.key))
    // What the user has seen is forgotten.
    try play.perform(.cancel, by: desk)
    #expect(desk.verification == nil)
    tablet.restart(at: play.world.now)
    try play.settle()
    #expect(tablet.verification == nil && tablet.machine.encryptionState.isVerified)
    #expect(!tablet.durable.store.keys.contains { $0.utf8.starts(with: RecordNames.verifications.utf8) })
  }

  @Test func `a device verified by another gets the keys of rooms from then on`() throws {
    var play = try VerificationPlay.ownDevices()
    play.one.handle(.share(SharingPolicy(readers: .signed)), at: play.world.now)
    try play.world.write("too early")
    #expect(play.other.bodies.isEmpty)
    try play.compare()
    try play.confirm()
    try play.world.write("for the tablet")
    #expect(play.other.bodies.last == "for the tablet")
  }

  @Test(arguments: [true, false])
  func `two people verify each other in a room, encrypted or not`(_ isEncrypted: Bool) throws {
    var play = try VerificationPlay.people(isEncrypted: isEncrypted)
    try play.compare(startedBy: play.other)
    #expect(play.one.strings != nil && play.one.strings == play.other.strings)
    #expect(play.one.verification?.room == ModelServer.room && play.one.verification?.user == bob)
    try play.confirm()
    #expect(play.stages == [.done, .done])
    #expect(play.one.isVerified(bob) && play.other.isVerified(ann))
    let types = Set(play.world.server.events.compactMap { $0.text("type") })
    #expect(isEncrypted == (types == ["m.room.encrypted"]), "\(types)")
    // Ann's user-signing key has signed Bob's master key.
    let signer = try #require(play.one.machine.identities.own.keys?.userSigning)
    #expect(play.world.server.accounts[bob].identity[.master]?.isSigned(by: ann, signer) == true)
  }

  @Test func `people with changed keys verify each other anew, which accepts the new keys`() throws {
    var play = try VerificationPlay.people()
    try play.compare()
    try play.confirm()
    try play.world.run(.resetIdentity, by: play.other)
    try play.one.write("blocked", at: play.world.now)
    play.one.durable.unencrypted = [:]
    #expect(!play.one.isVerified(bob) && play.one.machine.identities.identity(of: bob)?.change == .ofVerified)
    try play.compare()
    try play.confirm()
    #expect(play.stages == [.done, .done] && play.one.isVerified(bob))
    #expect(play.one.machine.identities.identity(of: bob)?.change == nil)
  }

  @Test func `if both begin to compare, the message of the smaller ID counts`() throws {
    for play in [try VerificationPlay.ownDevices(), try VerificationPlay.people()] {
      var play = play
      try play.begin()
      try play.perform(.accept, by: play.other)
      for host in [play.one, play.other] {
        host.begin(.verification(try #require(host.verification).id, .compare), at: play.world.now)
      }
      try play.settle()
      #expect(play.one.strings != nil && play.one.strings == play.other.strings)
      try play.confirm()
      #expect(play.stages == [.done, .done])
    }
  }

  @Test func `of several devices the one that accepts takes part, and the others are told`() throws {
    var play = try VerificationPlay.ownDevices()
    let sofa = TestHost(ann, "SOFA", at: play.world.server, now: play.world.now)
    play.world.hosts.append(sofa)
    try play.settle()
    try play.begin(.ownDevices)
    #expect(sofa.verification?.stage == .requested && play.other.verification?.stage == .requested)
    try play.perform(.accept, by: play.other)
    #expect(sofa.cancellation == .init(.accepted, isByUs: false))
    try play.perform(.compare, by: play.one)
    try play.confirm()
    #expect(play.stages == [.done, .done])
  }

  @Test func `a request that is declined on one device ends on all`() throws {
    var play = try VerificationPlay.ownDevices()
    let sofa = TestHost(ann, "SOFA", at: play.world.server, now: play.world.now)
    play.world.hosts.append(sofa)
    try play.settle()
    try play.begin(.ownDevices)
    try play.perform(.cancel, by: sofa)
    #expect(play.one.cancellation == .init(.user, isByUs: false) && play.other.cancellation == .init(.user, isByUs: false))
  }

  @Test func `a device that has just signed in asks before others know it`() throws {
    var play = try VerificationPlay.ownDevices()
    // Before the desk has asked for the list.
    play.one.handle(.woken, at: play.world.now)
    let late = TestHost(ann, "NEW", at: play.world.server, now: play.world.now)
    play.world.hosts.append(late)
    while !late.requests.isEmpty { try late.ask(at: play.world.now) }
    late.begin(.verify(.ownDevices), at: play.world.now)
    try play.settle()
    #expect(play.one.verification?.device == late.name.device)
  }

  // MARK: Codes

  @Test(arguments: [true, false], [true, false])
  func `devices of a user verify each other by a code, whichever shows it`(_ isDeskScanning: Bool, _ isAskedByDesk: Bool) throws
  {
    var play = try VerificationPlay.ownDevices()
    if isAskedByDesk { try play.begin() } else { try play.begin(.ownDevices, by: play.other) }
    try play.perform(.accept, by: isAskedByDesk ? play.other : play.one)
    let (scanning, showing) = isDeskScanning ? (play.one, play.other) : (play.other, play.one)
    let code = try #require(play.codes[isDeskScanning ? 1 : 0])
    #expect(code.starts(with: Array("MATRIX".utf8) + [2, isDeskScanning ? 2 : 1]))
    #expect(try play.perform(.scanned(Array("https://example.org".utf8)), by: scanning) == .unusable)
    #expect(try play.perform(.scanned(code), by: scanning) == nil)
    #expect(scanning.verification?.stage == .confirmed && showing.verification?.stage == .scanned)
    try play.perform(.confirm, by: showing)
    #expect(play.stages == [.done, .done])
    #expect(play.other.machine.encryptionState.isVerified && play.other.machine.identities.own.holds(.master))
    #expect(play.one.machine.trust.isVerifiedOwn(play.other.machine.own.deviceKeys.listed(by: play.one)))
  }

  // Proves E5
  @Test func `two people verify each other by a code`() throws {
    var play = try VerificationPlay.people()
    try play.begin()
    try play.perform(.accept, by: play.other)
    let code = try #require(play.codes[0])
    try play.perform(.scanned(code), by: play.other)
    try play.perform(.confirm, by: play.one)
    #expect(play.stages == [.done, .done] && play.one.isVerified(bob) && play.other.isVerified(ann))
  }

  @Test func `a code that names other keys ends the verification`() throws {
    for place in [20, 60, 100] {
      var play = try VerificationPlay.ownDevices()
      try play.begin()
      try play.perform(.accept, by: play.other)
      var code = try #require(play.codes[0])
      let start = code.count - VerificationCode.secretByteCount - 64
      code[start + place % 64] ^= 1
      try play.perform(.scanned(code), by: play.other)
      #expect(play.other.cancellation == .init(.keyMismatch, isByUs: true))
      #expect(play.one.cancellation == .init(.keyMismatch, isByUs: false))
      #expect(!play.other.machine.encryptionState.isVerified)
    }
  }

  @Test func `a client without camera offers no scanning, and one that cannot compare is told so`() throws {
    var play = try VerificationPlay.ownDevices()
    play.other.begin(.offer(showsCodes: false, scansCodes: false), at: play.world.now)
    try play.begin()
    try play.perform(.accept, by: play.other)
    #expect(play.stages[0] == .ready(Verification.Choices(canCompare: true, code: nil, canScan: false)))
    #expect(play.stages[0] == play.stages[1])
  }
}

extension DeviceKeys {
  /// As another device has it.
  func listed(by host: TestHost) -> DeviceKeys { host.machine.tracker.device(device, of: user) ?? self }
}
