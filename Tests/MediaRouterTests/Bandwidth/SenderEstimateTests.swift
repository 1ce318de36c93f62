@testable import MediaRouter
import Testing

@Suite struct SenderEstimateTests {
  /// 50 packets of 1,000 bytes a second over a path whose queue grows by so many microseconds a packet; feedback each 100 ms.
  private static func run(
    _ estimate: inout SenderEstimate, from start: Int, packets: Int, growth: Int64 = 0, queue: inout Int64
  ) {
    var arrivals: [Int64?] = []
    for i in start..<(start + packets) {
      let now = MediaTime(microseconds: Int64(i) * 20_000)
      estimate.send(UInt16(truncatingIfNeeded: i), bytes: 1000, now: now)
      queue += growth
      arrivals.append((now.microseconds + 50_000 + queue) / TransportFeedback.tickMicroseconds % (1 << 32))
      guard arrivals.count == 5 else { continue }
      let base = UInt16(truncatingIfNeeded: i - 4)
      estimate.receive(
        TransportFeedback(sender: 1, media: 2, base: base, number: 0, arrivals: arrivals), now: now + .milliseconds(100))
      arrivals = []
    }
  }

  // Proves M11
  @Test func aQueueThatFillsTakesAwayAndOneThatIsEmptyGivesBack() {
    var (estimate, queue) = (SenderEstimate(), Int64(0))
    Self.run(&estimate, from: 0, packets: 100, queue: &queue)
    #expect(estimate.rate == SenderEstimate.initial)
    #expect(estimate.arriving.map { abs($0 - 400_000) < 25_000 } ?? false)
    // A quarter of the time: 320 kbit/s arrive.
    Self.run(&estimate, from: 100, packets: 60, growth: 5000, queue: &queue)
    #expect((240_000...300_000).contains(estimate.rate))
    queue = 0
    let low = estimate.rate
    Self.run(&estimate, from: 160, packets: 200, queue: &queue)
    #expect(estimate.rate > 1.2 * low)
    #expect(estimate.rate <= 1.5 * 400_000 + 40_000, "more was not tried")
  }

  @Test func feedbackOnNothingAndClocksThatJumpDoNoHarm() {
    var estimate = SenderEstimate()
    func receive(_ arrivals: [Int64?], at now: MediaTime) {
      estimate.receive(TransportFeedback(sender: 1, media: 2, base: 7, number: 0, arrivals: arrivals), now: now)
    }
    receive([1, 2, nil, 3], at: .zero)
    for i in 0..<2000 as Range<Int64> {
      let now = MediaTime.zero + .milliseconds(10 * i)
      for number in 7..<10 as Range<UInt16> { estimate.send(number, bytes: 1000, now: now) }
      receive([.random(in: -(1 << 31)...(1 << 31)), (1 << 31) - 1, -(1 << 31)], at: now)
    }
    #expect(estimate.rate >= PathEstimate.floor && estimate.rate <= SenderEstimate.limit)
  }

  @Test func referenceTimesWrap() {
    var (estimate, queue) = (SenderEstimate(), Int64(0))
    // 2^32 ticks of 250 µs after the beginning.
    let wrap = (1 << 32) * 250 / 20_000
    Self.run(&estimate, from: wrap - 200, packets: 400, queue: &queue)
    #expect(
      estimate.rate == SenderEstimate.initial && !estimate.isCongested(MediaTime(microseconds: Int64(wrap + 200) * 20_000)))
  }

  /// It asked for little, so that it shows little.
  @Test func aSmallBurstTakesNothingFromWhatIsAssumed() {
    var (estimate, number, now) = (SenderEstimate(), UInt16(0), MediaTime.zero)
    var bursts = 0
    for tick in 0..<600 as Range<Int64> {
      now = .zero + .milliseconds(10 * tick)
      if tick % 20 == 0 { estimate.want(160_000, sent: 80_000, now: now) }
      let padding = estimate.takePadding(packetBytes: 300, now: now)
      bursts += padding
      let first = number
      for bytes in [100] + Array(repeating: 300, count: padding) {
        estimate.send(number, bytes: bytes, isMedia: bytes == 100, now: now)
        number &+= 1
      }
      let arrivals = (0...padding).map { _ in Int64?(now.microseconds / TransportFeedback.tickMicroseconds) }
      estimate.receive(TransportFeedback(sender: 1, media: 2, base: first, number: 0, arrivals: arrivals), now: now)
    }
    #expect(bursts > 0 && estimate.rate >= SenderEstimate.initial)
  }

  @Test func aPacketThatIsMissedMayStillArrive() {
    var packets = SentPackets()
    func miss() -> Bool { packets.miss(7, now: .zero) != nil }
    #expect(!miss(), "it was never sent")
    packets.insert(7, bytes: 100, isMedia: false, now: .zero)
    #expect(miss())
    #expect(!miss(), "that is known")
    let packet = packets.take(7, now: .zero)
    #expect(packet?.wasLost == false && packet?.isMedia == false && packet?.bytes == 100)
    #expect(!miss())
    #expect(packets.takeLost(.zero + .seconds(1)) == nil, "it arrived")
  }

  @Test func whatIsMissingForLongIsLostAndWhereThatWasWrongItIsWaitedForLongerForAWhile() {
    var (packets, now, patiences) = (SentPackets(), MediaTime.zero, [Int64]())
    for number in 0..<6 as Range<UInt16> {
      packets.insert(number, bytes: 100, now: now)
      _ = packets.miss(number, now: now)
      patiences.append(packets.patience.milliseconds)
      #expect(packets.takeLost(now + .milliseconds(packets.patience.milliseconds - 1)) == nil)
      now = now + packets.patience
      #expect(packets.takeLost(now)?.bytes == 100)
      #expect(packets.takeLost(now) == nil, "once")
      let late = packets.take(number, now: now)
      #expect(late?.wasLost == true && late?.bytes == 100)
      #expect(packets.takeLost(now + .seconds(1)) == nil, "it counted before")
    }
    #expect(patiences == [100, 200, 400, 500, 500, 500])
    for wanted in [500, 250, 125, 100, 100] as [Int64] {
      #expect(packets.patience.milliseconds == wanted)
      now = now + .seconds(21)
      _ = packets.takeLost(now)
    }
  }

  @Test func whatIsMissingWhenAnotherTakesItsPlaceIsLost() {
    var packets = SentPackets()
    packets.insert(7, bytes: 100, now: .zero)
    packets.insert(8, bytes: 200, now: .zero)
    _ = packets.miss(7, now: .zero)
    packets.insert(UInt16(7 + SentPackets.entriesLimit), bytes: 300, now: .zero)
    packets.insert(UInt16(8 + SentPackets.entriesLimit), bytes: 300, now: .zero)
    #expect(packets.takeLost(.zero + .seconds(1))?.bytes == 100)
    #expect(packets.takeLost(.zero + .seconds(1)) == nil, "nothing told of the other")
  }

  /// Each tenth packet is lost, each other tenth comes 150 ms late: what counts is what is lost, of the packets that were sent.
  @Test func lossesAreCountedOncePerPacket() {
    var (estimate, sum) = (SenderEstimate(), PacketLoss(lost: 0, expected: 0))
    var late: [(number: UInt16, at: Int64)] = []
    for i in 0..<2000 as Range<Int64> {
      let now = MediaTime.zero + .milliseconds(10 * i)
      let number = UInt16(i)
      estimate.send(number, bytes: 1000, now: now)
      if i % 10 == 5 { late.append((number, i + 15)) }
      let tick = now.microseconds / TransportFeedback.tickMicroseconds
      func tell(_ base: UInt16, _ arrivals: [Int64?]) {
        let loss = estimate.receive(
          TransportFeedback(sender: 1, media: 2, base: base, number: 0, arrivals: arrivals), now: now)
        sum = PacketLoss(lost: sum.lost + loss.lost, expected: sum.expected + loss.expected)
      }
      tell(number, [i % 10 == 0 || i % 10 == 5 ? nil : tick])
      if let first = late.first, first.at == i {
        tell(first.number, [tick])
        late.removeFirst()
      }
    }
    #expect((1950...2000).contains(sum.expected))
    #expect((190...205).contains(sum.lost))
  }

  @Test func aPacketIsTakenOnceAndNotForAnotherOfItsPlace() {
    var packets = SentPackets()
    func take(_ number: UInt16, at now: MediaTime) -> SentPackets.Packet? { packets.take(number, now: now) }
    #expect(take(1, at: .zero) == nil)
    let late = MediaTime(microseconds: (1 << 40) + 5)
    packets.insert(65_535, bytes: 1200, now: late)
    #expect(take(UInt16(65_535 - SentPackets.entriesLimit), at: late) == nil)
    let first = take(65_535, at: late + .seconds(2))
    #expect(first?.time == late && first?.bytes == 1200)
    #expect(take(65_535, at: late + .seconds(2)) == nil)
  }

  /// Of pictures and sound, and of sound alone.
  // Proves Q7
  @Test(arguments: [4, 8, 12, 20], [50, 100, 200, 300] as [Int64])
  func jitterIsNoQueue(_ milliseconds: Int, _ jitter: Int64) {
    for seed in 1...5 as ClosedRange<UInt64> {
      var (queue, random, alarms) = (PathQueue(), SeededGenerator(seed: seed), 0)
      for time in stride(from: 0, to: 60_000_000, by: 1000 * milliseconds) as StrideTo<Int64> {
        queue.add(sent: time, arrived: time + Int64.random(in: 0...(1000 * jitter), using: &random))
        if queue.trend == .filling { alarms += 1 }
      }
      #expect(alarms == 0, "seed \(seed)")
    }
  }

  @Test(arguments: [0, 50, 100, 200] as [Int64]) func aQueueShowsThroughJitter(_ jitter: Int64) {
    for seed in 1...20 as ClosedRange<UInt64> {
      var (queue, random, shown) = (PathQueue(), SeededGenerator(seed: seed), Int64?.none)
      for time in stride(from: 0, to: 10_000_000, by: 8000) as StrideTo<Int64> {
        // After five seconds a quarter more is sent than the path carries.
        let waiting = max(0, time - 5_000_000) / Int64(4)
        queue.add(sent: time, arrived: time + waiting + Int64.random(in: 0...(1000 * jitter), using: &random))
        if queue.trend == .filling { shown = shown ?? time }
      }
      let delay = shown.map { ($0 - 5_000_000) / 1000 }
      #expect(delay.map { $0 >= 0 && $0 <= (jitter < 100 ? 600 : 1200) } ?? false, "seed \(seed): \(delay ?? -1) ms")
    }
  }

  @Test func aQueueThatOthersKeepPassesForThePath() {
    var queue = PathQueue()
    for i in 0..<1000 as Range<Int64> { queue.add(sent: i * 20_000, arrived: i * 20_000 + (i > 100 ? 150_000 : 0)) }
    #expect(queue.trend == .empty && queue.delay == 0)
  }

  @Test func repairsTakeNoMoreThanTheirShare() {
    var budget = ResendBudget()
    func sent(rate: Double, spare: Double, seconds: Int64, from start: MediaTime) -> Int {
      (0..<(seconds * 100)).count { i in
        budget.take(1000, rate: rate, spare: spare, now: start + .milliseconds(10 * i))
      }
    }
    // 10 % of 1 Mbit/s are 12.5 packets a second, 20 % twice as many.
    let full = sent(rate: 1_000_000, spare: 0, seconds: 10, from: .zero)
    #expect((120...135).contains(full))
    let roomy = sent(rate: 1_000_000, spare: 400_000, seconds: 10, from: .zero + .seconds(10))
    #expect((240...265).contains(roomy))
  }
}

@Suite struct PathProbeTests {
  /// Asks each 200 ms, sends what is due each 10 ms over a path of so many bits a second. What the bursts proved, and how many there were.
  private static func run(seconds: Int64, path: Double, wanted: Double = 1_000_000) -> (rates: [Double], packets: Int) {
    var probe = PathProbe()
    var (rates, packets, idle): ([Double], Int, Int64) = ([], 0, 0)
    for tick in 0..<(seconds * 100) {
      let now = MediaTime(microseconds: tick * 10_000)
      if tick % 20 == 0 { probe.want(wanted, known: 400_000, sent: 200_000, now: now) }
      probe.advance(to: now)
      // Beside the padding, 250 bytes of media each tick.
      let sizes = [250] + Array(repeating: 300, count: probe.take(packetBytes: 300, now: now))
      packets += sizes.count - 1
      for bytes in sizes {
        idle = max(idle, now.microseconds) + Int64(Double(bytes) * 8_000_000 / path)
        if let proof = probe.receive(sent: now, bytes: bytes, arrived: idle) { rates.append(proof.rate) }
      }
    }
    return (rates, packets)
  }

  @Test func aWidePathShowsWhatIsWanted() {
    let (rates, _) = Self.run(seconds: 5, path: 10_000_000)
    #expect(rates.count >= 5 && rates.allSatisfy { (1_050_000...1_400_000).contains($0) })
  }

  @Test func aNarrowPathShowsWhatItCarriesAndIsLeftAlone() {
    let (rates, packets) = Self.run(seconds: 60, path: 500_000)
    #expect(rates.count <= 15 && rates.allSatisfy { (400_000...600_000).contains($0) })
    #expect(packets * 300 * 8 / 60 < 20_000, "bits a second")
  }

  /// One burst of twelve packets over a wide path, of which some are told of, missing, or late.
  private static func burst(told: Int, missed: Int, lost: Double = 0, stretch: Int64 = 1) -> PathProbe.Proof? {
    var probe = PathProbe()
    probe.want(400_000, known: 300_000, sent: 100_000, now: .zero)
    var now = MediaTime.zero + .milliseconds(600)
    probe.want(400_000, known: 300_000, sent: 100_000, now: now)
    var number = 0
    while number < 12 {
      for _ in 0..<probe.take(packetBytes: 300, now: now) where number < 12 {
        let arrived = (now.microseconds - 600_000) * stretch
        if number >= 12 - missed {
          probe.miss(sent: now)
        } else if number < told {
          _ = probe.receive(sent: now, bytes: 300, arrived: arrived, lost: lost)
        }
        number += 1
      }
      now = now + .milliseconds(1)
      guard now < .zero + .milliseconds(900) else { break }
    }
    return probe.receive(sent: .zero + .seconds(1), bytes: 300, arrived: 400_000 * stretch, lost: lost)
  }

  @Test func aBurstThatIsNotToldOfOrLostByChanceProvesNothing() {
    #expect(Self.burst(told: 12, missed: 0).map { $0.rate > 300_000 && !$0.isLimit } ?? false)
    #expect(Self.burst(told: 6, missed: 0) == nil, "feedback was lost")
    #expect(Self.burst(told: 12, missed: 4) == nil, "the path may be bad, not narrow")
    #expect(Self.burst(told: 12, missed: 4, lost: 0.3) != nil, "so much it loses anyway")
    #expect(Self.burst(told: 12, missed: 4, stretch: 2)?.isLimit == true, "what came through had to wait")
  }

  @Test func nothingIsSentThatNobodyWants() {
    #expect(Self.run(seconds: 5, path: 1_000_000, wanted: 100_000).packets == 0)
  }
}

@Suite struct LossLimitTests {
  @Test func lossThatStaysWhenLessIsSentLimitsNothing() {
    var loss = LossLimit()
    func rate() -> Double? { loss.rate(now: .zero) }
    loss.receive(51, sent: 1_000_000, now: .zero)
    #expect(rate().map { (890_000...910_000).contains($0) } ?? false)
    #expect(loss.foreign == 0)
    #expect(loss.receive(51, sent: 500_000, now: .zero) == .nothing, "one window is a burst")
    #expect(loss.receive(51, sent: 500_000, now: .zero) == .chance(carried: .infinity))
    #expect(rate() == nil && loss.foreign == 51.0 / 256)
    loss.receive(60, sent: 1_000_000, now: .zero)
    #expect(rate() == nil)
    for _ in 0..<2 { loss.receive(150, sent: 1_000_000, now: .zero) }
    #expect(rate().map { $0 < 750_000 } ?? false && loss.foreign == 0, "much more than before is ours again")
  }

  /// As much arrives of less: it is lost because it is too much.
  @Test func whatAFullPathLosesOfLessIsNoChance() {
    var loss = LossLimit()
    #expect(loss.receive(123, sent: 1_000_000, now: .zero) == .congestion)
    for (share, sent) in [(92, 800_000.0), (72, 720_000), (36, 600_000)] as [(UInt8, Double)] {
      #expect(loss.receive(share, sent: sent, now: .zero) == .nothing)
      #expect(loss.receive(share, sent: sent, now: .zero) == .congestion)
    }
    #expect(loss.foreign == 0 && loss.rate(now: .zero).map { $0 < 560_000 } ?? false)
  }

  /// Of sound alone some is lost by chance, but not nearly as much as before: no more is carried than arrived.
  @Test func whatChanceDoesNotExplainStaysTooMuch() {
    var loss = LossLimit()
    #expect(loss.receive(230, sent: 1_000_000, now: .zero) == .congestion)
    guard case .chance(let carried) = loss.receive(26, sent: 40_000, isLeast: true, now: .zero) else {
      Issue.record("sound alone cannot be less")
      return
    }
    #expect((112_000...114_000).contains(carried))
    for _ in 0..<2 { loss.receive(60, sent: 500_000, now: .zero) }
    #expect(loss.foreign == 0, "more than twice as much is lost of more")
  }

  @Test func lossThatIsLessButStaysWhenLessIsSentLimitsNothingEither() {
    var loss = LossLimit()
    loss.receive(30, sent: 1_000_000, now: .zero)
    for _ in 0..<2 { loss.receive(12, sent: 900_000, now: .zero) }
    #expect(loss.rate(now: .zero) != nil && loss.foreign == 0, "hardly less was sent")
    loss.receive(12, sent: 300_000, now: .zero)
    #expect(loss.rate(now: .zero) == nil && loss.foreign == 12.0 / 256)
  }

  @Test func ofWhatCannotBeLessLossLimitsNothing() {
    var loss = LossLimit()
    for _ in 0..<3 { loss.receive(51, sent: 40_000, isLeast: true, now: .zero) }
    #expect(loss.rate(now: .zero) == nil && loss.foreign == 51.0 / 256)
    loss.receive(60, sent: 1_000_000, now: .zero)
    #expect(loss.rate(now: .zero) == nil, "it was there before there was more")
    for _ in 0..<2 { loss.receive(128, sent: 1_000_000, now: .zero) }
    #expect(loss.rate(now: .zero) != nil && loss.foreign == 0)
  }

  @Test func oneReportOfMuchLossAmongOthersIsChance() {
    var loss = LossLimit()
    for fraction: UInt8 in [10, 40, 0, 35, 13, 50, 12] { loss.receive(fraction, sent: 500_000, now: .zero) }
    #expect(loss.rate(now: .zero) == nil)
  }

  /// Which neither takes away nor gives back.
  @Test func itIsForgottenWhereOnlySomeIsLostForLong() {
    var (loss, now) = (LossLimit(), MediaTime.zero)
    for _ in 0..<3 {
      loss.receive(40, sent: 200_000, now: now)
      now = now + LossWindow.least
    }
    let end = now + LossLimit.lifetime
    while now < end {
      #expect(loss.rate(now: now) != nil || now + LossWindow.least >= end)
      loss.receive(13, sent: 200_000, now: now)
      now = now + LossWindow.least
    }
    #expect(loss.rate(now: now) == nil)
    for _ in 0..<2 { loss.receive(40, sent: 1_000_000, now: now) }
    #expect(loss.rate(now: now).map { $0 > 800_000 } ?? false, "what was sent long ago says nothing of it")
  }

  @Test func itIsForgottenWhenNobodyReports() {
    var loss = LossLimit()
    loss.receive(128, sent: 1_000_000, now: .zero)
    #expect(loss.rate(now: .zero + .seconds(4)) == 750_000)
    #expect(loss.rate(now: .zero + LossLimit.lifetime) == nil)
  }
}

@Suite struct LossWindowTests {
  @Test func reportsOnFewPacketsCountTogether() {
    var window = LossWindow()
    func add(_ lost: Int, of expected: Int, at milliseconds: Int64) -> UInt8? {
      window.add(PacketLoss(lost: lost, expected: expected), now: .zero + .milliseconds(milliseconds))
    }
    // One of two, none of 18, …
    for i in 0..<3 as Range<Int64> {
      #expect(add(1, of: 2, at: 100 * i) == nil)
      #expect(add(0, of: 18, at: 100 * i + 50) == nil)
    }
    #expect(add(0, of: 4, at: 499) == nil, "it is not long enough")
    #expect(add(0, of: 0, at: 500) == 12)
    #expect(add(20, of: 20, at: 600) == nil)
    #expect(add(0, of: 10, at: 2000) == nil, "it is not enough")
    #expect(add(-8, of: 20, at: 3000) == 61, "some only came late")
    for at in [4000, 5000] as [Int64] { _ = add(-60, of: 40, at: at) }
    #expect(add(90, of: 40, at: 6000) == nil)
    #expect(add(90, of: 40, at: 6500) == 255)
  }

  @Test func ofSoundAloneFewerAreEnough() {
    var window = LossWindow(isSoundAlone: true)
    var told: [Int64: UInt8] = [:]
    // Twenty milliseconds each, of which every fourth is lost.
    for i in 0..<(2 * 30) as Range<Int64> {
      let share = window.add(PacketLoss(lost: i % 4 == 3 ? 1 : 0, expected: 1), now: .zero + .milliseconds(20 * i))
      if let share { told[i] = share }
    }
    #expect(told.count == 2 && told.values.allSatisfy { (50...70).contains($0) })
    #expect(told.keys.max()! - told.keys.min()! < 30, "it begins anew, and is as short again")
  }

  @Test func whatIsLostIsThatBetweenTwoReports() {
    func report(_ lost: Int32, _ highest: UInt32) -> ReceptionReport {
      ReceptionReport(
        ssrc: 1, fractionLost: 0, cumulativeLost: lost, highestSequence: highest, jitter: 0, lastReport: 0,
        delaySinceLastReport: 0)
    }
    let first = report(5, 0xFFF0)
    #expect(report(7, 0x1_0010).loss(since: first) == PacketLoss(lost: 2, expected: 32))
    #expect(report(3, 0xFFF4).loss(since: first) == PacketLoss(lost: -2, expected: 4))
    #expect(report(0x7F_FFFF, 0xFFF4).loss(since: first) == PacketLoss(lost: 4, expected: 4))
    for highest in [0xFFF0, 0xFFEF, 0, 0x2_0000] as [UInt32] { #expect(report(5, highest).loss(since: first) == nil) }
  }
}
