/// One consistent view of the database, valid inside the closure that receives it.
///
/// SQL is a literal (it is the key of the statement cache) with parameters `$1`, `$2`…, in the common subset of SQLite and
/// PostgreSQL: see Documentation/Decisions/0002-one-sql.md. Being no `Sendable` it cannot leave its closure.
@usableFromInline package class ReadTransaction {
  @usableFromInline let connection: Connection
  /// nil where rows cannot be older than memory.
  private let position: StreamPosition?
  private var appliedAtBegin: Int64 = 0

  init(on connection: Connection, position: StreamPosition? = nil) {
    self.connection = connection
    self.position = position
  }

  func noteBegin() { appliedAtBegin = position?.appliedBatch ?? 0 }

  /// Whether commits of other nodes have been applied since it began: what it reads may be older than what is in memory, and must not be kept
  /// there. False where there are no other nodes, as a node shows its own commits by what they have staged.
  package var isBehind: Bool { position.map { $0.appliedBatch != appliedAtBegin } ?? false }

  /// Calls `body` with each row, in order. `body` may run other statements, this one included.
  @inlinable package func query<each Parameter: SQLParameter>(
    _ sql: StaticString, _ parameters: repeat each Parameter, forEach body: (Row) throws -> Void
  ) throws {
    let statement = try connection.take(sql)
    defer { connection.giveBack(statement) }
    var binder = SQLBinder(statement, connection)
    repeat (each parameters).bind(to: &binder)
    try binder.check()
    while try connection.step(statement) { try body(statement.row) }
  }

  /// Returns what `body` makes of the first row, or nil if there is no row. Does not read further rows.
  @inlinable package func first<Result, each Parameter: SQLParameter>(
    _ sql: StaticString, _ parameters: repeat each Parameter, row body: (Row) throws -> Result
  ) throws -> Result? {
    let statement = try connection.take(sql)
    defer { connection.giveBack(statement) }
    var binder = SQLBinder(statement, connection)
    repeat (each parameters).bind(to: &binder)
    try binder.check()
    return try connection.step(statement) ? try body(statement.row) : nil
  }

  /// What the database takes on its disk, SQLite's log aside, and how large one of SQLite's pages is; 0 with PostgreSQL.
  package func databaseSize() throws -> (bytes: Int64, pageBytes: Int64) {
    switch connection {
    case .sqlite:
      try first("SELECT page_count, page_size FROM pragma_page_count(), pragma_page_size()") {
        ($0.integer(0) * $0.integer(1), $0.integer(1))
      } ?? (0, 0)
    case .postgreSQL: (try first("SELECT pg_database_size(current_database())") { $0.integer(0) } ?? 0, 0)
    }
  }

  /// What `body` makes of each row, in order.
  @inlinable package func all<Result, each Parameter: SQLParameter>(
    _ sql: StaticString, _ parameters: repeat each Parameter, row body: (Row) throws -> Result
  ) throws -> [Result] {
    var results: [Result] = []
    try query(sql, repeat each parameters) { results.append(try body($0)) }
    return results
  }
}
