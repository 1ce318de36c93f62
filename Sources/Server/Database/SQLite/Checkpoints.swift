import CSQLite

/// Copies the write-ahead log into the database, between two commits, on the writer's thread and connection.
///
/// Never on a second connection beside the writer, although that would hide its cost: SQLite before 3.51.3 (Debian 12 has
/// 3.40) can lose pages when one connection starts a checkpoint while another begins the log anew ("WAL-reset bug").
struct Checkpoints {
  private let pages: Int
  private let busyTimeoutMilliseconds: Int32
  private var noticedPages = 0

  init(_ configuration: DatabaseConfiguration) {
    pages = max(1, configuration.checkpointPages)
    busyTimeoutMilliseconds = configuration.busyTimeoutMilliseconds
  }

  /// After each commit and its answers. True when a checkpoint was made.
  mutating func logHasGrown(on writer: SQLiteConnection) -> Bool {
    let now = writer.logPages
    if now < noticedPages { noticedPages = 0 }  // the log began anew
    guard now > pages, now > noticedPages + pages / 2 else { return false }
    noticedPages = now
    guard now > pages * 4 else {
      return sqlite3_wal_checkpoint_v2(writer.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil) == SQLITE_OK
    }
    // Readers of old pages held back the earlier ones: wait for them, but not long, the writer's time is dear.
    sqlite3_busy_timeout(writer.handle, 50)
    defer { sqlite3_busy_timeout(writer.handle, busyTimeoutMilliseconds) }
    return sqlite3_wal_checkpoint_v2(writer.handle, nil, SQLITE_CHECKPOINT_RESTART, nil, nil) == SQLITE_OK
  }

  /// At the end: everything into the database, the log emptied.
  func finish(on writer: SQLiteConnection) {
    sqlite3_wal_checkpoint_v2(writer.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
  }
}
