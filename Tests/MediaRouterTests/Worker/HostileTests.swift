import Addresses
import Glibc
@testable import MediaRouter
import Synchronization
import Testing

/// A worker under attack by strangers and by a peer, while a publisher and a subscriber go on. `MARTLET_LONG=1` makes it a minute.
@Suite struct HostileTests {
  private static let seconds: Int64 = getenv("MARTLET_LONG") == nil ? 5 : 60

  /// Everything a network may send, from a seed.
  private struct Attacker {
    var random = SeededGenerator(seed: 8)
    /// What the peers sent, to be said again.
    var overheard: [[UInt8]] = []
    /// Of a peer that is in the session and hostile.
    let credentials: ICECredentials
    let identity = try! DTLSIdentity()

    mutating func datagram() -> [UInt8] {
      switch Int.random(in: 0..<6, using: &random) {
      case 0: return random.bytes(Int.random(in: 0...1400, using: &random))
      case 1: return [UInt8.random(in: 128...191, using: &random)] + random.bytes(Int.random(in: 1...200, using: &random))
      case 2: return forged()
      case 3: return overheard.randomElement(using: &random) ?? []
      case 4: return check()
      default: return hello()
      }
    }

    /// Something overheard, cut or with bits changed.
    private mutating func forged() -> [UInt8] {
      guard var bytes = overheard.randomElement(using: &random), !bytes.isEmpty else { return [] }
      if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 1...bytes.count, using: &random)) }
      for _ in 0..<3 where !bytes.isEmpty {
        bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
      }
      return bytes
    }

    /// An authentic check with attributes nobody expects, which nominates nothing.
    private mutating func check() -> [UInt8] {
      var writer = STUNWriter(.bindingRequest, transactionID: random.bytes(12))
      writer.username(credentials.ufrag + Array(":peer".utf8))
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        var attribute = random.bytes(2)
        if attribute == [0, 0x25] { attribute = [0, 0x24] }
        let count = Int.random(in: 0...20, using: &random)
        attribute += [0, UInt8(count)] + random.bytes((count + 3) & ~3)
        writer.append(attribute)
      }
      return writer.seal(key: HMACSHA1(key: credentials.password))
    }

    private func hello() -> [UInt8] {
      DTLSSession(identity, isClient: true, fingerprint: identity.fingerprint, now: .zero).output[0]
    }
  }

  // Proves M21, Q9
  @Test func aPairGoesOnWhileStrangersAttack() async throws {
    let events = Mutex<[RouterEvent]>([])
    let worker = try MediaWorker(DTLSIdentity(), address: TransportAddress(IPAddress("127.0.0.1")!, port: 0)) { new in
      events.withLock { $0 += new }
    }
    try worker.start()
    let (publisher, subscriber) = (NetworkPeer(1, worker), NetworkPeer(2, worker))
    let insider = NetworkPeer(3, worker)
    var track = TrackParameters(codec: .vp8, payloadType: 96)
    track.hasNack = true
    var subscription = SubscriptionParameters(ssrc: Call.ssrc, payloadType: 96)
    (subscription.hasNack, subscription.rtxSSRC, subscription.rtxPayloadType) = (true, Call.ssrc + 1, 97)
    subscriber.peer.repairs = [Call.ssrc + 1: Call.ssrc]
    worker.submit([
      .publish(Call.track, on: publisher.peer.id, track),
      .subscribe(SubscriptionID(1), to: Call.track, on: subscriber.peer.id, subscription)
    ])
    let peers = [publisher, subscriber, insider]
    while !peers.allSatisfy(\.peer.isConnected) {
      for peer in peers { peer.step() }
      usleep(2000)
    }

    var attacker = Attacker(credentials: insider.peer.credentials)
    let strangers = (0..<8).map { _ in Socket() }
    var source = VP8Source(ssrc: 10)
    let end = NetworkPeer.now + .seconds(Self.seconds)
    var attacks = 0
    while NetworkPeer.now < end {
      let frame = source.frame(isKey: source.frames % 60 == 0)
      for (packet, rollOver) in frame { publisher.peer.send(packet, rollOver: rollOver) }
      for _ in 0..<10 {
        for peer in peers { peer.step() }
        for socket in strangers { socket.send((0..<8).map { _ in attacker.datagram() }, to: worker.address) }
        insider.socket.send((0..<8).map { _ in attacker.datagram() }, to: worker.address)
        attacks += 72
        for socket in strangers { _ = socket.read() }
        usleep(3000)
      }
      // Their checks too: who stands on the path and says these again from elsewhere moves nothing.
      attacker.overheard = (attacker.overheard + publisher.peer.overheard + subscriber.peer.overheard).suffix(64)
    }
    let sent = source.frames * source.packetsPerFrame
    let settled = NetworkPeer.now + .seconds(10)
    while subscriber.peer.received[Call.ssrc]?.count ?? 0 < sent, NetworkPeer.now < settled {
      for peer in peers { peer.step() }
      usleep(2000)
    }
    #expect(subscriber.peer.received[Call.ssrc]?.count == sent, "\(attacks) attacks")

    worker.submit([.count])
    while !events.withLock({ $0.contains { if case .counts = $0 { true } else { false } } }) { usleep(2000) }
    await worker.stop()
    let counts = RouterCounts(transports: 3, tracks: 1, subscriptions: 1, addresses: 3)
    #expect(events.withLock { $0.contains(.counts(counts)) })
    #expect(!events.withLock { $0.contains { if case .ended = $0 { true } else { false } } })
  }
}
