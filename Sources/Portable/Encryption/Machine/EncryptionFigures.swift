import MatrixModel

/// What became of events, sessions and devices since the program began. In memory only, and for this device's user: nobody else is told.
package struct EncryptionFigures: Equatable, Sendable {
  /// Events that were read later, by how long that took.
  package struct Late: Equatable, Sendable {
    package private(set) var withinSecond = 0, withinTenSeconds = 0, withinMinute = 0, later = 0
    package private(set) var longestMilliseconds: Int64 = 0

    mutating func note(_ milliseconds: Int64) {
      longestMilliseconds = max(longestMilliseconds, milliseconds)
      switch milliseconds {
      case ...1_000: withinSecond += 1
      case ...10_000: withinTenSeconds += 1
      case ...60_000: withinMinute += 1
      default: later += 1
      }
    }
  }

  /// Events that could not be read when they came, those that were read since included.
  package internal(set) var unread = 0
  package internal(set) var late = Late()
  /// Sessions with devices that were begun anew, as messages in them could not be opened.
  package internal(set) var repairedSessions = 0
  /// Devices that were told that they do not get a room's key; each counts once a room's key and reason.
  package internal(set) var refusedDevices = 0
}

extension EncryptionMachine {
  /// The events that cannot be read now, by reason: how many, and since when the first of them.
  package var unreadEvents: [Undecryptable: (count: Int, since: Int64)] { waiting.census() }
}
