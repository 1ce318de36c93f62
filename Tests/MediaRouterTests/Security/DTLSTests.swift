@testable import MediaRouter
import Testing

extension MediaTime {
  static let zero = MediaTime(microseconds: 0)
}

/// Two sessions that hand each other their datagrams, some of which are lost.
private struct Handshake {
  let client: DTLSSession
  let server: DTLSSession
  var now = MediaTime.zero
  var sent = 0

  init(
    clientProfiles: [SRTPProfile] = SRTPProfile.allCases, serverProfiles: [SRTPProfile] = [.aes128GCM, .aes128CounterSHA1],
    wrongFingerprint: Bool = false
  ) throws {
    let clientIdentity = try DTLSIdentity(profiles: clientProfiles)
    let serverIdentity = try DTLSIdentity(profiles: serverProfiles)
    let expected = wrongFingerprint ? clientIdentity.fingerprint : serverIdentity.fingerprint
    client = DTLSSession(clientIdentity, isClient: true, fingerprint: expected, now: now)
    server = DTLSSession(serverIdentity, isClient: false, fingerprint: clientIdentity.fingerprint, now: now)
  }

  /// Runs until both have ended; `isLost` is asked for each datagram in order.
  mutating func run(isLost: (Int) -> Bool = { _ in false }) {
    for _ in 0..<1000 {
      var isQuiet = true
      for (from, to) in [(client, server), (server, client)] {
        let datagrams = from.output
        from.output = []
        for datagram in datagrams {
          #expect(datagram.count <= DTLSSession.datagramLimit)
          isQuiet = false
          sent += 1
          if !isLost(sent - 1) { to.receive(datagram.span.bytes, now: now) }
        }
      }
      guard isQuiet else { continue }
      guard let next = [client.deadline, server.deadline].compactMap({ $0 }).min() else { return }
      now = next
      client.advance(to: now)
      server.advance(to: now)
    }
  }
}

@Suite struct DTLSTests {
  // Proves M3
  @Test(arguments: SRTPProfile.allCases) func bothEndsAgreeOnKeys(_ profile: SRTPProfile) throws {
    var handshake = try Handshake(clientProfiles: [profile])
    handshake.run()
    #expect(handshake.client.state == .established)
    #expect(handshake.server.state == .established)
    let keys = try #require(handshake.server.keys)
    #expect(keys.profile == profile)
    #expect(keys == handshake.client.keys)
    #expect(keys.client != keys.server)
    #expect(keys.client.salt.count == profile.saltBytes)
  }

  // Proves M4
  @Test func theServersPreferenceDecides() throws {
    var handshake = try Handshake(clientProfiles: [.aes128CounterSHA1, .aes128GCM])
    handshake.run()
    #expect(handshake.server.keys?.profile == .aes128GCM)
  }

  // Proves M3
  @Test func anotherCertificateThanAnnouncedFails() throws {
    var handshake = try Handshake(wrongFingerprint: true)
    handshake.run()
    #expect(handshake.client.state == .failed)
    #expect(handshake.client.keys == nil)
  }

  // Proves M3
  @Test(arguments: 0..<12) func lostDatagramsAreSentAgain(_ lost: Int) throws {
    var handshake = try Handshake()
    handshake.run { $0 == lost || $0 == lost + 2 }
    #expect(handshake.client.state == .established)
    #expect(handshake.server.state == .established)
    #expect(handshake.now < .zero + .seconds(3))
  }

  /// A peer that came to the address of one that had gone without a word took the answer for a part of its own handshake, which failed.
  @Test func whoBeginsAnewAtAnAddressIsNotAnsweredByTheOldSession() throws {
    var handshake = try Handshake()
    handshake.run()
    let other = try Handshake()
    try #require(!other.client.output.isEmpty)
    for datagram in other.client.output { handshake.server.receive(datagram.span.bytes, now: handshake.now + .seconds(5)) }
    #expect(handshake.server.output.isEmpty && handshake.server.state == .established)
  }

  @Test func aSilentPeerIsGivenUp() throws {
    var handshake = try Handshake()
    handshake.run { _ in true }
    #expect(handshake.client.state == .failed)
    #expect(handshake.now == .zero + DTLSSession.handshakeLimit)
    // Doubling up to the limit: 0.2, 0.6, 1.4, 3.0, then each 3 s.
    #expect(handshake.sent == 13)
  }

  @Test func aGoodbyeIsHeard() throws {
    var handshake = try Handshake()
    handshake.run()
    handshake.client.close()
    handshake.run()
    #expect(handshake.server.state == .closed)
  }

  @Test func noInputTraps() throws {
    let identity = try DTLSIdentity()
    let hello = try Handshake().client.output[0]
    var random = SeededGenerator(seed: 4)
    for _ in 0..<300 {
      let session = DTLSSession(identity, isClient: false, fingerprint: identity.fingerprint, now: .zero)
      for _ in 0..<5 {
        var bytes = hello
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
        session.receive(bytes.span.bytes, now: .zero)
        session.receive(([22, 254, 253] + random.bytes(Int.random(in: 0...90, using: &random))).span.bytes, now: .zero)
      }
      #expect(session.state != .established)
    }
  }
}

@Suite struct FingerprintTests {
  @Test func textAndBack() throws {
    let fingerprint = try DTLSIdentity().fingerprint
    #expect(fingerprint.description.hasPrefix("sha-256 "))
    #expect(Fingerprint(fingerprint.description) == fingerprint)
    #expect(Fingerprint(fingerprint.description.lowercased()) == fingerprint)
  }

  @Test(arguments: [
    "", "sha-256", "sha-256 AB", "sha-1 AB", "sha-256 " + Array(repeating: "+A", count: 32).joined(separator: ":")
  ])
  func othersAreRefused(_ text: String) { #expect(Fingerprint(text) == nil) }
}
