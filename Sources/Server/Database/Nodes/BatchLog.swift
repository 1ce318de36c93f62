/// The commits of all nodes in their order, as rows that commit with them: how a node learns of what others did.
///
/// Numbers have no gap: each commit that writes takes the one after the head's. A node that finds its next number gone was away for too long.
enum BatchLog {
  struct Entry {
    let number: Int64
    /// The head of the stream behind the commit.
    let position: Int64
    /// Of the node's run that committed.
    let run: Int64
    let notes: [UInt8]
  }

  /// For the notification that `append` has each commit send unless there is a bus: its text is the number.
  static let listening = "LISTEN martlet_batch"
  /// Entries that are read at once.
  private static let limit = 200

  static let table = """
    CREATE TABLE IF NOT EXISTS cluster_batch(number BIGINT PRIMARY KEY, position BIGINT NOT NULL, run BIGINT NOT NULL,
      notes BYTEA NOT NULL, since TIMESTAMPTZ NOT NULL DEFAULT now())
    """

  /// As the last statement of a commit.
  ///
  /// - Parameter notifies: whether listeners hear of it once it is durable.
  static func append(_ entry: Entry, notifies: Bool, in transaction: WriteTransaction) throws(DatabaseError) {
    guard notifies else {
      return try transaction.execute(
        "INSERT INTO cluster_batch(number, position, run, notes) VALUES ($1, $2, $3, $4)", entry.number, entry.position,
        entry.run,
        entry.notes)
    }
    try transaction.execute(
      """
      INSERT INTO cluster_batch(number, position, run, notes)
      SELECT $1, $2, $3, $4 FROM pg_notify('martlet_batch', CAST($1 AS TEXT))
      """, entry.number, entry.position, entry.run, entry.notes)
  }

  /// Those behind `number`, the oldest first: as many as are read at once.
  static func entries(after number: Int64, in transaction: ReadTransaction) throws -> [Entry] {
    try transaction.all(
      "SELECT number, position, run, notes FROM cluster_batch WHERE number > $1 ORDER BY number LIMIT $2", number, limit
    ) { Entry(number: $0.integer(0), position: $0.integer(1), run: $0.integer(2), notes: $0.blob(3)) }
  }

  /// Whose commit has a number; nil if there is none.
  static func run(of number: Int64, on connection: Connection) throws(DatabaseError) -> Int64? {
    let statement = try connection.take("SELECT run FROM cluster_batch WHERE number = $1")
    defer { connection.giveBack(statement) }
    var binder = SQLBinder(statement, connection)
    number.bind(to: &binder)
    try binder.check()
    return try connection.step(statement) ? statement.row.integer(0) : nil
  }

  static func head(in transaction: ReadTransaction) throws -> Connection.Head? {
    try transaction.first("SELECT position, batch FROM stream_head WHERE id = 1") {
      Connection.Head(position: $0.integer(0), batch: $0.integer(1))
    }
  }

  /// Removes entries that nobody needs: all nodes that were seen lately have applied them.
  static func trim(in transaction: WriteTransaction) throws(DatabaseError) {
    try transaction.execute(
      """
      DELETE FROM cluster_batch WHERE since < now() - interval '10 minutes'
        AND number <= (SELECT MIN(applied) FROM node WHERE seen > now() - interval '10 minutes')
      """)
  }
}
