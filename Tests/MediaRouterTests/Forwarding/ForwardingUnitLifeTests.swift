import Addresses
@testable import MediaRouter
import Testing

/// Who comes in, what goes when somebody leaves, and how much there may be.
@Suite struct ForwardingUnitLifeTests {
  // Proves M21
  @Test func aStrangerMakesNoState() {
    let simulation = Simulation()
    let local = ICECredentials(ufrag: Array("user".utf8), password: Array("password".utf8))
    let fingerprint = Fingerprint("sha-256 " + Array(repeating: "00", count: 32).joined(separator: ":"))!
    simulation.command(.open(TransportID(1), TransportParameters(local: local, fingerprint: fingerprint)))
    let stranger = TransportAddress(IPAddress("203.0.113.1")!, port: 1)
    var random = SeededGenerator(seed: 1)
    let forged = SimulatedPeer.check(ICECredentials(ufrag: local.ufrag, password: [1]))
    let unknown = SimulatedPeer.check(ICECredentials(ufrag: [1], password: local.password))
    for datagram in [forged, unknown, [22, 254, 253] + random.bytes(100), rtp(1), hex("80c90001 00000001"), []] {
      simulation.inject(datagram, from: stranger)
    }
    attack(SimulatedPeer.check(local).dropLast(40) + [], rounds: 500) { simulation.inject($0, from: stranger) }
    simulation.run(.milliseconds(50))
    #expect(simulation.unit.counts == RouterCounts(transports: 1, tracks: 0, subscriptions: 0, addresses: 0))
    #expect(simulation.unit.transport(ufrag: local.ufrag)?.dtls == nil)
  }

  // Proves M2
  @Test func anAddressIsAskedWhenItIsNominated() {
    var call = Call()
    call.publish(frames: 5)
    let other = TransportAddress(IPAddress("203.0.113.1")!, port: 1)
    let transport = call.simulation.unit.transport(at: call.subscriber.address)!
    call.simulation.inject(SimulatedPeer.check(transport.parameters.local, nominates: false), from: other)
    #expect(transport.address == call.subscriber.address)
    call.simulation.inject(SimulatedPeer.check(transport.parameters.local, isControlling: false), from: other)
    #expect(transport.address == call.subscriber.address)
    call.simulation.inject(SimulatedPeer.check(transport.parameters.local), from: other)
    #expect(transport.pathCheck?.address == other)
    #expect(call.simulation.unit.counts.addresses == 2)
  }

  // Proves M20
  @Test func aSilentPeerIsGone() {
    var call = Call()
    call.publish(frames: 5)
    call.subscriber.isSilent = true
    call.simulation.run(.seconds(33))
    #expect(call.simulation.events.contains(.ended(call.subscriber.id, .silence)))
    #expect(call.simulation.unit.counts == RouterCounts(transports: 1, tracks: 1, subscriptions: 0, addresses: 1))
  }

  @Test func aGoodbyeTakesTracksAndSubscriptionsAway() {
    var call = Call()
    call.publish(frames: 5)
    call.publisher.close()
    call.simulation.run(.milliseconds(100))
    #expect(call.simulation.events.contains(.ended(call.publisher.id, .goodbye)))
    #expect(call.simulation.unit.counts == RouterCounts(transports: 1, tracks: 0, subscriptions: 0, addresses: 1))
    call.simulation.command(.close(call.subscriber.id))
    #expect(call.simulation.unit.counts == RouterCounts(transports: 0, tracks: 0, subscriptions: 0, addresses: 0))
    #expect(call.simulation.unit.deadline == nil)
  }

  @Test func limitsHoldOnBothSides() {
    var limits = RouterLimits()
    limits.transports = 2
    limits.tracksOfTransport = 1
    limits.subscriptionsOfTransport = 1
    let simulation = Simulation(limits: limits)
    let (a, b) = (simulation.join(), simulation.join())
    func publish(_ id: UInt64) {
      simulation.command(.publish(TrackID(id), on: a.id, TrackParameters(codec: .vp8, payloadType: 96)))
    }
    func subscribe(_ id: UInt64) {
      simulation.command(
        .subscribe(
          SubscriptionID(id), to: TrackID(1), on: b.id, SubscriptionParameters(ssrc: UInt32(id), payloadType: 96)))
    }
    publish(1)
    subscribe(1)
    #expect(simulation.unit.events.isEmpty)
    publish(2)
    subscribe(2)
    let local = ICECredentials(ufrag: [1], password: [2])
    let fingerprint = simulation.unit.identity.fingerprint
    simulation.command(.open(TransportID(9), TransportParameters(local: local, fingerprint: fingerprint)))
    #expect(simulation.unit.events == [.refused(a.id), .refused(b.id), .refused(TransportID(9))])
    #expect(simulation.unit.counts == RouterCounts(transports: 2, tracks: 1, subscriptions: 1, addresses: 2))
  }

  @Test func handshakesSurviveLoss() {
    for seed in 1...5 as ClosedRange<UInt64> {
      let simulation = Simulation(seed: seed)
      simulation.sparesHandshake = false
      simulation.conditions.loss = 30
      let peer = simulation.join()
      simulation.run(.seconds(20)) { peer.isConnected }
      #expect(peer.isConnected)
    }
  }
}
