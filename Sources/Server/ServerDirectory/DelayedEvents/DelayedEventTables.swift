/// Events that are sent later.
package enum DelayedEventTables {
  package static let statements = [
    // `device_id` and `transaction_id` are of the request that scheduled it, '' where it has none. `send_at` is when it is to be
    // sent; `finalised` is NULL as long as it waits, then when it was sent (`event_id`), failed (`error`, as JSON) or was
    // cancelled (neither). `timestamp` is what an application service asked for. All times are milliseconds since 1970.
    """
    CREATE TABLE delayed_event(
      delay_id TEXT PRIMARY KEY, user_id TEXT NOT NULL, device_id TEXT NOT NULL, transaction_id TEXT NOT NULL,
      room INTEGER NOT NULL, type TEXT NOT NULL, state_key TEXT, content BLOB NOT NULL, timestamp INTEGER,
      delay INTEGER NOT NULL, since INTEGER NOT NULL, send_at INTEGER NOT NULL, finalised INTEGER, event_id TEXT,
      error BLOB) STRICT
    """,
    "CREATE INDEX delayed_event_user ON delayed_event(user_id, send_at, delay_id)",
    "CREATE INDEX delayed_event_room ON delayed_event(room)",
    "CREATE INDEX delayed_event_due ON delayed_event(send_at, delay_id) WHERE finalised IS NULL",
    "CREATE INDEX delayed_event_finalised ON delayed_event(finalised) WHERE finalised IS NOT NULL"
  ]
}
