@testable import MediaRouter
import Testing

@Suite struct ForwardingUnitTests {
  // Proves M1
  @Test func whatIsPublishedArrivesUnderTheSubscribersNumbers() throws {
    var call = Call()
    call.publish(frames: 30)
    call.simulation.run(.milliseconds(100))
    #expect(call.received.count == 90)
    #expect(call.isComplete)
    let first = try #require(call.received.first)
    #expect(first.header.payloadType == 100)
    #expect(call.received.map(\.header.marker).prefix(4) == [false, false, true, false])
    // What the encoder wrote behind the descriptor is untouched.
    #expect(call.received.map { $0.payload.span.bytes.uint32(at: 7) } == Array(100..<190))
    let times = call.received.map(\.header.timestamp)
    #expect(times[3] &- times[0] == 3000 && times[2] == times[0])
    #expect(call.simulation.events.contains(.trackStarted(Call.track)))
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64]) func numbersWrap(_ seed: UInt64) {
    var call = Call(seed: seed, firstNumber: 65_500)
    call.publish(frames: 60)
    call.simulation.run(.milliseconds(100))
    #expect(call.received.count == 180)
    #expect(call.isComplete)
  }

  // Proves M1, M8, Q6, Q7
  @Test(arguments: [5, 20], [1, 2, 3] as [UInt64])
  func lostReorderedAndRepeatedPacketsArriveInTheEnd(_ loss: Int, _ seed: UInt64) {
    var call = Call(seed: seed)
    call.publish(frames: 3)
    call.simulation.conditions = NetworkConditions(
      loss: loss, duplicates: 5, delay: .milliseconds(20), jitter: .milliseconds(loss == 5 ? 200 : 20))
    call.publish(frames: 150)
    call.simulation.conditions = NetworkConditions()
    call.publish(frames: 15)
    call.simulation.run(.milliseconds(500))
    // At a fifth lost each way some requests for one packet are all lost, and its turn passes.
    #expect(call.received.count >= 504 - (loss == 5 ? 0 : 12))
    #expect(call.isComplete || loss == 20)
    #expect(Set(call.received.map { $0.payload.span.bytes.uint32(at: 7) }).count == call.received.count)
  }

  // Proves M8
  @Test func withoutRTXAStampedPacketIsNotSentAgain() {
    for sendTime: UInt8 in [0, 4] {
      var call = Call(sendTime: sendTime, rtx: false)
      call.publish(frames: 5)
      let packet = call.received[4]
      let count = call.subscriber.control.count
      call.subscriber.sendControl {
        $0.nack(sender: 1, media: Call.ssrc, lost: [NackPair(first: packet.header.sequenceNumber, following: 0)])
      }
      call.simulation.run(.milliseconds(100))
      let subscription = call.simulation.unit.subscription(SubscriptionID(1))!
      let index = subscription.history.want(packet.header.sequenceNumber, now: call.simulation.now + .seconds(1))
      #expect((index.flatMap { subscription.history.wanted($0) }?.resends ?? 0) == (sendTime == 0 ? 1 : 0))
      #expect(call.subscriber.control.count >= count)
    }
  }

  @Test func whatIsTooLargeToBeSentOnIsLeftOut() {
    var call = Call()
    call.publish(frames: 2)
    let before = call.received.count
    // Header of 12 bytes and tag of 16.
    for extra in [0, 1] {
      var packet = call.sources[0].frame(isKey: false)[0]
      packet.packet += [UInt8](repeating: 9, count: SendBatch.datagramLimit - 16 - packet.packet.count + extra)
      call.publisher.send(packet.packet, rollOver: packet.rollOver)
    }
    call.simulation.run(.milliseconds(200))
    #expect(call.received.count == before + 1)
  }

  @Test func theSendTimeIsStamped() throws {
    var call = Call(sendTime: 4)
    call.publish(frames: 5)
    let stamps = try call.received.map { packet in
      let value = try #require(HeaderExtensions.value(4, of: packet.header, in: packet.packet))
      return packet.packet.span.bytes.uint24(at: value.lowerBound)
    }
    // 33 ms in 2^-18 s.
    let step = stamps[3] - stamps[0]
    #expect((8500...8800).contains(step))
  }

  // Proves M6
  @Test func aLayerIsChangedAtAKeyFrameWithoutASeam() {
    var call = Call(layers: 3)
    for layer in [0, 2, 1, 0, 2] {
      call.simulation.command(.limit(SubscriptionID(1), LayerLimit(spatial: layer)))
      call.publish(frames: 30)
      #expect(call.simulation.unit.subscription(SubscriptionID(1))?.layer == layer)
    }
    #expect(call.isComplete)
    // One frame after the other: pictures by one, base layer by one, time forwards.
    let starts = call.received.filter { $0.payload[0] & 0x10 != 0 }
    for (a, b) in zip(starts, starts.dropFirst()) {
      let (before, after) = (a.payload.span.bytes, b.payload.span.bytes)
      #expect((after.uint16(at: 2) &- before.uint16(at: 2)) & 0x7FFF == 1)
      #expect(after.uint8(at: 4) &- before.uint8(at: 4) == 1)
      #expect(Int32(bitPattern: b.header.timestamp &- a.header.timestamp) > 0)
    }
    #expect(starts.count > 100)
  }

  @Test func aPictureIsDatedByItsCaptureWhicheverLayerCarriesIt() {
    var call = Call(layers: 2)
    call.lags = [0, 3]
    // The clocks of the layers begin at their SSRC times 1000, at the same moment.
    for source in call.sources {
      let report = SenderReport(
        ssrc: source.ssrc, ntpTime: 1 << 40, rtpTime: source.ssrc * 1000, packetCount: 0, octetCount: 0)
      call.publish(frames: 4)
      call.publisher.sendControl { $0.senderReport(report) }
    }
    for layer in [0, 1, 0, 1, 0, 1, 0] {
      call.simulation.command(.limit(SubscriptionID(1), LayerLimit(spatial: layer)))
      call.publish(frames: 20)
    }
    let starts = call.received.filter { $0.payload[0] & 0x10 != 0 }
    #expect(zip(starts, starts.dropFirst()).allSatisfy { Int32(bitPattern: $1.header.timestamp &- $0.header.timestamp) > 0 })
    // By how much a picture's time is ahead of its capture's, which the packet's number in both layers tells: three of them a picture, 3000 ticks.
    let ahead = starts.suffix(120).map { start in
      start.header.timestamp &- 1000 &* start.payload.span.bytes.uint32(at: 7)
    }
    // The later layer begins with a picture that was had already; the other goes on where its captures are.
    let behind = Set(ahead.map { Int32(bitPattern: $0 &- ahead[119]) })
    #expect(behind.count == 2 && behind.contains(0) && behind.allSatisfy { (0...4 * 3000).contains($0) }, "\(behind)")
  }

  @Test func ofLayersThatThePublisherLeavesOutTheNextLowerIsTaken() {
    var call = Call(layers: 3)
    let all = call.sources
    call.sources = [all[0], all[1]]
    call.publish(frames: 20)
    #expect(call.simulation.unit.subscription(SubscriptionID(1))?.layer == 1)
    call.sources.append(all[2])
    call.publish(frames: 40)
    #expect(call.simulation.unit.subscription(SubscriptionID(1))?.layer == 2)
    call.sources = [call.sources[0]]
    call.publish(frames: 60)
    #expect(call.simulation.unit.subscription(SubscriptionID(1))?.layer == 0)
    #expect(call.isComplete)
  }

  @Test func temporalLayersAreLeftOutWithoutAGap() {
    var call = Call()
    call.sources[0].temporalLayers = 2
    call.publish(frames: 10)
    call.simulation.command(.limit(SubscriptionID(1), LayerLimit(spatial: 0, temporal: 0)))
    let before = call.received.count
    call.publish(frames: 20)
    call.simulation.run(.milliseconds(50))
    // One frame may have been on its way.
    let layers = call.received.dropFirst(before + 3).map { $0.payload[5] >> 6 }
    #expect(layers.count >= 27 && layers.allSatisfy { $0 == 0 })
    #expect(call.isComplete)
    let starts = call.received.filter { $0.payload[0] & 0x10 != 0 }.map { $0.payload.span.bytes.uint16(at: 2) }
    #expect(zip(starts, starts.dropFirst()).allSatisfy { ($1 &- $0) & 0x7FFF == 1 })
  }

  @Test func aPausedSubscriptionGetsNothingAndGoesOnWithAKeyFrame() {
    var call = Call()
    call.publish(frames: 10)
    call.simulation.command(.pause(SubscriptionID(1), true))
    call.publish(frames: 2)
    let before = call.received.count
    call.publish(frames: 10)
    #expect(call.received.count == before)
    call.simulation.command(.pause(SubscriptionID(1), false))
    call.publish(frames: 30)
    #expect(call.received.count > before)
    #expect(call.isComplete)
    #expect(call.received[before].payload[6] == 0, "a key frame")
  }

  // Proves M9
  @Test func requestsForKeyFramesAreJoined() {
    var call = Call()
    call.publish(frames: 30)
    let before = call.publisher.pictureLossCount
    for _ in 0..<20 {
      call.subscriber.sendControl { $0.pictureLoss(sender: 1, media: Call.ssrc) }
      call.subscriber.sendControl { $0.fullIntra(sender: 1, requests: [FullIntraRequest(ssrc: Call.ssrc, number: 1)]) }
      call.simulation.run(.milliseconds(10))
    }
    call.publish(frames: 30)
    #expect(call.publisher.pictureLossCount - before == 1)
  }

  // Proves M10
  @Test func publishersHearReportsOfWhatArrives() throws {
    var call = Call()
    call.publish(frames: 60)
    let reports = call.publisher.control.compactMap { packet in
      if case .receiverReport(_, let reports) = packet { reports.first { $0.ssrc == 10 } } else { nil }
    }
    let last = try #require(reports.last)
    #expect(last.fractionLost == 0 && last.cumulativeLost == 0)
    #expect((130...280).contains(last.highestSequence))
  }
}
