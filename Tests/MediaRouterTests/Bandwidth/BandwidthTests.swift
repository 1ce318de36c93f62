@testable import MediaRouter
import Testing

@Suite struct LayerAllocatorTests {
  private static let rates: [Int?] = [150_000, 500_000, 1_500_000]

  private static func wish(_ current: Int?, ceiling: Int = 2, rates: [Int?] = rates) -> LayerAllocator.Wish {
    LayerAllocator.Wish(rates: rates, ceiling: ceiling, current: current)
  }

  /// One video, asked each 200 ms; the layer after it, and how often it rose.
  private static func run(
    _ allocator: inout LayerAllocator, _ now: inout MediaTime, seconds: Int64, _ layer: inout Int?,
    path: (Int?) -> PathEstimate.State
  ) -> Int {
    var rises = 0
    let end = now + .seconds(seconds)
    while now < end {
      let next = allocator.allocate([wish(layer)], path(layer), other: 30_000, now: now)[0]
      if (next ?? -1) > (layer ?? -1) { rises += 1 }
      layer = next
      now = now + .milliseconds(200)
    }
    return rises
  }

  @Test func unknownIsEverything() {
    var allocator = LayerAllocator()
    let chosen = allocator.allocate([Self.wish(0), Self.wish(nil, ceiling: 1)], .unknown, other: 0, now: .zero)
    #expect(chosen == [2, 1])
  }

  @Test(arguments: [(2_000_000, 2), (1_000_000, 1), (300_000, 0), (100_000, nil)] as [(Double, Int?)])
  func downAtOnce(_ rate: Double, _ layer: Int?) {
    var allocator = LayerAllocator()
    let chosen = allocator.allocate([Self.wish(2)], .congested(rate), other: 30_000, now: .zero)
    #expect(chosen == [layer])
  }

  @Test func upOneStepAfterAWhile() {
    var (allocator, now) = (LayerAllocator(), MediaTime.zero)
    var layer: Int? = 2
    _ = Self.run(&allocator, &now, seconds: 1, &layer) { _ in .congested(200_000) }
    #expect(layer == 0)
    _ = Self.run(&allocator, &now, seconds: 7, &layer) { _ in .open(limit: nil) }
    #expect(layer == 0)
    _ = Self.run(&allocator, &now, seconds: 4, &layer) { _ in .open(limit: nil) }
    #expect(layer == 1)
    _ = Self.run(&allocator, &now, seconds: 8, &layer) { _ in .open(limit: nil) }
    #expect(layer == 2)
  }

  @Test func aLimitIsNotTried() {
    var (allocator, now) = (LayerAllocator(), MediaTime.zero)
    var layer: Int? = 0
    let rises = Self.run(&allocator, &now, seconds: 60, &layer) { _ in .open(limit: 529_000) }
    #expect(rises == 0)
    _ = Self.run(&allocator, &now, seconds: 60, &layer) { _ in .open(limit: 530_000) }
    #expect(layer == 1)
  }

  @Test func aTrialThatFailsMakesTheNextOneWait() {
    var (allocator, now) = (LayerAllocator(), MediaTime.zero)
    var layer: Int? = 0
    let rises = Self.run(&allocator, &now, seconds: 300, &layer) { $0 == 0 ? .open(limit: nil) : .congested(300_000) }
    // 8, 16, 32, 64, 120 s.
    #expect((4...6).contains(rises))
  }

  @Test func whatIsMeasuredIsGivenStepByStepToWhoHasLeast() {
    var allocator = LayerAllocator()
    func allocate(_ current: [Int?], _ rate: Double, at seconds: Int64) -> [Int?] {
      allocator.allocate(current.map { Self.wish($0) }, .measured(rate), other: 0, now: .zero + .seconds(seconds))
    }
    #expect(allocate([0, nil, nil], 1_000_000, at: 0) == [0, nil, nil])
    #expect(allocator.wanted == 300_000)
    // 3 x 150 and then 350 more; 5 % of what is measured are left.
    #expect(allocate([0, nil, nil], 1_000_000, at: 1) == [1, 0, 0])
    #expect(allocator.wanted == 1_150_000)
    #expect(allocate([1, 0, 0], 10_000_000, at: 2) == [2, 2, 2])
    #expect(allocator.wanted == nil)
    #expect(allocate([2, 2, 2], 1_000_000, at: 3) == [2, 2, 2], "nothing is taken while it arrives")
  }

  @Test func theImportantComesFirst() {
    let wishes = [Self.wish(2), Self.wish(2), Self.wish(2)]
    #expect(LayerAllocator.fit(wishes, into: 320_000, notAbove: [2, 2, 2]) == [0, 0, nil])
    #expect(LayerAllocator.fit(wishes, into: 900_000, notAbove: [2, 2, 2]) == [1, 0, 0])
    #expect(LayerAllocator.fit(wishes, into: 900_000, notAbove: [0, 2, 2]) == [0, 1, 0])
  }

  @Test func layersThatAreNotSentAreSteppedOver() {
    let wish = Self.wish(2, rates: [nil, 400_000, nil])
    #expect(LayerAllocator.fit([wish], into: 500_000, notAbove: [2]) == [1])
    var allocator = LayerAllocator()
    let chosen = allocator.allocate([wish], .congested(500_000), other: 0, now: .zero)
    #expect(chosen == [1])
  }
}

@Suite struct PathEstimateTests {
  // Proves M11
  @Test func anEstimateBelowWhatIsSentCountsOnceItGrowsNoMore() {
    var path = PathEstimate()
    #expect(path.state(sent: 1_000_000, now: .zero) == .unknown)
    var now = MediaTime.zero
    // Eight percent a second, far below: a beginning.
    for i in 0..<20 as Range<Int64> {
      now = .zero + .milliseconds(500 * i)
      path.receive(estimate: UInt64(300_000 + 12_000 * i), now: now)
      #expect(path.state(sent: 1_000_000, now: now) == .open(limit: nil))
    }
    path.receive(estimate: 528_000, now: now + .milliseconds(1900))
    #expect(path.state(sent: 1_000_000, now: now + .milliseconds(1900)) == .open(limit: nil))
    #expect(path.state(sent: 1_000_000, now: now + .milliseconds(2000)) == .congested(528_000))
    #expect(path.state(sent: 550_000, now: now + .milliseconds(2000)) == .open(limit: nil))
    // Old.
    #expect(path.state(sent: 1_000_000, now: now + .seconds(7)) == .open(limit: nil))
  }

  @Test func lossTakesAwayAndItsEndGivesBack() {
    var path = PathEstimate()
    var now = MediaTime.zero
    func report(_ lost: Int, sent: Int) -> PathEstimate.State {
      for _ in 0..<2 {
        let isForeign = path.receive(PacketLoss(lost: lost, expected: 50), sent: sent, now: now)
        #expect(!isForeign)
        now = now + LossWindow.least
      }
      return path.state(sent: sent, now: now)
    }
    #expect(report(4, sent: 1_000_000) == .unknown)
    _ = report(25, sent: 1_000_000)
    #expect(report(25, sent: 1_000_000) == .congested(750_000))
    #expect(report(0, sent: 700_000) == .open(limit: 750_000), "one window is chance")
    #expect(report(0, sent: 700_000) == .open(limit: 810_000))
    for _ in 0..<6 { _ = report(0, sent: 700_000) }
    #expect(report(0, sent: 700_000) == .unknown)
  }

  @Test func lossThatWasNotOursGivesBackAtOnceWhatItTook() {
    var (path, allocator, now) = (PathEstimate(), LayerAllocator(), MediaTime.zero)
    var wish = Self.wish
    func report(sent: Int) {
      for _ in 0..<2 {
        let isForeign = path.receive(PacketLoss(lost: 20, expected: 100), sent: sent, now: now)
        if isForeign { allocator.forgive() }
        now = now + LossWindow.least
      }
      wish.current = allocator.allocate([wish], path.state(sent: sent, now: now), other: 40_000, now: now)[0]
    }
    for sent in [740_000, 740_000] { report(sent: sent) }
    #expect(wish.current == 0)
    report(sent: 190_000)
    #expect(wish.current == 1, "one layer at a time, where nothing tells how much arrives")
    report(sent: 740_000)
    #expect(wish.current == 1)
  }

  private static let wish = LayerAllocator.Wish(rates: [150_000, 700_000], ceiling: 1, current: 1)

  @Test func aRateIsThatOfTheLastSecond() {
    var meter = RateMeter()
    for i in 0..<300 as Range<Int64> { meter.add(125, now: .zero + .milliseconds(10 * i)) }
    let steady = meter.bitsPerSecond(now: .zero + .milliseconds(2999))
    #expect(steady == 100_000)
    let later = meter.bitsPerSecond(now: .zero + .milliseconds(3500))
    #expect((40_000...60_000).contains(later))
    let end = meter.bitsPerSecond(now: .zero + .seconds(60))
    #expect(end == 0)
  }
}
