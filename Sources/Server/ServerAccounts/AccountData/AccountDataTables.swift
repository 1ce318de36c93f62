/// What users keep on the server for themselves.
package enum AccountDataTables {
  package static let statements = [
    // `room_id` is '' for data of no room. Only the newest content of a type is kept, with the position it came at.
    """
    CREATE TABLE account_data(
      user_id TEXT NOT NULL, room_id TEXT NOT NULL, type TEXT NOT NULL, content BLOB NOT NULL,
      position INTEGER NOT NULL, PRIMARY KEY(user_id, room_id, type)) STRICT
    """,
    "CREATE INDEX account_data_position ON account_data(user_id, position)",
    """
    CREATE TABLE filter(
      user_id TEXT NOT NULL, filter_id INTEGER NOT NULL, json BLOB NOT NULL, PRIMARY KEY(user_id, filter_id)) STRICT
    """
  ]
}
