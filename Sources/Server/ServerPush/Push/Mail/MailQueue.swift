import Database
import MatrixModel
import ServerCore

/// The rows of what e-mail pushers have still to tell, room by room, and of the rooms they have told of.
enum MailQueue {
  /// Notifications of one room that wait for one pusher. Beyond it the second oldest goes: how long the oldest waits stays
  /// known, and mails show the newest.
  static let eventsLimit = 50

  /// A room with notifications that wait.
  struct Room: Sendable {
    let number: RoomNumber
    /// When the oldest came, in milliseconds since 1970.
    let since: Int64
    /// Position of the newest.
    let newest: Int64
    /// The last mail that told of the room.
    let last: Mailed?
  }

  struct Mailed: Sendable {
    /// Mails since the user was in the room last.
    let count: Int64
    /// Milliseconds since 1970.
    let time: Int64
    /// Of the stream, as of which the mail was made.
    let position: Int64
  }

  /// Has an event wait for every e-mail pusher of the user that was there before it; not one that is purged already.
  static func add(_ event: Int64, in room: RoomNumber, for user: UserID, now: Int64, _ tx: WriteTransaction) throws {
    let added = try tx.changes(
      """
      INSERT INTO mail_queue(user_id, pushkey, room, event, queued) SELECT user_id, pushkey, $2, $3, $4 FROM pusher
      WHERE user_id = $1 AND kind = 'email' AND position < $3 AND EXISTS (SELECT 1 FROM event WHERE position = $3)
      ON CONFLICT(user_id, pushkey, room, event) DO NOTHING
      """, user, room, event, now)
    guard added > 0 else { return }
    try tx.execute(
      """
      DELETE FROM mail_queue WHERE user_id = $1 AND room = $2 AND (pushkey, event) IN (
        SELECT pushkey, event FROM (
          SELECT pushkey, event, row_number() OVER (PARTITION BY pushkey ORDER BY event) AS age,
            row_number() OVER (PARTITION BY pushkey ORDER BY event DESC) AS youth
          FROM mail_queue WHERE user_id = $1 AND room = $2) ranked
        WHERE age > 1 AND youth >= $3)
      """, user, room, eventsLimit)
  }

  /// The rooms with something to tell, the one with the newest first.
  static func rooms(of id: Pusher.ID, _ tx: ReadTransaction) throws -> [Room] {
    try tx.all(
      """
      SELECT q.room, MIN(q.queued), MAX(q.event), m.mails, m.mailed, m.position FROM mail_queue q
      LEFT JOIN mail_room m ON m.user_id = q.user_id AND m.pushkey = q.pushkey AND m.room = q.room
      WHERE q.user_id = $1 AND q.pushkey = $2 GROUP BY q.room, m.mails, m.mailed, m.position ORDER BY MAX(q.event) DESC
      """, id.userID, id.pushkey
    ) { row in
      var last: Mailed?
      if let count = row.optionalInteger(3) { last = Mailed(count: count, time: row.integer(4), position: row.integer(5)) }
      return Room(number: RoomNumber(row.integer(0)), since: row.integer(1), newest: row.integer(2), last: last)
    }
  }

  /// Positions of the events of a room that wait, and when each came; oldest first.
  static func events(
    of id: Pusher.ID, in room: RoomNumber, _ tx: ReadTransaction
  ) throws -> [(event: Int64, queued: Int64)] {
    try tx.all(
      "SELECT event, queued FROM mail_queue WHERE user_id = $1 AND pushkey = $2 AND room = $3 ORDER BY event", id.userID,
      id.pushkey, room
    ) { ($0.integer(0), $0.integer(1)) }
  }

  /// Takes out what waits of a room up to and with a position.
  static func pass(_ id: Pusher.ID, in room: RoomNumber, upTo event: Int64, _ tx: WriteTransaction) throws {
    try tx.execute(
      "DELETE FROM mail_queue WHERE user_id = $1 AND pushkey = $2 AND room = $3 AND event <= $4", id.userID, id.pushkey,
      room, event)
  }

  static func pass(_ id: Pusher.ID, _ event: Int64, in room: RoomNumber, _ tx: WriteTransaction) throws {
    try tx.execute(
      "DELETE FROM mail_queue WHERE user_id = $1 AND pushkey = $2 AND room = $3 AND event = $4", id.userID, id.pushkey,
      room, event)
  }

  /// Of a room that is still there.
  static func note(_ mailed: Mailed, of id: Pusher.ID, in room: RoomNumber, _ tx: WriteTransaction) throws {
    try tx.execute(
      """
      INSERT INTO mail_room(user_id, pushkey, room, mails, mailed, position) SELECT $1, $2, room, $4, $5, $6 FROM room
      WHERE room = $3 ON CONFLICT(user_id, pushkey, room) DO UPDATE SET mails = excluded.mails, mailed = excluded.mailed,
        position = excluded.position
      """, id.userID, id.pushkey, room, mailed.count, mailed.time, mailed.position)
  }

  /// What goes with a pusher.
  static func deleteAll(of id: Pusher.ID, _ tx: WriteTransaction) throws {
    guard id.appID == Pusher.mailAppID else { return }
    try deleteWaiting(of: id, tx)
    try tx.execute("DELETE FROM mail_room WHERE user_id = $1 AND pushkey = $2", id.userID, id.pushkey)
  }

  static func deleteWaiting(of id: Pusher.ID, _ tx: WriteTransaction) throws {
    try tx.execute("DELETE FROM mail_queue WHERE user_id = $1 AND pushkey = $2", id.userID, id.pushkey)
  }
}
