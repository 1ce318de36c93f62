import MatrixModel

/// How far the person has read in one room, ahead of what the server confirms.
struct Reading: Sendable {
  /// The last item that was on the screen, waiting for the focus.
  var viewed: ItemID?
  /// The newest event a receipt was asked for.
  var fullyRead: EventID?
  /// Unread messages behind it; nil once the server's own count is newer.
  var localCount: UnreadCounts?
  var isDirty = false
  var request: RequestID?
  var timer: TimerID?
  /// A receipt is on its way, or was just now: another one waits, and so does all that is counted anew.
  var isPaused: Bool { request != nil || timer != nil }
}

/// The typing notification of the person in one room.
struct OwnTyping: Sendable {
  var isTyping = false
  /// When the server was last told, in milliseconds since 1970.
  var toldAt: Int64 = 0
  /// When the readers last got keys, likewise; nil for never.
  var preparedAt: Int64?
}
