import JSON
import MatrixModel

/// The users that a message mentions. Spec: "User and room mentions".
public struct Mentions: Sendable {
  public var users: [UserID]
  /// Everyone in the room.
  public var room: Bool

  public init(users: [UserID] = [], room: Bool = false) {
    self.users = users
    self.room = room
  }
}
