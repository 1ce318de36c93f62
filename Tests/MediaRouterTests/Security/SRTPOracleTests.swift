import CSRTP
@testable import MediaRouter
import Testing

/// libsrtp2 with the same keys: what one seals the other opens, and sealed packets are equal byte by byte.
private final class Oracle {
  private var session: srtp_t?

  init(_ profile: SRTPProfile, _ master: SRTPMaster, isSealing: Bool) {
    srtp_init()
    var policy = srtp_policy_t()
    if profile == .aes128GCM {
      srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
      srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
    } else {
      srtp_crypto_policy_set_rtp_default(&policy.rtp)
      srtp_crypto_policy_set_rtp_default(&policy.rtcp)
    }
    policy.ssrc.type = isSealing ? ssrc_any_outbound : ssrc_any_inbound
    policy.window_size = 1024
    var key = master.key + master.salt
    key.withUnsafeMutableBufferPointer { bytes in
      policy.key = bytes.baseAddress
      srtp_create(&session, &policy)
    }
  }

  deinit { srtp_dealloc(session) }

  func run(
    _ packet: [UInt8], _ function: (srtp_t?, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?) -> srtp_err_status_t
  ) -> [UInt8]? {
    var bytes = packet + [UInt8](repeating: 0, count: 32)
    var count = Int32(packet.count)
    let status = bytes.withUnsafeMutableBytes { function(session, $0.baseAddress, &count) }
    return status == srtp_err_status_ok ? Array(bytes[..<Int(count)]) : nil
  }
}

@Suite(.serialized) struct SRTPOracleTests {
  private static func packets(_ seed: UInt64) -> [[UInt8]] {
    var random = SeededGenerator(seed: seed)
    return (0..<300).map { i in
      var packet = rtp(
        UInt16(truncatingIfNeeded: 65_400 + i), ssrc: UInt32(i % 3),
        payload: random.bytes(Int.random(in: 0...1200, using: &random)))
      guard Bool.random(using: &random) else { return packet }
      packet[0] |= 0x10
      let words = Int.random(in: 0...5, using: &random)
      packet.insert(contentsOf: [0xBE, 0xDE, 0, UInt8(words)] + random.bytes(4 * words), at: 12)
      return packet
    }
  }

  // Proves M4, Q10
  @Test(arguments: SRTPProfile.allCases) func packetsAreThoseOfTheOracle(_ profile: SRTPProfile) {
    let master = SRTPMaster.random(profile, seed: 5)
    let ours = SRTPSender(profile, master)
    let oracle = Oracle(profile, master, isSealing: true)
    let receiver = SRTPReceiver(profile, master, streamsLimit: 3)
    let opening = Oracle(profile, master, isSealing: false)
    for (i, packet) in Self.packets(7).enumerated() {
      let sealed = seal(packet, ours, rollOver: 65_400 + i > 65_535 ? 1 : 0)
      #expect(oracle.run(packet, srtp_protect) == sealed)
      #expect(opening.run(sealed, srtp_unprotect) == packet)
      #expect(open(sealed, receiver) == packet)
    }
  }

  // Proves Q10
  @Test(arguments: SRTPProfile.allCases) func controlPacketsAreThoseOfTheOracle(_ profile: SRTPProfile) {
    let master = SRTPMaster.random(profile, seed: 6)
    let ours = SRTPSender(profile, master)
    let oracle = Oracle(profile, master, isSealing: true)
    let receiver = SRTPReceiver(profile, master, streamsLimit: 3)
    var random = SeededGenerator(seed: 8)
    for count in 0..<50 {
      let packet = hex("80c90001 00000001") + random.bytes(4 * count)
      let sealed = ours.sealControl(packet)
      #expect(oracle.run(packet, srtp_protect_rtcp) == sealed)
      #expect(openControl(sealed, receiver) == packet)
    }
  }
}
