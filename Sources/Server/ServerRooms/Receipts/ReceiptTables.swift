/// How far users have read.
package enum ReceiptTables {
  package static let statements = [
    // `kind` is 0 for m.read, 1 for m.read.private, 2 for martlet.delivered; `thread` is '' for an unthreaded receipt, `main`, or a thread root's
    // event ID. `event` is the event's position, `position` that of the receipt itself.
    """
    CREATE TABLE receipt(
      room INTEGER NOT NULL, user_id TEXT NOT NULL, kind INTEGER NOT NULL, thread TEXT NOT NULL, event_id TEXT NOT NULL,
      event INTEGER NOT NULL, timestamp INTEGER NOT NULL, position INTEGER NOT NULL,
      PRIMARY KEY(room, user_id, kind, thread)) STRICT, WITHOUT ROWID
    """,
    // What was counted up to `position` for who had read as far as `receipts` tells, by the push rules of `rules`.
    """
    CREATE TABLE unread_checkpoint(
      user_id TEXT NOT NULL, room INTEGER NOT NULL, position INTEGER NOT NULL, rules INTEGER NOT NULL,
      receipts TEXT NOT NULL, counts BLOB NOT NULL, PRIMARY KEY(user_id, room)) STRICT
    """
  ]
}
