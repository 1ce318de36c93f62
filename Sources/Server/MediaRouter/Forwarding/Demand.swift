/// Up to which layer anybody wants a track: what is above it, its publisher need not send. More is told at once, less when it has stayed so.
struct Demand {
  static let patience = MediaTime.Interval.seconds(2)

  /// What the publisher was told last; nil for nothing of it.
  private(set) var told: Int?
  private var lessSince: MediaTime?

  /// - Parameter all: until it is told something, a publisher sends all it has.
  init(all: Int) { told = all }

  /// Whether the publisher has to be told `wanted`; then it counts as told.
  mutating func update(_ wanted: Int?, now: MediaTime) -> Bool {
    guard wanted ?? -1 < told ?? -1 else {
      lessSince = nil
      defer { told = wanted }
      return wanted != told
    }
    let since = lessSince ?? now
    lessSince = since
    guard now - since >= Self.patience else { return false }
    (told, lessSince) = (wanted, nil)
    return true
  }
}
