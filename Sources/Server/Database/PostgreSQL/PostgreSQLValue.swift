import CPostgreSQL

/// Reads values of a result in binary form: integers in network byte order, text and `bytea` as they are.
enum PostgreSQLValue {
  static func isNull(_ result: OpaquePointer, _ row: Int32, _ column: Int) -> Bool {
    PQgetisnull(result, row, checked(column, of: result)) != 0
  }

  /// A `boolean`, `smallint`, `integer` or `bigint`, told by its length; 0 for NULL.
  static func integer(_ result: OpaquePointer, _ row: Int32, _ column: Int) -> Int64 {
    let bytes = bytes(result, row, column)
    return switch bytes.count {
    case 8: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case 4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 2: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case 1: Int64(bytes[0])
    default: 0
    }
  }

  /// Valid as long as the result; empty for NULL.
  static func bytes(_ result: OpaquePointer, _ row: Int32, _ column: Int) -> UnsafeRawBufferPointer {
    let column = checked(column, of: result)
    return UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
  }

  private static func checked(_ column: Int, of result: OpaquePointer) -> Int32 {
    precondition(column >= 0 && column < Int(PQnfields(result)), "the SELECT has no column \(column)")
    return Int32(column)
  }
}

extension SQLType {
  /// The number of the type in PostgreSQL's catalogue, the same in every database: `bigint`, `text`, `bytea`.
  var postgreSQLType: Oid {
    switch self {
    case .integer: 20
    case .text: 25
    case .blob: 17
    }
  }
}
