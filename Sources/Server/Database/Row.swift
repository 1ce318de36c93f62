import CSQLite

/// One row of a result, valid inside the closure that receives it. Columns count from 0, in the order of the SELECT.
///
/// NULL reads as 0, "" or []: use the `optional` form where a column may be NULL.
@usableFromInline package struct Row {
  @usableFromInline let statement: OpaquePointer

  @usableFromInline init(statement: OpaquePointer) { self.statement = statement }

  @usableFromInline package func isNull(_ column: Int) -> Bool {
    sqlite3_column_type(statement, checked(column)) == SQLITE_NULL
  }

  package func integer(_ column: Int) -> Int64 { sqlite3_column_int64(statement, checked(column)) }

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
    // The blob accessor returns text bytes too; the length must be asked for after the pointer.
    let start = sqlite3_column_blob(statement, checked(column))
    let count = Int(sqlite3_column_bytes(statement, Int32(column)))
    return try body(UnsafeRawBufferPointer(start: start, count: count))
  }

  private func checked(_ column: Int) -> Int32 {
    precondition(column >= 0 && column < Int(sqlite3_column_count(statement)), "the SELECT has no column \(column)")
    return Int32(column)
  }
}
