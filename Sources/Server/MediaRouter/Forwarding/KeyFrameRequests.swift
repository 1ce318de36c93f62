/// When to ask the publisher for a key frame of one layer: at once, then not again for a while, however many ask. RFC 4585 §6.3.1.
struct KeyFrameRequests {
  static let interval = MediaTime.Interval.milliseconds(500)

  /// Somebody waits for a key frame.
  private(set) var isWanted = false
  private var last: MediaTime?

  mutating func want() { isWanted = true }

  /// A key frame has come.
  mutating func satisfy() { isWanted = false }

  /// Whether to ask now; a request that is not answered is repeated.
  mutating func take(now: MediaTime) -> Bool {
    guard isWanted, last.map({ now - $0 >= Self.interval }) ?? true else { return false }
    last = now
    return true
  }
}
