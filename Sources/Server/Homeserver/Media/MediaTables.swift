/// What was uploaded. The bytes are files named by their hash, so the same content is kept once.
enum MediaTables {
  static let statements = [
    """
    CREATE TABLE media(
      media_id TEXT PRIMARY KEY, hash TEXT NOT NULL, bytes INTEGER NOT NULL, content_type TEXT NOT NULL, file_name TEXT,
      user_id TEXT NOT NULL, created INTEGER NOT NULL) STRICT
    """,
    "CREATE INDEX media_hash ON media(hash)"
  ]
}
