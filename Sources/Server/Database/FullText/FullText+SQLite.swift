// FTS5.

extension FullTextIndex {
  /// `scope` holds one word per document, `s` and the scope's number, so that a search in few scopes reads only theirs.
  ///
  /// Segments are merged eight at a time, not four: a tenth less work for each document.
  static let sqliteStatements = [
    "CREATE VIRTUAL TABLE full_text USING fts5(scope, body, tokenize = 'unicode61 remove_diacritics 2')",
    "INSERT INTO full_text(full_text, rank) VALUES ('automerge', 8)"
  ]
}

extension FullTextQuery {
  /// Every word in it is quoted and made of letters and digits only.
  fileprivate var sqliteExpression: String {
    let body = parts.map { term in
      "\"" + term.parts.joined(separator: " ") + "\"" + (matchesBeginnings(of: term) ? "*" : "")
    }
    let expression = "body : (" + body.joined(separator: " AND ") + ")"
    guard let scopes else { return expression }
    return "scope : (" + scopes.map { "\"s\($0)\"" }.joined(separator: " OR ") + ") AND " + expression
  }
}

extension ReadTransaction {
  /// Each row has the document, its scope and its rank.
  func sqliteMatches(
    _ query: FullTextQuery, below document: Int64, limit: Int, isRanked: Bool, forEach body: (Row) throws -> Void
  ) throws {
    if isRanked {
      try self.query(
        """
        SELECT rowid, CAST(substr(scope, 2) AS INTEGER), CAST(bm25(full_text, 0.0, 1.0) * -1000000000 AS INTEGER)
        FROM full_text WHERE full_text MATCH $1 AND rowid < $2 ORDER BY rowid DESC LIMIT $3
        """, query.sqliteExpression, document, limit, forEach: body)
    } else {
      try self.query(
        """
        SELECT rowid, CAST(substr(scope, 2) AS INTEGER), 0
        FROM full_text WHERE full_text MATCH $1 AND rowid < $2 ORDER BY rowid DESC LIMIT $3
        """, query.sqliteExpression, document, limit, forEach: body)
    }
  }
}
