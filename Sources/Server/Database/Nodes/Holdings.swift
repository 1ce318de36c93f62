/// Where another node is, while its lease lasts.
package struct NodeContact: Sendable, Equatable {
  /// Of that node, until it ends.
  package let run: Int64
  /// A host and a port.
  package let address: String
  /// How long its lease lasts if it is not renewed: then what it holds may be held by others.
  package let leaseMilliseconds: Int64
}

/// Who has a thing that one node alone may have.
package enum Holder: Sendable, Equatable {
  /// This node. `fence` is for `letGo`; it grows with each time that the thing is taken.
  case here(fence: Int64)
  case elsewhere(NodeContact)
}

/// Things of which one node has the memory: a row each, which counts while the lease of its node lasts.
enum Holdings {
  static let table = """
    CREATE TABLE IF NOT EXISTS holding(name TEXT COLLATE "C" PRIMARY KEY, run BIGINT NOT NULL, fence BIGINT NOT NULL)
    """

  /// Takes a thing for a node unless another has it. Under the lock of the head's row: only one node takes at a time.
  static func take(_ name: String, for run: Int64, in transaction: WriteTransaction) throws -> Holder {
    let found = try transaction.first("SELECT run, fence FROM holding WHERE name = $1", name) {
      (run: $0.integer(0), fence: $0.integer(1))
    }
    if let found, found.run != run, let contact = try NodeTable.contact(of: found.run, in: transaction) {
      return .elsewhere(contact)
    }
    let fence = (found?.fence ?? 0) + 1
    try transaction.execute(
      """
      INSERT INTO holding(name, run, fence) VALUES ($1, $2, $3)
      ON CONFLICT (name) DO UPDATE SET run = excluded.run, fence = excluded.fence
      """, name, run, fence)
    return .here(fence: fence)
  }

  /// Gives a thing away that was not taken again since.
  static func letGo(_ name: String, of run: Int64, fence: Int64, in transaction: WriteTransaction) throws(DatabaseError) {
    try transaction.execute("DELETE FROM holding WHERE name = $1 AND run = $2 AND fence = $3", name, run, fence)
  }

  static func letAllGo(of run: Int64, in transaction: WriteTransaction) throws(DatabaseError) {
    try transaction.execute("DELETE FROM holding WHERE run = $1", run)
  }

  static func holder(of name: String, in transaction: ReadTransaction) throws -> Int64? {
    try transaction.first("SELECT run FROM holding WHERE name = $1", name) { $0.integer(0) }
  }

  /// Removes what nodes held that have been gone for long.
  static func trim(in transaction: WriteTransaction) throws(DatabaseError) {
    try transaction.execute(
      "DELETE FROM holding WHERE run NOT IN (SELECT run FROM node WHERE seen > now() - interval '10 minutes')")
  }
}
