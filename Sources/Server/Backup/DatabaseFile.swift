import CSQLite

/// The server's database, read beside the server that writes it.
///
/// Opened for reading only: this connection never moves the log into the database, which only the writer may (`Checkpoints`). While it
/// reads, the writer goes on and its log grows. Only one thread uses it.
final class DatabaseFile {
  let path: String
  private let handle: OpaquePointer
  private static let busyMilliseconds: Int32 = 10_000

  init(reading path: String) throws(BackupError) {
    self.path = path
    let handle = try Self.open(path, SQLITE_OPEN_READONLY)
    guard Self.lacksSpaceToShare(handle, path) else {
      self.handle = handle
      return
    }
    sqlite3_close_v2(handle)
    self.handle = try Self.open(immutable: path)
  }

  /// Opens a copy that nobody writes, and leaves no file beside it.
  init(immutable path: String) throws(BackupError) {
    self.path = path
    handle = try Self.open(immutable: path)
  }

  /// Whether a full disk has no room for the file by which connections share the log (`-shm`), and there is no log to share. No server
  /// uses the database then: its file would have been found whole.
  private static func lacksSpaceToShare(_ handle: OpaquePointer, _ path: String) -> Bool {
    guard FileContent.status(path + "-wal").map({ $0.st_size == 0 }) ?? true else { return false }
    return sqlite3_exec(handle, "SELECT count(*) FROM sqlite_schema", nil, nil, nil) == sharedFileTooSmall
  }

  /// `SQLITE_IOERR_SHMSIZE`, which is a macro with arithmetic.
  private static let sharedFileTooSmall = SQLITE_IOERR | 19 << 8

  private static func open(immutable path: String) throws(BackupError) -> OpaquePointer {
    let name = path.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%25")
      .split(separator: "?", omittingEmptySubsequences: false).joined(separator: "%3f")
      .split(separator: "#", omittingEmptySubsequences: false).joined(separator: "%23")
    return try open("file:\(name)?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
  }

  deinit { sqlite3_close_v2(handle) }

  private static func open(_ path: String, _ flags: Int32) throws(BackupError) -> OpaquePointer {
    var handle: OpaquePointer?
    let result = sqlite3_open_v2(path, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard result == SQLITE_OK, let handle else {
      sqlite3_close_v2(handle)
      throw .database(path: path, reason: String(cString: sqlite3_errstr(result)))
    }
    sqlite3_busy_timeout(handle, busyMilliseconds)
    return handle
  }

  /// Writes the database as it is at one moment into the new file `copy`, page by page.
  ///
  /// In one step, so in one read transaction: SQLite's backup begins anew after each commit of another process if it pauses. VACUUM INTO
  /// would give rows without a key new numbers, which the index of words refers to.
  func copy(to copy: String) throws(BackupError) {
    let target = try Self.open(copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    defer { sqlite3_close_v2(target) }
    // An unfinished copy is removed; the caller syncs a finished copy as a file.
    sqlite3_exec(target, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF", nil, nil, nil)
    guard let backup = sqlite3_backup_init(target, "main", handle, "main") else {
      throw .database(path: copy, reason: String(cString: sqlite3_errmsg(target)))
    }
    let stepped = sqlite3_backup_step(backup, -1)
    let finished = sqlite3_backup_finish(backup)
    guard stepped == SQLITE_DONE, finished == SQLITE_OK else {
      throw .database(path: copy, reason: String(cString: sqlite3_errstr(stepped == SQLITE_DONE ? finished : stepped)))
    }
  }

  /// The newest migration. Throws `database` if it is not a database of Martlet.
  func schema() throws(BackupError) -> Int {
    var version: Int?
    try rows("SELECT max(version) FROM schema_version") { version = Int(sqlite3_column_int64($0, 0)) }
    guard let version, version > 0 else { throw .database(path: path, reason: "it has no schema") }
    return version
  }

  /// What SQLite finds wrong with the file, at most 100 lines.
  func faults() throws(BackupError) -> [String] {
    var lines: [String] = []
    try rows("PRAGMA integrity_check(100)") { lines.append(Self.text($0, 0)) }
    return lines == ["ok"] ? [] : lines
  }

  /// Bytes of content by its hash.
  func media() throws(BackupError) -> [String: Int64] {
    var media: [String: Int64] = [:]
    try rows("SELECT hash, bytes FROM media") { media[Self.text($0, 0)] = sqlite3_column_int64($0, 1) }
    return media
  }

  /// Media IDs whose content is still to come.
  func pendingMedia() throws(BackupError) -> Set<String> {
    var pending: Set<String> = []
    try rows("SELECT media_id FROM media_pending") { pending.insert(Self.text($0, 0)) }
    return pending
  }

  private static func text(_ statement: OpaquePointer, _ column: Int32) -> String {
    sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
  }

  private func rows(_ sql: String, _ body: (OpaquePointer) -> Void) throws(BackupError) {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    var result = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    guard result == SQLITE_OK, let statement else { throw failure(result) }
    while true {
      result = sqlite3_step(statement)
      guard result == SQLITE_ROW else { break }
      body(statement)
    }
    guard result == SQLITE_DONE else { throw failure(result) }
  }

  private func failure(_ result: Int32) -> BackupError {
    .database(path: path, reason: "\(String(cString: sqlite3_errmsg(handle))) (SQLite \(result))")
  }
}
