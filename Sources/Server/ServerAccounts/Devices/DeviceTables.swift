/// End-to-end keys of devices and users, messages to devices, and who changed when.
package enum DeviceTables {
  package static let statements = [
    """
    CREATE TABLE device_key(
      user_id TEXT NOT NULL, device_id TEXT NOT NULL, json BLOB NOT NULL, PRIMARY KEY(user_id, device_id)) STRICT
    """,
    // Keys of one upload have the same `upload`; they are given out in its order.
    """
    CREATE TABLE one_time_key(
      user_id TEXT NOT NULL, device_id TEXT NOT NULL, algorithm TEXT NOT NULL, key_id TEXT NOT NULL,
      upload INTEGER NOT NULL, json BLOB NOT NULL, PRIMARY KEY(user_id, device_id, algorithm, key_id)) STRICT
    """,
    "CREATE INDEX one_time_key_order ON one_time_key(user_id, device_id, algorithm, upload)",
    """
    CREATE TABLE fallback_key(
      user_id TEXT NOT NULL, device_id TEXT NOT NULL, algorithm TEXT NOT NULL, key_id TEXT NOT NULL,
      json BLOB NOT NULL, used INTEGER NOT NULL, PRIMARY KEY(user_id, device_id, algorithm)) STRICT
    """,
    // `usage` is master, self_signing or user_signing; `public_key` the Base64 part of the key's ID.
    """
    CREATE TABLE cross_signing_key(
      user_id TEXT NOT NULL, usage TEXT NOT NULL, public_key TEXT NOT NULL, json BLOB NOT NULL,
      PRIMARY KEY(user_id, usage)) STRICT
    """,
    // Signatures that came after the key; `target` is a device ID or the public key of a cross-signing key.
    """
    CREATE TABLE key_signature(
      target_user_id TEXT NOT NULL, target TEXT NOT NULL, signer_user_id TEXT NOT NULL, signer_key TEXT NOT NULL,
      signature TEXT NOT NULL, PRIMARY KEY(target_user_id, target, signer_user_id, signer_key)) STRICT, WITHOUT ROWID
    """,
    // The device of a user that waits, keys and all, for a client to take it over (MSC3814).
    "CREATE TABLE dehydrated_device(user_id TEXT PRIMARY KEY, device_id TEXT NOT NULL, json BLOB NOT NULL) STRICT",
    // The newest change of each user's devices or keys.
    "CREATE TABLE device_list_change(user_id TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT",
    "CREATE INDEX device_list_change_position ON device_list_change(position)",
    // The newest change that only its maker sees: a signature on the key of another user.
    """
    CREATE TABLE own_signature_change(
      signer_user_id TEXT NOT NULL, user_id TEXT NOT NULL, position INTEGER NOT NULL,
      PRIMARY KEY(signer_user_id, user_id)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE to_device(
      user_id TEXT NOT NULL, device_id TEXT NOT NULL, position INTEGER NOT NULL, sender TEXT NOT NULL,
      type TEXT NOT NULL, content BLOB NOT NULL, PRIMARY KEY(user_id, device_id, position)) STRICT
    """
  ]

  /// Keys that were claimed stay for a while, so that the same upload again does not give them out twice.
  package static let claimedKeyStatements = [
    "ALTER TABLE one_time_key ADD COLUMN claimed INTEGER NOT NULL DEFAULT 0"
  ]
}
