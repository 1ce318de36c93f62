import JSON
import MatrixModel

/// Whom a message speaks to. Spec: "User and room mentions".
public struct Mentions: Sendable {
  public var users: [UserID]
  /// Everyone in the room.
  public var room: Bool

  public init(users: [UserID] = [], room: Bool = false) {
    self.users = users
    self.room = room
  }
}
