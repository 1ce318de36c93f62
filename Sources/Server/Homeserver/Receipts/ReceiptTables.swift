/// How far users have read.
enum ReceiptTables {
  static let statements = [
    // `kind` is 0 for m.read, 1 for m.read.private; `thread` is '' for an unthreaded receipt, `main`, or a thread root's
    // event ID. `event` is the event's position, `position` that of the receipt itself.
    """
    CREATE TABLE receipt(
      room BIGINT NOT NULL, user_id TEXT NOT NULL, kind SMALLINT NOT NULL, thread TEXT NOT NULL, event_id TEXT NOT NULL,
      event BIGINT NOT NULL, timestamp BIGINT NOT NULL, position BIGINT NOT NULL,
      PRIMARY KEY(room, user_id, kind, thread))
    """,
    "CREATE INDEX receipt_position ON receipt(room, position)",
    // What was counted up to `position` for who had read as far as `receipts` tells, by the push rules of `rules`.
    """
    CREATE TABLE unread_checkpoint(
      user_id TEXT NOT NULL, room BIGINT NOT NULL, position BIGINT NOT NULL, rules BIGINT NOT NULL,
      receipts TEXT NOT NULL, counts BYTEA NOT NULL, PRIMARY KEY(user_id, room))
    """
  ]
}
