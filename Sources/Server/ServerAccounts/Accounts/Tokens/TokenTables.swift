/// What clients prove themselves with. Every `hash` is the SHA-256 of a token: who reads the database cannot log in. Times are
/// milliseconds since 1970.
enum TokenTables {
  static let statements = [
    // `expires` is NULL for a token that never does; `refresh` the hash of the refresh token that came with it.
    """
    CREATE TABLE access_token(
      hash BLOB PRIMARY KEY, user_id TEXT NOT NULL, device_id TEXT NOT NULL, created INTEGER NOT NULL,
      expires INTEGER, refresh BLOB) STRICT
    """,
    "CREATE INDEX access_token_device ON access_token(user_id, device_id)",
    "CREATE INDEX access_token_refresh ON access_token(refresh) WHERE refresh IS NOT NULL",
    // `next` is the refresh token this one was exchanged for, as long as neither that nor its access token has been used.
    """
    CREATE TABLE refresh_token(
      hash BLOB PRIMARY KEY, user_id TEXT NOT NULL, device_id TEXT NOT NULL, created INTEGER NOT NULL, next BLOB) STRICT
    """,
    "CREATE INDEX refresh_token_device ON refresh_token(user_id, device_id)",
    "CREATE INDEX refresh_token_next ON refresh_token(next) WHERE next IS NOT NULL",
    // `kind` is an `ExpiringTokens.Kind`.
    """
    CREATE TABLE expiring_token(
      hash BLOB PRIMARY KEY, kind INTEGER NOT NULL, user_id TEXT NOT NULL, expires INTEGER NOT NULL) STRICT
    """,
    "CREATE INDEX expiring_token_user ON expiring_token(user_id, kind)",
    // `uses_allowed` and `expires` are NULL where there is no such limit.
    """
    CREATE TABLE registration_token(
      token TEXT PRIMARY KEY, uses_allowed INTEGER, completed INTEGER NOT NULL DEFAULT 0, expires INTEGER) STRICT
    """
  ]
}
