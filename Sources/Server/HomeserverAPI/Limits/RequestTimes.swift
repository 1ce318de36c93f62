import Synchronization

/// How long the newest requests took, so that administrators see how the server feels now, and not since its start.
package final class RequestTimes: Sendable {
  /// Requests that are remembered.
  package static let limit = 4_096

  /// Within how many microseconds half of the requests were answered, 95 and 99 of 100.
  package struct Summary: Sendable, Equatable {
    package let requests: Int
    package let median: Int64
    package let percentile95: Int64
    package let percentile99: Int64
  }

  private struct Ring {
    var microseconds: [UInt32] = []
    var next = 0
  }

  private let ring = Mutex(Ring())

  package init() {}

  /// - Parameter isWaiting: whether the client asked the server to wait, as a sync does. Such a request tells nothing.
  package func record(_ duration: Duration, isWaiting: Bool) {
    guard !isWaiting else { return }
    let (seconds, attoseconds) = duration.components
    let (whole, overflows) = max(0, seconds).multipliedReportingOverflow(by: 1_000_000)
    let microseconds = overflows ? UInt32.max : UInt32(clamping: whole &+ attoseconds / 1_000_000_000_000)
    ring.withLock { ring in
      if ring.microseconds.count < Self.limit { return ring.microseconds.append(microseconds) }
      ring.microseconds[ring.next] = microseconds
      ring.next = (ring.next + 1) % Self.limit
    }
  }

  package var summary: Summary {
    let sorted = ring.withLock { $0.microseconds }.sorted()
    func percentile(_ percent: Int) -> Int64 {
      sorted.isEmpty ? 0 : Int64(sorted[min(sorted.count - 1, sorted.count * percent / 100)])
    }
    return Summary(
      requests: sorted.count, median: percentile(50), percentile95: percentile(95), percentile99: percentile(99))
  }
}
