/// What went to a peer under transport-wide numbers, until its feedback tells what became of it.
struct SentPackets {
  struct Packet {
    let time: MediaTime
    let bytes: Int
    /// Neither a repetition nor padding.
    let isMedia: Bool
    /// It was told that it has not arrived.
    let wasMissed: Bool
  }

  private struct Entry {
    /// The low bits of when it was sent.
    var microseconds: UInt32 = 0
    var number: UInt16 = 0
    /// 0 for none, or one that was taken; and the two flags below.
    var bytes: UInt16 = 0
  }

  private static let missed: UInt16 = 0x8000
  private static let media: UInt16 = 0x4000
  /// Feedback on what is older comes too late.
  static let entriesLimit = 2048

  /// Empty until the first packet.
  private var entries: [Entry] = []

  mutating func insert(_ number: UInt16, bytes: Int, isMedia: Bool = true, now: MediaTime) {
    if entries.isEmpty { entries = Array(repeating: Entry(), count: Self.entriesLimit) }
    entries[Int(number) % Self.entriesLimit] = Entry(
      microseconds: UInt32(truncatingIfNeeded: now.microseconds), number: number,
      bytes: UInt16(min(bytes, Int(Self.media) - 1)) | (isMedia ? Self.media : 0))
  }

  /// A packet that has arrived; nil if it is not known, or was taken before.
  mutating func take(_ number: UInt16, now: MediaTime) -> Packet? {
    guard knows(number) else { return nil }
    defer { entries[Int(number) % Self.entriesLimit].bytes = 0 }
    return packet(number, now)
  }

  /// A packet that has not arrived, as yet; nil if it is not known, or was missed before.
  mutating func miss(_ number: UInt16, now: MediaTime) -> Packet? {
    guard knows(number) else { return nil }
    let packet = packet(number, now)
    guard !packet.wasMissed else { return nil }
    entries[Int(number) % Self.entriesLimit].bytes |= Self.missed
    return packet
  }

  private func packet(_ number: UInt16, _ now: MediaTime) -> Packet {
    let entry = entries[Int(number) % Self.entriesLimit]
    let age = UInt32(truncatingIfNeeded: now.microseconds) &- entry.microseconds
    return Packet(
      time: MediaTime(microseconds: now.microseconds - Int64(age)), bytes: Int(entry.bytes & (Self.media - 1)),
      isMedia: entry.bytes & Self.media != 0, wasMissed: entry.bytes & Self.missed != 0)
  }

  /// Whether nothing has told of the packet's arrival yet.
  func knows(_ number: UInt16) -> Bool {
    guard !entries.isEmpty else { return false }
    let entry = entries[Int(number) % Self.entriesLimit]
    return entry.bytes & (Self.media - 1) > 0 && entry.number == number
  }
}
