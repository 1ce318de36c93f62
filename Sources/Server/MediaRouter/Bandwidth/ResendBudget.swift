/// How much may be sent again to one peer: on a path that is full, repairs would take the place of what is new.
struct ResendBudget {
  /// Of what the path carries: so much always, …
  private static let least = 0.1
  /// … and so much at most, where media leave twice the room for it.
  private static let most = 0.5
  /// What is not used is kept for so long.
  private static let seconds = 0.5

  private var credit = 0.0
  private var last: MediaTime?

  /// Whether so many bytes may be sent again now; they count as sent.
  ///
  /// - Parameters:
  ///   - rate: bits a second that the path carries.
  ///   - spare: what of it nothing else uses.
  mutating func take(_ bytes: Int, rate: Double, spare: Double, now: MediaTime) -> Bool {
    let share = max(Self.least * rate, min(Self.most * rate, spare / 2)) / 8
    credit = min(Self.seconds * share, credit + share * (last.map { (now - $0).seconds } ?? Self.seconds))
    last = now
    guard credit >= 0 else { return false }
    credit -= Double(bytes)
    return true
  }
}
