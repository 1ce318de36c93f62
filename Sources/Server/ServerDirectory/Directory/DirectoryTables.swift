/// The room directory and what people report.
package enum DirectoryTables {
  package static let statements = [
    // A room that is in any list: what is said of it (`summary`, members of an object without braces and without the number
    // of members), and what a search looks through.
    """
    CREATE TABLE public_room(
      room INTEGER PRIMARY KEY, room_type TEXT, search_text TEXT NOT NULL, summary BLOB NOT NULL) STRICT
    """,
    // `list` is 'main', 'network:' with the ID of an application service's network, or 'all': the union of the others.
    """
    CREATE TABLE public_room_list(
      room INTEGER NOT NULL, list TEXT NOT NULL, joined INTEGER NOT NULL, PRIMARY KEY(room, list)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX public_room_order ON public_room_list(list, joined, room)",
    // Rooms that anyone may join or read: their members are visible to everyone.
    "CREATE TABLE open_room(room INTEGER PRIMARY KEY) STRICT",
    // Of a room, an event in a room, or a user; what it is about need not exist.
    """
    CREATE TABLE report(
      report INTEGER PRIMARY KEY, received INTEGER NOT NULL, reporter TEXT NOT NULL, room_id TEXT, event_id TEXT,
      user_id TEXT, reason BLOB NOT NULL) STRICT
    """,
    "CREATE INDEX report_reporter ON report(reporter)"
  ]
}
