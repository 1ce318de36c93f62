import Synchronization

/// Work that one node does, and another takes up when that one is gone: a lease is a row that its node renews, by the database's clock.
///
/// A node that is stopped for longer than a lease lasts finds another has it: `lost` is told, and must end what the work does.
final class Leases: Sendable {
  private struct Wanted: Sendable {
    let granted, lost: @Sendable () -> Void
    var isHeld = false
  }

  static let table = """
    CREATE TABLE IF NOT EXISTS lease(name TEXT COLLATE "C" PRIMARY KEY, run BIGINT NOT NULL, until TIMESTAMPTZ NOT NULL)
      WITH (fillfactor = 10)
    """

  private let wanted = Mutex<[String: Wanted]>([:])

  func want(_ name: String, granted: @escaping @Sendable () -> Void, lost: @escaping @Sendable () -> Void) {
    wanted.withLock { $0[name] = Wanted(granted: granted, lost: lost) }
  }

  /// Takes and renews in a transaction. Returns which leases this run of the node has then: for `note`, once that is durable.
  func renew(for run: Int64, in transaction: WriteTransaction) throws(DatabaseError) -> [String: Bool] {
    var held: [String: Bool] = [:]
    for name in wanted.withLock({ $0.keys.sorted() }) { held[name] = try Self.take(name, for: run, in: transaction) }
    return held
  }

  private static func take(_ name: String, for run: Int64, in transaction: WriteTransaction) throws(DatabaseError) -> Bool {
    try transaction.changes(
      """
      INSERT INTO lease(name, run, until) VALUES ($1, $2, now() + interval '15 seconds')
      ON CONFLICT (name) DO UPDATE SET run = excluded.run, until = excluded.until
        WHERE lease.run = excluded.run OR lease.until < now()
      """, name, run) == 1
  }

  /// A node that stops gives its leases away at once.
  static func giveUp(_ run: Int64, in transaction: WriteTransaction) throws(DatabaseError) {
    try transaction.execute("DELETE FROM lease WHERE run = $1", run)
  }

  /// Tells who wants a lease what has changed.
  func note(_ held: [String: Bool]) {
    var told: [@Sendable () -> Void] = []
    wanted.withLock { wanted in
      for (name, isHeld) in held {
        guard let lease = wanted[name], lease.isHeld != isHeld else { continue }
        wanted[name]?.isHeld = isHeld
        told.append(isHeld ? lease.granted : lease.lost)
      }
    }
    for tell in told { tell() }
  }
}
