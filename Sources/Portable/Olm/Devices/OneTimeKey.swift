/// A key that the server hands to one device that wants to write; a fallback key to all that come when those are used up.
package struct OneTimeKey: Sendable {
  /// Counts up; `name` is what the server sees.
  package let number: UInt64
  package let pair: Curve25519KeyPair
  package internal(set) var isPublished: Bool

  init(number: UInt64, pair: Curve25519KeyPair, isPublished: Bool = false) {
    self.number = number
    self.pair = pair
    self.isPublished = isPublished
  }

  /// What stands behind `signed_curve25519:`. The same length for all, so that their order is that of the numbers.
  package var name: [UInt8] {
    Base64.encode((0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) })
  }
}
