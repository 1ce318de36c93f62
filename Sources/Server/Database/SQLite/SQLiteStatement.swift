import CSQLite

/// One prepared statement, confined to its connection's thread.
@usableFromInline
final class SQLiteStatement {
  let handle: OpaquePointer
  let sql: StaticString
  let parameterCount: Int
  /// SQLite's index of `$1`, `$2`…; nil when they appear in ascending order, as nearly always. SQLite takes `$1` for a
  /// name and numbers names by first appearance, PostgreSQL goes by the number.
  private let indexes: [Int32]?
  /// Set while rows are being read, so that the same SQL inside its own row closure gets a statement of its own.
  var isTaken = false
  var scratchMark = 0
  /// The first failure of binding a value.
  private var bindingResult = SQLITE_OK

  init(_ sql: StaticString, on database: OpaquePointer) throws(DatabaseError) {
    self.sql = sql
    handle = try Self.prepare(sql, on: database)
    parameterCount = Int(sqlite3_bind_parameter_count(handle))
    do throws(DatabaseError) {
      indexes = try Self.indexes(of: handle, count: parameterCount, sql)
    } catch {
      sqlite3_finalize(handle)
      throw error
    }
  }

  deinit { sqlite3_finalize(handle) }

  func begin() {
    isTaken = true
    bindingResult = SQLITE_OK
  }

  /// `number` counts from 1. Past the last parameter the answer is past SQLite's last too; `SQLBinder.check` reports it.
  func index(ofParameter number: Int) -> Int32 {
    guard let indexes, number <= indexes.count else { return Int32(truncatingIfNeeded: number) }
    return indexes[number - 1]
  }

  // MARK: Values. `number` counts from 1.

  func bindNull(_ number: Int) { note(sqlite3_bind_null(handle, index(ofParameter: number))) }

  func bind(_ value: Int64, _ number: Int) { note(sqlite3_bind_int64(handle, index(ofParameter: number), value)) }

  /// Bytes are copied into the connection's scratch memory, which outlives the statement's use: no allocation per value.
  func bindText(_ bytes: UnsafeRawBufferPointer, _ number: Int, _ connection: SQLiteConnection) {
    guard let length = Int32(exactly: bytes.count) else { return note(SQLITE_TOOBIG) }
    let kept = connection.scratch.keep(bytes)
    let start = (kept ?? bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
    let index = index(ofParameter: number)
    note(sqlite3_bind_text(handle, index, start ?? Self.nothing, length, kept == nil ? Self.copy : nil))
  }

  func bindBlob(_ bytes: UnsafeRawBufferPointer, _ number: Int, _ connection: SQLiteConnection) {
    let index = index(ofParameter: number)
    guard let length = Int32(exactly: bytes.count) else { return note(SQLITE_TOOBIG) }
    guard length > 0 else { return note(sqlite3_bind_zeroblob(handle, index, 0)) }
    let kept = connection.scratch.keep(bytes)
    note(sqlite3_bind_blob(handle, index, kept ?? bytes.baseAddress, length, kept == nil ? Self.copy : nil))
  }

  func checkBinding(_ connection: SQLiteConnection) throws(DatabaseError) {
    guard bindingResult == SQLITE_OK else { throw connection.error(bindingResult, in: self) }
  }

  private func note(_ result: Int32) {
    if result != SQLITE_OK, bindingResult == SQLITE_OK { bindingResult = result }
  }

  /// SQLITE_TRANSIENT: SQLite makes its own copy.
  private static var copy: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
  private static var nothing: UnsafePointer<CChar> { UnsafePointer(bitPattern: 1)! }

  // MARK: Preparing

  private static func prepare(_ sql: StaticString, on database: OpaquePointer) throws(DatabaseError) -> OpaquePointer {
    var handle: OpaquePointer?
    var tail: UnsafePointer<CChar>?
    let start = UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
    let length = Int32(sql.utf8CodeUnitCount)
    let result = sqlite3_prepare_v3(database, start, length, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, &tail)
    guard result == SQLITE_OK else { throw .sqlite(result, on: database, in: sql.description) }
    guard let handle else { throw .misuse(message: "no statement in \"\(sql)\"") }
    if let tail, tail < start + Int(length),
      UnsafeBufferPointer(start: tail, count: start + Int(length) - tail)
        .contains(where: { $0 > 32 })
    {
      sqlite3_finalize(handle)
      throw .misuse(message: "more than one statement in \(sql)")
    }
    return handle
  }

  private static func indexes(of handle: OpaquePointer, count: Int, _ sql: StaticString) throws(DatabaseError)
    -> [Int32]?
  {
    var indexes = [Int32](repeating: 0, count: count)
    for index in 0..<count {
      let name = sqlite3_bind_parameter_name(handle, Int32(index + 1)).map { String(cString: $0) } ?? "?"
      guard name.utf8.first == UInt8(ascii: "$"), let number = Int(name.dropFirst()), 1...count ~= number else {
        throw .misuse(message: "parameters are $1 to $n without gaps, not \(name), in \(sql)")
      }
      indexes[number - 1] = Int32(index + 1)
    }
    return indexes == (0..<count).map { Int32($0 + 1) } ? nil : indexes
  }
}
