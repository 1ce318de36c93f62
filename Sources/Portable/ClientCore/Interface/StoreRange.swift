import JSON

/// A run of the store's records, in the bytewise order of their keys: those whose key begins with `prefix` and lies between
/// the bounds.
public struct StoreRange: Sendable {
  public var prefix: ByteString
  /// Only keys behind this one; nil where the prefix is the only bound.
  public var after: ByteString?
  /// Only keys before this one.
  public var before: ByteString?
  /// Whether the last key comes first; the limit counts from there.
  public var isDescending: Bool
  /// The most records that are read; nil for all, never below 1.
  public var limit: Int?

  public init(
    prefix: ByteString, after: ByteString? = nil, before: ByteString? = nil, isDescending: Bool = false,
    limit: Int? = nil
  ) {
    self.prefix = prefix
    self.after = after
    self.before = before
    self.isDescending = isDescending
    self.limit = limit
  }

  /// Whether a record of that key belongs to it, the limit aside.
  public func contains(_ key: ByteString) -> Bool {
    guard key.utf8.starts(with: prefix.utf8) else { return false }
    if let after, !(after < key) { return false }
    if let before, !(key < before) { return false }
    return true
  }

  /// Those of the records that belong to it, in its order. O(n log n); for stores that keep their records in memory.
  public func select(from records: some Sequence<(key: ByteString, value: [UInt8])>) -> [StoreRecord] {
    var found: [StoreRecord] = []
    for (key, value) in records where contains(key) { found.append(StoreRecord(key: key, value: value)) }
    found = found.ordered { isDescending ? $1.key < $0.key : $0.key < $1.key }
    if let limit, found.count > limit { found.removeLast(found.count - limit) }
    return found
  }
}
