/// An allowance that fills evenly and holds what two seconds give.
struct ByteBudget {
  private let perSecond: Int64
  /// Millionths.
  private var level: Int64
  private var filled: MediaTime

  init(perSecond: Int64, now: MediaTime) {
    self.perSecond = perSecond
    level = perSecond * 2_000_000
    filled = now
  }

  mutating func has(_ count: Int, now: MediaTime) -> Bool {
    let passed = min(max(0, (now - filled).microseconds), 2_000_000)
    level = min(perSecond * 2_000_000, level + passed * perSecond)
    filled = max(now, filled)
    return level >= Int64(count) * 1_000_000
  }

  mutating func take(_ count: Int) { level -= Int64(count) * 1_000_000 }
}

/// How often strangers are answered, network by network, in a memory that does not grow: networks share a place by chance, and by a seed
/// that nobody knows.
struct StrangerRates {
  static let places = 4_096

  private var budgets: [ByteBudget]
  private let seed: UInt64

  init(perSecond: Int64, using generator: inout any RandomNumberGenerator) {
    budgets = Array(repeating: ByteBudget(perSecond: perSecond, now: MediaTime(microseconds: 0)), count: Self.places)
    seed = generator.next()
  }

  /// Whether this one may be answered once more.
  mutating func take(_ client: TransportAddress, now: MediaTime) -> Bool {
    var hash = client.network ^ seed
    hash = (hash ^ hash >> 30) &* 0xBF58_476D_1CE4_E5B9
    hash = (hash ^ hash >> 27) &* 0x94D0_49BB_1331_11EB
    let place = Int(truncatingIfNeeded: (hash ^ hash >> 31) % UInt64(Self.places))
    guard budgets[place].has(1, now: now) else { return false }
    budgets[place].take(1)
    return true
  }
}
