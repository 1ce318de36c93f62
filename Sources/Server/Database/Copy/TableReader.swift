import CPostgreSQL
import CSQLite

/// All rows of a table in the order of its key, as `RowBytes`.
enum TableReader {
  static func forEachRow(
    of table: CopiedTable, in connection: Connection, _ body: (UnsafeRawBufferPointer) throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    switch connection {
    case .sqlite(let connection): try forEachRow(of: table, in: connection, body)
    case .postgreSQL(let connection): try forEachRow(of: table, in: connection, body)
    }
  }

  private static func forEachRow(
    of table: CopiedTable, in connection: SQLiteConnection, _ body: (UnsafeRawBufferPointer) throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    var statement: OpaquePointer?
    let result = sqlite3_prepare_v2(connection.handle, table.selection, -1, &statement, nil)
    guard result == SQLITE_OK, let statement else { throw .sqlite(result, on: connection.handle, in: table.selection) }
    defer { sqlite3_finalize(statement) }
    var bytes = RowBytes()
    while true {
      let result = sqlite3_step(statement)
      if result == SQLITE_DONE { return }
      guard result == SQLITE_ROW else { throw .sqlite(result, on: connection.handle, in: table.selection) }
      let row = Row.sqlite(statement)
      bytes.begin(columns: table.columns.count)
      for (index, column) in table.columns.enumerated() {
        if row.isNull(index) {
          bytes.appendNull()
        } else if column.type == .integer {
          bytes.append(value: row.integer(index))
        } else {
          row.withBytes(index) { bytes.append(value: $0) }
        }
      }
      try RowBytes.with(bytes.bytes, body)
    }
  }

  /// Bytes before the first row: the form's name, flags, the length of more.
  private static let headerBytes = 19

  private static func forEachRow(
    of table: CopiedTable, in connection: PostgreSQLConnection, _ body: (UnsafeRawBufferPointer) throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    let sql = "COPY (\(table.selection)) TO STDOUT (FORMAT binary)"
    try connection.beginCopy(sql, PGRES_COPY_OUT)
    var failure: DatabaseError?
    var skipped = headerBytes
    var message: UnsafeMutablePointer<CChar>?
    while case let count = PQgetCopyData(connection.handle, &message, 0), count > 0 {
      defer { PQfreemem(message) }
      let row = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(start: message, count: Int(count)).dropFirst(skipped))
      skipped = 0
      // -1 in place of the number of columns ends the rows. After a failure the rest is read and dropped.
      guard failure == nil, row.count >= 2, row[0] != 0xFF else { continue }
      do throws(DatabaseError) { try body(row) } catch { failure = error }
    }
    try connection.endCopy(sql)
    if let failure { throw failure }
  }
}

/// Writes rows into a table, from `RowBytes`, inside a transaction.
final class TableWriter {
  private let table: CopiedTable
  private let target: Connection
  /// SQLite's.
  private let statement: OpaquePointer?
  private let sql: String

  init(_ table: CopiedTable, on target: Connection) throws(DatabaseError) {
    self.table = table
    self.target = target
    switch target {
    case .sqlite(let connection):
      let values = (1...table.columns.count).map { "?\($0)" }.joined(separator: ", ")
      sql = "INSERT INTO \(table.name)(\(table.columnList)) VALUES (\(values))"
      var statement: OpaquePointer?
      let result = sqlite3_prepare_v2(connection.handle, sql, -1, &statement, nil)
      guard result == SQLITE_OK else { throw .sqlite(result, on: connection.handle, in: sql) }
      self.statement = statement
    case .postgreSQL(let connection):
      sql = "COPY \(table.name)(\(table.columnList)) FROM STDIN (FORMAT binary)"
      statement = nil
      try connection.beginCopy(sql, PGRES_COPY_IN)
      try Self.put(Self.header, on: connection, sql)
    }
  }

  deinit { sqlite3_finalize(statement) }

  func write(_ row: UnsafeRawBufferPointer) throws(DatabaseError) {
    switch target {
    case .sqlite(let connection): try insert(row, connection)
    case .postgreSQL(let connection): try Self.put(row, on: connection, sql)
    }
  }

  func finish() throws(DatabaseError) {
    guard case .postgreSQL(let connection) = target else { return }
    try Self.put([0xFF, 0xFF], on: connection, sql)
    guard PQputCopyEnd(connection.handle, nil) == 1 else { throw connection.lost(sql) }
    try connection.endCopy(sql)
  }

  private static let header: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + [UInt8](repeating: 0, count: 8)

  private static func put(_ bytes: [UInt8], on connection: PostgreSQLConnection, _ sql: String) throws(DatabaseError) {
    try RowBytes.with(bytes) { bytes throws(DatabaseError) in try put(bytes, on: connection, sql) }
  }

  private static func put(_ bytes: UnsafeRawBufferPointer, on connection: PostgreSQLConnection, _ sql: String)
    throws(DatabaseError)
  {
    guard PQputCopyData(connection.handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count)) == 1
    else {
      throw connection.lost(sql)
    }
  }

  private func insert(_ row: UnsafeRawBufferPointer, _ connection: SQLiteConnection) throws(DatabaseError) {
    sqlite3_reset(statement)
    // The bytes stay where they are until the statement has run.
    let isWhole = RowBytes.forEachColumn(of: row, count: table.columns.count) { index, value in
      let number = Int32(index + 1)
      guard let value else {
        sqlite3_bind_null(statement, number)
        return
      }
      switch table.columns[index].type {
      case .integer: sqlite3_bind_int64(statement, number, Int64(bigEndian: value.loadUnaligned(as: Int64.self)))
      case .text:
        sqlite3_bind_text(
          statement, number,
          value.isEmpty ? UnsafePointer(bitPattern: 1) : value.baseAddress?.assumingMemoryBound(to: CChar.self),
          Int32(value.count), nil)
      case .blob:
        if value.isEmpty {
          sqlite3_bind_zeroblob(statement, number, 0)
        } else {
          sqlite3_bind_blob(statement, number, value.baseAddress, Int32(value.count), nil)
        }
      }
    }
    guard isWhole else { throw .corrupt(message: "PostgreSQL sent a row in another form, for \(sql)") }
    let result = sqlite3_step(statement)
    guard result == SQLITE_DONE else { throw .sqlite(result, on: connection.handle, in: sql) }
  }
}
