import Glibc

/// A clock that nobody sets, from some moment on.
enum MonotonicClock {
  static func now() -> timespec {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time
  }

  static func nanoseconds() -> UInt64 {
    let time = now()
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
