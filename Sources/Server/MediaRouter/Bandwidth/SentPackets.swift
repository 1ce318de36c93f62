/// What went to a peer under transport-wide numbers, until its feedback tells what became of it.
struct SentPackets {
  struct Packet {
    let time: MediaTime
    let bytes: Int
    /// Neither a repetition nor padding.
    let isMedia: Bool
    /// It was told that it has not arrived.
    let wasMissed: Bool
    /// It counts as lost, or did before it arrived (`takeLost`).
    let wasLost: Bool
  }

  private struct Entry {
    /// The low bits of when it was sent.
    var microseconds: UInt32 = 0
    var number: UInt16 = 0
    /// 0 for none, or one that was taken; and the flags below.
    var bytes: UInt16 = 0
  }

  private static let missed: UInt16 = 0x8000
  private static let media: UInt16 = 0x4000
  private static let lost: UInt16 = 0x2000
  private static let bytes: UInt16 = 0x1fff
  private static let leastPatience = MediaTime.Interval.milliseconds(100)
  private static let patienceLimit = MediaTime.Interval.milliseconds(500)
  /// After so long without a mistake half the patience will do.
  private static let calm = MediaTime.Interval.seconds(20)
  /// Feedback on what is older comes too late.
  static let entriesLimit = 2048

  /// Empty until the first packet.
  private var entries: [Entry] = []
  /// What is missing for longer is lost: until then those behind it may have overtaken it. The longer, the more often that was wrong of late.
  private(set) var patience = SentPackets.leastPatience
  private var lastError: MediaTime?
  /// What was missed, and when, the first first.
  private var missing: [(fate: Fate, since: MediaTime)] = []
  /// Those of `missing` that were looked at.
  private var settled = 0

  private enum Fate {
    case open(UInt16)
    /// Another packet has its place meanwhile.
    case lost(Packet)
  }

  mutating func insert(_ number: UInt16, bytes: Int, isMedia: Bool = true, now: MediaTime) {
    if entries.isEmpty { entries = Array(repeating: Entry(), count: Self.entriesLimit) }
    let old = entries[Int(number) % Self.entriesLimit]
    if old.bytes & Self.bytes > 0, old.bytes & (Self.missed | Self.lost) == Self.missed {
      missing.append((.lost(packet(old, now)), now))
    }
    entries[Int(number) % Self.entriesLimit] = Entry(
      microseconds: UInt32(truncatingIfNeeded: now.microseconds), number: number,
      bytes: min(UInt16(clamping: bytes), Self.bytes) | (isMedia ? Self.media : 0))
  }

  /// A packet that has arrived; nil if it is not known, or was taken before.
  mutating func take(_ number: UInt16, now: MediaTime) -> Packet? {
    guard knows(number) else { return nil }
    defer { entries[Int(number) % Self.entriesLimit].bytes = 0 }
    let packet = packet(entries[Int(number) % Self.entriesLimit], now)
    if packet.wasLost { waitLonger(now) }
    return packet
  }

  /// A packet that has not arrived, as yet; nil if it is not known, or was missed before.
  mutating func miss(_ number: UInt16, now: MediaTime) -> Packet? {
    guard knows(number), entries[Int(number) % Self.entriesLimit].bytes & Self.missed == 0 else { return nil }
    entries[Int(number) % Self.entriesLimit].bytes |= Self.missed
    missing.append((.open(number), now))
    return packet(entries[Int(number) % Self.entriesLimit], now)
  }

  /// The next packet that was missed so long ago that it counts as lost; nil if none was.
  mutating func takeLost(_ now: MediaTime) -> Packet? {
    waitLess(now)
    while settled < missing.count, now - missing[settled].since >= patience {
      settled += 1
      switch missing[settled - 1].fate {
      case .lost(let packet): return packet
      case .open(let number):
        let place = Int(number) % Self.entriesLimit
        // It may have arrived since, or another have its place.
        guard knows(number), entries[place].bytes & (Self.missed | Self.lost) == Self.missed else { continue }
        entries[place].bytes |= Self.lost
        return packet(entries[place], now)
      }
    }
    missing.removeFirst(settled)
    settled = 0
    return nil
  }

  /// Of what came at once it says as much as of one.
  private mutating func waitLonger(_ now: MediaTime) {
    guard lastError.map({ now - $0 >= patience }) ?? true else { return }
    (patience, lastError) = (min(patience * 2, Self.patienceLimit), now)
  }

  private mutating func waitLess(_ now: MediaTime) {
    guard let error = lastError, now - error >= Self.calm else { return }
    patience = max(Self.leastPatience, MediaTime.Interval(microseconds: patience.microseconds / 2))
    lastError = patience > Self.leastPatience ? now : nil
  }

  private func packet(_ entry: Entry, _ now: MediaTime) -> Packet {
    let age = UInt32(truncatingIfNeeded: now.microseconds) &- entry.microseconds
    return Packet(
      time: MediaTime(microseconds: now.microseconds - Int64(age)), bytes: Int(entry.bytes & Self.bytes),
      isMedia: entry.bytes & Self.media != 0, wasMissed: entry.bytes & Self.missed != 0,
      wasLost: entry.bytes & Self.lost != 0)
  }

  /// Whether nothing has told of the packet's arrival yet.
  func knows(_ number: UInt16) -> Bool {
    guard !entries.isEmpty else { return false }
    let entry = entries[Int(number) % Self.entriesLimit]
    return entry.bytes & Self.bytes > 0 && entry.number == number
  }
}
