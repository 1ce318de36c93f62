/// What a subscription sent of late, so that it can be sent again. RFC 4588 §3.
struct SentHistory {
  struct Entry {
    var output: StreamRewriter.Output
    /// The number of the packet within its layer.
    var source: UInt64
    var layer: UInt8
    var resends: UInt8 = 0
    /// Asked for, and not sent again yet.
    var isWanted = false
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
    entries[Self.slot(entry.output.index)] = entry
    highest = max(highest, entry.output.index)
  }

  /// Notes that a receiver asks for a packet. Its index, where it may be sent again and does not wait for that already.
  mutating func want(_ number: UInt16, now: MediaTime) -> UInt64? {
    guard !entries.isEmpty else { return nil }
    let distance = Int64(Int16(bitPattern: number &- UInt16(truncatingIfNeeded: highest)))
    guard distance <= 0, Int64(highest) + distance >= 0 else { return nil }
    let index = UInt64(Int64(highest) + distance)
    guard let entry = wanted(index, false), entry.resends < Self.resendsLimit,
      entry.resends == 0 || now - entry.lastSent >= Self.interval
    else { return nil }
    entries[Self.slot(index)]?.isWanted = true
    return index
  }

  /// A packet that is wanted; nil where a newer one has its place.
  func wanted(_ index: UInt64) -> Entry? { wanted(index, true) }

  private func wanted(_ index: UInt64, _ isWanted: Bool) -> Entry? {
    guard let entry = entries[Self.slot(index)], entry.output.index == index, entry.isWanted == isWanted else { return nil }
    return entry
  }

  /// A packet that was wanted was sent again now.
  mutating func resent(_ index: UInt64, now: MediaTime) {
    guard var entry = wanted(index) else { return }
    entry.resends += 1
    (entry.isWanted, entry.lastSent) = (false, now)
    entries[Self.slot(index)] = entry
  }

  /// A packet that was wanted is not sent again; it may be asked for anew.
  mutating func forgo(_ index: UInt64) {
    if wanted(index) != nil { entries[Self.slot(index)]?.isWanted = false }
  }

  private static func slot(_ index: UInt64) -> Int { Int(index % UInt64(entriesLimit)) }
}
