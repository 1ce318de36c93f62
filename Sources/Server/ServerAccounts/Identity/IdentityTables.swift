/// By what else than their user ID people are known: e-mail addresses, and accounts at providers of single sign-on.
package enum IdentityTables {
  package static let statements = [
    // `address` is in its canonical form. Times are milliseconds since 1970.
    """
    CREATE TABLE third_party_identifier(
      medium TEXT NOT NULL, address TEXT NOT NULL, user_id TEXT NOT NULL, validated INTEGER NOT NULL,
      added INTEGER NOT NULL, PRIMARY KEY(medium, address)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX third_party_identifier_user ON third_party_identifier(user_id)",
    // `token` is the SHA-256 of what the mail has in its link, NULL where the mail had none; `renewed` the time of the last
    // mail or of the confirmation; `validated` is NULL until then; `network` is who began it.
    """
    CREATE TABLE email_validation(
      session_id TEXT PRIMARY KEY, purpose TEXT NOT NULL, address TEXT NOT NULL, client_secret TEXT NOT NULL,
      send_attempt INTEGER NOT NULL, token BLOB, next_link TEXT, renewed INTEGER NOT NULL, validated INTEGER,
      network INTEGER NOT NULL) STRICT
    """,
    "CREATE INDEX email_validation_address ON email_validation(address, client_secret, purpose)",
    "CREATE INDEX email_validation_renewed ON email_validation(renewed)",
    "CREATE INDEX email_validation_network ON email_validation(network)",
    // `subject` is the provider's `sub`, which never changes and is never given to another person.
    """
    CREATE TABLE single_sign_on(
      provider TEXT NOT NULL, subject TEXT NOT NULL, user_id TEXT NOT NULL, created INTEGER NOT NULL,
      PRIMARY KEY(provider, subject)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX single_sign_on_user ON single_sign_on(user_id)"
  ]
}
