/// The nodes that there are: a row for each, which it renews every second. It is also the node's lease for what it holds (`NodeLease`).
enum NodeTable {
  static let table = """
    CREATE TABLE IF NOT EXISTS node(name TEXT COLLATE "C" PRIMARY KEY, run BIGINT NOT NULL, address TEXT COLLATE "C" NOT NULL,
      applied BIGINT NOT NULL, terms TEXT COLLATE "C" NOT NULL DEFAULT '', seen TIMESTAMPTZ NOT NULL DEFAULT now())
      WITH (fillfactor = 10)
    """

  /// Says that the node is there and how far it is.
  static func tell(
    _ node: NodeConfiguration, run: Int64, applied: Int64, in transaction: WriteTransaction
  ) throws(DatabaseError) {
    try transaction.execute(
      """
      INSERT INTO node(name, run, address, applied) VALUES ($1, $2, $3, $4)
      ON CONFLICT (name) DO UPDATE SET run = excluded.run, address = excluded.address, applied = excluded.applied, seen = now(),
        terms = CASE WHEN node.run = excluded.run THEN node.terms ELSE '' END
      """, node.name, run, node.address, applied)
  }

  /// Says that the node is there, and its terms. Throws `.disagreement` if a node that runs has others, so one of two that start at once does.
  ///
  /// Called on the writer: it holds the head's row, so nodes come one by one.
  static func agree(
    _ terms: NodeTerms, _ node: NodeConfiguration, run: Int64, applied: Int64, in transaction: WriteTransaction
  ) throws {
    let others = try transaction.all(
      "SELECT name, terms FROM node WHERE run <> $1 AND terms <> '' AND seen > now() - interval '10 seconds' ORDER BY name", run
    ) { (name: $0.text(0), terms: NodeTerms(text: $0.text(1))) }
    for other in others {
      let different = terms.different(from: other.terms)
      guard different.isEmpty else { throw DatabaseError.disagreement(with: other.name, terms: different) }
    }
    try tell(node, run: run, applied: applied, in: transaction)
    try transaction.execute("UPDATE node SET terms = $1 WHERE run = $2", terms.text, run)
  }

  /// A node has stopped.
  static func forget(_ name: String, run: Int64, in transaction: WriteTransaction) throws(DatabaseError) {
    try transaction.execute("DELETE FROM node WHERE name = $1 AND run = $2", name, run)
  }

  static func run(of name: String, in transaction: ReadTransaction) throws -> Int64? {
    try transaction.first("SELECT run FROM node WHERE name = $1 AND seen > now() - interval '10 seconds'", name) {
      $0.integer(0)
    }
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

  /// All nodes but one that were heard of within the last ten seconds, and who of them all has a lease.
  static func census(without run: Int64, lease: String, in transaction: ReadTransaction) throws -> NodeCensus {
    let nodes = try transaction.all(
      """
      SELECT name, run, address, COALESCE(run = (SELECT run FROM lease WHERE lease.name = $1 AND until > now()), false)
      FROM node WHERE seen > now() - interval '10 seconds' ORDER BY name
      """, lease
    ) { (node: NodeCensus.Node(name: $0.text(0), address: $0.text(2)), run: $0.integer(1), hasLease: $0.integer(3) != 0) }
    return NodeCensus(others: nodes.filter { $0.run != run }.map(\.node), worker: nodes.first(where: \.hasLease)?.node.name)
  }
}
