import MediaRouter

/// When a track's timestamps were taken, on the clock of arrivals in microseconds.
///
/// At first by the arrival of the packet that was delayed least; from the first sender report on by the publisher's clock, which its sound and picture
/// have in common. RFC 3550 §6.4.1.
struct TrackClock {
  /// What is further from its arrival is not believed: the timestamps begin anew.
  static let differenceLimit: Int64 = 2_000_000

  private let rate: Int64
  private var highest: Int64?
  /// Added to timestamps, so that they go on where the publisher began anew.
  private var shift: Int64 = 0
  /// Added to the time of a timestamp.
  private var offset: Int64 = 0
  private var isReported = false

  init(rate: Int64) { self.rate = rate }

  /// Notes a packet; its timestamp, which from then on does not wrap and has no gaps but those of time.
  mutating func ticks(of timestamp: UInt32, arrival: MediaTime) -> Int64 {
    var ticks = unwrapped(timestamp)
    let delay = arrival.microseconds - microseconds(ticks)
    if highest == nil {
      offset = delay
    } else if abs(delay - offset) > Self.differenceLimit {
      let change = (delay - offset) / 1_000 * (rate / 1_000)
      shift += change
      ticks += change
      highest = ticks
    } else if !isReported {
      offset = min(offset, delay)
    }
    highest = max(highest ?? ticks, ticks)
    return ticks
  }

  /// May change with what comes later.
  func time(of ticks: Int64) -> Int64 { microseconds(ticks) + offset }

  /// - Parameter publisher: what is added to the publisher's clock, known from its first report on.
  mutating func take(_ report: TappedBatch.Report, publisher: inout Int64?) {
    // Before the first packet there is nothing to compare with.
    guard highest != nil else { return }
    let time = microseconds(unwrapped(report.timestamp))
    let ntp = Self.microseconds(ntp: report.ntpTime)
    guard let known = publisher else {
      publisher = time + offset - ntp
      isReported = true
      return
    }
    let wanted = ntp + known - time
    guard abs(wanted - offset) <= Self.differenceLimit else { return }
    offset = wanted
    isReported = true
  }

  private func unwrapped(_ timestamp: UInt32) -> Int64 {
    guard let highest else { return Int64(timestamp) }
    let known = highest - shift
    return highest + Int64(Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: known)))
  }

  private func microseconds(_ ticks: Int64) -> Int64 { ticks * 1_000 / (rate / 1_000) }

  private static func microseconds(ntp: UInt64) -> Int64 {
    Int64(ntp >> 32) * 1_000_000 + Int64(((ntp & 0xFFFF_FFFF) * 1_000_000) >> 32)
  }
}
