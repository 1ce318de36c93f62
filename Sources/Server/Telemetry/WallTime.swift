import Glibc

/// A moment of the wall clock in UTC, as log lines show it: `2026-01-31T12:00:00.123Z` (RFC 3339).
struct WallTime {
  let milliseconds: Int64

  static func now() -> WallTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  func append(to bytes: inout [UInt8]) {
    var seconds = time_t(milliseconds / 1000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func append(_ number: Int, digits: Int) {
      var divisor = 1
      for _ in 1..<digits { divisor *= 10 }
      while divisor > 0 {
        bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
        divisor /= 10
      }
    }
    append(Int(parts.tm_year) + 1900, digits: 4)
    bytes.append(UInt8(ascii: "-"))
    append(Int(parts.tm_mon) + 1, digits: 2)
    bytes.append(UInt8(ascii: "-"))
    append(Int(parts.tm_mday), digits: 2)
    bytes.append(UInt8(ascii: "T"))
    append(Int(parts.tm_hour), digits: 2)
    bytes.append(UInt8(ascii: ":"))
    append(Int(parts.tm_min), digits: 2)
    bytes.append(UInt8(ascii: ":"))
    append(Int(parts.tm_sec), digits: 2)
    bytes.append(UInt8(ascii: "."))
    append(Int(milliseconds % 1000), digits: 3)
    bytes.append(UInt8(ascii: "Z"))
  }
}
