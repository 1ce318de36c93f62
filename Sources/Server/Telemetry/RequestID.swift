import Synchronization

/// Names one request in every log line that it causes: 16 hexadecimal digits, unlike any other of this process and, by the
/// random first half, unlike those of the process before it.
package struct RequestID: Sendable, Hashable, CustomStringConvertible {
  package let value: UInt64

  /// The next ID. Costs one relaxed atomic addition.
  package static func next() -> RequestID {
    let count = counter.wrappingAdd(1, ordering: .relaxed).newValue
    return RequestID(value: boot << 32 | count & 0xFFFF_FFFF)
  }

  package var description: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  private static let boot = UInt64.random(in: 1...0xFFFF_FFFF)
  private static let counter = Atomic<UInt64>(0)
}
