/// Which events relate to which.
package enum RelationTables {
  package static let statements = [
    // `parent` and `position` are positions of events. `kind` is the `rel_type`, `type` and `sender` are the child's.
    // `bundled` is 1 for a child that parents tell of in `m.relations` (valid replacements, references); threads have a table
    // of their own. `annotation` is the `key` of an annotation, empty for others. A redacted child has no row.
    """
    CREATE TABLE event_relation(
      room INTEGER NOT NULL, parent INTEGER NOT NULL, position INTEGER NOT NULL, kind TEXT NOT NULL, type TEXT NOT NULL,
      sender TEXT NOT NULL, timestamp INTEGER NOT NULL, bundled INTEGER NOT NULL, annotation BLOB NOT NULL,
      PRIMARY KEY(room, parent, position)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX event_relation_position ON event_relation(position)",
    "CREATE INDEX event_relation_sender ON event_relation(room, parent, sender)",
    "CREATE INDEX event_relation_bundled ON event_relation(room, parent) WHERE bundled = 1",
    // `root` is the position of a thread's root, `latest` that of its newest event, `messages` their number.
    """
    CREATE TABLE room_thread(
      room INTEGER NOT NULL, root INTEGER NOT NULL, latest INTEGER NOT NULL, messages INTEGER NOT NULL,
      PRIMARY KEY(room, root)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX room_thread_latest ON room_thread(room, latest)"
  ]
}
