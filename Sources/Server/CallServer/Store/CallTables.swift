/// Who may have sessions, and which there are. Connections and streams live in memory.
package enum CallTables {
  package static let statements = [
    // An application with an API key. Its secret is not here: it is derived from the key and what `call.key` in the data folder holds.
    "CREATE TABLE call_project(project TEXT PRIMARY KEY, name TEXT NOT NULL, created INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    // `room_id` is the room whose call it is, NULL for an application's.
    """
    CREATE TABLE call_session(
      session TEXT PRIMARY KEY, project TEXT NOT NULL, is_routed INTEGER NOT NULL, created INTEGER NOT NULL, room_id TEXT)
      STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX call_session_project ON call_session(project)",
    "CREATE UNIQUE INDEX call_session_room ON call_session(room_id) WHERE room_id IS NOT NULL"
  ]
}
