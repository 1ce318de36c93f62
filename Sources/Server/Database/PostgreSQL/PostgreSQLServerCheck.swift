/// Whether a database is one that Martlet can use.
enum PostgreSQLServerCheck {
  /// As `server_version_num` has it.
  private static let oldestVersion = 15_00_00
  /// Collations that compare byte by byte, as SQLite does.
  private static let collations = ["C", "POSIX", "C.UTF-8", "C.utf8"]

  /// Throws `.unusable` with what the operator has to change.
  static func check(_ connection: PostgreSQLConnection) throws(DatabaseError) {
    let row = try connection.execute(
      """
      SELECT current_setting('server_version_num'), current_setting('server_version'), pg_encoding_to_char(encoding), datcollate
      FROM pg_database WHERE datname = current_database()
      """)
    guard row.count == 4, let version = row[0].flatMap({ Int($0) }) else { return }
    func refuse(_ reason: String) throws(DatabaseError) -> Never {
      throw .unusable(path: connection.address.description, reason: reason)
    }
    guard version >= oldestVersion else { try refuse("it is PostgreSQL \(row[1] ?? ""); Martlet needs version 15 or newer") }
    guard row[2] == "UTF8" else { try refuse("its encoding is \(row[2] ?? "unknown"), not UTF8. \(remedy)") }
    guard let collation = row[3], collations.contains(collation) else {
      try refuse("its collation is \(row[3] ?? "unknown"), not C. \(remedy)")
    }
  }

  private static let remedy = "Make it with: createdb --template=template0 --encoding=UTF8 --locale=C NAME"
}
