import CSQLite

/// One SQLite connection with its prepared statements. Opened without SQLite's mutexes: only one thread at a time may use
/// it, which the owner (writer or reader) guarantees.
@usableFromInline
final class SQLiteConnection {
  let handle: OpaquePointer
  var scratch = ScratchBuffer()
  /// Pages in the write-ahead log after this connection's last commit.
  fileprivate(set) var logPages = 0
  private var isOpen = true
  /// Keyed by the literal's address: no text is hashed on the hot path.
  private var statements: [UnsafeRawPointer: SQLiteStatement] = [:]

  init(_ path: String, _ configuration: DatabaseConfiguration, as role: Connection.Role) throws(DatabaseError) {
    _ = Self.withoutMemoryStatistics
    let access = role == .reader ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
    var handle: OpaquePointer?
    let syncsCommits = role == .writer && configuration.synchronous == .full
    let result = sqlite3_open_v2(
      path, &handle, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, syncsCommits ? GatheredLog.name : nil)
    guard result == SQLITE_OK, let handle else {
      let reason = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(result))
      sqlite3_close_v2(handle)
      throw .unusable(path: path, reason: reason)
    }
    self.handle = handle
    sqlite3_busy_timeout(handle, configuration.busyTimeoutMilliseconds)
    do throws(DatabaseError) {
      if role != .reader { try execute("PRAGMA journal_mode=WAL") }
      try execute("PRAGMA synchronous=\(configuration.synchronous.rawValue)")
      // The log is checkpointed by our own rules; it is overwritten, never truncated: that halves the cost of a commit.
      try execute("PRAGMA wal_autocheckpoint=0")
      try execute("PRAGMA cache_size=-\(configuration.cacheBytes >> 10)")
      try execute("PRAGMA mmap_size=0")
      for pragma in ["temp_store=MEMORY", "secure_delete=OFF", "foreign_keys=OFF", "trusted_schema=OFF"] {
        try execute("PRAGMA " + pragma)
      }
    } catch {
      throw .unusable(path: path, reason: error.description)
    }
    if role == .writer { watchLog() }
  }

  deinit { close() }

  /// Lets go of the file at once; nothing may be run afterwards.
  func close() {
    guard isOpen else { return }
    isOpen = false
    statements.removeAll()
    sqlite3_close_v2(handle)
  }

  /// Runs SQL that is not worth keeping prepared.
  func execute(_ sql: String) throws(DatabaseError) {
    let result = sqlite3_exec(handle, sql, nil, nil, nil)
    guard result == SQLITE_OK else { throw .sqlite(result, on: handle, in: sql) }
  }

  /// Whether a transaction is open. SQLite closes one by itself after some errors (disk full, I/O).
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  func error(_ result: Int32, in statement: SQLiteStatement) -> DatabaseError {
    .sqlite(result, on: handle, in: statement.sql.description)
  }

  /// Once a process, before the first connection; later SQLite refuses, and keeps its statistics.
  private static let withoutMemoryStatistics = sqlite3_config_without_memory_statistics()

  private func watchLog() {
    let hook: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32 = {
      connection, _, _, pages in
      if let connection { Unmanaged<SQLiteConnection>.fromOpaque(connection).takeUnretainedValue().logPages = Int(pages) }
      return SQLITE_OK
    }
    sqlite3_wal_hook(handle, hook, Unmanaged.passUnretained(self).toOpaque())
  }
}

// Statements: taken, bound, stepped, given back.
extension SQLiteConnection {
  func take(_ sql: StaticString) throws(DatabaseError) -> SQLiteStatement {
    let statement = try prepared(sql)
    statement.begin()
    statement.scratchMark = scratch.used
    return statement
  }

  func giveBack(_ statement: SQLiteStatement) {
    sqlite3_reset(statement.handle)
    scratch.release(to: statement.scratchMark)
    statement.isTaken = false
  }

  /// True when there is a row.
  func step(_ statement: SQLiteStatement) throws(DatabaseError) -> Bool {
    switch sqlite3_step(statement.handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let result: throw error(result, in: statement)
    }
  }

  /// Runs a statement without rows; the number of rows changed.
  func run(_ statement: SQLiteStatement) throws(DatabaseError) -> Int {
    guard try !step(statement) else { throw .misuse(message: "execute of a statement with rows: \(statement.sql)") }
    return sqlite3_stmt_readonly(statement.handle) != 0 ? 0 : Int(sqlite3_changes64(handle))
  }

  /// Runs a cached statement without parameters (BEGIN, COMMIT, SAVEPOINT…).
  func run(_ sql: StaticString) throws(DatabaseError) {
    let statement = try take(sql)
    defer { giveBack(statement) }
    _ = try run(statement)
  }

  private func prepared(_ sql: StaticString) throws(DatabaseError) -> SQLiteStatement {
    precondition(sql.hasPointerRepresentation, "SQL is longer than one character")
    let key = UnsafeRawPointer(sql.utf8Start)
    if let kept = statements[key] {
      return kept.isTaken ? try SQLiteStatement(sql, on: handle) : kept
    }
    let statement = try SQLiteStatement(sql, on: handle)
    statements[key] = statement
    return statement
  }
}
