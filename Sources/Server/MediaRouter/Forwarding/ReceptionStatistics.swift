/// What a receiver reports of one SSRC. RFC 3550 §6.4.1, appendices A.3 and A.8.
struct ReceptionStatistics {
  private let clockRate: Int64
  private var first: UInt64?
  private var highest: UInt64 = 0
  private var received: UInt64 = 0
  private var expectedBefore: UInt64 = 0
  private var receivedBefore: UInt64 = 0
  private var transit: Int64?
  /// 16 times the jitter.
  private var jitter: Int64 = 0
  private var lastSenderReport: (middle: UInt32, arrival: MediaTime)?

  init(clockRate: Int64) { self.clockRate = clockRate }

  /// Notes a packet that is not a repetition.
  mutating func receive(_ sequence: UInt64, timestamp: UInt32, now: MediaTime) {
    received += 1
    if first == nil { first = sequence }
    highest = max(highest, sequence)
    let arrival = now.ticks(clockRate)
    let transit = Int64(Int32(truncatingIfNeeded: arrival &- Int64(timestamp)))
    if let before = self.transit {
      let change = abs(Int64(Int32(truncatingIfNeeded: transit &- before)))
      jitter += change - (jitter + 8) >> 4
    }
    self.transit = transit
  }

  mutating func receive(_ report: SenderReport, now: MediaTime) {
    lastSenderReport = (UInt32(truncatingIfNeeded: report.ntpTime >> 16), now)
  }

  /// The block of the next report; nil before the first packet.
  mutating func report(_ ssrc: UInt32, now: MediaTime) -> ReceptionReport? {
    guard let first else { return nil }
    let expected = highest - min(first, highest) + 1
    let lost = Int64(expected) - Int64(received)
    let expectedNow = Int64(expected - expectedBefore)
    let lostNow = expectedNow - Int64(received - receivedBefore)
    expectedBefore = expected
    receivedBefore = received
    let fraction = expectedNow > 0 && lostNow > 0 ? min(255, lostNow * 256 / expectedNow) : 0
    let delay = lastSenderReport.map { (now - $0.arrival).microseconds * 65_536 / 1_000_000 } ?? 0
    return ReceptionReport(
      ssrc: ssrc, fractionLost: UInt8(fraction), cumulativeLost: Int32(max(-0x80_0000, min(0x7F_FFFF, lost))),
      // Unwrapping begins one round above 0.
      highestSequence: UInt32(truncatingIfNeeded: highest - 1 << 16), jitter: UInt32(truncatingIfNeeded: jitter >> 4),
      lastReport: lastSenderReport?.middle ?? 0, delaySinceLastReport: UInt32(clamping: delay))
  }
}
