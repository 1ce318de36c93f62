import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct VerificationCodeTests {
  /// Ann's desk, as her tablet knows it.
  private func parties(isMasterTrusted: Bool) throws -> VerificationParties {
    var known = Knowledge()
    var own = try known.setUp()
    let desk = TestDevice(of: ann, DeviceID(trusted: "DESK"), seed: "a desk")
    try own.add(desk)
    try known.learn([own])
    if !isMasterTrusted {
      let before = known.identities.own
      let pairs: [CrossSigningUse: Ed25519KeyPair] = [:]
      known.identities.own = OwnIdentity(
        user: ann, device: before.device, identity: before.identity, isDeviceSigned: false, verifiedMaster: nil, pairs: pairs,
        setup: nil, unsent: [])
    }
    let device = try #require(known.tracker.device(desk.own.device, of: ann))
    return try #require(VerificationParties(known.device.own, device, known.identities))
  }

  @Test(arguments: [true, false])
  func `a code has the bytes of the specification and reads what it has written`(_ isMasterTrusted: Bool) throws {
    let parties = try parties(isMasterTrusted: isMasterTrusted)
    let code = VerificationCode(parties, "$ABCD", secret: [1, 2, 3, 4, 5, 6, 7, 8])
    let keys =
      isMasterTrusted
      ? parties.own.master.bytes + parties.other.keys.signing.bytes : parties.own.keys.signing.bytes + parties.own.master.bytes
    #expect(
      code.bytes == Array("MATRIX".utf8) + [2, isMasterTrusted ? 1 : 2, 0, 5] + Array("$ABCD".utf8) + keys
        + [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(VerificationCode(code.bytes) == code)
  }

  @Test func `bytes that are no code, or are cut off, are refused`() throws {
    let bytes = VerificationCode(try parties(isMasterTrusted: true), "$ABCD", secret: [1]).bytes
    for count in 0..<bytes.count { #expect(VerificationCode(Array(bytes.prefix(count))) == nil, "\(count)") }
    for (place, byte) in [(0, 0x6D), (6, 3), (7, 3), (8, 0xFF)] as [(Int, UInt8)] {
      var changed = bytes
      changed[place] = byte
      #expect(VerificationCode(changed) == nil)
    }
    #expect(VerificationCode(bytes + [UInt8](repeating: 0, count: VerificationCode.byteLimit)) == nil)
  }
}
