/// Statements of the schema in PostgreSQL's words. They are written in SQLite's: see Documentation/Decisions/0002-one-sql.md.
enum PostgreSQLSchema {
  /// - Returns: none, one or several statements.
  static func statements(for statement: String) -> [String] {
    switch statement {
    case FullTextIndex.creation: FullTextIndex.postgreSQLStatements
    case Migrator.headTable:
      [
        // Each commit makes a new version of the one row: room for them on its page.
        "CREATE TABLE stream_head(id BIGINT PRIMARY KEY, position BIGINT NOT NULL, batch BIGINT NOT NULL DEFAULT 0, epoch BIGINT NOT NULL DEFAULT 0) WITH (fillfactor = 10)"
      ]
    default: [translate(statement)] + storage(of: statement)
    }
  }

  /// How the rows of some tables lie on their pages. Events have kilobytes of JSON that is read whole: compressing it costs more than it saves.
  /// Receipts are moved all the time: a free part of each page takes the new version, so that no index has to follow.
  private static func storage(of statement: String) -> [String] {
    if statement.hasPrefix("CREATE TABLE event(") {
      return ["shared", "federation"].map { "ALTER TABLE event ALTER COLUMN \($0) SET STORAGE EXTERNAL" }
    }
    return statement.hasPrefix("CREATE TABLE receipt(") ? ["ALTER TABLE receipt SET (fillfactor = 80)"] : []
  }

  /// `INTEGER`, `TEXT` and `BLOB` become `BIGINT`, `TEXT COLLATE "C"` and `BYTEA`, outside of quotes and in definitions of tables only, and
  /// what is SQLite's own behind a table goes: `STRICT`, `WITHOUT ROWID`.
  static func translate(_ statement: String) -> String {
    let words = statement.split(maxSplits: 2) { $0.isWhitespace }.prefix(2).joined(separator: " ").uppercased()
    guard words == "CREATE TABLE" || words == "ALTER TABLE" else { return statement }
    let pieces = statement.split(separator: "'", omittingEmptySubsequences: false)
    let translated = pieces.enumerated().map { $0.offset.isMultiple(of: 2) ? translateTypes($0.element) : String($0.element) }
    return withoutSuffix(translated.joined(separator: "'"))
  }

  private static func translateTypes(_ text: Substring) -> String {
    var result = ""
    var word = ""
    func endWord() {
      result += types[word] ?? word
      word = ""
    }
    for character in text {
      if character.isLetter || character.isNumber || character == "_" {
        word.append(character)
      } else {
        endWord()
        result.append(character)
      }
    }
    endWord()
    return result
  }

  private static let types = ["INTEGER": "BIGINT", "TEXT": #"TEXT COLLATE "C""#, "BLOB": "BYTEA"]

  private static func withoutSuffix(_ statement: String) -> String {
    guard let end = statement.lastIndex(of: ")") else { return statement }
    let suffix = statement[statement.index(after: end)...].split { $0.isWhitespace || $0 == "," }.joined(separator: " ")
    return ["STRICT", "WITHOUT ROWID", "STRICT WITHOUT ROWID", "WITHOUT ROWID STRICT"].contains(suffix)
      ? String(statement[...end]) : statement
  }
}
