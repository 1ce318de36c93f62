/// The nodes that there are: a row for each, which it renews every second. It is also the node's lease for what it holds (`NodeLease`).
enum NodeTable {
  static let table = """
    CREATE TABLE IF NOT EXISTS node(name TEXT COLLATE "C" PRIMARY KEY, run BIGINT NOT NULL, address TEXT COLLATE "C" NOT NULL,
      applied BIGINT NOT NULL, seen TIMESTAMPTZ NOT NULL DEFAULT now()) WITH (fillfactor = 10)
    """

  /// Says that the node is there and how far it is.
  static func tell(
    _ node: NodeConfiguration, run: Int64, applied: Int64, in transaction: WriteTransaction
  ) throws(DatabaseError) {
    try transaction.execute(
      """
      INSERT INTO node(name, run, address, applied) VALUES ($1, $2, $3, $4)
      ON CONFLICT (name) DO UPDATE SET run = excluded.run, address = excluded.address, applied = excluded.applied, seen = now()
      """, node.name, run, node.address, applied)
  }

  /// A node has stopped.
  static func forget(_ name: String, run: Int64, in transaction: WriteTransaction) throws(DatabaseError) {
    try transaction.execute("DELETE FROM node WHERE name = $1 AND run = $2", name, run)
  }

  /// nil for a node whose lease has ended.
  static func contact(of run: Int64, in transaction: ReadTransaction) throws -> NodeContact? {
    try transaction.first(
      """
      SELECT address, CAST(EXTRACT(EPOCH FROM seen + $2 * interval '1 second' - now()) * 1000 AS BIGINT) FROM node
      WHERE run = $1 AND seen + $2 * interval '1 second' > now()
      """, run, NodeLease.seconds
    ) { NodeContact(run: run, address: $0.text(0), leaseMilliseconds: $0.integer(1)) }
  }

  static func liveRuns(in transaction: ReadTransaction) throws -> [Int64] {
    try transaction.all("SELECT run FROM node WHERE seen + $1 * interval '1 second' > now()", NodeLease.seconds) {
      $0.integer(0)
    }
  }

  static func address(of run: Int64, in transaction: ReadTransaction) throws -> String? {
    try transaction.first("SELECT address FROM node WHERE run = $1 AND seen > now() - interval '10 seconds'", run) {
      $0.text(0)
    }
  }
}
