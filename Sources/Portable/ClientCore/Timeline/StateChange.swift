import JSON
import MatrixModel

/// What a state event did, for a line in the timeline; the view finds the words. Who did it is the item's sender.
public enum StateChange: Sendable {
  case created
  case joined(UserID)
  case left(UserID)
  case invited(UserID)
  case inviteRejected(UserID)
  case inviteWithdrawn(UserID)
  case kicked(UserID, reason: ByteString?)
  case banned(UserID, reason: ByteString?)
  case unbanned(UserID)
  case knocked(UserID)
  /// nil where there is or was no name.
  case displayNameChanged(UserID, from: ByteString?, to: ByteString?)
  case avatarChanged(UserID)
  /// nil where the name was taken away.
  case roomNamed(ByteString?)
  case topicSet(ByteString?)
  case roomAvatarChanged
  case addressSet(RoomAlias?)
  case encryptionEnabled
  case joinRuleSet(ByteString)
  case historyVisibilitySet(ByteString)
  case guestAccessSet(ByteString)
  case powerLevelsChanged
  case pinnedEventsChanged
  case upgraded(to: RoomID?)
  case other(EventType)
}
