/// Links that invite into a room or to a person. Times are milliseconds since 1970.
package enum InviteLinkTables {
  package static let statements = [
    // `hash` is the SHA-256 of the token: a reader of the database cannot use the links. `room_id` is NULL for a link to the
    // inviter; `uses` counts the rows of `invite_link_use`.
    """
    CREATE TABLE invite_link(
      link_id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, inviter TEXT NOT NULL, room_id TEXT, created INTEGER NOT NULL,
      expires INTEGER NOT NULL, uses_allowed INTEGER NOT NULL, uses INTEGER NOT NULL DEFAULT 0) STRICT
    """,
    "CREATE INDEX invite_link_inviter ON invite_link(inviter, created)",
    "CREATE INDEX invite_link_expires ON invite_link(expires)",
    // Who has registered or joined with the link: each user is one use, however often they come back.
    """
    CREATE TABLE invite_link_use(
      link_id TEXT NOT NULL, user_id TEXT NOT NULL, PRIMARY KEY(link_id, user_id)) STRICT, WITHOUT ROWID
    """
  ]
}
