/// Gives 16-bit sequence numbers 64 bits, each nearest to the highest before it. RFC 3550 appendix A.1.
struct SequenceUnwrapper {
  /// Begins above 0, so that what came before the first packet has a number too.
  private static let start: UInt64 = 1 << 16

  private(set) var highest: UInt64?

  mutating func unwrap(_ number: UInt16) -> UInt64 {
    guard let highest else {
      let first = Self.start + UInt64(number)
      self.highest = first
      return first
    }
    let distance = Int64(Int16(bitPattern: number &- UInt16(truncatingIfNeeded: highest)))
    let unwrapped = UInt64(max(0, Int64(highest) + distance))
    if unwrapped > highest { self.highest = unwrapped }
    return unwrapped
  }

  /// The number of 64 bits that is nearest to the highest, without noting it.
  func peek(_ number: UInt16) -> UInt64 {
    var copy = self
    return copy.unwrap(number)
  }
}
