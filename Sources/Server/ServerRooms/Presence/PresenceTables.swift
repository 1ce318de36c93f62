/// What of presence outlives the process.
package enum PresenceTables {
  package static let statements = [
    // `last_active` is as of the last change of the message, in milliseconds since 1970.
    """
    CREATE TABLE presence(
      user_id TEXT PRIMARY KEY, status_msg TEXT, last_active INTEGER NOT NULL) STRICT, WITHOUT ROWID
    """
  ]
}
