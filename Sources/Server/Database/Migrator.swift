/// Brings a database to the newest schema, one transaction per step.
struct Migrator {
  /// Of the database, for messages.
  let name: String
  let connection: Connection

  /// Throws `.newer` for a database of a later program, `.migration` when the histories differ or a step fails.
  func apply(_ migrations: [Migration]) throws(DatabaseError) {
    try check(migrations)
    try prepare()
    let applied = try appliedSteps()
    let newest = migrations.last?.version ?? 0
    if let last = applied.last, last.version > newest {
      throw .newer(path: name, version: last.version, supported: newest)
    }
    for (step, migration) in zip(applied, migrations) {
      guard step.version == migration.version, step.name == migration.name else {
        throw .migration(
          version: migration.version, name: migration.name,
          reason: "the database \(name) has step \(step.version) (\(step.name)) in its place")
      }
    }
    for migration in migrations.dropFirst(applied.count) { try apply(migration) }
  }

  private func check(_ migrations: [Migration]) throws(DatabaseError) {
    var last = 0
    for migration in migrations {
      guard migration.version > last else {
        throw .migration(version: migration.version, name: migration.name, reason: "versions must ascend from 1")
      }
      last = migration.version
    }
  }

  private func prepare() throws(DatabaseError) {
    guard try !connection.hasTable("schema_version") else { return try connection.completeHead() }
    try transaction { () throws(DatabaseError) in
      try define(Self.headTable)
      try connection.execute("INSERT INTO stream_head(id, position) VALUES (1, 0)")
      try define("CREATE TABLE schema_version(version INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT")
    }
  }

  private func apply(_ migration: Migration) throws(DatabaseError) {
    do throws(DatabaseError) {
      try transaction { () throws(DatabaseError) in
        for statement in migration.statements { try define(statement) }
        let record = try connection.take("INSERT INTO schema_version(version, name) VALUES ($1, $2)")
        defer { connection.giveBack(record) }
        var binder = SQLBinder(record, connection)
        migration.version.bind(to: &binder)
        migration.name.bind(to: &binder)
        try binder.check()
        _ = try connection.run(record)
      }
    } catch {
      throw .migration(version: migration.version, name: migration.name, reason: error.description)
    }
  }

  /// The newest step that the database has; nil if none.
  func version() throws(DatabaseError) -> Int? { try appliedSteps().last?.version }

  private func appliedSteps() throws(DatabaseError) -> [(version: Int, name: String)] {
    let statement = try connection.takeOutside("SELECT version, name FROM schema_version ORDER BY version")
    defer { connection.giveBack(statement) }
    var steps: [(version: Int, name: String)] = []
    while try connection.step(statement) {
      let row = statement.row
      steps.append((Int(row.integer(0)), row.text(1)))
    }
    return steps
  }

  private func define(_ statement: String) throws(DatabaseError) {
    for statement in connection.schemaStatements(statement) { try connection.execute(statement) }
  }

  private func transaction(_ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
    // The lock of the database file, or that of the writer's session, keeps other programs out.
    try connection.execute("BEGIN")
    do throws(DatabaseError) {
      try body()
      try connection.execute("COMMIT")
    } catch {
      connection.rollBack()
      throw error
    }
  }

  static let headTable = "CREATE TABLE stream_head(id INTEGER PRIMARY KEY, position INTEGER NOT NULL) STRICT"
}
