import JSON
import MatrixModel

/// A room in which somebody writes, and what waits until those who are to read it have the key.
struct RoomWriting: Sendable {
  /// Devices that are not known, and keys of theirs, are waited for at most so long.
  static let patienceMilliseconds: Int64 = 10_000

  struct Message: Sendable {
    let destination: Destination
    let type: EventType
    let content: JSON
  }

  /// Who gets the encrypted content.
  enum Destination: Sendable {
    case host(UInt64)
    case verification(VerificationSending)
  }

  /// As they were said last.
  var members: RoomMembers
  var messages: [Message] = []
  var isPreparing = false
  /// Since when there are lists of devices that are waited for.
  var waitsSince: Int64?

  var isIdle: Bool { messages.isEmpty && !isPreparing }
}
