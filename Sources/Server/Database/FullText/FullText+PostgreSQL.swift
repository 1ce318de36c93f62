// `tsvector` of words that are cut and folded here, so that both engines find the same.

extension FullTextIndex {
  static let postgreSQLStatements = [
    "CREATE TABLE full_text(document BIGINT PRIMARY KEY, scope BIGINT NOT NULL, words TSVECTOR NOT NULL)",
    "CREATE INDEX full_text_words ON full_text USING gin(words)"
  ]
}

/// Words and queries in the text forms of `tsvector` and `tsquery`. Words are quoted and have letters and digits only.
enum FullTextVector {
  /// PostgreSQL's limits: the last position of a word, and the bytes of one.
  private static let lastPosition = 16_383
  private static let wordBytes = 2_046

  /// Of a text as `TextSegments.indexed` makes it. Words beyond the last position all have that one.
  static func text(of indexed: String, in scope: Int64) -> String {
    var vector = self.scope(scope)
    var position = 0
    for term in TextSegments.terms(of: indexed) {
      for part in term.parts {
        let word = WordFolding.folded(part)
        guard !word.isEmpty else { continue }
        position = min(position + 1, lastPosition)
        // What is longer nobody types; its place counts.
        if word.utf8.count <= wordBytes { vector += " '\(word)':\(position)" }
      }
    }
    return vector
  }

  /// The word of a scope: no text has one with this sign.
  static func scope(_ scope: Int64) -> String { "'#\(scope)'" }

  static func query(_ query: FullTextQuery) -> String {
    var all: [String] = []
    if let scopes = query.scopes { all.append("(" + scopes.map(scope).joined(separator: " | ") + ")") }
    for term in query.parts {
      let words = term.parts.map(WordFolding.folded).filter { !$0.isEmpty }.map {
        "'\(String(decoding: $0.utf8.prefix(wordBytes), as: UTF8.self))'"
      }
      guard !words.isEmpty else { continue }
      all.append("(" + words.joined(separator: " <-> ") + (query.matchesBeginnings(of: term) ? ":*" : "") + ")")
    }
    return all.joined(separator: " & ")
  }
}

extension ReadTransaction {
  /// Each row has the document, its scope and its rank.
  func postgreSQLMatches(
    _ query: FullTextQuery, below document: Int64, limit: Int, isRanked: Bool, forEach body: (Row) throws -> Void
  ) throws {
    if isRanked {
      try self.query(
        """
        SELECT document, scope, CAST(ts_rank_cd(words, $1::tsquery, 1) * 1000000000 AS BIGINT)
        FROM full_text WHERE words @@ $1::tsquery AND document < $2 ORDER BY document DESC LIMIT $3
        """, FullTextVector.query(query), document, limit, forEach: body)
    } else {
      try self.query(
        """
        SELECT document, scope, 0
        FROM full_text WHERE words @@ $1::tsquery AND document < $2 ORDER BY document DESC LIMIT $3
        """, FullTextVector.query(query), document, limit, forEach: body)
    }
  }
}
