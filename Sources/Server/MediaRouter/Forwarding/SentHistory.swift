/// What a subscription sent of late, so that it can be sent again. RFC 4588 §3.
struct SentHistory {
  struct Entry {
    var output: StreamRewriter.Output
    /// The number of the packet within its layer.
    var source: UInt64
    var layer: UInt8
    var resends: UInt8 = 0
    var lastSent: MediaTime
  }

  static let entriesLimit = 512
  /// A packet is sent again so often at most, …
  static let resendsLimit = 5
  /// … and not more often than a receiver can know of it.
  static let interval = MediaTime.Interval.milliseconds(20)

  /// Empty until the first packet: audio, which nobody asks for again, needs none.
  private var entries: [Entry?] = []
  private var highest: UInt64 = 0

  mutating func insert(_ entry: Entry) {
    if entries.isEmpty { entries = Array(repeating: nil, count: Self.entriesLimit) }
    entries[Int(entry.output.index % UInt64(Self.entriesLimit))] = entry
    highest = max(highest, entry.output.index)
  }

  /// The packet that a receiver asks for, if it may be sent again now; it counts as sent.
  mutating func take(_ number: UInt16, now: MediaTime) -> Entry? {
    guard !entries.isEmpty else { return nil }
    let distance = Int64(Int16(bitPattern: number &- UInt16(truncatingIfNeeded: highest)))
    guard distance <= 0, Int64(highest) + distance >= 0 else { return nil }
    let index = UInt64(Int64(highest) + distance)
    let slot = Int(index % UInt64(Self.entriesLimit))
    guard var entry = entries[slot], entry.output.index == index, entry.resends < Self.resendsLimit,
      now - entry.lastSent >= Self.interval
    else { return nil }
    entry.resends += 1
    entry.lastSent = now
    entries[slot] = entry
    return entry
  }
}
