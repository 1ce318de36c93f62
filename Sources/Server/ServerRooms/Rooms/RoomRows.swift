/// Where rooms have rows: what a purge deletes, table by table. A chapter that keeps rows of rooms or events adds its own here.
package enum RoomRows {
  /// By what the room `$1` is known and found: goes first, with what says that it is there.
  static let atOnce: [StaticString] =
    [
      "DELETE FROM room WHERE room = $1", "DELETE FROM room_alias WHERE room = $1", "DELETE FROM open_room WHERE room = $1"
    ] + listing

  /// What lists of public rooms have of the room `$1`.
  package static let listing: [StaticString] = [
    "DELETE FROM public_room_list WHERE room = $1", "DELETE FROM public_room WHERE room = $1"
  ]

  /// Each deletes at most about `$2` rows of the room with the number `$1`; it is run until it deletes none.
  /// Full text goes besides.
  static let ofRoom: [StaticString] = [
    """
    DELETE FROM event_relation WHERE room = $1 AND (parent, position) IN (
      SELECT parent, position FROM event_relation WHERE room = $1 ORDER BY parent, position LIMIT $2)
    """,
    """
    DELETE FROM room_thread WHERE room = $1 AND root IN (
      SELECT root FROM room_thread WHERE room = $1 ORDER BY root LIMIT $2)
    """,
    "DELETE FROM event WHERE position IN (SELECT position FROM event WHERE room = $1 ORDER BY position LIMIT $2)",
    """
    DELETE FROM state_change WHERE room = $1 AND position IN (
      SELECT position FROM state_change WHERE room = $1 ORDER BY position LIMIT $2)
    """,
    """
    DELETE FROM current_state WHERE room = $1 AND (type, state_key) IN (
      SELECT type, state_key FROM current_state WHERE room = $1 ORDER BY type, state_key LIMIT $2)
    """,
    """
    DELETE FROM forward_extremity WHERE room = $1 AND event_id IN (
      SELECT event_id FROM forward_extremity WHERE room = $1 ORDER BY event_id LIMIT $2)
    """,
    "DELETE FROM delayed_event WHERE delay_id IN (SELECT delay_id FROM delayed_event WHERE room = $1 ORDER BY delay_id LIMIT $2)",
    """
    DELETE FROM direct_room WHERE room = $1 AND (lower_user, higher_user) IN (
      SELECT lower_user, higher_user FROM direct_room WHERE room = $1 ORDER BY lower_user, higher_user LIMIT $2)
    """,
    """
    DELETE FROM receipt WHERE room = $1 AND (user_id, kind, thread) IN (
      SELECT user_id, kind, thread FROM receipt WHERE room = $1 ORDER BY user_id, kind, thread LIMIT $2)
    """
  ]

  /// Each deletes the few rows that the user `$1` has for the room with the number `$2`.
  static let ofMember: [StaticString] = [
    unreadCheckpoint, "DELETE FROM slow_mode_send WHERE user_id = $1 AND room = $2",
    "DELETE FROM hidden_room WHERE user_id = $1 AND room = $2", "DELETE FROM mail_queue WHERE user_id = $1 AND room = $2",
    "DELETE FROM mail_room WHERE user_id = $1 AND room = $2", "DELETE FROM membership WHERE user_id = $1 AND room = $2"
  ]

  /// Each deletes the few rows that the user `$1` has for the room with the ID `$2`.
  static let ofMemberByRoomID: [StaticString] = ["DELETE FROM account_data WHERE user_id = $1 AND room_id = $2"]

  /// Each deletes what goes with one event that is no state: `$1` is its position. Full text goes besides.
  static let ofEvent: [StaticString] = [
    """
    UPDATE room_thread SET messages = messages - 1, latest = COALESCE((
        SELECT MAX(position) FROM event_relation
        WHERE room = room_thread.room AND parent = room_thread.root AND kind = 'm.thread' AND position <> $1), 0)
    WHERE (room, root) IN (SELECT room, parent FROM event_relation WHERE position = $1 AND kind = 'm.thread')
    """,
    """
    DELETE FROM room_thread WHERE messages <= 0
      AND (room, root) IN (SELECT room, parent FROM event_relation WHERE position = $1 AND kind = 'm.thread')
    """,
    "DELETE FROM event_relation WHERE position = $1",
    "DELETE FROM event_relation WHERE parent = $1 AND room = (SELECT room FROM event WHERE position = $1)",
    "DELETE FROM room_thread WHERE root = $1 AND room = (SELECT room FROM event WHERE position = $1)",
    "DELETE FROM event WHERE position = $1"
  ]

  /// What was counted of events that are no more.
  static let unreadCheckpoint: StaticString = "DELETE FROM unread_checkpoint WHERE user_id = $1 AND room = $2"
}
