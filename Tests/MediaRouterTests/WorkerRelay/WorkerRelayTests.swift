@testable import MediaRouter
import Testing

/// A publisher at one worker, subscribers at another.
@Suite struct WorkerRelayTests {
  private static let there = WorkerID(1)

  /// The track as the subscriber's worker has it.
  private func relayed(_ call: Call) -> Track? { call.simulation.units[1].track(Call.track) }

  // Proves M17
  @Test func aSubscriberAtAnotherWorkerGetsWhatIsPublished() throws {
    var call = Call(isApart: true)
    call.publish(frames: 30)
    call.simulation.run(.milliseconds(100))
    let received = call.received
    #expect(call.isComplete && received.count >= 84)
    // A key frame first, with the encoder's bytes as they were: number, 200 of noise.
    #expect(received[0].payload[6] == 0 && received.allSatisfy { $0.payload.count == 211 })
    #expect(received.prefix(3).map { $0.payload.last } == [0, 1, 2])
    #expect(received.map(\.header.marker).prefix(6) == [false, false, true, false, false, true])
    #expect(call.simulation.events.filter { $0 == .trackStarted(Call.track) }.count == 1)
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>) func whatIsLostOnEitherWayIsRepaired(_ seed: UInt64) {
    var call = Call(seed: seed, layers: seed % 2 == 0 ? 1 : 3, rtx: seed != 3, isApart: true)
    call.publish(frames: 10)
    call.simulation.conditions = NetworkConditions(loss: 5, duplicates: 5, delay: .milliseconds(20), jitter: .milliseconds(20))
    call.publish(frames: 100)
    call.simulation.conditions = NetworkConditions()
    call.publish(frames: 15)
    call.simulation.run(.milliseconds(500))
    #expect(call.isComplete)
    #expect(call.received.count >= 3 * 120)
  }

  // Proves M17
  @Test func layersAreChangedWithoutASeamAndOnlyWhatIsWantedIsRelayed() throws {
    var call = Call(layers: 3, isApart: true)
    call.publish(frames: 40)
    let subscription = try #require(call.simulation.units[1].subscription(SubscriptionID(1)))
    let track = try #require(relayed(call))
    #expect(subscription.layer == 2)
    for (limit, alive) in [(0, [true, false, false]), (1, [true, true, false]), (2, [true, true, true])] {
      call.simulation.command(.limit(SubscriptionID(1), LayerLimit(spatial: limit)), at: Self.there)
      call.publish(frames: 40)
      #expect(subscription.layer == limit)
      #expect((0..<3).map { track.isAlive($0) } == alive)
    }
    call.simulation.run(.milliseconds(100))
    #expect(call.isComplete)
  }

  // Proves M17
  @Test func aPublisherIsAskedOnceForAKeyFrameThatSubscribersOfAllWorkersLack() {
    var call = Call(isApart: true)
    let near = call.simulation.join()
    let others = (0..<4).map { _ in call.simulation.join(at: Self.there) }
    for (number, (peer, worker)) in ([(near, WorkerID(0))] + others.map { ($0, Self.there) }).enumerated() {
      let parameters = SubscriptionParameters(ssrc: Call.ssrc, payloadType: 100)
      let id = SubscriptionID(UInt64(10 + number))
      call.simulation.command(.subscribe(id, to: Call.track, on: peer.id, parameters), at: worker)
    }
    call.publish(frames: 30)
    let before = call.publisher.pictureLossCount
    call.simulation.run(.seconds(1))
    for peer in [near, call.subscriber] + others { peer.sendControl { $0.pictureLoss(sender: 77, media: Call.ssrc) } }
    call.publish(frames: 10)
    call.simulation.run(.seconds(1))
    #expect(call.publisher.pictureLossCount == before + 1)
  }

  @Test func whatIsMutedIsNotRelayed() {
    var call = Call(isApart: true)
    call.publish(frames: 10)
    call.simulation.run(.milliseconds(100))
    let before = call.received.count
    for worker in [WorkerID(0), Self.there] { call.simulation.command(.mute(Call.track, true), at: worker) }
    call.publish(frames: 10)
    #expect(call.received.count == before)
    #expect(relayed(call)?.isAlive(0) == true, "the last one that came is the newest")
    for worker in [WorkerID(0), Self.there] { call.simulation.command(.mute(Call.track, false), at: worker) }
    call.publish(frames: 10)
    call.simulation.run(.milliseconds(100))
    #expect(call.received.count >= before + 30)
  }

  @Test func whatNobodyThereGetsIsNotRelayed() throws {
    var call = Call(isApart: true)
    let publisher = try #require(call.simulation.unit.track(Call.track))
    call.publish(frames: 5)
    #expect(publisher.recipients.map(\.highestLayer) == [0])
    call.simulation.command(.pause(SubscriptionID(1), true), at: Self.there)
    call.publish(frames: 90)
    #expect(publisher.recipients.map(\.highestLayer) == [nil])
    #expect(call.simulation.events.last == .demand(Call.track, nil))
    call.simulation.command(.pause(SubscriptionID(1), false), at: Self.there)
    call.publish(frames: 20)
    #expect(call.simulation.events.last == .demand(Call.track, 0))
    call.simulation.command(.unsubscribe(SubscriptionID(1)), at: Self.there)
    call.simulation.run(.milliseconds(10))
    #expect(publisher.recipients.map(\.highestLayer) == [nil])
  }

  // Proves M17
  @Test func aTrackEndsAtBothWorkersInAnyOrderAndWhatIsLateIsNobodys() throws {
    for isPublisherFirst in [true, false] {
      var call = Call(isApart: true)
      call.publish(frames: 10)
      let (near, far) = (call.simulation.unit, call.simulation.units[1])
      call.publisher.send(call.sources[0].frame(isKey: false)[0].packet)
      call.simulation.command(.unpublish(Call.track), at: isPublisherFirst ? WorkerID(0) : Self.there)
      if !isPublisherFirst {
        #expect(far.counts.subscriptions == 0)
        call.publish(frames: 5)
        #expect(near.track(Call.track)?.recipients.isEmpty == true)
      }
      call.publish(frames: 5)
      call.simulation.command(.unpublish(Call.track), at: isPublisherFirst ? Self.there : WorkerID(0))
      call.publish(frames: 5)
      for unit in [near, far] { #expect(unit.counts.tracks == 0 && unit.counts.subscriptions == 0) }
      var left = 0
      for unit in [near, far] { unit.relay { batch, _ in left += batch.packetCount } }
      #expect(left == 0)
    }
  }

  @Test func aTransportEndsWithItsSubscriptionsAndWithWhatItPublished() {
    var call = Call(isApart: true)
    call.publish(frames: 5)
    call.simulation.command(.close(call.subscriber.id), at: Self.there)
    call.publish(frames: 5)
    #expect(call.simulation.unit.track(Call.track)?.recipients.map(\.highestLayer) == [nil])
    call.simulation.command(.close(call.publisher.id))
    call.publish(frames: 5)
    #expect(call.simulation.unit.counts.tracks == 0)
    // The side that told it to accept the track takes that back.
    call.simulation.command(.unpublish(Call.track), at: Self.there)
    #expect(call.simulation.units[1].deadline == nil)
  }

  @Test func theClockOfAPublisherIsKnownAtTheOtherWorkerAlsoFromBefore() throws {
    var call = Call(isApart: true)
    call.simulation.command(.unpublish(Call.track), at: Self.there)
    let report = SenderReport(ssrc: 10, ntpTime: 0xE000_0000_8000_0000, rtpTime: 10_000, packetCount: 1, octetCount: 1)
    call.publish(frames: 1)
    call.publisher.sendControl { $0.senderReport(report) }
    call.publish(frames: 5)
    let parameters = try #require(call.simulation.unit.track(Call.track)?.parameters)
    call.simulation.command(.accept(Call.track, from: WorkerID(0), parameters), at: Self.there)
    call.publish(frames: 1)
    #expect(relayed(call)?.layers[0].lastSenderReport == report)
    let later = SenderReport(ssrc: 10, ntpTime: 0xE000_0001_8000_0000, rtpTime: 100_000, packetCount: 1, octetCount: 1)
    call.publisher.sendControl { $0.senderReport(later) }
    call.publish(frames: 5)
    #expect(relayed(call)?.layers[0].lastSenderReport == later)
  }

  @Test func paddingLeavesNoGapAtTheOtherWorker() {
    var call = Call(isApart: true)
    call.publish(frames: 10)
    for _ in 0..<5 {
      // A probe: a packet without media has the next number.
      var padding = call.sources[0].frame(isKey: false)
      var packet = Array(padding.removeFirst().packet[..<12])
      packet[0] |= 0x20
      packet += [UInt8](repeating: 0, count: 49) + [50]
      call.publisher.send(packet)
      for (rest, rollOver) in padding { call.publisher.send(rest, rollOver: rollOver) }
      call.publish(frames: 2)
    }
    call.simulation.run(.milliseconds(100))
    #expect(call.isComplete && call.received.count >= 60)
  }

  // Proves M17
  @Test func theSpeakerOfASessionIsToldByItsHomeWorkerAlone() {
    let simulation = Simulation(workers: 2)
    let peers = [simulation.join(), simulation.join(at: Self.there)]
    for (number, peer) in peers.enumerated() {
      var parameters = TrackParameters(codec: .opus, payloadType: 111)
      parameters.extensions.audioLevel = 1
      parameters.session = number == 0 ? 7 : nil
      simulation.command(.publish(TrackID(UInt64(number)), on: peer.id, parameters), at: WorkerID(number))
      guard number == 1 else { continue }
      parameters.session = 7
      // Nobody at home gets it, but it is heard there.
      simulation.command(.accept(TrackID(1), from: Self.there, parameters))
    }
    for number in 0..<100 as Range<UInt16> {
      for (i, peer) in peers.enumerated() {
        var packet = rtp(number, ssrc: UInt32(i))
        (packet[0], packet[1]) = (packet[0] | 0x10, 111)
        packet.insert(contentsOf: [0xBE, 0xDE, 0, 1, 0x10, i == 1 ? 0x80 | 20 : 127, 0, 0], at: 12)
        peer.send(packet)
      }
      simulation.run(.milliseconds(20))
    }
    let told = simulation.events.filter { if case .speaker = $0 { true } else { false } }
    #expect(told == [.speaker(session: 7, TrackID(1))])
  }
}
