@testable import MediaRouter
import Testing

@Suite struct ForwardingUnitRecordingTests {
  private static let recorder = SubscriptionID(9)

  private func take(_ call: Call) -> [RecordedBatch.Packet] {
    call.simulation.unit.takeRecorded()?.packets ?? []
  }

  @Test func aRecorderGetsWhatIsPublishedFromAKeyFrameOn() throws {
    var call = Call()
    call.publish(frames: 5)
    #expect(call.simulation.unit.takeRecorded() == nil)
    call.simulation.command(.record(Self.recorder, of: Call.track))
    call.publish(frames: 30)
    call.simulation.run(.milliseconds(100))
    let batch = try #require(call.simulation.unit.takeRecorded())
    let first = try #require(batch.packets.first)
    #expect(first.isKeyFrame && first.startsFrame && first.subscription == Self.recorder)
    #expect(batch.packets.count > 60)
    #expect(batch.packets.map(\.sequence) == Array(first.sequence..<(first.sequence + UInt64(batch.packets.count))))
    #expect(batch.packets.map(\.marker).prefix(6) == [false, false, true, false, false, true])
    // The descriptor is gone: what the encoder wrote is a byte, a number of four and 200 of noise.
    #expect(batch.packets.allSatisfy { $0.media.count == 205 })
    #expect(
      batch.bytes[batch.packets[3].media.lowerBound] == 1
        && batch.packets[3].media.upperBound == batch.packets[4].media.lowerBound)
    #expect(call.simulation.unit.takeRecorded() == nil)
    #expect(call.isComplete)
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func whatTheNetworkLostIsThereInTheEnd(_ seed: UInt64) {
    var call = Call(seed: seed)
    call.simulation.command(.record(Self.recorder, of: Call.track))
    call.publish(frames: 3)
    call.simulation.conditions = NetworkConditions(loss: 5, duplicates: 5, delay: .milliseconds(20), jitter: .milliseconds(20))
    call.publish(frames: 100)
    call.simulation.conditions = NetworkConditions()
    call.publish(frames: 15)
    call.simulation.run(.milliseconds(500))
    let numbers = take(call).map(\.sequence)
    #expect(numbers.count == 118 * 3)
    #expect(Set(numbers).count == numbers.count)
  }

  @Test func itGetsTheHighestLayerWithoutASeam() {
    var call = Call(layers: 3)
    call.simulation.command(.record(Self.recorder, of: Call.track))
    call.publish(frames: 60)
    call.simulation.run(.milliseconds(100))
    let packets = take(call)
    let subscription = call.simulation.unit.subscription(Self.recorder)
    #expect(subscription?.layer == 2)
    #expect(packets.map(\.sequence) == (0..<packets.count).map { packets[0].sequence + UInt64($0) })
    // Where a layer begins, decoding can.
    #expect(packets[0].isKeyFrame && packets.count >= 150)
  }

  @Test func whatIsMutedIsNotRecorded() {
    var call = Call()
    call.simulation.command(.record(Self.recorder, of: Call.track))
    call.publish(frames: 10)
    call.simulation.command(.mute(Call.track, true))
    _ = take(call)
    call.publish(frames: 10)
    #expect(take(call).isEmpty)
  }

  @Test func aReportTellsTheClockOfWhatIsRecorded() throws {
    var call = Call()
    call.simulation.command(.record(Self.recorder, of: Call.track))
    call.publish(frames: 10)
    let packet = try #require(take(call).last)
    let timestamp = call.sources[0].timestamp
    call.publisher.sendControl {
      $0.senderReport(SenderReport(ssrc: 10, ntpTime: 0xE000_0000_8000_0000, rtpTime: timestamp, packetCount: 1, octetCount: 1))
    }
    call.simulation.run(.milliseconds(100))
    let report = try #require(call.simulation.unit.takeRecorded()?.reports.first)
    #expect(report.ntpTime == 0xE000_0000_8000_0000 && report.subscription == Self.recorder)
    // One frame after the last one.
    #expect(report.timestamp == packet.timestamp &+ 3_000)
  }

  @Test func aRecorderThatLacksSomethingHasAKeyFrameAskedFor() {
    var call = Call()
    call.simulation.command(.record(Self.recorder, of: Call.track))
    call.publish(frames: 20)
    let before = call.publisher.pictureLossCount
    call.simulation.run(.seconds(1))
    call.simulation.command(.refresh(Self.recorder))
    call.publish(frames: 2)
    call.simulation.run(.milliseconds(100))
    #expect(call.publisher.pictureLossCount == before + 1)
  }

  @Test func itEndsWithItsTrackAndThereIsOneOfEach() {
    let call = Call()
    for id in [Self.recorder, SubscriptionID(10)] { call.simulation.command(.record(id, of: Call.track)) }
    call.simulation.command(.record(SubscriptionID(11), of: TrackID(77)))
    #expect(call.simulation.unit.counts.subscriptions == 2)
    call.simulation.command(.unsubscribe(Self.recorder))
    call.simulation.command(.record(SubscriptionID(12), of: Call.track))
    #expect(call.simulation.unit.counts.subscriptions == 2)
    call.simulation.command(.unpublish(Call.track))
    #expect(call.simulation.unit.counts.subscriptions == 0)
  }
}
