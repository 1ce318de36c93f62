import Synchronization

/// Whether a PostgreSQL server can be reached, as all connections of a database find out. An outage is told once, and its end.
final class DatabasePresence: Sendable {
  /// For how long a server that has just gone away is waited for: a restart, or a standby that takes over.
  static let patienceNanoseconds: UInt64 = 5_000_000_000

  private let report: @Sendable (DatabaseIncident) -> Void
  /// Since when it is away, by `MonotonicClock`; 0 while it is there.
  private let awaySince = Atomic<UInt64>(0)

  init(_ report: @escaping @Sendable (DatabaseIncident) -> Void) { self.report = report }

  var isAway: Bool { awaySince.load(ordering: .relaxed) != 0 }

  /// Whether nobody waits for it any more.
  var isGivenUp: Bool {
    let since = awaySince.load(ordering: .relaxed)
    return since != 0 && MonotonicClock.nanoseconds() - since >= Self.patienceNanoseconds
  }

  /// A connection could not be made.
  func noteAway(_ message: String) {
    let now = MonotonicClock.nanoseconds()
    if awaySince.compareExchange(expected: 0, desired: now, ordering: .acquiringAndReleasing).exchanged {
      report(.away(message: message))
    }
  }

  /// A connection was made.
  func noteBack() {
    if awaySince.exchange(0, ordering: .acquiringAndReleasing) != 0 { report(.back) }
  }
}
