@testable import MediaRouter
import Testing

@Suite struct WorkerMailboxTests {
  private static func batch(_ packets: Int, bytes: Int, isVideo: Bool) -> RelayedBatch {
    var batch = RelayedBatch()
    add(packets, bytes: bytes, isVideo: isVideo, to: &batch)
    return batch
  }

  private static func add(_ packets: Int, bytes: Int, isVideo: Bool, to batch: inout RelayedBatch) {
    let payload = (0..<bytes).map { UInt8(truncatingIfNeeded: $0) }
    payload.withUnsafeBytes { payload in
      for number in 0..<packets {
        let media = MediaPacket(
          sequence: UInt64(number), timestamp: 1, marker: false, payloadCount: bytes, arrival: .zero)
        let packet = ArrivingPacket(
          media, of: 0, datagramBytes: bytes, descriptor: UnsafeRawBufferPointer(rebasing: payload[..<0]), payload: payload)
        batch.append(packet, of: TrackID(isVideo ? 1 : 2), isVideo: isVideo)
      }
    }
  }

  private static func sequences(_ batch: RelayedBatch) -> [TrackID: [UInt64]] {
    var found: [TrackID: [UInt64]] = [:]
    batch.forEachPacket { packet, track in
      #expect(packet.payload.enumerated().allSatisfy { $1 == UInt8(truncatingIfNeeded: $0) })
      found[track, default: []].append(packet.media.sequence)
    }
    return found
  }

  @Test func whatIsRelayedComesInOrderAndItsMemoryIsUsedAgain() throws {
    let mailbox = try #require(WorkerMailbox())
    var content = WorkerMailbox.Content()
    var batch = RelayedBatch()
    for round in 0..<5 {
      for worker in [3, 4] {
        batch.append(RelayedBatch.Request.end(TrackID(UInt64(worker))))
        Self.add(4, bytes: 100 + round, isVideo: true, to: &batch)
        mailbox.give(&batch, from: WorkerID(worker))
        #expect(batch.isEmpty)
      }
      mailbox.exchange(&content, isRung: true)
      #expect(content.deliveries.map(\.worker) == [WorkerID(3), WorkerID(4)])
      #expect(content.deliveries.map(\.batch.requests) == [[.end(TrackID(3))], [.end(TrackID(4))]])
      for delivery in content.deliveries { #expect(Self.sequences(delivery.batch) == [TrackID(1): [0, 1, 2, 3]]) }
    }
    mailbox.exchange(&content, isRung: true)
    #expect(content.deliveries.isEmpty && mailbox.dropped.load(ordering: .relaxed) == 0)
  }

  // Proves M17
  @Test func picturesThatAreTooManyAreDroppedAndCountedAndSoundIsNot() throws {
    let mailbox = try #require(WorkerMailbox())
    var given = 0
    while given < WorkerMailbox.pictureBytesLimit - (200 << 10) {
      var pictures = Self.batch(100, bytes: 1_000, isVideo: true)
      given += pictures.cost
      mailbox.give(&pictures, from: WorkerID(0))
    }
    #expect(mailbox.dropped.load(ordering: .relaxed) == 0)
    var mixed = Self.batch(200, bytes: 1_000, isVideo: true)
    Self.add(30, bytes: 100, isVideo: false, to: &mixed)
    mixed.append(RelayedBatch.Request.keyFrame(TrackID(9), layer: 0))
    mailbox.give(&mixed, from: WorkerID(0))
    #expect(mailbox.dropped.load(ordering: .relaxed) == 200)
    var content = WorkerMailbox.Content()
    mailbox.exchange(&content, isRung: true)
    let last = try #require(content.deliveries.last?.batch)
    #expect(Self.sequences(last) == [TrackID(2): Array(0..<30)])
    #expect(last.requests == [.keyFrame(TrackID(9), layer: 0)])
    // There is room again.
    var pictures = Self.batch(200, bytes: 1_000, isVideo: true)
    mailbox.give(&pictures, from: WorkerID(0))
    mailbox.exchange(&content, isRung: true)
    #expect(content.deliveries.first?.batch.packetCount == 200 && mailbox.dropped.load(ordering: .relaxed) == 200)
  }

  @Test func soundHasALimitTooAndRequestsAlwaysArrive() throws {
    let mailbox = try #require(WorkerMailbox())
    for number in 0..<100 as Range<UInt64> {
      var sound = Self.batch(1_000, bytes: 100, isVideo: false)
      sound.append(RelayedBatch.Request.end(TrackID(number)))
      mailbox.give(&sound, from: WorkerID(0))
    }
    var content = WorkerMailbox.Content()
    mailbox.exchange(&content, isRung: true)
    let waiting = content.deliveries.reduce(0) { $0 + $1.batch.cost }
    #expect(waiting <= WorkerMailbox.bytesLimit + 100 * 100 && waiting > WorkerMailbox.pictureBytesLimit)
    #expect(content.deliveries.flatMap(\.batch.requests) == (0..<100).map { .end(TrackID($0)) })
    #expect(mailbox.dropped.load(ordering: .relaxed) > 0)
  }
}
