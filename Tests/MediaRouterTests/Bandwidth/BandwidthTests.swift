@testable import MediaRouter
import Testing

@Suite struct LayerAllocatorTests {
  private static let rates: [Int?] = [150_000, 500_000, 1_500_000]

  private static func wish(_ current: Int?, ceiling: Int = 2, rates: [Int?] = rates) -> LayerAllocator.Wish {
    LayerAllocator.Wish(rates: rates, ceiling: ceiling, current: current)
  }

  /// One video, asked each 200 ms; the layer after each time.
  private static func run(
    _ allocator: inout LayerAllocator, from start: MediaTime, seconds: Int64, _ layer: inout Int?, budget: (Int?) -> Double?
  ) -> MediaTime {
    var now = start
    while now < start + .seconds(seconds) {
      layer = allocator.allocate([wish(layer)], budget: budget(layer), other: 30_000, now: now)[0]
      now = now + .milliseconds(200)
    }
    return now
  }

  @Test func unknownIsEverything() {
    var allocator = LayerAllocator()
    let chosen = allocator.allocate([Self.wish(0), Self.wish(nil, ceiling: 1)], budget: nil, other: 0, now: .zero)
    #expect(chosen == [2, 1])
  }

  @Test(arguments: [(2_000_000, 2), (1_000_000, 1), (300_000, 0), (100_000, nil)] as [(Double, Int?)])
  func downAtOnce(_ budget: Double, _ layer: Int?) {
    var allocator = LayerAllocator()
    let chosen = allocator.allocate([Self.wish(2)], budget: budget, other: 30_000, now: .zero)
    #expect(chosen == [layer])
  }

  @Test func upOneStepAfterAWhile() {
    var allocator = LayerAllocator()
    var layer: Int? = 2
    var now = Self.run(&allocator, from: .zero, seconds: 1, &layer) { _ in 200_000 }
    #expect(layer == 0)
    now = Self.run(&allocator, from: now, seconds: 7, &layer) { _ in 5_000_000 }
    #expect(layer == 0)
    now = Self.run(&allocator, from: now, seconds: 4, &layer) { _ in 5_000_000 }
    #expect(layer == 1)
    _ = Self.run(&allocator, from: now, seconds: 8, &layer) { _ in 5_000_000 }
    #expect(layer == 2)
  }

  @Test func aTrialThatFailsMakesTheNextOneWait() {
    var allocator = LayerAllocator()
    var layer: Int? = 0
    var rises = 0
    var before = layer
    // The path carries 300 kbit/s, and an estimate says half more than what it is used for.
    _ = Self.run(&allocator, from: .zero, seconds: 300, &layer) { current in
      if (current ?? -1) > (before ?? -1) { rises += 1 }
      before = current
      return current == 0 ? 300_000 : 250_000
    }
    // 8, 16, 32, 64, 120 s.
    #expect((4...6).contains(rises))
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
    let chosen = allocator.allocate([wish], budget: 500_000, other: 0, now: .zero)
    #expect(chosen == [2], "what it costs is layer 1")
  }
}

@Suite struct PathEstimateTests {
  @Test func theReceiverCountsAsLongAsItIsFresh() {
    var path = PathEstimate()
    #expect(path.bitsPerSecond(now: .zero) == nil)
    path.receive(estimate: 400_000, now: .zero)
    #expect(path.bitsPerSecond(now: .zero + .milliseconds(4999)) == 400_000)
    #expect(path.bitsPerSecond(now: .zero + PathEstimate.estimateLimit) == nil)
  }

  @Test func lossTakesAwayAndItsEndGivesBack() {
    var path = PathEstimate()
    path.receive(fractionLost: 20, sent: 1_000_000)
    #expect(path.bitsPerSecond(now: .zero) == nil)
    path.receive(fractionLost: 128, sent: 1_000_000)
    #expect(path.bitsPerSecond(now: .zero) == 750_000)
    path.receive(fractionLost: 0, sent: 700_000)
    #expect(path.bitsPerSecond(now: .zero) == 810_000)
    for _ in 0..<40 { path.receive(fractionLost: 0, sent: 700_000) }
    #expect(path.bitsPerSecond(now: .zero) == nil)
  }

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
