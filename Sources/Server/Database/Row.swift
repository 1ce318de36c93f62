import CSQLite

/// One row of a result, valid inside the closure that receives it. Columns count from 0, in the order of the SELECT.
///
/// NULL reads as 0, "" or []: use the `optional` form where a column may be NULL.
@usableFromInline package enum Row {
  /// The row on which the statement stands.
  case sqlite(_ statement: OpaquePointer)
  /// A row of a whole result.
  case postgreSQL(_ result: OpaquePointer, number: Int32)

  @usableFromInline package func isNull(_ column: Int) -> Bool {
    switch self {
    case .sqlite(let statement): sqlite3_column_type(statement, Self.checked(column, of: statement)) == SQLITE_NULL
    case .postgreSQL(let result, let number): PostgreSQLValue.isNull(result, number, column)
    }
  }

  package func integer(_ column: Int) -> Int64 {
    switch self {
    case .sqlite(let statement): sqlite3_column_int64(statement, Self.checked(column, of: statement))
    case .postgreSQL(let result, let number): PostgreSQLValue.integer(result, number, column)
    }
  }

  /// An integer column that holds 0 or 1.
  package func bool(_ column: Int) -> Bool { integer(column) != 0 }

  /// Text; bytes that are not UTF-8 become U+FFFD (use `blob` to see them as they are).
  package func text(_ column: Int) -> String { withBytes(column) { String(decoding: $0, as: UTF8.self) } }

  /// The exact bytes of a blob or text column.
  @usableFromInline package func blob(_ column: Int) -> [UInt8] { withBytes(column) { [UInt8]($0) } }

  package func optionalInteger(_ column: Int) -> Int64? { isNull(column) ? nil : integer(column) }
  package func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }
  package func optionalBlob(_ column: Int) -> [UInt8]? { isNull(column) ? nil : blob(column) }

  /// The bytes of a blob or text column in place, without a copy, for the duration of `body`.
  package func withBytes<Result, Failure: Error>(
    _ column: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    switch self {
    case .sqlite(let statement):
      // The blob accessor returns text bytes too; the length must be asked for after the pointer.
      let start = sqlite3_column_blob(statement, Self.checked(column, of: statement))
      let count = Int(sqlite3_column_bytes(statement, Int32(column)))
      return try body(UnsafeRawBufferPointer(start: start, count: count))
    case .postgreSQL(let result, let number):
      return try body(PostgreSQLValue.bytes(result, number, column))
    }
  }

  private static func checked(_ column: Int, of statement: OpaquePointer) -> Int32 {
    precondition(column >= 0 && column < Int(sqlite3_column_count(statement)), "the SELECT has no column \(column)")
    return Int32(column)
  }
}
