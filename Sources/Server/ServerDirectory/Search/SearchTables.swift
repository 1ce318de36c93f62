import Database

/// The full text of rooms: message bodies, room names, topics.
package enum SearchTables {
  package static let statements =
    FullTextIndex.statements + [
      // One row: every event up to `position` is in the index.
      "CREATE TABLE search_progress(id INTEGER PRIMARY KEY, position INTEGER NOT NULL) STRICT",
      "INSERT INTO search_progress(id, position) VALUES (1, 0)"
    ]

  /// Makes the indexer begin anew.
  package static let rebuilding = ["UPDATE search_progress SET position = 0 WHERE id = 1"]
}
