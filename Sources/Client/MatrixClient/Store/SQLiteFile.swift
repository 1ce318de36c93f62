import CSQLite
import ClientCore
import JSON

/// One SQLite connection to a store's file. Used by one thread at a time, which the actor that owns it sees to.
///
/// A table with a row ID and a unique index on the key: half the processor time of a write to one `WITHOUT ROWID`, for segments
/// are larger than what fits into an index's pages.
final class SQLiteFile {
  let path: String
  private let handle: OpaquePointer
  private let keySource: StoreKeySource
  /// Opens and seals values.
  private var seal: StoreSeal?
  /// Whether values may be as they were before stores were sealed.
  private var hasPlainValues = true
  private var statements: [UnsafeRawPointer: OpaquePointer] = [:]

  /// Steps from an empty file to `user_version` 1, 2 …
  private static let steps = [
    "CREATE TABLE records(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, value BLOB NOT NULL)",
    // The last record that was sealed; `rebuilding` once all are, and nil once no clear text is left in free pages either. The probe shows whether a key
    // is the right one.
    "CREATE TABLE sealing(last INTEGER, probe BLOB NOT NULL)"
  ]
  private static let busyMilliseconds: Int32 = 10_000
  private static let cacheKilobytes = 2_000
  private static let rebuilding = Int64.max
  private static let probe = Array("martlet".utf8)

  /// `isOwner`: brings the file to the newest schema, and checkpoints. Anyone else only reads it and adds records.
  init(path: String, isOwner: Bool, key: StoreKeySource) throws(StoreError) {
    self.path = path
    keySource = key
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let result = sqlite3_open_v2(path, &opened, flags, nil)
    guard result == SQLITE_OK, let opened else {
      let error = SQLiteFile.error(result, opened, path)
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    sqlite3_busy_timeout(handle, SQLiteFile.busyMilliseconds)
    if !isOwner { sqlite3_never_checkpoint(handle) }
    try execute("PRAGMA trusted_schema=OFF")
    try execute("PRAGMA cache_size=-\(SQLiteFile.cacheKilobytes)")
    if isOwner { try prepareFile() }
    // The store is told that a batch is durable, and tells the server.
    try execute("PRAGMA synchronous=FULL")
    // What is replaced or deleted is overwritten.
    try execute("PRAGMA secure_delete=ON")
    try openSeal(isOwner: isOwner)
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
  }

  private func prepareFile() throws(StoreError) {
    let version = Int(try number("PRAGMA user_version"))
    guard version <= SQLiteFile.steps.count else { throw .newer(path: path, version: version) }
    if version == 0 { try execute("PRAGMA auto_vacuum=INCREMENTAL") }
    try execute("PRAGMA journal_mode=WAL")
    for step in SQLiteFile.steps[version...].indices {
      try transaction { () throws(StoreError) in
        try execute(SQLiteFile.steps[step])
        try execute("PRAGMA user_version=\(step + 1)")
      }
    }
  }

  // MARK: Sealing

  private func openSeal(isOwner: Bool) throws(StoreError) {
    // A guest of a file from before: its owner seals it.
    guard Int(try number("PRAGMA user_version")) >= SQLiteFile.steps.count else { return }
    let name = Array("probe".utf8)
    guard let probe = try probe() else {
      guard isOwner else { return }
      let seal = try keySource.seal(ofStore: path, isNew: true)
      try run("INSERT INTO sealing(last, probe) VALUES(0, ?1)", seal.seal(SQLiteFile.probe, of: name))
      self.seal = seal
      return
    }
    let seal = try keySource.seal(ofStore: path, isNew: false)
    let found = probe.withUnsafeBytes { probe in name.withUnsafeBytes { seal.open(probe, of: $0) } }
    // Where the key opens something else, or there is nothing to lose, it is the probe that is damaged.
    guard found == SQLiteFile.probe else { throw try opensAny(seal) ? .corrupt(path: path) : .wrongKey(path: path) }
    self.seal = seal
    hasPlainValues = try number("SELECT count(last) FROM sealing") > 0
  }

  private func opensAny(_ seal: StoreSeal) throws(StoreError) -> Bool {
    let statement = try prepared("SELECT key, value FROM records LIMIT 20")
    defer { sqlite3_reset(statement) }
    var isEmpty = true
    while sqlite3_step(statement) == SQLITE_ROW {
      isEmpty = false
      if seal.open(blob(statement, 1), of: blob(statement, 0)) != nil { return true }
    }
    return isEmpty
  }

  private func probe() throws(StoreError) -> [UInt8]? {
    let statement = try prepared("SELECT probe FROM sealing")
    defer { sqlite3_reset(statement) }
    let result = sqlite3_step(statement)
    guard result == SQLITE_ROW || result == SQLITE_DONE else { throw error(result) }
    return result == SQLITE_ROW ? [UInt8](blob(statement, 0)) : nil
  }

  /// Seals what is there from before stores were sealed, in slices, and then writes the file anew, without the clear text in its free pages. A process
  /// that is ended meanwhile goes on there.
  func sealAll() throws(StoreError) {
    guard let seal, hasPlainValues else { return }
    var hadAny = try number("SELECT max(last) FROM sealing") > 0
    while true {
      let slice = try unsealed()
      try transaction { () throws(StoreError) in
        for entry in slice {
          try run("UPDATE records SET value = ?2 WHERE key = ?1", entry.key, seal.seal(entry.value, of: entry.key))
        }
        try execute("UPDATE sealing SET last = \(slice.last?.id ?? Self.rebuilding)")
      }
      if slice.isEmpty { break }
      hadAny = true
    }
    if hadAny { try rebuild() }
    try execute("UPDATE sealing SET last = NULL")
    hasPlainValues = false
  }

  private func unsealed() throws(StoreError) -> [(id: Int64, key: [UInt8], value: [UInt8])] {
    let statement = try prepared("SELECT id, key, value FROM records, sealing WHERE id > last ORDER BY id LIMIT 200")
    defer { sqlite3_reset(statement) }
    var slice: [(id: Int64, key: [UInt8], value: [UInt8])] = []
    var result = sqlite3_step(statement)
    while result == SQLITE_ROW {
      let value = blob(statement, 2)
      // Those that were written since are sealed.
      let plain = StoreSeal.isSealed(value) ? opened(value, blob(statement, 1)) ?? [] : [UInt8](value)
      slice.append((sqlite3_column_int64(statement, 0), [UInt8](blob(statement, 1)), plain))
      result = sqlite3_step(statement)
    }
    guard result == SQLITE_DONE else { throw error(result) }
    return slice
  }

  private func opened(_ value: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) -> [UInt8]? {
    if let value = seal?.open(value, of: key) { return value }
    return hasPlainValues && !StoreSeal.isSealed(value) ? [UInt8](value) : nil
  }

  // MARK: Records

  func load(_ range: StoreRange) throws(StoreError) -> [StoreRecord] {
    let sql: StaticString =
      range.isDescending
      ? "SELECT key, value FROM records WHERE key >= ?1 AND key < ?2 ORDER BY key DESC LIMIT ?3"
      : "SELECT key, value FROM records WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3"
    let bounds = SQLiteFile.bounds(of: range)
    let statement = try prepared(sql)
    defer { sqlite3_reset(statement) }
    sqlite3_bind_int64(statement, 3, Int64(range.limit ?? -1))
    var records: [StoreRecord] = []
    var result = SQLITE_OK
    withBound(bounds.lower, 1, statement) {
      withBound(bounds.upper, 2, statement) {
        while true {
          result = sqlite3_step(statement)
          guard result == SQLITE_ROW else { return }
          guard let record = record(statement) else {
            result = SQLITE_CORRUPT
            return
          }
          records.append(record)
        }
      }
    }
    guard result == SQLITE_DONE else { throw error(result) }
    return records
  }

  /// Every record in the order they were made or from the last one back, as far as they can be read.
  func scan(isForward: Bool, _ body: (StoreRecord) -> Void) {
    let sql: StaticString =
      isForward
      ? "SELECT key, value FROM records NOT INDEXED ORDER BY id"
      : "SELECT key, value FROM records NOT INDEXED ORDER BY id DESC"
    guard let statement = try? prepared(sql) else { return }
    defer { sqlite3_reset(statement) }
    while sqlite3_step(statement) == SQLITE_ROW { if let record = record(statement) { body(record) } }
  }

  /// nil where its value is not what was written under its key.
  private func record(_ statement: OpaquePointer) -> StoreRecord? {
    let key = blob(statement, 0)
    return opened(blob(statement, 1), key).map { StoreRecord(key: ByteString(decoding: key), value: $0) }
  }

  func write(_ operations: [StoreOperation]) throws(StoreError) {
    try transaction { () throws(StoreError) in
      for operation in operations {
        switch operation {
        case .put(let key, let value):
          let key = Array(key.utf8)
          try run(
            "INSERT INTO records(key, value) VALUES(?1, ?2) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
            key, seal?.seal(value, of: key) ?? value)
        case .delete(let key): try run("DELETE FROM records WHERE key = ?1", Array(key.utf8))
        case .deleteAll(let prefix):
          if prefix.isEmpty {
            try execute("DELETE FROM records")
          } else {
            let bounds = SQLiteFile.bounds(of: StoreRange(prefix: prefix))
            try run("DELETE FROM records WHERE key >= ?1 AND key < ?2", bounds.lower, bounds.upper)
          }
        }
      }
    }
  }

  /// Keys are ASCII: 0xFF is behind all of them. The lower bound belongs to the range, the upper one does not.
  private static func bounds(of range: StoreRange) -> (lower: [UInt8], upper: [UInt8]) {
    var lower = Array(range.prefix.utf8)
    var upper = lower + [0xFF]
    if let after = range.after {
      let key = Array(after.utf8) + [0]
      if lower.lexicographicallyPrecedes(key) { lower = key }
    }
    if let before = range.before {
      let key = Array(before.utf8)
      if key.lexicographicallyPrecedes(upper) { upper = key }
    }
    return (lower, upper)
  }

  // MARK: The file

  /// Bytes of the file, its log left out.
  func byteCount() throws(StoreError) -> Int64 { try number("PRAGMA page_count") * number("PRAGMA page_size") }

  func dataVersion() throws(StoreError) -> Int64 { try number("PRAGMA data_version") }

  /// Gives pages back to the system once an eighth of the file is free, some at a time.
  func tidy() throws(StoreError) {
    let free = try number("PRAGMA freelist_count")
    guard free > 256, free > (try number("PRAGMA page_count")) / 8 else { return }
    try execute("PRAGMA incremental_vacuum(4096)")
  }

  /// Writes the whole file anew, without its empty pages, and empties the log.
  func rebuild() throws(StoreError) {
    try execute("VACUUM")
    try execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// "ok", or what is wrong with the file. Reads all of it.
  func check() throws(StoreError) -> String {
    let statement = try prepared("PRAGMA integrity_check(1)")
    defer { sqlite3_reset(statement) }
    let result = sqlite3_step(statement)
    guard result == SQLITE_ROW else { throw error(result) }
    return String(decoding: blob(statement, 0), as: UTF8.self)
  }

  // MARK: SQLite

  private func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    try run("BEGIN IMMEDIATE")
    do throws(StoreError) {
      try body()
      try run("COMMIT")
    } catch {
      if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
      throw error
    }
  }

  private func execute(_ sql: String) throws(StoreError) {
    let result = sqlite3_exec(handle, sql, nil, nil, nil)
    guard result == SQLITE_OK else { throw error(result) }
  }

  private func number(_ sql: StaticString) throws(StoreError) -> Int64 {
    let statement = try prepared(sql)
    defer { sqlite3_reset(statement) }
    let result = sqlite3_step(statement)
    guard result == SQLITE_ROW else { throw error(result) }
    return sqlite3_column_int64(statement, 0)
  }

  private func run(_ sql: StaticString, _ first: [UInt8]? = nil, _ second: [UInt8]? = nil) throws(StoreError) {
    let statement = try prepared(sql)
    defer { sqlite3_reset(statement) }
    var result = SQLITE_OK
    withBound(first, 1, statement) { withBound(second, 2, statement) { result = sqlite3_step(statement) } }
    guard result == SQLITE_DONE else { throw error(result) }
  }

  /// Lends the bytes to a parameter for the time of the call.
  private func withBound(_ bytes: [UInt8]?, _ index: Int32, _ statement: OpaquePointer, _ body: () -> Void) {
    guard let bytes else { return body() }
    bytes.withUnsafeBytes { buffer in
      if buffer.isEmpty {
        sqlite3_bind_zeroblob(statement, index, 0)
      } else {
        sqlite3_bind_blob64(statement, index, buffer.baseAddress, UInt64(buffer.count), nil)
      }
      body()
    }
  }

  private func blob(_ statement: OpaquePointer, _ column: Int32) -> UnsafeRawBufferPointer {
    let bytes = sqlite3_column_blob(statement, column)
    return UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column)))
  }

  /// Keyed by the literal's address.
  private func prepared(_ sql: StaticString) throws(StoreError) -> OpaquePointer {
    let key = UnsafeRawPointer(sql.utf8Start)
    if let statement = statements[key] { return statement }
    var statement: OpaquePointer?
    let text = UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
    let result = sqlite3_prepare_v3(
      handle, text, Int32(sql.utf8CodeUnitCount), UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard result == SQLITE_OK, let statement else { throw error(result) }
    statements[key] = statement
    return statement
  }

  private func error(_ result: Int32) -> StoreError { SQLiteFile.error(result, handle, path) }

  private static func error(_ result: Int32, _ handle: OpaquePointer?, _ path: String) -> StoreError {
    switch result & 0xFF {
    case SQLITE_FULL: return .full
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: return .corrupt(path: path)
    default:
      // A file whose tables are not there is no store.
      let text = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(result))
      if result & 0xFF == SQLITE_ERROR, text.hasPrefix("no such") { return .corrupt(path: path) }
      return .system(path: path, reason: "\(text) (\(result))")
    }
  }
}
