#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The machine's monotonic clock.
public enum MonotonicTime {
  /// The current time in microseconds of `CLOCK_MONOTONIC`.
  public static var microseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }

  static var milliseconds: Int64 { microseconds / 1_000 }
}
