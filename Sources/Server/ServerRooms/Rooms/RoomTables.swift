/// Rooms and their events.
///
/// Positions are those of the one durable stream: an event's position is its place in every room's timeline and in every
/// sync. Strings that repeat in wide tables are the room only (`room` is a small number); the rest is bytes as they are.
package enum RoomTables {
  package static let statements = [
    """
    CREATE TABLE room(
      room INTEGER PRIMARY KEY, room_id TEXT NOT NULL UNIQUE, version TEXT NOT NULL, created INTEGER NOT NULL) STRICT
    """,
    // `shared` is the fragment that clients and servers see, `federation` what only servers see; both without braces.
    // `redacted_by` and `replaces` are positions: of the redaction (the fragments are reduced already), and of the state
    // event that was current before this one. `thread` is the event ID of a thread's root, NULL in the main timeline.
    """
    CREATE TABLE event(
      position INTEGER PRIMARY KEY, room INTEGER NOT NULL, event_id TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
      state_key TEXT, sender TEXT NOT NULL, timestamp INTEGER NOT NULL, depth INTEGER NOT NULL, redacted_by INTEGER,
      replaces INTEGER, device_id TEXT, transaction_id TEXT, thread TEXT, shared BLOB NOT NULL, federation BLOB NOT NULL) STRICT
    """,
    // What a client may see of an event: the columns, in this order, that `RoomLoader` reads.
    """
    CREATE VIEW client_event AS
      SELECT position, room, event_id, type, state_key, sender, timestamp, depth, redacted_by, replaces, device_id,
        transaction_id, shared, thread
      FROM event
    """,
    "CREATE INDEX event_room ON event(room, position)",
    // For the event next to a time, and for messages that are past their room's retention.
    "CREATE INDEX event_timestamp ON event(room, timestamp)",
    // Same commit as the event: a repeated request finds it, also after a crash. `scope` is the endpoint with its path.
    """
    CREATE TABLE sent_transaction(
      user_id TEXT NOT NULL, device_id TEXT NOT NULL, scope TEXT NOT NULL, transaction_id TEXT NOT NULL,
      event_id TEXT NOT NULL, sent INTEGER NOT NULL,
      PRIMARY KEY(user_id, device_id, scope, transaction_id)) STRICT, WITHOUT ROWID
    """,
    // The newest event of a room is always an extremity (nothing can name it yet) and not listed; these are the others.
    """
    CREATE TABLE forward_extremity(
      room INTEGER NOT NULL, event_id TEXT NOT NULL, depth INTEGER NOT NULL, PRIMARY KEY(room, event_id)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE current_state(
      room INTEGER NOT NULL, type TEXT NOT NULL, state_key TEXT NOT NULL, event INTEGER NOT NULL,
      PRIMARY KEY(room, type, state_key)) STRICT, WITHOUT ROWID
    """,
    // The state of a room at a position is the newest row per type and key at or before it. `event` is that event's position.
    """
    CREATE TABLE state_change(
      room INTEGER NOT NULL, type TEXT NOT NULL, state_key TEXT NOT NULL, position INTEGER NOT NULL, event INTEGER NOT NULL,
      PRIMARY KEY(room, type, state_key, position)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX state_change_position ON state_change(room, position)",
    """
    CREATE TABLE membership(
      user_id TEXT NOT NULL, room INTEGER NOT NULL, membership INTEGER NOT NULL, position INTEGER NOT NULL,
      event INTEGER NOT NULL, forgotten INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(user_id, room)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX membership_room ON membership(room, membership)",
    """
    CREATE TABLE room_alias(
      alias TEXT PRIMARY KEY, room INTEGER NOT NULL, creator TEXT NOT NULL, created INTEGER NOT NULL) STRICT
    """,
    "CREATE INDEX room_alias_room ON room_alias(room)",
    "CREATE INDEX room_alias_creator ON room_alias(creator)",
    // Rooms nobody of this server may come into, whether they exist here or not. `blocked_by` is an administrator.
    """
    CREATE TABLE blocked_room(
      room_id TEXT PRIMARY KEY, blocked_by TEXT NOT NULL, blocked INTEGER NOT NULL) STRICT, WITHOUT ROWID
    """,
    // Rooms that were deleted; while `complete` is 0 some of their rows are still there.
    """
    CREATE TABLE purged_room(
      room INTEGER PRIMARY KEY, room_id TEXT NOT NULL, purged INTEGER NOT NULL, complete INTEGER NOT NULL DEFAULT 0) STRICT
    """,
    // When members of rooms with slow mode last sent, in milliseconds since 1970.
    """
    CREATE TABLE slow_mode_send(
      room INTEGER NOT NULL, user_id TEXT NOT NULL, sent INTEGER NOT NULL, PRIMARY KEY(room, user_id)) STRICT, WITHOUT ROWID
    """,
    // Who was in a deleted room, so that their clients learn of it with their next sync.
    """
    CREATE TABLE purged_membership(
      user_id TEXT NOT NULL, position INTEGER NOT NULL, room_id TEXT NOT NULL,
      PRIMARY KEY(user_id, position, room_id)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX purged_membership_room ON purged_membership(room_id)"
  ]
}
