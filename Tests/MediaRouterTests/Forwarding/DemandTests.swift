@testable import MediaRouter
import Testing

@Suite struct DemandTests {
  private static func demands(_ simulation: Simulation) -> [Int?] {
    simulation.events.compactMap { event -> Int?? in
      if case .demand(Call.track, let layer) = event { .some(layer) } else { nil }
    }
  }

  @Test func aPublisherIsToldWhichLayersNobodyWants() {
    var call = Call(layers: 3)
    call.publish(frames: 90)
    #expect(Self.demands(call.simulation) == [])
    call.simulation.command(.limit(SubscriptionID(1), LayerLimit(spatial: 0)))
    let second = SubscriptionParameters(ssrc: 9000, payloadType: 100)
    call.simulation.command(.subscribe(SubscriptionID(2), to: Call.track, on: call.subscriber.id, second))
    call.simulation.command(.limit(SubscriptionID(2), LayerLimit(spatial: 1)))
    call.publish(frames: 30)
    #expect(Self.demands(call.simulation) == [], "it may change again at once")
    call.publish(frames: 60)
    #expect(Self.demands(call.simulation) == [1])
    call.simulation.command(.limit(SubscriptionID(1), .highest))
    call.publish(frames: 10)
    #expect(Self.demands(call.simulation) == [1, 2])
    for id in [1, 2] as [UInt64] { call.simulation.command(.pause(SubscriptionID(id), true)) }
    call.publish(frames: 90)
    #expect(Self.demands(call.simulation) == [1, 2, nil])
    call.simulation.command(.pause(SubscriptionID(2), false))
    call.publish(frames: 10)
    #expect(Self.demands(call.simulation) == [1, 2, nil, 1])
  }

  @Test func whatAPathCarriesIsNoDemand() {
    var call = LimitedCall(rate: 300_000)
    call.play(seconds: 8)
    #expect(call.layer == 0)
    #expect(Self.demands(call.simulation) == [])
  }

  @Test func aPublisherIsCapped() {
    let simulation = Simulation()
    let publisher = simulation.join()
    var track = TrackParameters(codec: .vp8, payloadType: 96)
    track.hasReceiverEstimate = true
    track.layers = [TrackParameters.Layer(ssrc: 10), TrackParameters.Layer(ssrc: 11)]
    simulation.command(.publish(Call.track, on: publisher.id, track))
    func caps() -> [UInt64] {
      publisher.control.compactMap { if case .receiverEstimate(_, let rate, [10, 11]) = $0 { rate } else { nil } }
    }
    simulation.command(.cap(publisher.id, nil))
    simulation.run(.seconds(3))
    #expect(caps().isEmpty)
    simulation.command(.cap(publisher.id, 600_000))
    simulation.run(.seconds(3))
    #expect(caps().count >= 2 && caps().allSatisfy { $0 == 600_000 })
    simulation.command(.cap(publisher.id, nil))
    simulation.run(.seconds(2))
    #expect(caps().last.map { $0 > 1_000_000_000 } ?? false)
  }
}
