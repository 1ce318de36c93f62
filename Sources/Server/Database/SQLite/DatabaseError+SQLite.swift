import CSQLite

extension DatabaseError {
  /// The error behind an SQLite result code, with the connection's message and the statement.
  static func sqlite(_ result: Int32, on database: OpaquePointer?, in sql: String) -> DatabaseError {
    let reason = database.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(result))
    let message = "\(reason) [\(result)] in \(sql)"
    switch result & 0xFF {  // the low byte is the primary code
    case SQLITE_CONSTRAINT: return .constraint(constraint(result), message: message)
    case SQLITE_BUSY, SQLITE_LOCKED: return .busy(message: message)
    case SQLITE_FULL: return .full(message: message)
    case SQLITE_CORRUPT, SQLITE_NOTADB: return .corrupt(message: message)
    case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_NOMEM, SQLITE_PROTOCOL: return .io(message: message)
    default: return .misuse(message: message)
    }
  }

  // SQLITE_CONSTRAINT_… are macros with arithmetic that Swift does not import: primary code + (n << 8).
  private static func constraint(_ result: Int32) -> Constraint {
    switch result >> 8 {
    case 1: .check
    case 3: .foreignKey
    case 5: .notNull
    case 6, 8, 10: .unique  // primary key, unique, rowid
    case 12: .dataType
    default: .other
    }
  }
}
