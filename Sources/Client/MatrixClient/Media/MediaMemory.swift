import JSON

/// The small files that a media cache keeps in memory.
struct MediaMemory: Sendable {
  private struct Entry: Sendable {
    let bytes: [UInt8]
    var usedAtMilliseconds: Int64
    /// The number of the use, which orders uses in the same millisecond.
    var use: UInt64
  }

  private var entries: [MediaKey: Entry] = [:]
  private(set) var bytes = 0
  private var uses: UInt64 = 0

  mutating func use(_ key: MediaKey, at now: Int64, notBefore time: Int64) -> [UInt8]? {
    guard let entry = entries[key] else { return nil }
    guard entry.usedAtMilliseconds >= time else {
      remove(key)
      return nil
    }
    uses += 1
    entries[key]?.usedAtMilliseconds = now
    entries[key]?.use = uses
    return entry.bytes
  }

  mutating func put(_ key: MediaKey, _ bytes: [UInt8], at now: Int64, limit: Int) {
    remove(key)
    guard bytes.count <= limit / 8 else { return }
    shrink(to: limit - bytes.count)
    uses += 1
    entries[key] = Entry(bytes: bytes, usedAtMilliseconds: now, use: uses)
    self.bytes += bytes.count
  }

  mutating func remove(_ key: MediaKey) {
    if let entry = entries.removeValue(forKey: key) { bytes -= entry.bytes.count }
  }

  mutating func shrink(to limit: Int) {
    guard bytes > limit else { return }
    for (key, _) in entries.sorted(by: { $0.value.use < $1.value.use }) {
      if bytes <= limit { return }
      remove(key)
    }
  }

  mutating func removeUnused(since time: Int64) {
    for (key, entry) in entries where entry.usedAtMilliseconds < time { remove(key) }
  }
}
