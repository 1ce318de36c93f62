/// Full text of numbered documents, each in one scope: the one facility of the database whose SQL differs from engine to engine.
///
/// Words match whole, without regard to case and accents; one of four characters or more also matches as the beginning of a
/// longer word. Words that a sign joins, such as `1.19.2` and `data-dir`, match one after the other. Where letters and digits
/// meet, each also matches alone: `1.19.2` finds `v1.19.2`. Scripts that put no spaces between words are indexed by character and
/// found by any run of characters.
/// Measured choice: Documentation/Decisions/0007-search.md.
package enum FullTextIndex {
  /// Creates the index, for a migration; each engine has statements of its own for it. A database has one.
  package static let statements = [creation]

  /// Stands for the engine's statements.
  static let creation = "CREATE FULL TEXT INDEX"
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
  package var terms: [String] { parts.map(\.text) }
  /// What each engine makes an expression of in its own language.
  let parts: [TextSegments.Term]
  /// Where to look; nil is everywhere.
  let scopes: [Int64]?
  private let matchesBeginnings: Bool

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
    parts = Array(TextSegments.terms(of: text).prefix(Self.termsLimit))
    self.scopes = scopes
    self.matchesBeginnings = matchesBeginnings
  }

  /// Whether the last word of a term also matches the beginnings of words.
  func matchesBeginnings(of term: TextSegments.Term) -> Bool {
    matchesBeginnings && term.isSpaced && term.parts.last?.unicodeScalars.count ?? 0 >= Self.prefixCharacters
  }

  /// Whether nothing can match.
  package var isEmpty: Bool { parts.isEmpty || scopes?.isEmpty ?? false }
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
      if try !body(FullTextMatch(document: row.integer(0), scope: row.integer(1), rank: row.integer(2))) { throw Enough() }
    }
    do {
      switch connection {
      case .sqlite: try sqliteMatches(query, below: document, limit: limit, isRanked: isRanked, forEach: take)
      case .postgreSQL: try postgreSQLMatches(query, below: document, limit: limit, isRanked: isRanked, forEach: take)
      }
    } catch is Enough {}
  }
}

extension WriteTransaction {
  /// Adds a document that is not there yet. Throws `DatabaseError.constraint` for one that is.
  package func addFullText(_ text: String, document: Int64, scope: Int64) throws {
    let text = TextSegments.indexed(text)
    switch connection {
    case .sqlite:
      try execute("INSERT INTO full_text(rowid, scope, body) VALUES ($1, $2, $3)", document, "s\(scope)", text)
    case .postgreSQL:
      try execute(
        "INSERT INTO full_text(document, scope, words) VALUES ($1, $2, $3::tsvector)", document, scope,
        FullTextVector.text(of: text, in: scope))
    }
  }

  /// Adds a document, or puts it in the place of what it was.
  package func replaceFullText(_ text: String, document: Int64, scope: Int64) throws {
    try removeFullText(document: document)
    try addFullText(text, document: document, scope: scope)
  }

  /// Takes a document out, if it is there.
  package func removeFullText(document: Int64) throws {
    switch connection {
    case .sqlite: try execute("DELETE FROM full_text WHERE rowid = $1", document)
    case .postgreSQL: try execute("DELETE FROM full_text WHERE document = $1", document)
    }
  }

  /// Takes out at most `limit` documents of a scope and returns how many it did.
  package func removeFullText(scope: Int64, limit: Int) throws -> Int {
    switch connection {
    case .sqlite:
      try changes(
        """
        DELETE FROM full_text WHERE rowid IN (
          SELECT rowid FROM full_text WHERE full_text MATCH 'scope : "s' || $1 || '"' LIMIT $2)
        """, scope, limit)
    case .postgreSQL:
      try changes(
        """
        DELETE FROM full_text WHERE document IN (
          SELECT document FROM full_text WHERE words @@ $1::tsquery LIMIT $2)
        """, FullTextVector.scope(scope), limit)
    }
  }
}
