import Database
import JSON
import MatrixModel

extension EventType {
  /// State: `interval_ms`, the time a member lets pass between two messages.
  package static let slowMode: EventType = "martlet.slow_mode"
}

/// How often a member of a room may send. Extension: capability `martlet.slow_mode`.
///
/// It does not apply to members who may set the room's `martlet.slow_mode`, nor to reactions and redactions.
package struct SlowMode: Sendable {
  /// The longest time that a room can ask for: six hours.
  package static let intervalMillisecondsLimit: Int64 = 6 * 60 * 60 * 1_000

  /// Milliseconds from 1 to the limit.
  package let intervalMilliseconds: Int64

  /// nil where the content asks for none, or for none that can be.
  package init?(_ content: JSON) {
    guard let interval = content["interval_ms"]?.integer, interval > 0 else { return nil }
    intervalMilliseconds = min(interval, Self.intervalMillisecondsLimit)
  }
}

extension Rooms {
  /// Throws `M_LIMIT_EXCEEDED` where the room asks the sender to wait, else remembers that they have sent.
  func checkPace(of user: UserID, sending type: EventType, in editor: RoomEditor) throws {
    let room = editor.room
    guard let state = room[.slowMode], type != .reaction, let mode = SlowMode(state.content), room.isJoined(user),
      !room.powerLevels.canSend(.slowMode, isState: true, by: user)
    else { return }
    let now = configuration.clock.now()
    let last = try editor.transaction.first(
      "SELECT sent FROM slow_mode_send WHERE room = $1 AND user_id = $2", room.number, user
    ) { $0.integer(0) }
    if let last {
      let wait = last + mode.intervalMilliseconds - now
      guard wait <= 0 else { throw MatrixError.limitExceeded(retryAfterMilliseconds: min(wait, mode.intervalMilliseconds)) }
    }
    try editor.transaction.execute(
      """
      INSERT INTO slow_mode_send(room, user_id, sent) VALUES ($1, $2, $3)
      ON CONFLICT(room, user_id) DO UPDATE SET sent = excluded.sent
      """, room.number, user, now)
  }
}
