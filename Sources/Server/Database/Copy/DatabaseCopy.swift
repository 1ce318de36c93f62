/// Copies all rows of a database into an empty one of the other engine, and compares both. No server may use either; a copy that was stopped goes on
/// with the first table that is not whole. Files, keys and the index of the full text are not copied: the server makes the index anew.
package struct DatabaseCopy {
  /// One table that was copied or compared, for people who wait.
  package struct Progress: Sendable {
    package let table: String
    package let rows: Int
    package let isCopied: Bool
  }

  /// What a copy came to.
  package struct Summary: Sendable, Equatable {
    package var tables = 0
    package var rows = 0
  }

  /// In the database that is written, until the copy is whole: a server refuses such a database.
  static let progressTable = "database_copy"

  private let source: Connection
  private let target: Connection
  private let targetName: String
  private let sqlite: SQLiteConnection
  private let report: (Progress) -> Void

  /// - Parameters:
  ///   - migrations: of this program; the source must have all of them.
  ///   - reset: statements for the target that make the server build anew what is not copied.
  ///
  /// Throws `.locked` or `.occupied` if a server uses one of the two, `.unusable` if the source has no such schema, text that PostgreSQL cannot
  /// store, or if the target is not empty, and `.corrupt` if both are not the same afterwards. The source is never changed.
  package static func run(
    from source: DatabaseConfiguration, to target: DatabaseConfiguration, migrations: [Migration], reset: [String],
    report: @escaping (Progress) -> Void = { _ in }
  ) throws(DatabaseError) -> Summary {
    let locks = [try FileLock(source), try FileLock(target)]
    defer { withExtendedLifetime(locks) {} }
    let from = try Connection(source, as: .writer)
    defer { from.close() }
    guard try from.hasTable("schema_version"),
      try Migrator(name: source.name, connection: from).version() == migrations.last?.version
    else {
      throw .unusable(path: source.name, reason: "its schema is not that of this program: start and stop the server on it once")
    }
    if let path = target.path { try Database.create(path) }
    let to = try Connection(target, as: .writer)
    defer { to.close() }
    guard let copy = DatabaseCopy(from: from, to: to, named: target.name, report: report) else {
      throw .misuse(message: "a copy is from SQLite to PostgreSQL, or back")
    }
    return try copy.run(source.name, migrations, reset)
  }

  private init?(from source: Connection, to target: Connection, named name: String, report: @escaping (Progress) -> Void) {
    switch (source, target) {
    case (.sqlite(let sqlite), .postgreSQL), (.postgreSQL, .sqlite(let sqlite)): self.sqlite = sqlite
    default: return nil
    }
    (self.source, self.target, targetName, self.report) = (source, target, name, report)
  }

  private func run(_ sourceName: String, _ migrations: [Migration], _ reset: [String]) throws(DatabaseError) -> Summary {
    if case .sqlite = source { try checkTexts(sourceName) }
    try prepare(migrations)
    var summary = Summary()
    for table in try CopiedTable.all(of: sqlite) {
      if try !isCopied(table) { try copy(table) }
      let (expected, actual) = (try sum(of: table, in: source), try sum(of: table, in: target))
      guard expected == actual else {
        throw .corrupt(
          message:
            "the table \(table.name) has \(expected.rows) rows in \(sourceName) and \(actual.rows) in \(targetName), or others")
      }
      report(Progress(table: table.name, rows: actual.rows, isCopied: true))
      summary.tables += 1
      summary.rows += actual.rows
    }
    // With them the target becomes a database that a server takes.
    try target.execute("BEGIN")
    for statement in reset { try target.execute(statement) }
    try target.execute("DROP TABLE \(Self.progressTable)")
    try target.execute("COMMIT")
    return summary
  }

  /// Before anything is written: PostgreSQL has no U+0000 in text, and no text that is not UTF-8.
  private func checkTexts(_ name: String) throws(DatabaseError) {
    var faults: [String] = []
    for table in try CopiedTable.all(of: sqlite) where table.columns.contains(where: { $0.type == .text }) {
      try TableReader.forEachRow(of: table, in: source) { bytes in
        _ = RowBytes.forEachColumn(of: bytes, count: table.columns.count) { index, value in
          guard table.columns[index].type == .text, let value, !PostgreSQLStatement.isStorable(value) else { return }
          let key = String(decoding: bytes.dropFirst(6).prefix(40), as: UTF8.self).filter {
            $0.isASCII && !$0.isNewline && $0 != "\0"
          }
          faults.append("\(table.name).\(table.columns[index].name) (\(key))")
        }
      }
    }
    guard faults.isEmpty else {
      let shown = faults.prefix(10).joined(separator: ", ") + (faults.count > 10 ? " and \(faults.count - 10) more" : "")
      throw .unusable(path: name, reason: "PostgreSQL cannot store U+0000, or bytes that are not UTF-8, in text: \(shown)")
    }
  }

  /// The schema in an empty database, or what a copy that was stopped has left.
  private func prepare(_ migrations: [Migration]) throws(DatabaseError) {
    guard try !target.hasTable(Self.progressTable) else { return }
    guard try !target.hasTable("schema_version") else {
      throw .unusable(path: targetName, reason: "it is not empty: a copy goes into an empty database")
    }
    try target.execute("CREATE TABLE \(Self.progressTable)(name TEXT PRIMARY KEY)")
    try Migrator(name: targetName, connection: target).apply(migrations)
  }

  private func isCopied(_ table: CopiedTable) throws(DatabaseError) -> Bool {
    let statement = try target.takeOutside("SELECT 1 FROM database_copy WHERE name = $1")
    defer { target.giveBack(statement) }
    var binder = SQLBinder(statement, target)
    table.name.bind(to: &binder)
    try binder.check()
    return try target.step(statement)
  }

  private func copy(_ table: CopiedTable) throws(DatabaseError) {
    try target.execute("BEGIN")
    do throws(DatabaseError) {
      try target.execute("DELETE FROM \(table.name)")
      let writer = try TableWriter(table, on: target)
      var rows = 0
      try TableReader.forEachRow(of: table, in: source) { row throws(DatabaseError) in
        try writer.write(row)
        rows += 1
        if rows.isMultiple(of: 100_000) { report(Progress(table: table.name, rows: rows, isCopied: false)) }
      }
      try writer.finish()
      try target.execute("INSERT INTO \(Self.progressTable)(name) VALUES ('\(table.name)')")
      try target.execute("COMMIT")
    } catch {
      target.rollBack()
      throw error
    }
  }

  private func sum(of table: CopiedTable, in connection: Connection) throws(DatabaseError) -> TableSum {
    var summer = TableSummer()
    try TableReader.forEachRow(of: table, in: connection) { summer.add($0) }
    return summer.sum()
  }
}

/// The lock of a database file; PostgreSQL's is that of the writer's connection.
private final class FileLock {
  private let file: LockFile?

  init(_ configuration: DatabaseConfiguration) throws(DatabaseError) {
    file = try configuration.path.map { path throws(DatabaseError) in try LockFile(for: path) }
  }
}
