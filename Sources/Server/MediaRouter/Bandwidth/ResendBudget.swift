/// How much may be sent again to one peer, and how soon: on a path that is full, repairs would take the place of what is new, and many at once
/// fill the queue in front of any.
struct ResendBudget {
  /// Of what the path carries: so much always, …
  private static let least = 0.1
  /// … and so much at most, where media leave twice the room for it.
  private static let most = 0.5
  /// At once as much as the path carries in so long; less is no queue (`PathQueue`).
  private static let burstSeconds = 0.04

  private var credit = 0.0
  private var last: MediaTime?

  /// Whether so many bytes may be sent again now; they count as sent.
  ///
  /// - Parameters:
  ///   - rate: bits a second that the path carries.
  ///   - spare: what of it nothing else uses.
  mutating func take(_ bytes: Int, rate: Double, spare: Double, now: MediaTime) -> Bool {
    let (share, burst) = (max(Self.least * rate, min(Self.most * rate, spare / 2)) / 8, Self.burstSeconds * rate / 8)
    credit = min(burst, last.map { credit + share * (now - $0).seconds } ?? burst)
    last = now
    guard credit >= 0 else { return false }
    credit -= Double(bytes)
    return true
  }
}
