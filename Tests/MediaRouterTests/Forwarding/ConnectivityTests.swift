import Addresses
@testable import MediaRouter
import Testing

/// ICE restarts, silence, and what is published and subscribed to on a transport that lives already.
@Suite struct ConnectivityTests {
  private static let fresh = ICECredentials(ufrag: Array("fresh".utf8), password: Array("fresh-password-fresh-pw".utf8))
  private static let other = TransportAddress(IPAddress("203.0.113.1")!, port: 1)

  @Test func mediaGoOnOverARestart() throws {
    var call = Call()
    call.publish(frames: 10)
    let transport = try #require(call.simulation.unit.transport(at: call.subscriber.address))
    let old = call.subscriber.credentials
    call.simulation.command(.restart(call.subscriber.id, Self.fresh, remoteUfrag: Array("peer".utf8)))
    // Both count until a pair of the new ones is nominated.
    call.simulation.inject(SimulatedPeer.check(Self.fresh, nominates: false), from: Self.other)
    call.publish(frames: 80)
    #expect(call.simulation.unit.transport(ufrag: old.ufrag) === transport)
    #expect(transport.address == call.subscriber.address)
    call.subscriber.credentials = Self.fresh
    call.publish(frames: 80)
    #expect(call.simulation.unit.transport(ufrag: old.ufrag) == nil)
    #expect(call.simulation.unit.transport(ufrag: Self.fresh.ufrag) === transport)
    call.simulation.inject(SimulatedPeer.check(old), from: Self.other)
    #expect(transport.address == call.subscriber.address, "what came before the restart counts no more")
    call.simulation.inject(SimulatedPeer.check(Self.fresh), from: Self.other)
    #expect(transport.address == Self.other)
    #expect(call.received.count == 510 && call.isComplete)
    call.simulation.command(.close(call.subscriber.id))
    #expect(call.simulation.unit.transport(ufrag: Self.fresh.ufrag) == nil)
  }

  @Test func aRestartTakesThePlaceOfOneThatWasNotUsed() {
    let simulation = Simulation()
    let peer = simulation.join()
    let second = ICECredentials(ufrag: Array("second".utf8), password: Array("second-password-second".utf8))
    simulation.command(.restart(peer.id, Self.fresh, remoteUfrag: nil))
    simulation.command(.restart(peer.id, second, remoteUfrag: Array("next".utf8)))
    #expect(simulation.unit.transport(ufrag: Self.fresh.ufrag) == nil)
    // Checks are of the ufrag `peer`.
    simulation.inject(SimulatedPeer.check(second), from: Self.other)
    #expect(simulation.unit.transport(at: Self.other) == nil)
    simulation.command(.restart(peer.id, peer.credentials, remoteUfrag: nil))
    simulation.command(.restart(TransportID(99), Self.fresh, remoteUfrag: nil))
    #expect(simulation.unit.events == [.refused(peer.id), .refused(TransportID(99))])
    simulation.command(.close(peer.id))
    #expect(simulation.unit.transport(ufrag: second.ufrag) == nil)
    #expect(simulation.unit.transport(ufrag: peer.credentials.ufrag) == nil)
  }

  // Proves M20
  @Test func silenceIsToldAndItsEnd() {
    let simulation = Simulation()
    let peer = simulation.join()
    simulation.run(.seconds(20))
    #expect(simulation.events == [.connected(peer.id)])
    peer.isSilent = true
    simulation.run(.seconds(12)) { simulation.events.count > 1 }
    #expect(simulation.events.last == .silent(peer.id))
    simulation.run(.seconds(10))
    peer.isSilent = false
    simulation.run(.seconds(3))
    #expect(simulation.events.dropFirst() == [.silent(peer.id), .recovered(peer.id)])
    peer.isSilent = true
    simulation.run(.seconds(33))
    #expect(simulation.events.suffix(2) == [.silent(peer.id), .ended(peer.id, .silence)])
  }

  // Proves M20
  @Test func whoSendsIsThereWithoutChecksButNotByWhatIsRepeated() throws {
    let simulation = Simulation()
    let peer = simulation.join()
    peer.isSilent = true
    for _ in 0..<40 {
      peer.sendControl { _ in }
      simulation.run(.seconds(1))
    }
    #expect(simulation.events == [.connected(peer.id)])
    let last = try #require(peer.overheard.last { DatagramKind($0.span.bytes) == .rtcp })
    for _ in 0..<33 {
      simulation.inject(last, from: peer.address)
      simulation.run(.seconds(1))
    }
    #expect(simulation.events == [.connected(peer.id), .silent(peer.id), .ended(peer.id, .silence)])
  }

  @Test func sectionsComeAndGoOnOneTransport() throws {
    let simulation = Simulation()
    let (publisher, subscriber) = (simulation.join(), simulation.join())
    // The section, and with it the MID, is used again and again.
    for round in 1...4 as ClosedRange<UInt64> {
      var source = VP8Source(ssrc: UInt32(10 * round))
      var parameters = TrackParameters(codec: .vp8, payloadType: 96)
      parameters.mid = Array("0".utf8)
      simulation.command(.publish(TrackID(round), on: publisher.id, parameters))
      let ssrc = UInt32(1000 + round)
      simulation.command(
        .subscribe(
          SubscriptionID(round), to: TrackID(round), on: subscriber.id, SubscriptionParameters(ssrc: ssrc, payloadType: 96)))
      for frame in 0..<10 {
        for (packet, rollOver) in source.frame(isKey: frame == 0) { publisher.send(packet, rollOver: rollOver) }
        simulation.run(.milliseconds(33))
      }
      #expect(subscriber.received[ssrc]?.count == 30)
      #expect(simulation.unit.counts == RouterCounts(transports: 2, tracks: 1, subscriptions: 1, addresses: 2))
      simulation.command(round % 2 == 0 ? .unpublish(TrackID(round)) : .unsubscribe(SubscriptionID(round)))
      simulation.command(.unpublish(TrackID(round)))
      #expect(simulation.unit.counts == RouterCounts(transports: 2, tracks: 0, subscriptions: 0, addresses: 2))
    }
    #expect(simulation.unit.transport(at: publisher.address)?.sources.isEmpty ?? false)
  }
}
