/// What went to a peer under transport-wide numbers, until its feedback tells what became of it.
struct SentPackets {
  private struct Entry {
    /// The low bits of when it was sent.
    var microseconds: UInt32 = 0
    var number: UInt16 = 0
    /// 0 for none, or one that was taken.
    var bytes: UInt16 = 0
  }

  /// Feedback on what is older comes too late.
  static let entriesLimit = 2048

  /// Empty until the first packet.
  private var entries: [Entry] = []

  mutating func insert(_ number: UInt16, bytes: Int, now: MediaTime) {
    if entries.isEmpty { entries = Array(repeating: Entry(), count: Self.entriesLimit) }
    entries[Int(number) % Self.entriesLimit] = Entry(
      microseconds: UInt32(truncatingIfNeeded: now.microseconds), number: number, bytes: UInt16(clamping: bytes))
  }

  /// When a packet was sent, and how large it was; nil if that is not known, or was asked before.
  mutating func take(_ number: UInt16, now: MediaTime) -> (time: MediaTime, bytes: Int)? {
    guard knows(number) else { return nil }
    let slot = Int(number) % Self.entriesLimit
    let entry = entries[slot]
    entries[slot].bytes = 0
    let age = UInt32(truncatingIfNeeded: now.microseconds) &- entry.microseconds
    return (MediaTime(microseconds: now.microseconds - Int64(age)), Int(entry.bytes))
  }

  /// Whether nothing has told of the packet yet.
  func knows(_ number: UInt16) -> Bool {
    guard !entries.isEmpty else { return false }
    let entry = entries[Int(number) % Self.entriesLimit]
    return entry.bytes > 0 && entry.number == number
  }
}
