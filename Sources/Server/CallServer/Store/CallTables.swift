/// Who may have sessions, and which there are. Connections and streams live in memory.
package enum CallTables {
  package static let statements = [
    // An application with an API key. Its secret is not here: it is derived from the key and what `call.key` in the data folder holds.
    "CREATE TABLE call_project(project TEXT PRIMARY KEY, name TEXT NOT NULL, created INTEGER NOT NULL, callback TEXT) STRICT, WITHOUT ROWID",
    // `used` is when it was last asked for, to a day. `room_id` is the room whose call it is, NULL for an application's; `is_archived`: it is
    // recorded whenever somebody publishes.
    """
    CREATE TABLE call_session(
      session TEXT PRIMARY KEY, project TEXT NOT NULL, is_routed INTEGER NOT NULL, is_archived INTEGER NOT NULL,
      created INTEGER NOT NULL, used INTEGER NOT NULL, room_id TEXT) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX call_session_project ON call_session(project)",
    "CREATE UNIQUE INDEX call_session_room ON call_session(room_id) WHERE room_id IS NOT NULL",
    // A recording, which OpenTok calls an archive; its files lie in `recordings/RECORDING` of the data folder. `duration` is in milliseconds.
    """
    CREATE TABLE call_archive(
      archive TEXT PRIMARY KEY, project TEXT NOT NULL, session TEXT NOT NULL, name TEXT NOT NULL, has_audio INTEGER NOT NULL,
      has_video INTEGER NOT NULL, is_composed INTEGER NOT NULL, is_manual INTEGER NOT NULL, width INTEGER NOT NULL,
      height INTEGER NOT NULL, created INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL, duration INTEGER NOT NULL,
      bytes INTEGER NOT NULL, main_file TEXT NOT NULL) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX call_archive_project ON call_archive(project, created)",
    "CREATE INDEX call_archive_unfinished ON call_archive(status) WHERE status IN ('started', 'stopped')"
  ]
}
