/// Encrypted copies of room keys. Spec: Client-Server API, "Server-side key backups".
package enum KeyBackupTables {
  package static let statements = [
    // The last version number of each user. A number is used once, so that a deleted version differs from one that never existed.
    """
    CREATE TABLE key_backup_number(user_id TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT
    """,
    // `auth_data` is the object as it came, byte for byte. `deleted` is 1 while the keys of a deleted version go.
    """
    CREATE TABLE key_backup(
      user_id TEXT NOT NULL, version INTEGER NOT NULL, algorithm TEXT NOT NULL, auth_data BLOB NOT NULL,
      etag INTEGER NOT NULL, keys INTEGER NOT NULL, deleted INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY(user_id, version)) STRICT
    """,
    // `json` is the whole `KeyBackupData` as it came; the columns before it are what decides between two.
    """
    CREATE TABLE key_backup_key(
      user_id TEXT NOT NULL, version INTEGER NOT NULL, room_id TEXT NOT NULL, session_id TEXT NOT NULL,
      is_verified INTEGER NOT NULL, first_message_index INTEGER NOT NULL, forwarded_count INTEGER NOT NULL,
      json BLOB NOT NULL, PRIMARY KEY(user_id, version, room_id, session_id)) STRICT
    """
  ]
}
