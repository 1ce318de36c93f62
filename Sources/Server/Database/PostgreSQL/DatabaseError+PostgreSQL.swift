import CPostgreSQL

extension DatabaseError {
  /// The error behind a result, with the server's message and the statement. What the server adds in detail has values of rows: it is left out.
  static func postgreSQL(_ result: OpaquePointer?, in sql: String) -> DatabaseError {
    let state = field("C", of: result) ?? ""
    let reason = field("M", of: result) ?? "no answer"
    return postgreSQL(state, message: "\(reason) [\(state)] in \(sql)")
  }

  /// By SQLSTATE: PostgreSQL's documentation, "PostgreSQL Error Codes".
  private static func postgreSQL(_ state: String, message: String) -> DatabaseError {
    switch state {
    case "23505": .constraint(.unique, message: message)
    case "23502": .constraint(.notNull, message: message)
    case "23514": .constraint(.check, message: message)
    case "23503": .constraint(.foreignKey, message: message)
    // No integer, a number out of range, text that is not UTF-8 or has U+0000, a value of another type.
    case "22P02", "22003", "22021", "22P05", "42804": .constraint(.dataType, message: message)
    case "40001", "40P01", "55P03", "57014": .busy(message: message)
    case "53100": .full(message: message)
    // The transaction has failed already.
    case "25P02", "58030", "53200": .io(message: message)
    case "53300", "57P01", "57P02", "57P03", "57P05": .unavailable(message: message)
    case "XX001", "XX002": .corrupt(message: message)
    case _ where state.hasPrefix("08"): .unavailable(message: message)
    case _ where state.hasPrefix("23"): .constraint(.other, message: message)
    default: .misuse(message: message)
    }
  }

  private static func field(_ name: Unicode.Scalar, of result: OpaquePointer?) -> String? {
    PQresultErrorField(result, Int32(name.value)).map { String(cString: $0) }
  }
}
