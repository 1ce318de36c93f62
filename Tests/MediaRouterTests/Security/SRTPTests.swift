@testable import MediaRouter
import Testing

extension SRTPMaster {
  /// Of RFC 3711 appendix B.3.
  static let sample = SRTPMaster(
    key: hex("e1f97a0d3e018be0d64fa32c06de4139"), salt: hex("0ec675ad498afeebb6960b3aabe6"))

  static func random(_ profile: SRTPProfile, seed: UInt64) -> SRTPMaster {
    var random = SeededGenerator(seed: seed)
    return SRTPMaster(key: random.bytes(16), salt: random.bytes(profile.saltBytes))
  }
}

/// Opens a copy; nil if the receiver refuses it.
func open(_ packet: [UInt8], _ receiver: SRTPReceiver) -> [UInt8]? {
  var copy = packet
  return copy.withUnsafeMutableBytes { receiver.open($0) }.map { Array(copy[..<$0]) }
}

func openControl(_ packet: [UInt8], _ receiver: SRTPReceiver) -> [UInt8]? {
  var copy = packet
  return copy.withUnsafeMutableBytes { receiver.openControl($0) }.map { Array(copy[..<$0]) }
}

func seal(_ packet: [UInt8], _ sender: SRTPSender, rollOver: UInt32 = 0) -> [UInt8] {
  var sealed = packet + [UInt8](repeating: 0, count: 16)
  let header = RTPHeader(packet, isSealed: true)!
  let index = UInt64(rollOver) << 16 | UInt64(header.sequenceNumber)
  let count = sealed.withUnsafeMutableBytes {
    sender.seal(
      $0.baseAddress!, header: header.payload.lowerBound, count: packet.count, ssrc: header.ssrc, index: index)
  }
  return Array(sealed[..<count])
}

func rtp(_ sequenceNumber: UInt16, ssrc: UInt32 = 0xCAFE_BABE, payload: [UInt8] = [1, 2, 3, 4, 5]) -> [UInt8] {
  var packet: [UInt8] = [0x80, 96]
  packet.append(number: sequenceNumber)
  packet.append(number: UInt32(0xDECA_FBAD))
  packet.append(number: ssrc)
  return packet + payload
}

@Suite struct SRTPTests {
  // Proves Q10
  @Test func theKeysOfTheStandardAreDerived() {
    let media = SRTPSessionKeys(.aes128CounterSHA1, .sample, isControl: false)
    #expect(media.key == hex("c61e7a93744f39ee10734afe3ff7a087"))
    #expect(media.salt == hex("30cbbc08863d8c85d49db34a9ae1"))
    #expect(media.authenticationKey == hex("cebe321f6ff7716b6fd4ab49af256a156d38baa4"))
  }

  // Proves M4
  @Test func aPacketUnderCounterModeIsThatOfLibsrtp() {
    let plain = hex("800f1234 decafbad cafebabe abababab abababab abababab abababab")
    let sealed = hex(
      "800f1234 decafbad cafebabe 4e55dc4c e79978d8 8ca4d215 949d2402 b78d6acc 99ea179b 8dbb")
    #expect(seal(plain, SRTPSender(.aes128CounterSHA1, .sample)) == sealed)
    #expect(open(sealed, SRTPReceiver(.aes128CounterSHA1, .sample, streamsLimit: 1)) == plain)
  }

  /// RFC 7714 §16.1.1 and §17.1.
  private static let keys = SRTPSessionKeys(key: Array(0..<16), salt: hex("517569642070726f2071756f"))

  // Proves M4, Q10
  @Test func aPacketUnderGCMIsThatOfTheStandard() {
    let plain = hex("8040f17b 8041f8d3 5501a0b2") + Array("Gallia est omnis divisa in partes tres".utf8)
    let sealed = hex(
      """
      8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b 36de3adf
      8833899d 7f27beb1 6a9152cf 765ee439 0cce
      """)
    var bytes = plain + [UInt8](repeating: 0, count: 16)
    let transform = SRTPTransform(.aes128GCM, Self.keys, isSealing: true)
    let count = bytes.withUnsafeMutableBytes {
      transform.seal($0.baseAddress!, header: 12, count: plain.count, ssrc: 0x5501_A0B2, index: 0xF17B)
    }
    #expect(count == sealed.count)
    #expect(bytes == sealed)
    let opening = SRTPTransform(.aes128GCM, Self.keys, isSealing: false)
    let opened = bytes.withUnsafeMutableBytes {
      opening.open($0.baseAddress!, header: 12, count: count, ssrc: 0x5501_A0B2, index: 0xF17B)
    }
    #expect(opened == plain.count)
    #expect(Array(bytes[..<plain.count]) == plain)
  }

  // Proves M4
  @Test func aControlPacketUnderGCMIsThatOfTheStandard() {
    let plain = hex(
      """
      81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef deadbeef
      deadbeef
      """)
    let sealed = hex(
      """
      81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda 4ce09b46 86303ded
      0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade 800005d4
      """)
    var bytes = plain + [UInt8](repeating: 0, count: 20)
    let transform = SRTPTransform(.aes128GCM, Self.keys, isSealing: true)
    _ = bytes.withUnsafeMutableBytes {
      transform.sealControl($0.baseAddress!, count: plain.count, ssrc: 0x4D61_7273, index: 0x5D4)
    }
    #expect(bytes == sealed)
  }

  @Test(arguments: SRTPProfile.allCases) func aPacketIsOpenedOnce(_ profile: SRTPProfile) {
    let master = SRTPMaster.random(profile, seed: 1)
    let receiver = SRTPReceiver(profile, master, streamsLimit: 4)
    let sealed = seal(rtp(7), SRTPSender(profile, master))
    #expect(open(sealed, receiver) == rtp(7))
    #expect(open(sealed, receiver) == nil)
  }

  @Test(arguments: SRTPProfile.allCases) func aChangedBitAnywhereIsRefused(_ profile: SRTPProfile) {
    let master = SRTPMaster.random(profile, seed: 1)
    let receiver = SRTPReceiver(profile, master, streamsLimit: 4)
    let sender = SRTPSender(profile, master)
    let sealed = seal(rtp(7), sender)
    let control = sender.sealControl(hex("80c90001 00000001"))
    for bit in 0..<(8 * sealed.count) {
      var changed = sealed
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(open(changed, receiver) == nil)
    }
    for bit in 0..<(8 * control.count) {
      var changed = control
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(openControl(changed, receiver) == nil)
    }
    // None of them spoilt the state.
    #expect(open(sealed, receiver) == rtp(7))
    #expect(openControl(control, receiver) == hex("80c90001 00000001"))
    #expect(openControl(control, receiver) == nil)
  }

  @Test(arguments: SRTPProfile.allCases) func sequenceNumbersWrapInAnyOrder(_ profile: SRTPProfile) {
    let master = SRTPMaster.random(profile, seed: 2)
    let receiver = SRTPReceiver(profile, master, streamsLimit: 4)
    let sender = SRTPSender(profile, master)
    for (sequence, rollOver) in [(65_533, 0), (65_535, 0), (1, 1), (65_534, 0), (0, 1), (30_000, 1), (40_000, 1), (10, 2)] {
      let packet = rtp(UInt16(sequence))
      #expect(open(seal(packet, sender, rollOver: UInt32(rollOver)), receiver) == packet)
    }
  }

  // Proves M21
  @Test func strangersMakeNoState() {
    let master = SRTPMaster.random(.aes128GCM, seed: 1)
    let receiver = SRTPReceiver(.aes128GCM, master, streamsLimit: 2)
    let sender = SRTPSender(.aes128GCM, master)
    for ssrc in 0..<100 as Range<UInt32> {
      #expect(open(rtp(1, ssrc: ssrc) + [UInt8](repeating: 0, count: 16), receiver) == nil)
    }
    #expect(open(seal(rtp(1, ssrc: 1), sender), receiver) != nil)
    #expect(open(seal(rtp(1, ssrc: 2), sender), receiver) != nil)
    #expect(open(seal(rtp(1, ssrc: 3), sender), receiver) == nil)
  }

  @Test(arguments: SRTPProfile.allCases) func noInputTraps(_ profile: SRTPProfile) {
    let master = SRTPMaster.random(profile, seed: 1)
    let receiver = SRTPReceiver(profile, master, streamsLimit: 4)
    attack(seal(rtp(7), SRTPSender(profile, master))) { _ = open($0, receiver) }
    attack(SRTPSender(profile, master).sealControl(hex("80c90001 00000001"))) { _ = openControl($0, receiver) }
  }
}

@Suite struct ReplayWindowTests {
  @Test func everyIndexIsTakenOnceWithinTheWindow() {
    var window = ReplayWindow()
    var seen: Set<UInt64> = []
    var random = SeededGenerator(seed: 9)
    var highest: UInt64 = 5000
    for _ in 0..<20_000 {
      let index = highest + 3 - UInt64.random(in: 0...1100, using: &random)
      let expected = !seen.contains(index) && (seen.isEmpty || index > highest || highest - index < ReplayWindow.width)
      #expect(window.isFresh(index) == expected)
      guard expected else { continue }
      if seen.isEmpty { highest = index }
      seen.insert(index)
      window.insert(index)
      highest = max(highest, index)
    }
  }

  @Test func aJumpClearsTheWindow() {
    var window = ReplayWindow()
    window.insert(10)
    window.insert(10 + ReplayWindow.width)
    #expect(window.isFresh(11))
    #expect(!window.isFresh(10))
    window.insert(1 << 47)
    #expect(window.isFresh((1 << 47) - 1))
  }

  @Test func noIndexLiesBeforeTheFirstPacketOrBeyondTheKey() {
    var window = ReplayWindow()
    window.insert(1)
    #expect(window.index(of: 65_535) == nil)
    #expect(window.index(of: 3) == 3)
    window.insert((1 << 48) - 1)
    #expect(window.index(of: 0) == nil)
  }
}
