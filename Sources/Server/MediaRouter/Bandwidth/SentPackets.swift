/// What went to a peer under transport-wide numbers, until its feedback tells what became of it.
struct SentPackets {
  private struct Entry {
    /// The low bits of when it was sent.
    var microseconds: UInt32 = 0
    var number: UInt16 = 0
    /// 0 for none, or one that was taken.
    var bytes: UInt16 = 0
  }

  /// In `Entry.bytes`: it was told that the packet has not arrived.
  private static let missed: UInt16 = 0x8000

  /// Feedback on what is older comes too late.
  static let entriesLimit = 2048

  /// Empty until the first packet.
  private var entries: [Entry] = []

  mutating func insert(_ number: UInt16, bytes: Int, now: MediaTime) {
    if entries.isEmpty { entries = Array(repeating: Entry(), count: Self.entriesLimit) }
    entries[Int(number) % Self.entriesLimit] = Entry(
      microseconds: UInt32(truncatingIfNeeded: now.microseconds), number: number,
      bytes: UInt16(min(bytes, Int(Self.missed) - 1)))
  }

  /// When a packet was sent, how large it was, and whether it was missed before; nil if that is not known, or was asked already.
  mutating func take(_ number: UInt16, now: MediaTime) -> (time: MediaTime, bytes: Int, wasMissed: Bool)? {
    guard knows(number) else { return nil }
    let slot = Int(number) % Self.entriesLimit
    let entry = entries[slot]
    entries[slot].bytes = 0
    return (Self.time(entry, now), Int(entry.bytes & ~Self.missed), entry.bytes & Self.missed != 0)
  }

  /// Notes that a packet has not arrived, as yet. When it was sent; nil if that is not known, or this is already.
  mutating func miss(_ number: UInt16, now: MediaTime) -> MediaTime? {
    let slot = Int(number) % Self.entriesLimit
    guard knows(number), entries[slot].bytes & Self.missed == 0 else { return nil }
    entries[slot].bytes |= Self.missed
    return Self.time(entries[slot], now)
  }

  private static func time(_ entry: Entry, _ now: MediaTime) -> MediaTime {
    let age = UInt32(truncatingIfNeeded: now.microseconds) &- entry.microseconds
    return MediaTime(microseconds: now.microseconds - Int64(age))
  }

  /// Whether nothing has told of the packet's arrival yet.
  func knows(_ number: UInt16) -> Bool {
    guard !entries.isEmpty else { return false }
    let entry = entries[Int(number) % Self.entriesLimit]
    return entry.bytes > 0 && entry.number == number
  }
}
