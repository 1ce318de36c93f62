import CSQLite

/// A table as both engines have it, in an order of rows that is the same in both.
struct CopiedTable {
  struct Column {
    let name: String
    let type: SQLType
    /// The place in the primary key, from 1; 0 outside of it.
    let place: Int
  }

  let name: String
  /// By name, as the engines may have them in different orders.
  let columns: [Column]

  /// What text search makes of other rows is made anew, and what migrations have written is there already.
  private static let leftOut = ["schema_version", DatabaseCopy.progressTable]

  /// Those of an SQLite database with the newest schema. The head of the stream is the last: without it no server starts.
  static func all(of connection: SQLiteConnection) throws(DatabaseError) -> [CopiedTable] {
    let statement = try connection.take(
      """
      SELECT m.name, c.name, c.type, c.pk FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c
      WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE 'full_text%' ORDER BY m.name, c.name
      """)
    defer { connection.giveBack(statement) }
    var tables: [(name: String, columns: [Column])] = []
    while try connection.step(statement) {
      let row = Row.sqlite(statement.handle)
      if tables.last?.name != row.text(0) { tables.append((row.text(0), [])) }
      let type: SQLType =
        switch row.text(2) {
        case "INTEGER": .integer
        case "TEXT": .text
        default: .blob
        }
      tables[tables.count - 1].columns.append(Column(name: row.text(1), type: type, place: Int(row.integer(3))))
    }
    let all = tables.filter { !leftOut.contains($0.name) }.map { CopiedTable(name: $0.name, columns: $0.columns) }
    return all.filter { $0.name != "stream_head" } + all.filter { $0.name == "stream_head" }
  }

  var columnList: String { columns.map(\.name).joined(separator: ", ") }

  /// By the primary key, or by everything.
  var selection: String {
    let key = columns.filter { $0.place > 0 }.sorted { $0.place < $1.place }
    return "SELECT \(columnList) FROM \(name) ORDER BY \((key.isEmpty ? columns : key).map(\.name).joined(separator: ", "))"
  }
}
