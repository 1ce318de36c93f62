import Testing

@testable import CallServer

@Suite struct RateTests {
  private static let rate = CallLimits.Rate(perSecond: 20, burst: 5)

  @Test func `a burst passes at once, then as many as the rate says`() {
    var bucket = TokenBucket(Self.rate, at: 0)
    for _ in 0..<5 { #expect(bucket.take(at: 0) == nil) }
    #expect(bucket.take(at: 0) == 50)
    #expect(bucket.take(at: 49) == 1)
    #expect(bucket.take(at: 50) == nil && bucket.take(at: 50) == 50)
    var passed = 0
    for now in Int64(51)...10_050 where bucket.take(at: now) == nil { passed += 1 }
    #expect(passed == 200)
  }

  @Test func `time that stands still, goes back or leaps gives no more than the burst`() {
    var bucket = TokenBucket(Self.rate, at: 1_000)
    for _ in 0..<5 { #expect(bucket.take(at: 1_000) == nil) }
    #expect(bucket.take(at: 0) != nil)
    for _ in 0..<5 { #expect(bucket.take(at: .max) == nil) }
    #expect(bucket.take(at: .max) != nil)
  }

  @Test func `each key has its own rate, and the number of remembered keys is limited`() {
    var table = RateTable<Int>(Self.rate)
    for _ in 0..<5 { #expect(table.take(1, at: 0) == nil) }
    #expect(table.take(1, at: 0) != nil && table.take(2, at: 0) == nil)
    for key in 0..<CallLimits.rateEntries * 2 { _ = table.take(key, at: Int64(key)) }
    #expect(table.count <= CallLimits.rateEntries)
  }
}
