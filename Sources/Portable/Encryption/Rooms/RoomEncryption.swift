import JSON

/// How a room is encrypted: as it was first seen, or more strictly. Later state neither ends nor weakens it, whoever sends it.
/// Spec: Client-Server API, "m.room.encryption".
package struct RoomEncryption: Hashable, Sendable {
  /// Messages of one session. The spec proposes 100.
  package private(set) var rotationMessages: Int
  /// The age of one session in milliseconds. The spec proposes a week.
  package private(set) var rotationMilliseconds: Int64
  /// Whether this client can encrypt for the room. If not, nothing is sent there.
  package private(set) var isSupported: Bool

  static let standardMessages = 100, messagesRange = 1...10_000
  static let standardMilliseconds: Int64 = 7 * 24 * 60 * 60 * 1_000
  static let millisecondsRange: ClosedRange<Int64> = 60 * 60 * 1_000...30 * 24 * 60 * 60 * 1_000

  /// - Parameter content: of `m.room.encryption`.
  package init(_ content: JSON) {
    isSupported = content.text("algorithm") == Algorithm.megolm
    let messages = Int(clamping: content.integer("rotation_period_msgs") ?? Int64(Self.standardMessages))
    rotationMessages = min(max(messages, Self.messagesRange.lowerBound), Self.messagesRange.upperBound)
    let age = content.integer("rotation_period_ms") ?? Self.standardMilliseconds
    rotationMilliseconds = min(max(age, Self.millisecondsRange.lowerBound), Self.millisecondsRange.upperBound)
  }

  init(rotationMessages: Int, rotationMilliseconds: Int64, isSupported: Bool) {
    self.rotationMessages = rotationMessages
    self.rotationMilliseconds = rotationMilliseconds
    self.isSupported = isSupported
  }

  /// Newer state of the room.
  package mutating func heed(_ content: JSON) {
    let newer = RoomEncryption(content)
    guard newer.isSupported else { return }
    // What came first may have been no algorithm at all.
    guard isSupported else { return self = newer }
    rotationMessages = min(rotationMessages, newer.rotationMessages)
    rotationMilliseconds = min(rotationMilliseconds, newer.rotationMilliseconds)
  }
}
