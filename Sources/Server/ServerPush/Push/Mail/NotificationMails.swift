/// When mails tell of unread messages, and how much. An operator decides.
package struct NotificationMails: Sendable {
  /// From a notification to the mail about it: who reads it meanwhile gets none.
  package var delayMilliseconds: Int64 = 10 * 60_000
  /// From a mail that tells of a room to the next one that does, unless the user reads the room in between.
  package var pauseMilliseconds: Int64 = 60 * 60_000
  /// The longest such pause: each is `pauseGrowth` times the one before it.
  package var longestPauseMilliseconds: Int64 = 24 * 60 * 60_000
  /// Whether mails say what was written, or only who wrote how much where.
  package var showsMessages = true

  static let pauseGrowth: Int64 = 4

  package init() {}

  /// The pause after so many mails about a room, from 1 on.
  func pauseMilliseconds(after mails: Int64) -> Int64 {
    var (pause, left) = (pauseMilliseconds, mails)
    while left > 1, pause < longestPauseMilliseconds {
      pause *= Self.pauseGrowth
      left -= 1
    }
    return min(pause, longestPauseMilliseconds)
  }
}
