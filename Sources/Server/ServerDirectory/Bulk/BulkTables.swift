/// Requests that act on many rooms at once.
package enum BulkTables {
  package static let statements = [
    // `finished` is NULL as long as it goes on. Times are milliseconds since 1970.
    """
    CREATE TABLE bulk_job(
      job_id TEXT PRIMARY KEY, user_id TEXT NOT NULL, reason BLOB, created INTEGER NOT NULL, finished INTEGER) STRICT
    """,
    "CREATE INDEX bulk_job_user ON bulk_job(user_id)",
    "CREATE INDEX bulk_job_running ON bulk_job(created, job_id) WHERE finished IS NULL",
    // `state` is 0 for a room that waits, 1 for one that was left, 2 for one that could not be: then `error` is the standard
    // error response.
    """
    CREATE TABLE bulk_item(
      job_id TEXT NOT NULL, item INTEGER NOT NULL, room_id TEXT NOT NULL, state INTEGER NOT NULL DEFAULT 0, error BLOB,
      PRIMARY KEY(job_id, item)) STRICT, WITHOUT ROWID
    """
  ]
}
