/// Accounts, their devices, tokens and profiles.
package enum AccountTables {
  package static let statements =
    [
      // `password` is libsodium's text form of an Argon2id hash, NULL for an account that cannot log in with one.
      // `search_text` is what the user directory looks through: localpart and display name in lower case.
      // `app_service` is the ID of the application service that owns the account, `user_type` a word of the administrators'.
      // `valid_until` and `created` are milliseconds since 1970; NULL is valid for ever.
      // `erased_at` is the position from which on who joins a room is not shown what the user wrote.
      // `leaves` says that the account was deactivated and has not left all of its rooms yet.
      """
      CREATE TABLE account(
        user_id TEXT PRIMARY KEY, password TEXT, created INTEGER NOT NULL, is_guest INTEGER NOT NULL DEFAULT 0,
        app_service TEXT, user_type TEXT, is_admin INTEGER NOT NULL DEFAULT 0, is_locked INTEGER NOT NULL DEFAULT 0,
        is_suspended INTEGER NOT NULL DEFAULT 0, is_shadow_banned INTEGER NOT NULL DEFAULT 0, valid_until INTEGER,
        deactivated INTEGER NOT NULL DEFAULT 0,
        erased_at INTEGER, leaves INTEGER NOT NULL DEFAULT 0, search_text TEXT NOT NULL) STRICT
      """,
      "CREATE INDEX account_leaves ON account(user_id) WHERE leaves = 1",
      // Times are milliseconds since 1970; `last_seen` is minutes behind.
      """
      CREATE TABLE device(
        user_id TEXT NOT NULL, device_id TEXT NOT NULL, display_name TEXT, created INTEGER NOT NULL,
        last_seen INTEGER NOT NULL, last_seen_address TEXT, PRIMARY KEY(user_id, device_id)) STRICT, WITHOUT ROWID
      """,
      // One JSON value per field.
      """
      CREATE TABLE profile_field(
        user_id TEXT NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY(user_id, name)) STRICT
      """
    ] + TokenTables.statements
}
