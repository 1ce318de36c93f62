/// End-to-end keys of devices and users, messages to devices, and who changed when.
enum DeviceTables {
  static let statements = [
    "CREATE TABLE device_key(user_id TEXT NOT NULL, device_id TEXT NOT NULL, json BYTEA NOT NULL, PRIMARY KEY(user_id, device_id))",
    // Keys of one upload have the same `upload`; they are given out in its order.
    """
    CREATE TABLE one_time_key(
      user_id TEXT NOT NULL, device_id TEXT NOT NULL, algorithm TEXT NOT NULL, key_id TEXT NOT NULL,
      upload BIGINT NOT NULL, json BYTEA NOT NULL, PRIMARY KEY(user_id, device_id, algorithm, key_id))
    """,
    "CREATE INDEX one_time_key_order ON one_time_key(user_id, device_id, algorithm, upload)",
    """
    CREATE TABLE fallback_key(
      user_id TEXT NOT NULL, device_id TEXT NOT NULL, algorithm TEXT NOT NULL, key_id TEXT NOT NULL,
      json BYTEA NOT NULL, used SMALLINT NOT NULL, PRIMARY KEY(user_id, device_id, algorithm))
    """,
    // `usage` is master, self_signing or user_signing; `public_key` the Base64 part of the key's ID.
    """
    CREATE TABLE cross_signing_key(
      user_id TEXT NOT NULL, usage TEXT NOT NULL, public_key TEXT NOT NULL, json BYTEA NOT NULL,
      PRIMARY KEY(user_id, usage))
    """,
    // Signatures that came after the key; `target` is a device ID or the public key of a cross-signing key.
    """
    CREATE TABLE key_signature(
      target_user_id TEXT NOT NULL, target TEXT NOT NULL, signer_user_id TEXT NOT NULL, signer_key TEXT NOT NULL,
      signature TEXT NOT NULL, PRIMARY KEY(target_user_id, target, signer_user_id, signer_key))
    """,
    // The newest change of each user's devices or keys.
    "CREATE TABLE device_list_change(user_id TEXT PRIMARY KEY, position BIGINT NOT NULL)",
    "CREATE INDEX device_list_change_position ON device_list_change(position)",
    """
    CREATE TABLE to_device(
      user_id TEXT NOT NULL, device_id TEXT NOT NULL, position BIGINT NOT NULL, sender TEXT NOT NULL,
      type TEXT NOT NULL, content BYTEA NOT NULL, PRIMARY KEY(user_id, device_id, position))
    """
  ]
}
