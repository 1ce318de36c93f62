import Glibc

extension Array where Element == UInt8 {
  mutating func append(_ text: String) { append(contentsOf: text.utf8) }

  /// Percent-encodes all but the unreserved characters. Spec: RFC 3986 §2.3.
  mutating func append(encoded text: String) {
    let digits = [UInt8]("0123456789ABCDEF".utf8)
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: append(byte)
      default: append(contentsOf: [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]])
      }
    }
  }

  /// The index at which `pattern` next begins at or after `start`; nil when it does not.
  func index(of pattern: [UInt8], from start: Int = 0) -> Int? {
    guard let first = pattern.first, start + pattern.count <= count else { return nil }
    return withUnsafeBytes { bytes in
      pattern.withUnsafeBytes { pattern in
        guard let base = bytes.baseAddress, let needle = pattern.baseAddress else { return nil }
        var position = start
        while position + pattern.count <= bytes.count,
          let found = memchr(base + position, Int32(first), bytes.count - pattern.count + 1 - position)
        {
          if memcmp(found, needle, pattern.count) == 0 { return UnsafeRawPointer(found) - base }
          position = UnsafeRawPointer(found) - base + 1
        }
        return nil
      }
    }
  }

  func count(of pattern: [UInt8]) -> Int {
    var total = 0
    var position = 0
    while let found = index(of: pattern, from: position) {
      total += 1
      position = found + pattern.count
    }
    return total
  }

  /// The string of the first member with this name, wherever in the document it stands, escapes left as they are. Enough for
  /// the identifiers and tokens a load generator needs, and cheap beside the parsing a server does.
  func string(named name: String) -> String? {
    let pattern = [UInt8]("\"\(name)\"".utf8)
    var position = 0
    while let found = index(of: pattern, from: position) {
      position = found + pattern.count
      var next = position
      while next < count, [0x20, 0x09, 0x0A, 0x0D, 0x3A].contains(self[next]) { next += 1 }
      guard next > position, next < count, self[next] == 0x22 else { continue }
      guard let end = self[(next + 1)...].firstIndex(of: 0x22) else { return nil }
      return String(decoding: self[(next + 1)..<end], as: UTF8.self)
    }
    return nil
  }
}

extension Double {
  /// With a fixed number of decimals (0...9).
  func fixed(_ decimals: Int) -> String {
    guard isFinite else { return "0" }
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    let scaled = Int64((magnitude * scale).rounded())
    let fraction = String(scaled % Int64(scale))
    let sign = self < 0 && scaled != 0 ? "-" : ""
    guard decimals > 0 else { return sign + String(scaled) }
    return sign + String(scaled / Int64(scale)) + "." + String(repeating: "0", count: decimals - fraction.utf8.count)
      + fraction
  }
}

/// Seconds on the monotonic clock.
func monotonicSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

/// Set-up progress goes to stderr; stdout holds the measured lines alone.
func note(_ text: String) { complain("# \(text)\n") }

func complain(_ text: String) {
  let bytes = Array(text.utf8)
  _ = write(2, bytes, bytes.count)
}
