/// How long to wait after a request to another server has failed: twice as long each time, up to a limit, a random part of it
/// less so that those who failed together do not come back together.
package struct RetryDelay: Sendable {
  var firstMilliseconds: Int64
  var longestMilliseconds: Int64

  package init(firstMilliseconds: Int64 = 1_000, longestMilliseconds: Int64) {
    self.firstMilliseconds = firstMilliseconds
    self.longestMilliseconds = longestMilliseconds
  }

  /// - Parameter attempts: failures so far, from 1 on.
  package func milliseconds(after attempts: Int64) -> Int64 {
    let doublings = min(max(attempts - 1, 0), 40)
    let (product, overflow) = firstMilliseconds.multipliedReportingOverflow(by: 1 << doublings)
    let whole = overflow ? longestMilliseconds : min(product, longestMilliseconds)
    return Int64.random(in: (whole / 2)...whole)
  }
}
