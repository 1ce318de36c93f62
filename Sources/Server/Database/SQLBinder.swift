/// Receives the values of one statement in the order `$1`, `$2`….
@usableFromInline package struct SQLBinder {
  private enum Target {
    case sqlite(SQLiteStatement, SQLiteConnection)
    case postgreSQL(PostgreSQLStatement)
  }

  private let target: Target
  private var count = 0

  @usableFromInline init(_ statement: Statement, _ connection: Connection) {
    switch (statement, connection) {
    case (.sqlite(let statement), .sqlite(let connection)):
      target = .sqlite(statement, connection)
    case (.postgreSQL(let statement), .postgreSQL):
      target = .postgreSQL(statement)
    default: Connection.foreign(statement)
    }
  }

  /// NULL, where values of `type` are expected.
  @usableFromInline package mutating func null(_ type: SQLType) {
    count += 1
    switch target {
    case .sqlite(let statement, _): statement.bindNull(count)
    case .postgreSQL(let statement): statement.bindNull(type)
    }
  }

  @usableFromInline package mutating func integer(_ value: Int64) {
    count += 1
    switch target {
    case .sqlite(let statement, _): statement.bind(value, count)
    case .postgreSQL(let statement): statement.bind(value)
    }
  }

  /// UTF-8 text; with SQLite it may hold zero bytes.
  @usableFromInline package mutating func text(_ bytes: UnsafeRawBufferPointer) {
    count += 1
    switch target {
    case .sqlite(let statement, let connection): statement.bindText(bytes, count, connection)
    case .postgreSQL(let statement): statement.bindText(bytes)
    }
  }

  @usableFromInline package mutating func blob(_ bytes: UnsafeRawBufferPointer) {
    count += 1
    switch target {
    case .sqlite(let statement, let connection): statement.bindBlob(bytes, count, connection)
    case .postgreSQL(let statement): statement.bindBlob(bytes)
    }
  }

  /// Throws `.misuse` unless every parameter got its value, `.constraint(.dataType)` for a value that the engine cannot store.
  @usableFromInline func check() throws(DatabaseError) {
    let expected: Int
    let sql: StaticString
    switch target {
    case .sqlite(let statement, _): (expected, sql) = (statement.parameterCount, statement.sql)
    case .postgreSQL(let statement): (expected, sql) = (statement.parameterCount, statement.sql)
    }
    guard count == expected else { throw .misuse(message: "\(count) values for \(expected) parameters in \(sql)") }
    switch target {
    case .sqlite(let statement, let connection): try statement.checkBinding(connection)
    case .postgreSQL(let statement): try statement.checkBinding()
    }
  }
}
