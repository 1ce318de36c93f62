/// How far application services have been told.
package enum AppServiceTables {
  package static let statements = [
    // `position`: every event up to it was sent or is in `body`, the transaction that is under way (NULL for none), which is
    // sent as it is until the service has it. `retry_at` is milliseconds since 1970, NULL while all is well.
    """
    CREATE TABLE app_service(
      id TEXT PRIMARY KEY, position INTEGER NOT NULL, transaction_id INTEGER NOT NULL, body BLOB,
      attempts INTEGER NOT NULL DEFAULT 0, retry_at INTEGER) STRICT
    """
  ]
}
