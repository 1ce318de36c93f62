/// Full text of numbered documents, each in one scope: the one facility of the database whose SQL differs from engine to engine.
///
/// Words match whole, without regard to case and accents; one of four characters or more also matches as the beginning of a
/// longer word. Words that a sign joins, such as `1.19.2` and `data-dir`, match one after the other. Where letters and digits
/// meet, each also matches alone: `1.19.2` finds `v1.19.2`. Scripts that put no spaces between words are indexed by character and
/// found by any run of characters.
/// Measured choice: Documentation/Decisions/0007-search.md.
package enum FullTextIndex {
  /// Creates the index, for a migration. A database has one.
  ///
  /// `scope` holds one word per document, `s` and the scope's number, so that a search in few scopes reads only theirs.
  ///
  /// Segments are merged eight at a time, not four: a tenth less work for each document.
  package static let statements = [
    "CREATE VIRTUAL TABLE full_text USING fts5(scope, body, tokenize = 'unicode61 remove_diacritics 2')",
    "INSERT INTO full_text(full_text, rank) VALUES ('automerge', 8)"
  ]

  /// Deletes the document `$1`.
  package static let deletionOfDocument: StaticString = "DELETE FROM full_text WHERE rowid = $1"

  /// Deletes at most `$2` documents of the scope `$1`.
  package static let deletionOfScope: StaticString = """
    DELETE FROM full_text WHERE rowid IN (
      SELECT rowid FROM full_text WHERE full_text MATCH 'scope : "s' || $1 || '"' LIMIT $2)
    """
}

/// One document that matched.
package struct FullTextMatch: Sendable {
  package let document: Int64
  package let scope: Int64
  /// Billionths; more is closer. 0 where no rank was asked for.
  package let rank: Int64
}

/// What is searched for: documents that have all of the terms.
package struct FullTextQuery: Sendable {
  /// As they stand in the text, for highlighting; empty where the text has nothing to search for.
  package let terms: [String]
  /// In the engine's language; every word in it is quoted and made of letters and digits only.
  let expression: String

  /// Terms looked at of a text; further ones are passed over.
  package static let termsLimit = 32
  /// Scopes that are worth naming: each costs a walk through what it has.
  package static let scopesLimit = 32
  /// Characters of a term's last word from which on it also matches the beginnings of words.
  private static let prefixCharacters = 4

  /// - Parameters:
  ///   - scopes: where to look, `scopesLimit` at most; nil looks everywhere.
  ///   - matchesBeginnings: whether long terms also match the beginnings of words. That costs all there is of such words, however
  ///     few matches are looked at; whole words cost the matches alone.
  package init(_ text: String, in scopes: [Int64]? = nil, matchesBeginnings: Bool = true) {
    precondition(scopes?.count ?? 0 <= Self.scopesLimit, "every scope costs a walk through it")
    let terms = TextSegments.terms(of: text).prefix(Self.termsLimit)
    self.terms = terms.map(\.text)
    let body = terms.map { term in
      let quoted = "\"" + term.parts.joined(separator: " ") + "\""
      let isLong = term.parts.last?.unicodeScalars.count ?? 0 >= Self.prefixCharacters
      return matchesBeginnings && term.isSpaced && isLong ? quoted + "*" : quoted
    }
    var expression = "body : (" + body.joined(separator: " AND ") + ")"
    if let scopes { expression = "scope : (" + scopes.map { "\"s\($0)\"" }.joined(separator: " OR ") + ") AND " + expression }
    self.expression = expression
    isEmpty = terms.isEmpty || scopes?.isEmpty ?? false
  }

  /// Whether nothing can match.
  package let isEmpty: Bool
}

extension ReadTransaction {
  /// Matches below `document`, those with the highest numbers first, until `body` answers false or `limit` is reached.
  ///
  /// - Parameter isRanked: whether to tell how close each is, which reads all that is known of the query's words.
  package func fullTextMatches(
    _ query: FullTextQuery, below document: Int64, limit: Int, isRanked: Bool = false,
    while body: (FullTextMatch) throws -> Bool
  ) throws {
    guard !query.isEmpty else { return }
    struct Enough: Error {}
    func take(_ row: Row) throws {
      let match = FullTextMatch(
        document: row.integer(0), scope: Int64(row.text(1).dropFirst()) ?? 0, rank: row.integer(2))
      if try !body(match) { throw Enough() }
    }
    do {
      if isRanked {
        try self.query(
          """
          SELECT rowid, scope, CAST(bm25(full_text, 0.0, 1.0) * -1000000000 AS INTEGER) FROM full_text
          WHERE full_text MATCH $1 AND rowid < $2 ORDER BY rowid DESC LIMIT $3
          """, query.expression, document, limit, forEach: take)
      } else {
        try self.query(
          "SELECT rowid, scope, 0 FROM full_text WHERE full_text MATCH $1 AND rowid < $2 ORDER BY rowid DESC LIMIT $3",
          query.expression, document, limit, forEach: take)
      }
    } catch is Enough {}
  }
}

extension WriteTransaction {
  /// Adds a document that is not there yet. Throws `DatabaseError.constraint` for one that is.
  package func addFullText(_ text: String, document: Int64, scope: Int64) throws {
    try execute(
      "INSERT INTO full_text(rowid, scope, body) VALUES ($1, $2, $3)", document, "s\(scope)", TextSegments.indexed(text))
  }

  /// Adds a document, or puts it in the place of what it was.
  package func replaceFullText(_ text: String, document: Int64, scope: Int64) throws {
    try execute(
      "INSERT OR REPLACE INTO full_text(rowid, scope, body) VALUES ($1, $2, $3)", document, "s\(scope)",
      TextSegments.indexed(text))
  }

  /// Takes a document out, if it is there.
  package func removeFullText(document: Int64) throws {
    try execute(FullTextIndex.deletionOfDocument, document)
  }
}
