/// A rate limit per key. The table remembers a limited number of keys; keys whose bucket is full again are forgotten.
struct RateTable<Key: Hashable & Sendable>: Sendable {
  private let rate: CallLimits.Rate
  private var buckets: [Key: TokenBucket] = [:]

  init(_ rate: CallLimits.Rate) { self.rate = rate }

  var count: Int { buckets.count }

  /// Takes one of somebody's, or so many, or tells in how many milliseconds they are there.
  mutating func take(_ key: Key, _ count: Int = 1, at now: Int64) -> Int64? {
    if buckets.count >= CallLimits.rateEntries {
      for (key, bucket) in buckets {
        var bucket = bucket
        if bucket.isFull(at: now) { buckets[key] = nil }
      }
      // The limit on memory comes first.
      if buckets.count >= CallLimits.rateEntries { buckets = [:] }
    }
    return buckets[key, default: TokenBucket(rate, at: now)].take(count, at: now)
  }
}
