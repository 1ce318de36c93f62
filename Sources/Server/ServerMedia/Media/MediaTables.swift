/// What was uploaded. The bytes are files named by their hash, so the same content is kept once.
package enum MediaTables {
  package static let objectStatements = MediaObjects.statements

  /// The name of the node on whose disk the parts of an upload lie; NULL as long as none has come, and where there are no nodes.
  package static let nodeStatements = ["ALTER TABLE media_pending ADD COLUMN node TEXT"]

  package static let statements = [
    // `user_id` is '' for what the server fetched itself (pictures of previews). `open` is 1 for content that may be
    // downloaded without a token, as the setting was when it came; `quarantined_by` says who withdrew it.
    """
    CREATE TABLE media(
      media_id TEXT PRIMARY KEY, hash TEXT NOT NULL, bytes INTEGER NOT NULL, content_type TEXT NOT NULL, file_name TEXT,
      user_id TEXT NOT NULL, created INTEGER NOT NULL, open INTEGER NOT NULL, protected INTEGER NOT NULL DEFAULT 0,
      quarantined_by TEXT) STRICT
    """,
    "CREATE INDEX media_hash ON media(hash)",
    "CREATE INDEX media_user ON media(user_id, created, media_id)",
    "CREATE INDEX media_created ON media(created, media_id)",
    // The sums over `media`, kept in the same transactions.
    """
    CREATE TABLE media_usage(
      user_id TEXT PRIMARY KEY, items INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT
    """,
    // IDs that were given out before their content came.
    """
    CREATE TABLE media_pending(
      media_id TEXT PRIMARY KEY, user_id TEXT NOT NULL, expires INTEGER NOT NULL) STRICT
    """,
    "CREATE INDEX media_pending_user ON media_pending(user_id)",
    "CREATE INDEX media_pending_expires ON media_pending(expires)"
  ]
}
