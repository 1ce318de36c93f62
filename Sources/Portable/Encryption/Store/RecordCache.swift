import JSON

/// Values of the store's records. Those used last are in memory; a value is loaded before it is used, and forgotten once it is stored and
/// others were used since.
struct RecordCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry: Sendable {
    /// nil: the store has no record.
    var value: Value?
    var use: UInt64
  }

  private var entries: [Key: Entry] = [:]
  private var uses: UInt64 = 0
  /// Those that the store does not have yet as they are.
  private(set) var changed: Set<Key> = []
  private let limit: Int

  /// - Parameter limit: values in memory, those aside that are not stored yet.
  init(limit: Int) { self.limit = limit }

  func isLoaded(_ key: Key) -> Bool { entries[key] != nil }

  func value(of key: Key) -> Value? { entries[key]?.value }

  /// What the store has; nil for nothing.
  mutating func load(_ value: Value?, _ key: Key) {
    guard entries[key] == nil else { return }
    entries[key] = Entry(value: value, use: nextUse())
  }

  mutating func set(_ value: Value?, _ key: Key) {
    entries[key] = Entry(value: value, use: nextUse())
    changed.insert(key)
  }

  /// What is different of it belongs into other records.
  mutating func keep(_ value: Value, _ key: Key) { entries[key] = Entry(value: value, use: nextUse()) }

  /// All changes are in the batch that is written now.
  ///
  /// - Parameter evicting: whether nothing waits for what was loaded.
  mutating func markStored(evicting: Bool) {
    changed = []
    guard evicting, entries.count > limit + limit / 4 else { return }
    let kept = entries.map { ($0.key, $0.value.use) }.ordered { $0.1 > $1.1 }.prefix(limit)
    var (before, after) = (entries, [Key: Entry]())
    for (key, _) in kept { after[key] = before.removeValue(forKey: key) }
    entries = after
  }

  private mutating func nextUse() -> UInt64 {
    uses += 1
    return uses
  }
}
