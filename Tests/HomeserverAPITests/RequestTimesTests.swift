import Testing

@testable import HomeserverAPI

struct RequestTimesTests {
  @Test("Percentiles are of requests that did not wait for news")
  func percentiles() {
    let times = RequestTimes()
    #expect(times.summary == RequestTimes.Summary(requests: 0, median: 0, percentile95: 0, percentile99: 0))
    for milliseconds in 1...100 { times.record(.milliseconds(milliseconds), isWaiting: false) }
    times.record(.seconds(30), isWaiting: true)
    #expect(times.summary == RequestTimes.Summary(requests: 100, median: 51_000, percentile95: 96_000, percentile99: 100_000))
  }

  @Test("Only the newest requests count, and no duration traps")
  func newest() {
    let times = RequestTimes()
    times.record(.seconds(Int64.max), isWaiting: false)
    times.record(.seconds(-5), isWaiting: false)
    #expect(times.summary.percentile99 == Int64(UInt32.max))
    for _ in 0..<RequestTimes.limit { times.record(.microseconds(7), isWaiting: false) }
    #expect(times.summary == RequestTimes.Summary(requests: RequestTimes.limit, median: 7, percentile95: 7, percentile99: 7))
  }
}
