import Addresses
@testable import MediaRouter
import Testing

extension MediaPacket {
  static func numbered(_ sequence: UInt64, count: Int = 0, at time: MediaTime = .zero) -> MediaPacket {
    MediaPacket(sequence: sequence, timestamp: UInt32(sequence) &* 3000, marker: false, payloadCount: count, arrival: time)
  }
}

@Suite struct PacketCacheTests {
  private static func insert(_ sequence: UInt64, _ count: Int, _ cache: PacketCache, at time: MediaTime = .zero) -> Bool {
    let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: sequence), count: count)
    return payload.withUnsafeBytes { cache.insert(.numbered(sequence, count: count, at: time), payload: $0) }
  }

  private static func isIntact(_ sequence: UInt64, _ cache: PacketCache) -> Bool {
    guard let found = cache.find(sequence) else { return false }
    return cache.payload(of: found).allSatisfy { $0 == UInt8(truncatingIfNeeded: sequence) }
  }

  @Test func theNewestAreFoundAndWhatIsFoundIsIntact() {
    let cache = PacketCache(bytes: 1 << 12, bytesLimit: 1 << 12, entries: 64)
    var random = SeededGenerator(seed: 1)
    for sequence in 1...2000 as ClosedRange<UInt64> {
      let count = Int.random(in: 0...1000, using: &random)
      #expect(Self.insert(sequence, count, cache))
      #expect(Self.isIntact(sequence, cache))
      for older in max(1, Int64(sequence) - 70)...Int64(sequence) where cache.find(UInt64(older)) != nil {
        #expect(Self.isIntact(UInt64(older), cache))
      }
      if sequence > 3 { #expect(cache.find(sequence - 2) != nil) }
    }
  }

  @Test func aPacketIsTakenOnce() {
    let cache = PacketCache(bytes: 1 << 12, bytesLimit: 1 << 12, entries: 16)
    #expect(Self.insert(20, 10, cache))
    #expect(!Self.insert(20, 10, cache))
    // In the same place of the ring as a newer one, and run over by the bytes of newer ones.
    #expect(!Self.insert(4, 10, cache))
    for sequence in 21...28 as ClosedRange<UInt64> { #expect(Self.insert(sequence, 1000, cache)) }
    #expect(cache.find(20) == nil)
    #expect(!Self.insert(20, 10, cache))
    #expect(!Self.insert(40, 5000, cache), "larger than the ring")
  }

  @Test func itGrowsUntilItHoldsLongEnough() {
    let cache = PacketCache(bytes: 1 << 12, bytesLimit: 1 << 16, entries: 16)
    for i in 0..<2000 as Range<Int64> {
      #expect(Self.insert(UInt64(i + 1), 1000, cache, at: .zero + .milliseconds(20 * i)))
      if i > 3 { #expect(Self.isIntact(UInt64(i - 2), cache)) }
    }
    // 50 packets of 1,000 bytes a second.
    #expect(cache.bytesCapacity == 1 << 16 || cache.bytesCapacity == 1 << 15)
    #expect(Self.isIntact(1975, cache))
  }
}

@Suite struct StreamRewriterTests {
  @Test func noIndexGoesOutTwiceWhateverComes() {
    for seed in 1...20 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      var rewriter = StreamRewriter(clockRate: 90_000, firstIndex: 1, firstTimestamp: 0)
      var out: Set<UInt64> = []
      var head: UInt64 = 70_000
      rewriter.begin(at: .numbered(head), now: .zero)
      for step in 0..<3000 as Range<Int64> {
        head += UInt64.random(in: 0...3, using: &random)
        let packet = MediaPacket.numbered(head - UInt64.random(in: 0...40, using: &random))
        let now = MediaTime.zero + .milliseconds(step)
        switch Int.random(in: 0..<20, using: &random) {
        case 0:
          head += UInt64.random(in: 100...9000, using: &random)
          rewriter.begin(at: .numbered(head), now: now)
        case 1...4: rewriter.skip(packet, wholePicture: false)
        case 5: #expect(out.insert(rewriter.insert().index).inserted)
        default:
          if let output = rewriter.rewrite(packet, now: now) { #expect(out.insert(output.index).inserted) }
        }
      }
      #expect(out.count > 1000)
    }
  }

  @Test func aGapOfTheNetworkStaysOneAndIsFilled() {
    var rewriter = StreamRewriter(clockRate: 90_000, firstIndex: 10, firstTimestamp: 0)
    func output(_ sequence: UInt64) -> StreamRewriter.Output? { rewriter.rewrite(.numbered(sequence), now: .zero) }
    rewriter.begin(at: .numbered(100), now: .zero)
    #expect(output(100)?.index == 10)
    #expect(output(103)?.index == 13)
    rewriter.skip(.numbered(104), wholePicture: false)
    #expect(output(105)?.index == 14)
    #expect(output(101)?.index == 11)
    #expect(output(101) == nil)
    #expect(output(99) == nil, "from before the beginning")
    #expect(output(104) == nil, "left out")
  }
}

@Suite struct LossDetectorTests {
  // Proves M8
  @Test func whatIsMissingIsAskedForAFewTimes() {
    var losses = LossDetector()
    func requests(at now: MediaTime) -> [UInt64] { losses.requests(now: now) }
    func isGivenUp() -> Bool { losses.takeGivenUp() }
    losses.receive(10, now: .zero)
    losses.receive(13, now: .zero)
    #expect(requests(at: .zero).isEmpty, "it may only be late")
    var now = MediaTime.zero + LossDetector.patience
    #expect(requests(at: now) == [11, 12])
    #expect(requests(at: now).isEmpty)
    losses.receive(11, now: now)
    for _ in 1..<LossDetector.requestsLimit {
      now = now + LossDetector.interval
      #expect(requests(at: now) == [12])
    }
    #expect(!isGivenUp())
    now = now + LossDetector.interval
    #expect(requests(at: now).isEmpty)
    #expect(losses.isEmpty)
    #expect(isGivenUp())
    #expect(!isGivenUp())
  }

  @Test func aGapTooWideIsGivenUpAtOnce() {
    for (gap, isGivenUp) in [(LossDetector.missingLimit, false), (LossDetector.missingLimit + 1, true)] {
      var losses = LossDetector()
      func hasGivenUp() -> Bool { losses.takeGivenUp() }
      losses.receive(1, now: .zero)
      losses.receive(1 + UInt64(gap), now: .zero)
      #expect(hasGivenUp() == isGivenUp)
      #expect(losses.isEmpty == isGivenUp)
    }
  }

  @Test func pairsTellOfSeventeenNumbers() {
    let lost: [UInt64] = [65_535, 65_536, 65_551, 65_552, 65_600]
    let pairs = [NackPair](lost)
    #expect(pairs.count == 3)
    var numbers: [UInt16] = []
    for pair in pairs { pair.forEach { numbers.append($0) } }
    #expect(numbers == lost.map { UInt16(truncatingIfNeeded: $0) })
  }
}

@Suite struct SendBatchTests {
  private static let a = TransportAddress(IPAddress("192.0.2.1")!, port: 1)
  private static let b = TransportAddress(IPAddress("192.0.2.1")!, port: 2)

  @Test func equalNeighboursAreOneMessage() {
    let batch = SendBatch()
    for (count, address) in [(100, Self.a), (100, Self.a), (60, Self.a), (60, Self.a), (60, Self.b), (70, Self.b)] {
      batch.append([UInt8](repeating: UInt8(count), count: count), to: address)
    }
    #expect(batch.messages.map(\.segments) == [3, 1, 1, 1])
    #expect(batch.messages.map(\.segmentBytes) == [100, 60, 60, 70])
    var seen: [Int] = []
    batch.forEachDatagram { bytes, _ in
      seen.append(bytes.count)
      #expect(bytes.allSatisfy { $0 == UInt8(bytes.count) })
    }
    #expect(seen == [100, 100, 60, 60, 60, 70])
  }

  @Test func aMessageHasItsLimits() {
    let batch = SendBatch()
    for _ in 0..<(SendBatch.segmentsLimit + 1) { batch.append([1], to: Self.a) }
    #expect(batch.messages.map(\.segments) == [SendBatch.segmentsLimit, 1])
    batch.removeAll()
    for _ in 0..<50 { batch.append([UInt8](repeating: 0, count: 1400), to: Self.a) }
    #expect(batch.messages.allSatisfy { $0.count <= SendBatch.messageBytesLimit })
  }

  @Test func itIsFullBeforeItRunsOver() {
    let batch = SendBatch(bytes: 10 * SendBatch.datagramLimit)
    var count = 0
    while !batch.isFull {
      batch.append([UInt8](repeating: 0, count: SendBatch.datagramLimit), to: Self.a)
      count += 1
    }
    #expect(count == 10)
    let many = SendBatch()
    for i in 0..<SendBatch.messagesLimit { many.append([0], to: i.isMultiple(of: 2) ? Self.a : Self.b) }
    #expect(many.isFull)
  }

  @Test func roomForSeveralIsRoomForTheirBytesAndForAMessageOfEach() {
    let batch = SendBatch(bytes: 10 * SendBatch.datagramLimit)
    #expect(batch.hasRoom(for: 10) && !batch.hasRoom(for: 11))
    batch.append([0], to: Self.a)
    #expect(batch.hasRoom(for: 9) && !batch.hasRoom(for: 10))
    let many = SendBatch()
    #expect(many.hasRoom(for: SendBatch.messagesLimit) && !many.hasRoom(for: SendBatch.messagesLimit + 1))
  }
}

@Suite struct ReceptionStatisticsTests {
  @Test func lossAndJitterAreThoseOfTheStandard() throws {
    var statistics = ReceptionStatistics(clockRate: 8000)
    func report(_ ssrc: UInt32, _ now: MediaTime) -> ReceptionReport? { statistics.report(ssrc, now: now) }
    let start: UInt64 = 1 << 16
    for i in 0..<100 as Range<Int64> where i % 4 != 3 {
      // Every second packet is 2 ms late.
      let now = MediaTime.zero + .milliseconds(20 * i + (i % 2) * 2)
      statistics.receive(start + UInt64(i), timestamp: UInt32(160 * i), now: now)
    }
    let first = try #require(report(7, .zero + .seconds(2)))
    #expect(first.highestSequence == 98)
    #expect(first.cumulativeLost == 24)
    #expect(first.fractionLost == 24 * 256 / 99)
    // Two of three differences are 16 ticks.
    #expect((8...14).contains(first.jitter))
    #expect(report(7, .zero + .seconds(3))?.fractionLost == 0)
  }

  @Test func theDelaySinceTheLastReportIsTold() throws {
    var statistics = ReceptionStatistics(clockRate: 8000)
    func report(_ ssrc: UInt32, _ now: MediaTime) -> ReceptionReport? { statistics.report(ssrc, now: now) }
    statistics.receive(1 << 16, timestamp: 0, now: .zero)
    let sent = SenderReport(ssrc: 1, ntpTime: 0x1111_2222_3333_4444, rtpTime: 0, packetCount: 0, octetCount: 0)
    statistics.receive(sent, now: .zero + .seconds(1))
    let block = try #require(report(1, .zero + .milliseconds(1500)))
    #expect(block.lastReport == 0x2222_3333)
    #expect(block.delaySinceLastReport == 32_768)
  }
}

@Suite struct FeedbackRecorderTests {
  // Proves M10
  @Test func eachPacketIsToldOfWithItsTime() throws {
    var recorder = FeedbackRecorder()
    func feedback() -> TransportFeedback? { recorder.take(sender: 1, media: 2) }
    #expect(feedback() == nil)
    for (number, milliseconds) in [(65_534, 0), (65_535, 1), (1, 5)] as [(UInt16, Int64)] {
      recorder.receive(number, now: .zero + .milliseconds(milliseconds))
    }
    #expect(
      feedback()
        == TransportFeedback(sender: 1, media: 2, base: 65_534, number: 0, arrivals: [0, 4, nil, 20]))
    recorder.receive(4, now: .zero + .milliseconds(10))
    // What is missing between two packets of feedback is lost.
    #expect(feedback()?.arrivals == [nil, nil, 40])
    recorder.receive(2, now: .zero + .milliseconds(11))
    let late = try #require(feedback())
    #expect(late.base == 2 && late.arrivals == [44] && late.number == 2)
  }

  @Test func aJumpIsCut() throws {
    var recorder = FeedbackRecorder()
    func feedback() -> TransportFeedback? { recorder.take(sender: 1, media: 2) }
    recorder.receive(0, now: .zero)
    recorder.receive(30_000, now: .zero)
    let cut = try #require(feedback())
    #expect(cut.arrivals.count == Int(FeedbackRecorder.packetsLimit))
  }
}
