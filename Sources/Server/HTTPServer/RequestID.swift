import Synchronization

/// Tells the requests of this process and its neighbours apart in logs: 16 hexadecimal digits.
package struct RequestID: Sendable, Hashable, CustomStringConvertible {
  package let number: UInt64

  private static let start = UInt64.random(in: .min ... .max)
  private static let counter = Atomic<UInt64>(0)

  /// The next identifier: a counter spread over all bits, so that neighbours do not look alike.
  static func next() -> RequestID {
    var bits = start &+ counter.wrappingAdd(1, ordering: .relaxed).oldValue &* 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    return RequestID(number: bits ^ (bits >> 31))
  }

  package var description: String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
