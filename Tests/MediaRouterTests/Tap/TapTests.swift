@testable import MediaRouter
import Testing

@Suite struct TapTests {
  private static let tap = SubscriptionID(9)

  private func take(_ call: Call) -> [TappedBatch.Packet] {
    call.simulation.unit.takeTapped()?.packets ?? []
  }

  @Test func aTapGetsWhatIsPublishedFromAKeyFrameOn() throws {
    var call = Call()
    call.publish(frames: 5)
    #expect(call.simulation.unit.takeTapped() == nil)
    call.simulation.command(.tap(Self.tap, of: Call.track))
    call.publish(frames: 30)
    call.simulation.run(.milliseconds(100))
    let batch = try #require(call.simulation.unit.takeTapped())
    let first = try #require(batch.packets.first)
    #expect(first.isKeyFrame && first.startsFrame && first.subscription == Self.tap)
    #expect(batch.packets.count > 60)
    #expect(batch.packets.map(\.sequence) == Array(first.sequence..<(first.sequence + UInt64(batch.packets.count))))
    #expect(batch.packets.map(\.marker).prefix(6) == [false, false, true, false, false, true])
    // The descriptor is gone: what the encoder wrote is a byte, a number of four and 200 of noise.
    #expect(batch.packets.allSatisfy { $0.media.count == 205 })
    #expect(
      batch.bytes[batch.packets[3].media.lowerBound] == 1
        && batch.packets[3].media.upperBound == batch.packets[4].media.lowerBound)
    #expect(call.simulation.unit.takeTapped() == nil)
    #expect(call.isComplete)
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func whatTheNetworkLostIsThereInTheEnd(_ seed: UInt64) {
    var call = Call(seed: seed)
    call.simulation.command(.tap(Self.tap, of: Call.track))
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
    call.simulation.command(.tap(Self.tap, of: Call.track))
    call.publish(frames: 60)
    call.simulation.run(.milliseconds(100))
    let packets = take(call)
    let subscription = call.simulation.unit.subscription(Self.tap)
    #expect(subscription?.layer == 2)
    #expect(packets.map(\.sequence) == (0..<packets.count).map { packets[0].sequence + UInt64($0) })
    // Where a layer begins, decoding can.
    #expect(packets[0].isKeyFrame && packets.count >= 150)
  }

  @Test func whatIsMutedIsNotRecorded() {
    var call = Call()
    call.simulation.command(.tap(Self.tap, of: Call.track))
    call.publish(frames: 10)
    call.simulation.command(.mute(Call.track, true))
    _ = take(call)
    call.publish(frames: 10)
    #expect(take(call).isEmpty)
  }

  @Test func aReportTellsTheClockOfWhatIsRecorded() throws {
    var call = Call()
    call.simulation.command(.tap(Self.tap, of: Call.track))
    call.publish(frames: 10)
    let packet = try #require(take(call).last)
    let timestamp = call.sources[0].timestamp
    call.publisher.sendControl {
      $0.senderReport(SenderReport(ssrc: 10, ntpTime: 0xE000_0000_8000_0000, rtpTime: timestamp, packetCount: 1, octetCount: 1))
    }
    call.simulation.run(.milliseconds(100))
    let report = try #require(call.simulation.unit.takeTapped()?.reports.first)
    #expect(report.ntpTime == 0xE000_0000_8000_0000 && report.subscription == Self.tap)
    // One frame after the last one.
    #expect(report.timestamp == packet.timestamp &+ 3_000)
  }

  @Test func aTapThatLacksSomethingHasAKeyFrameAskedFor() {
    var call = Call()
    call.simulation.command(.tap(Self.tap, of: Call.track))
    call.publish(frames: 20)
    let before = call.publisher.pictureLossCount
    call.simulation.run(.seconds(1))
    call.simulation.command(.refresh(Self.tap))
    call.publish(frames: 2)
    call.simulation.run(.milliseconds(100))
    #expect(call.publisher.pictureLossCount == before + 1)
  }

  @Test func itEndsWithItsTrackAndThereIsOneOfEach() {
    let call = Call()
    for id in [Self.tap, SubscriptionID(10)] { call.simulation.command(.tap(id, of: Call.track)) }
    call.simulation.command(.tap(SubscriptionID(11), of: TrackID(77)))
    #expect(call.simulation.unit.counts.subscriptions == 2)
    call.simulation.command(.unsubscribe(Self.tap))
    call.simulation.command(.tap(SubscriptionID(12), of: Call.track))
    #expect(call.simulation.unit.counts.subscriptions == 2)
    call.simulation.command(.unpublish(Call.track))
    #expect(call.simulation.unit.counts.subscriptions == 0)
  }
}
