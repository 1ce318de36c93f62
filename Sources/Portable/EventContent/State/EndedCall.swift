import JSON
import MatrixModel

/// A call of a room that is over, as the timeline tells of it.
public struct EndedCall: Sendable, Equatable {
  /// From when the first one came until the last one left, by the server's clock.
  public let durationMilliseconds: Int64
  /// Everybody who was in it, as far as is known, in the order of coming.
  public let participants: [UserID]

  package init(durationMilliseconds: Int64, participants: [UserID]) {
    self.durationMilliseconds = durationMilliseconds
    self.participants = participants
  }
}
