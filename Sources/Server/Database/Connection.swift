/// A connection to one of the two engines. Only one thread at a time may use it, which the owner (writer or reader) guarantees.
///
/// Two cases and no protocol: what runs for each row is a branch that the processor foresees.
@usableFromInline enum Connection {
  case sqlite(SQLiteConnection)
  case postgreSQL(PostgreSQLConnection)

  enum Role { case writer, reader }

  init(_ configuration: DatabaseConfiguration, as role: Role) throws(DatabaseError) {
    self =
      switch configuration.place {
      case .file(let path): .sqlite(try SQLiteConnection(path, configuration, as: role))
      case .server(let address): .postgreSQL(try PostgreSQLConnection(address, configuration, as: role))
      }
  }

  /// Where the stream is.
  struct Head: Equatable {
    var position: Int64
    /// Counts the commits that wrote something; 0 with SQLite, which needs no such count: its commits have an answer.
    var batch: Int64 = 0
    /// Counts how often the database went back to an earlier state; 0 with SQLite.
    var epoch: Int64 = 0
  }
}

/// One prepared statement with the values of one execution.
@usableFromInline enum Statement {
  case sqlite(SQLiteStatement)
  case postgreSQL(PostgreSQLStatement)

  var sql: StaticString {
    switch self {
    case .sqlite(let statement): statement.sql
    case .postgreSQL(let statement): statement.sql
    }
  }

  /// The row to which `Connection.step` came.
  @usableFromInline var row: Row {
    switch self {
    case .sqlite(let statement): .sqlite(statement.handle)
    case .postgreSQL(let statement): statement.currentRow
    }
  }
}

// Statements: taken, bound, stepped, given back.
extension Connection {
  /// For the statements of a job. Once the transaction has ended by itself (with SQLite: disk full, I/O) it refuses: a job that swallowed that
  /// error would otherwise write rows of which each is a transaction of its own.
  @usableFromInline func take(_ sql: StaticString) throws(DatabaseError) -> Statement {
    guard isInTransaction else { throw .io(message: "the transaction has ended after an error, before \(sql)") }
    return try takeOutside(sql)
  }

  /// For statements outside a transaction.
  func takeOutside(_ sql: StaticString) throws(DatabaseError) -> Statement {
    switch self {
    case .sqlite(let connection): .sqlite(try connection.take(sql))
    case .postgreSQL(let connection): .postgreSQL(try connection.take(sql))
    }
  }

  @usableFromInline func giveBack(_ statement: Statement) {
    switch (self, statement) {
    case (.sqlite(let connection), .sqlite(let statement)): connection.giveBack(statement)
    case (.postgreSQL, .postgreSQL(let statement)): statement.end()
    default: Self.foreign(statement)
    }
  }

  /// True when there is a row.
  @usableFromInline func step(_ statement: Statement) throws(DatabaseError) -> Bool {
    switch (self, statement) {
    case (.sqlite(let connection), .sqlite(let statement)): try connection.step(statement)
    case (.postgreSQL(let connection), .postgreSQL(let statement)): try connection.step(statement)
    default: Self.foreign(statement)
    }
  }

  /// Runs a statement without rows; the number of rows changed.
  @usableFromInline func run(_ statement: Statement) throws(DatabaseError) -> Int {
    switch (self, statement) {
    case (.sqlite(let connection), .sqlite(let statement)): try connection.run(statement)
    case (.postgreSQL(let connection), .postgreSQL(let statement)): try connection.run(statement)
    default: Self.foreign(statement)
    }
  }

  /// Runs a statement without rows whose answer nobody looks at: PostgreSQL hears of it with the next one that is looked at, or with the
  /// commit, which then throws its error.
  @usableFromInline func queue(_ statement: Statement) throws(DatabaseError) {
    switch (self, statement) {
    case (.sqlite(let connection), .sqlite(let statement)): _ = try connection.run(statement)
    case (.postgreSQL(let connection), .postgreSQL(let statement)): try connection.queue(statement)
    default: Self.foreign(statement)
    }
  }

  /// Whether reads gain by being asked for in advance.
  var takesQuestions: Bool {
    switch self {
    case .sqlite: false
    case .postgreSQL: true
    }
  }

  /// Sends a read that a job will make.
  func foresee(_ question: Question) throws(DatabaseError) {
    guard case .postgreSQL(let connection) = self else { return }
    let statement = try connection.take(question.sql)
    defer { statement.end() }
    var binder = SQLBinder(.postgreSQL(statement), self)
    for parameter in question.parameters { parameter.bind(to: &binder) }
    // A value that cannot be stored is the job's to find out.
    do throws(DatabaseError) { try binder.check() } catch { return }
    try connection.foresee(statement)
  }

  static func foreign(_ statement: Statement) -> Never {
    preconditionFailure("a statement of another connection: \(statement.sql)")
  }

  /// Runs SQL that is not worth keeping prepared, as it is.
  func execute(_ sql: String) throws(DatabaseError) {
    switch self {
    case .sqlite(let connection): try connection.execute(sql)
    case .postgreSQL(let connection): _ = try connection.execute(sql)
    }
  }
}

// What else the engines differ in.
extension Connection {
  /// Whether the batch may have written something; not told with SQLite.
  var hasWritten: Bool {
    switch self {
    case .sqlite: true
    case .postgreSQL(let connection): connection.hasWritten
    }
  }

  /// Pages in the write-ahead log after this connection's last commit; 0 where the log is the server's affair.
  var logPages: Int {
    switch self {
    case .sqlite(let connection): connection.logPages
    case .postgreSQL: 0
    }
  }

  /// Ways to the server and back since the connection was opened; 0 with SQLite.
  var exchanges: Int {
    switch self {
    case .sqlite: 0
    case .postgreSQL(let connection): connection.exchanges
    }
  }

  /// Whether there is a table of this name.
  func hasTable(_ name: String) throws(DatabaseError) -> Bool {
    let statement: Statement
    switch self {
    case .sqlite: statement = try takeOutside("SELECT 1 FROM sqlite_schema WHERE name = $1")
    case .postgreSQL:
      statement = try takeOutside("SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = $1")
    }
    defer { giveBack(statement) }
    var binder = SQLBinder(statement, self)
    name.bind(to: &binder)
    try binder.check()
    return try step(statement)
  }

  /// Adds to the head's table what databases lack that were made before there was such a thing.
  func completeHead() throws(DatabaseError) {
    guard case .postgreSQL(let connection) = self else { return }
    let known = try connection.execute(
      """
      SELECT 1 FROM information_schema.columns
      WHERE table_schema = current_schema() AND table_name = 'stream_head' AND column_name = 'epoch'
      """)
    if known.isEmpty { _ = try connection.execute("ALTER TABLE stream_head ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0") }
  }

  /// A statement of a migration, or of the engine's own tables, as the engine takes it: one or several.
  func schemaStatements(_ statement: String) -> [String] {
    switch self {
    case .sqlite: statement == FullTextIndex.creation ? FullTextIndex.sqliteStatements : [statement]
    case .postgreSQL: PostgreSQLSchema.statements(for: statement)
    }
  }
}
