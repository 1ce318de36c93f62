/// The exit status of a program: from 64 on the codes of sysexits.h, 2 for a backup, 3 to 6 for scripts around the terminal client.
package enum ExitStatus: Int32, Sendable {
  case success = 0
  case failure = 1
  /// Done, but something was missing or damaged that the user should look at.
  case incomplete = 2
  case notLoggedIn = 3
  case noSuchRoom = 4
  case refused = 5
  case network = 6
  case usage = 64
  /// A program that belongs to this one is missing.
  case unavailable = 69
  case configuration = 78
  /// Ended by Ctrl-C, as shells count it.
  case interrupted = 130
}
