import CSQLite

/// Receives the values of one statement in the order `$1`, `$2`….
///
/// Bytes are copied into the connection's scratch memory, which outlives the statement's use: no allocation per value.
@usableFromInline package struct SQLBinder {
  private let statement: Statement
  private let connection: Connection
  private var count = 0
  private var failure = SQLITE_OK

  @usableFromInline init(_ statement: Statement, _ connection: Connection) {
    self.statement = statement
    self.connection = connection
  }

  @usableFromInline package mutating func null() {
    let index = next()
    note(sqlite3_bind_null(statement.handle, index))
  }

  @usableFromInline package mutating func integer(_ value: Int64) {
    let index = next()
    note(sqlite3_bind_int64(statement.handle, index, value))
  }

  /// UTF-8 text; it may hold zero bytes.
  @usableFromInline package mutating func text(_ bytes: UnsafeRawBufferPointer) {
    let index = next()
    guard let length = Int32(exactly: bytes.count) else { return note(SQLITE_TOOBIG) }
    let kept = connection.scratch.keep(bytes)
    let start = (kept ?? bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
    note(sqlite3_bind_text(statement.handle, index, start ?? Self.nothing, length, kept == nil ? Self.copy : nil))
  }

  @usableFromInline package mutating func blob(_ bytes: UnsafeRawBufferPointer) {
    let index = next()
    guard let length = Int32(exactly: bytes.count) else { return note(SQLITE_TOOBIG) }
    guard length > 0 else { return note(sqlite3_bind_zeroblob(statement.handle, index, 0)) }
    let kept = connection.scratch.keep(bytes)
    note(sqlite3_bind_blob(statement.handle, index, kept ?? bytes.baseAddress, length, kept == nil ? Self.copy : nil))
  }

  /// Throws `.misuse` unless every parameter got its value.
  @usableFromInline func check() throws(DatabaseError) {
    guard count == statement.parameterCount else {
      throw .misuse(message: "\(count) values for \(statement.parameterCount) parameters in \(statement.sql)")
    }
    guard failure == SQLITE_OK else { throw connection.error(failure, in: statement) }
  }

  private mutating func next() -> Int32 {
    count += 1
    return statement.index(ofParameter: count)
  }

  private mutating func note(_ result: Int32) {
    if result != SQLITE_OK, failure == SQLITE_OK { failure = result }
  }

  /// SQLITE_TRANSIENT: SQLite makes its own copy.
  private static var copy: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
  private static var nothing: UnsafePointer<CChar> { UnsafePointer(bitPattern: 1)! }
}
