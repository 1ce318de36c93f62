import JSON

/// SplitMix64 for jitter and names, seeded by the host.
struct CallRandom: Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Somewhere in the upper half of the time.
  mutating func jitter(_ milliseconds: Int64) -> Int64 {
    milliseconds / 2 + Int64(next() % UInt64(max(1, milliseconds / 2)))
  }

  /// 16 letters and digits. Spec: Appendices, "Opaque Identifiers".
  mutating func name() -> ByteString {
    var bytes: [UInt8] = []
    var bits = next()
    for i in 0..<16 {
      if i == 8 { bits = next() }
      bytes.append(Self.alphabet[Int(bits & 31)])
      bits >>= 5
    }
    return ByteString(decoding: bytes)
  }

  private static let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)
}

/// The earlier of two times, where nil is never.
func earlier(_ one: Int64?, _ other: Int64?) -> Int64? {
  guard let one, let other else { return one ?? other }
  return min(one, other)
}
