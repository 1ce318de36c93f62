/// The right to do the work of a lease: it ends when another node has got the lease, even if this one was stopped and does not know it yet.
///
/// Tasks that begin where the lease is granted inherit it (`current`), and each `Database.write` of theirs checks it in the same job. So who was
/// stopped for too long writes nothing.
package struct Fence: Sendable {
  /// That of the running task; nil for work that needs no lease.
  @TaskLocal static var current: Fence?

  let lease: String
  let run: Int64
  /// Counts the owners of the lease.
  let number: Int64

  /// What `check` will read.
  var question: Question { Question(Self.look, lease, run, number) }

  private static let look: StaticString = "SELECT 1 FROM lease WHERE name = $1 AND run = $2 AND fence = $3 FOR SHARE"

  /// Throws `.displaced` if another node has the lease. No other gets it before the transaction has ended.
  func check(in transaction: WriteTransaction) throws {
    guard try transaction.first(Self.look, lease, run, number, row: { _ in true }) != nil else {
      throw DatabaseError.displaced(lease: lease)
    }
  }
}
