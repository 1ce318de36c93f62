/// A key that the server hands to one device, which begins a session with it. A fallback key goes to every device once those are used up.
package struct OneTimeKey: Sendable {
  /// Counts up over the account's life.
  package let number: UInt64
  package let pair: Curve25519KeyPair
  package internal(set) var isPublished: Bool

  init(number: UInt64, pair: Curve25519KeyPair, isPublished: Bool = false) {
    self.number = number
    self.pair = pair
    self.isPublished = isPublished
  }

  /// The key ID behind `signed_curve25519:`. All have the same length, so they sort in the order of their numbers.
  package var name: [UInt8] {
    Base64.encode((0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) })
  }
}
