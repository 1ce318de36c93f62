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

  /// What stands behind `signed_curve25519:`, 16 digits. Servers hand out the keys of an upload in the order of their names, which is that of
  /// the numbers: the oldest private keys are forgotten first.
  package var name: [UInt8] {
    (0..<16).map { place in
      let digit = UInt8(truncatingIfNeeded: number >> (60 - 4 * UInt64(place))) & 0xF
      return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
  }
}
