import Synchronization

/// Work that one node does, and another takes up when that one is gone: a lease is a row that its node renews, by the database's clock.
///
/// A node that is stopped for longer than a lease lasts finds another has it: `lost` is told, and must end what the work does. What it still
/// writes is refused by its fence.
final class Leases: Sendable {
  private struct Wanted: Sendable {
    let granted: @Sendable (Fence) -> Void
    let lost: @Sendable () -> Void
    var isHeld = false
    /// Whether the database has been asked for it.
    var isAsked = false
  }

  static let table = """
    CREATE TABLE IF NOT EXISTS lease(name TEXT COLLATE "C" PRIMARY KEY, run BIGINT NOT NULL, fence BIGINT NOT NULL,
      until TIMESTAMPTZ NOT NULL) WITH (fillfactor = 10)
    """

  private let wanted = Mutex<[String: Wanted]>([:])

  func want(_ name: String, granted: @escaping @Sendable (Fence) -> Void, lost: @escaping @Sendable () -> Void) {
    wanted.withLock { $0[name] = Wanted(granted: granted, lost: lost) }
  }

  /// Whether a lease is wanted that the database was not asked for yet.
  var hasNew: Bool { wanted.withLock { $0.values.contains { !$0.isAsked } } }

  /// Takes and renews in a transaction. Returns the leases that this run of the node wants, each with its fence if it has it: for `note`, once that
  /// is durable.
  ///
  /// - Parameter takingEnded: whether to take leases that have ended and that nobody has given up. Not while their owner is about to come back.
  func renew(for run: Int64, takingEnded: Bool, in transaction: WriteTransaction) throws -> [String: Fence?] {
    var held: [String: Fence?] = [:]
    for name in wanted.withLock({ $0.keys.sorted() }) {
      let number = try Self.take(name, for: run, takingEnded: takingEnded, in: transaction)
      held[name] = .some(number.map { Fence(lease: name, run: run, number: $0) })
    }
    return held
  }

  /// The number of the fence; nil if another node has the lease.
  private static func take(
    _ name: String, for run: Int64, takingEnded: Bool, in transaction: WriteTransaction
  ) throws -> Int64? {
    try transaction.first(
      """
      INSERT INTO lease(name, run, fence, until) VALUES ($1, $2, 1, now() + interval '15 seconds')
      ON CONFLICT (name) DO UPDATE SET run = excluded.run, until = excluded.until,
        fence = CASE WHEN lease.run = excluded.run THEN lease.fence ELSE lease.fence + 1 END
        WHERE lease.run = excluded.run OR lease.run = 0 OR (lease.until < now() AND $3 = 1)
      RETURNING fence
      """, name, run, Int64(takingEnded ? 1 : 0)
    ) { $0.integer(0) }
  }

  /// A node that stops gives its leases away at once. The row stays: it counts the owners.
  static func giveUp(_ run: Int64, in transaction: WriteTransaction) throws(DatabaseError) {
    try transaction.execute("UPDATE lease SET run = 0, until = now() - interval '1 second' WHERE run = $1", run)
  }

  /// Tells who wants a lease what has changed.
  func note(_ held: [String: Fence?]) {
    var told: [@Sendable () -> Void] = []
    wanted.withLock { wanted in
      for (name, fence) in held {
        wanted[name]?.isAsked = true
        guard let lease = wanted[name], lease.isHeld != (fence != nil) else { continue }
        wanted[name]?.isHeld = fence != nil
        if let fence { told.append { lease.granted(fence) } } else { told.append(lease.lost) }
      }
    }
    for tell in told { tell() }
  }

  var heldCount: Int { wanted.withLock { $0.values.count(where: \.isHeld) } }
}
