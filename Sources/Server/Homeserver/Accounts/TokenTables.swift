/// What clients prove themselves with. Every `hash` is the SHA-256 of a token: who reads the database cannot log in.
enum TokenTables {
  static let statements = [
    // `expires` is in milliseconds since 1970, NULL never; `refresh` the hash of the refresh token that came with it.
    """
    CREATE TABLE access_token(
      hash BLOB PRIMARY KEY, user_id TEXT NOT NULL, device_id TEXT NOT NULL, created INTEGER NOT NULL,
      expires INTEGER, refresh BLOB) STRICT
    """,
    "CREATE INDEX access_token_device ON access_token(user_id, device_id)"
  ]
}
