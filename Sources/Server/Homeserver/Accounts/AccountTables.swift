/// Accounts, their devices, access tokens and profiles.
enum AccountTables {
  static let statements = [
    // `password` is libsodium's text form of an Argon2id hash, NULL for an account that cannot log in with one.
    // `search_text` is what the user directory looks through: localpart and display name in lower case.
    """
    CREATE TABLE account(
      user_id TEXT PRIMARY KEY, password TEXT, created INTEGER NOT NULL, deactivated INTEGER NOT NULL DEFAULT 0,
      erased INTEGER NOT NULL DEFAULT 0, search_text TEXT NOT NULL) STRICT
    """,
    // Times are milliseconds since 1970; `last_seen` is minutes behind.
    """
    CREATE TABLE device(
      user_id TEXT NOT NULL, device_id TEXT NOT NULL, display_name TEXT, created INTEGER NOT NULL,
      last_seen INTEGER NOT NULL, last_seen_address TEXT, PRIMARY KEY(user_id, device_id)) STRICT, WITHOUT ROWID
    """,
    // `hash` is the SHA-256 of the token: who reads the database cannot log in.
    """
    CREATE TABLE access_token(
      hash BLOB PRIMARY KEY, user_id TEXT NOT NULL, device_id TEXT NOT NULL, created INTEGER NOT NULL) STRICT
    """,
    "CREATE INDEX access_token_device ON access_token(user_id, device_id)",
    // One JSON value per field.
    """
    CREATE TABLE profile_field(
      user_id TEXT NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY(user_id, name)) STRICT
    """
  ]
}
