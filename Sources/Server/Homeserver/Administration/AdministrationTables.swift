/// What administrators did, what they started, and the rooms in which the server speaks to its users.
enum AdministrationTables {
  static let statements = [
    // `entry` is a position. `outcome` is NULL while the action is under way or if a stop interrupted it, 'done', or the errcode
    // it was refused with. `details` is a JSON object without secrets; `time` milliseconds since 1970.
    """
    CREATE TABLE audit(
      entry INTEGER PRIMARY KEY, time INTEGER NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, target TEXT NOT NULL,
      details BLOB NOT NULL, outcome TEXT) STRICT
    """,
    "CREATE INDEX audit_target ON audit(target, entry)",
    // What goes on after its request was answered, and after a restart. `kind` says what `parameters` mean; `cursor` is where it
    // is, `done` of `total` how far that is. `state` is 'active', 'complete' or 'failed'; `result` what it came to.
    """
    CREATE TABLE administration_task(
      task TEXT PRIMARY KEY, kind TEXT NOT NULL, target TEXT NOT NULL, actor TEXT NOT NULL, parameters BLOB NOT NULL,
      state TEXT NOT NULL, cursor TEXT NOT NULL DEFAULT '', done INTEGER NOT NULL DEFAULT 0, total INTEGER NOT NULL DEFAULT 0,
      result BLOB, started INTEGER NOT NULL, finished INTEGER) STRICT
    """,
    "CREATE INDEX administration_task_target ON administration_task(kind, target)",
    "CREATE INDEX administration_task_state ON administration_task(state)",
    // The one room in which a user gets server notices.
    "CREATE TABLE notice_room(user_id TEXT PRIMARY KEY, room_id TEXT NOT NULL) STRICT, WITHOUT ROWID",
    // Requests to send a notice that were carried out, so that their repetition is not.
    """
    CREATE TABLE sent_notice(
      actor TEXT NOT NULL, transaction_id TEXT NOT NULL, event_id TEXT NOT NULL, sent INTEGER NOT NULL,
      PRIMARY KEY(actor, transaction_id)) STRICT, WITHOUT ROWID
    """
  ]

  static let dailyStatements = [
    // A row a day for the graphs; `day` is its beginning in milliseconds since 1970. `counted` is the position up to which messages are
    // counted, of all rows the highest.
    """
    CREATE TABLE daily_statistics(
      day INTEGER PRIMARY KEY, users INTEGER NOT NULL DEFAULT 0, active INTEGER NOT NULL DEFAULT 0,
      messages INTEGER NOT NULL DEFAULT 0, rooms INTEGER NOT NULL DEFAULT 0, media_bytes INTEGER NOT NULL DEFAULT 0,
      counted INTEGER NOT NULL DEFAULT 0) STRICT
    """
  ]
}
