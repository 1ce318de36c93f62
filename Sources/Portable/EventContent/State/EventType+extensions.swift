import JSON
import MatrixModel

/// Types of state events beyond the specification.
extension EventType {
  /// A device in the room's call. MSC4143, in the form of MSC3401.
  package static let callMember: EventType = "org.matrix.msc3401.call.member"
  /// The pause between two messages of a member. Documentation/Extensions.md
  package static let slowMode: EventType = "martlet.slow_mode"
  /// `RoomGroup`s. Documentation/Extensions.md
  package static let mentionGroups: EventType = "martlet.mention_groups"
}
