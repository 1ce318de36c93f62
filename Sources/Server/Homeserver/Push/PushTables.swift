/// Pushers and what waits to be pushed.
enum PushTables {
  static let statements = [
    // `position`: everything up to it was pushed or needs no push. `badge` is the number of unread messages that was pushed last.
    // `data` is a JSON object. Times are milliseconds since 1970; `retry_at` is NULL while all is well, and `attempts` counts
    // the failures since then.
    """
    CREATE TABLE pusher(
      user_id TEXT NOT NULL, app_id TEXT NOT NULL, pushkey TEXT NOT NULL, kind TEXT NOT NULL, device_id TEXT,
      app_display_name TEXT NOT NULL, device_display_name TEXT NOT NULL, profile_tag TEXT, lang TEXT NOT NULL,
      data BLOB NOT NULL, updated INTEGER NOT NULL, position INTEGER NOT NULL, badge INTEGER NOT NULL DEFAULT 0,
      attempts INTEGER NOT NULL DEFAULT 0, retry_at INTEGER, PRIMARY KEY(user_id, app_id, pushkey)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX pusher_key ON pusher(app_id, pushkey)",
    // What the push rules of a user with pushers said of an event when it came. `event` is the event's position, `actions` the
    // rule's JSON array. A row goes when every pusher of the user has passed it.
    """
    CREATE TABLE push_queue(
      user_id TEXT NOT NULL, event INTEGER NOT NULL, actions BLOB NOT NULL, queued INTEGER NOT NULL,
      PRIMARY KEY(user_id, event)) STRICT, WITHOUT ROWID
    """,
    // One row: the position up to which events were held against push rules.
    "CREATE TABLE push_progress(id INTEGER PRIMARY KEY, position INTEGER NOT NULL) STRICT"
  ]
}
