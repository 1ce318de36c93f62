import JSON
import MatrixModel

/// SplitMix64: unpredictable enough for names and jitter, seeded by the host.
struct RandomSource: Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// 0 ..< bound; 0 for bounds below 1.
  mutating func next(below bound: Int64) -> Int64 {
    bound < 1 ? 0 : Int64(next() % UInt64(bound))
  }

  mutating func transactionID(at now: Int64) -> TransactionID {
    TransactionID(trusted: ByteString("m" + String(now) + "." + String(next(), radix: 16)))
  }
}

/// Wait longer after each failure, never all clients at once.
struct Backoff: Sendable {
  private(set) var failures = 0

  mutating func reset() { failures = 0 }

  /// Milliseconds until the next try: doubled each time from one second to thirty, of which a random half is taken off.
  mutating func next(_ random: inout RandomSource, retryAfterMilliseconds: Int64? = nil) -> Int64 {
    let whole = min(Limits.backoffLastMilliseconds, Limits.backoffFirstMilliseconds << Int64(min(failures, 10)))
    failures = min(failures + 1, 1_000)
    if let asked = retryAfterMilliseconds {
      return min(max(asked, 0), Limits.retryAfterMilliseconds) + random.next(below: 250)
    }
    return whole / 2 + random.next(below: whole / 2)
  }
}

/// Hands out item IDs; 0 is none.
struct ItemIDs: Sendable {
  private var last: ItemID = 0

  mutating func next() -> ItemID {
    last &+= 1
    return last
  }
}
