@testable import MediaRouter
import Testing

@Suite struct ForwardingUnitBandwidthTests {
  @Test func aNarrowPathGetsALowerLayerThenSoundAlone() throws {
    var call = Call(layers: 3)
    call.sources[0].packetsPerFrame = 1
    call.sources[2].packetsPerFrame = 9
    var estimate: UInt64?
    func play(_ seconds: Int) {
      for _ in 0..<seconds {
        if let estimate {
          call.subscriber.sendControl { $0.receiverEstimate(sender: 1, bitsPerSecond: estimate, ssrcs: [Call.ssrc]) }
        }
        call.publish(frames: 30)
      }
    }
    let subscription = try #require(call.simulation.unit.subscription(SubscriptionID(1)))
    play(3)
    #expect(subscription.layer == 2)
    // About 50, 160 and 470 kbit/s.
    estimate = 300_000
    play(4)
    #expect(subscription.layer == 1)
    estimate = 100_000
    play(3)
    #expect(subscription.layer == 0)
    estimate = 40_000
    play(3)
    #expect(subscription.layer == nil)
    #expect(call.simulation.events.last == .layer(SubscriptionID(1), nil))
    let before = call.received.count
    play(2)
    #expect(call.received.count == before)
    estimate = 5_000_000
    play(30)
    #expect(subscription.layer == 2)
    #expect(call.isComplete)
  }

  // Proves A8
  @Test func theSpeakerOfASessionIsTold() {
    let simulation = Simulation()
    let peers = [simulation.join(), simulation.join()]
    for (i, peer) in peers.enumerated() {
      var parameters = TrackParameters(codec: .opus, payloadType: 111)
      parameters.extensions.audioLevel = 1
      parameters.session = 7
      simulation.command(.publish(TrackID(UInt64(i)), on: peer.id, parameters))
    }
    for turn in 0..<2 {
      for number in 0..<150 as Range<UInt16> {
        for (i, peer) in peers.enumerated() {
          var packet = rtp(UInt16(turn) * 150 + number, ssrc: UInt32(i))
          packet[0] |= 0x10
          packet[1] = 111
          packet.insert(contentsOf: [0xBE, 0xDE, 0, 1, 0x10, i == turn ? 0x80 | 20 : 127, 0, 0], at: 12)
          peer.send(packet)
        }
        simulation.run(.milliseconds(20))
      }
    }
    let speakers = simulation.events.compactMap { event in
      if case .speaker(7, let track) = event { track.number } else { nil }
    }
    #expect(speakers == [0, 1])
    for peer in peers { simulation.command(.close(peer.id)) }
    #expect(simulation.unit.speakers.isEmpty)
  }
}
