/// SplitMix64: unpredictable enough for names and jitter, seeded by the host.
package struct RandomSource: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// 0 ..< bound; 0 for bounds below 1.
  package mutating func next(below bound: Int64) -> Int64 {
    bound < 1 ? 0 : Int64(next() % UInt64(bound))
  }
}
