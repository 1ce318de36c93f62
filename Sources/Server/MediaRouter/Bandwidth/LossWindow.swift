/// What was lost of what was sent.
struct PacketLoss: Equatable {
  /// Negative where packets came late, or twice.
  var lost: Int
  /// Packets that there could be.
  var expected: Int
}

/// What is reported as lost, over so many packets that it says something: who asks for a lost packet reports in the same datagram (Chromium does), and
/// one of the three that came since the last report is a third.
struct LossWindow {
  static let leastPackets = 40
  /// Of sound alone, of which few packets go: that it is asked whether they are lost too is why there is no picture. Where a fifth is, all of
  /// these arrive in one of 200 cases.
  static let leastOfSound = 24
  static let least = MediaTime.Interval.milliseconds(500)

  private let leastPackets: Int
  private var lost = 0
  private var expected = 0
  private var began: MediaTime?

  init(isSoundAlone: Bool = false) { leastPackets = isSoundAlone ? Self.leastOfSound : Self.leastPackets }

  /// The share in 1/256 once so many packets and so much time are together, and then it begins anew.
  mutating func add(_ loss: PacketLoss, now: MediaTime) -> UInt8? {
    lost += loss.lost
    expected += loss.expected
    let start = began ?? now
    began = start
    guard expected >= leastPackets, now - start >= Self.least else { return nil }
    defer { (self.lost, self.expected, began) = (0, 0, nil) }
    return UInt8(clamping: max(0, lost) * 256 / expected)
  }
}
