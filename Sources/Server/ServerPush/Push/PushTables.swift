/// Pushers and what waits to be pushed.
package enum PushTables {
  package static let statements = [
    // `position`: everything up to it was pushed or needs no push. `badge` is the number of unread messages that was pushed last.
    // `data` is a JSON object. Times are milliseconds since 1970; `retry_at` is NULL while all is well, and `attempts` counts
    // the failures since then. A pusher of kind `email` stays at the position where it was set; `unsubscribe` is the secret in the
    // links of its mails, NULL for other kinds. `is_active`: events wait for it in `push_queue`, so not where the kind is `email`,
    // and where it is `webpush` only once the client has sent back `activation`, which expires and is pushed until it was taken.
    """
    CREATE TABLE pusher(
      user_id TEXT NOT NULL, app_id TEXT NOT NULL, pushkey TEXT NOT NULL, kind TEXT NOT NULL, device_id TEXT,
      app_display_name TEXT NOT NULL, device_display_name TEXT NOT NULL, profile_tag TEXT, lang TEXT NOT NULL,
      data BLOB NOT NULL, updated INTEGER NOT NULL, position INTEGER NOT NULL, badge INTEGER NOT NULL DEFAULT 0,
      attempts INTEGER NOT NULL DEFAULT 0, retry_at INTEGER, unsubscribe TEXT, is_active INTEGER NOT NULL, activation TEXT,
      activation_expires INTEGER, activation_pushed INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY(user_id, app_id, pushkey)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX pusher_key ON pusher(app_id, pushkey)",
    "CREATE INDEX pusher_unsubscribe ON pusher(unsubscribe) WHERE unsubscribe IS NOT NULL",
    // What the push rules of a user with active pushers said of an event when it came. `event` is the event's position, `actions` the
    // rule's JSON array. A row goes when every such pusher of the user has passed it.
    """
    CREATE TABLE push_queue(
      user_id TEXT NOT NULL, event INTEGER NOT NULL, actions BLOB NOT NULL, queued INTEGER NOT NULL,
      PRIMARY KEY(user_id, event)) STRICT, WITHOUT ROWID
    """,
    // What a pusher of kind `email` has still to tell its user of, unless they read it first. `event` is the event's position.
    """
    CREATE TABLE mail_queue(
      user_id TEXT NOT NULL, pushkey TEXT NOT NULL, room INTEGER NOT NULL, event INTEGER NOT NULL, queued INTEGER NOT NULL,
      PRIMARY KEY(user_id, pushkey, room, event)) STRICT, WITHOUT ROWID
    """,
    // Rooms that a mail has told of: how many mails did so since the user was in the room last, when the last one was sent, and
    // the position of the stream that it was made at.
    """
    CREATE TABLE mail_room(
      user_id TEXT NOT NULL, pushkey TEXT NOT NULL, room INTEGER NOT NULL, mails INTEGER NOT NULL, mailed INTEGER NOT NULL,
      position INTEGER NOT NULL, PRIMARY KEY(user_id, pushkey, room)) STRICT, WITHOUT ROWID
    """,
    // One row: the position up to which events were held against push rules.
    "CREATE TABLE push_progress(id INTEGER PRIMARY KEY, position INTEGER NOT NULL) STRICT"
  ]
}
