import Glibc

/// Milliseconds since 1970, passed in so that tests decide what time it is.
package struct WallClock: Sendable {
  package let now: @Sendable () -> Int64

  package init(now: @escaping @Sendable () -> Int64) { self.now = now }

  package static let system = WallClock {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
