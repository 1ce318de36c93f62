import JSON
import MatrixModel

/// What a state event did, for a line in the timeline (`english` has words for it). Who did it is the item's sender.
public indirect enum StateChange: Sendable {
  /// `predecessor`: the room that this one replaces.
  case created(predecessor: RoomID?)
  // Members. Spec: `m.room.member`, the table of transitions.
  case joined(UserID)
  case left(UserID, reason: ByteString?)
  case invited(UserID, reason: ByteString?)
  case inviteRejected(UserID)
  case inviteWithdrawn(UserID)
  case kicked(UserID, reason: ByteString?)
  case banned(UserID, reason: ByteString?)
  case unbanned(UserID)
  case knocked(UserID, reason: ByteString?)
  case knockAccepted(UserID)
  case knockDenied(UserID, reason: ByteString?)
  case knockWithdrawn(UserID)
  /// nil where there is or was no name.
  case displayNameChanged(UserID, from: ByteString?, to: ByteString?)
  case avatarChanged(UserID)
  /// Someone without an account; nil where the invitation was taken back.
  case thirdPartyInvited(ByteString?)
  // The room. nil where it was taken away.
  case roomNamed(ByteString?)
  case topicSet(ByteString?)
  case roomAvatarChanged
  case addressSet(RoomAlias?)
  case alternativeAddressesChanged(added: [RoomAlias], removed: [RoomAlias])
  case encryptionEnabled
  case joinRuleSet(ByteString)
  case historyVisibilitySet(ByteString)
  case guestAccessSet(ByteString)
  case powerLevelsChanged([PowerChange])
  case pinnedEventsChanged(pinned: [EventID], unpinned: [EventID])
  case serverACLChanged
  case upgraded(to: RoomID?)
  // The room's call
  case callJoined
  /// After how many milliseconds; nil where its beginning is not told, or lies in the future. Who left last ended the call.
  case callLeft(after: Int64?, ending: EndedCall?)
  // Spaces
  case childAdded(RoomID)
  case childRemoved(RoomID)
  case parentAdded(RoomID)
  case parentRemoved(RoomID)
  // Moderation policy lists
  case ruleSet(PolicyRule)
  case ruleRemoved(PolicyRule.Subject)
  case other(EventType)
}

/// One level that is now another.
public struct PowerChange: Sendable {
  public enum Subject: Sendable {
    case user(UserID)
    /// The property's name as in the event: `users_default`, `ban`, `invite` …
    case property(ByteString)
    /// Events of a type.
    case event(EventType)
    /// `notifications`: `room` …
    case notification(ByteString)
  }

  public let subject: Subject
  /// nil where the event names none: the default holds.
  public let from: Int64?
  public let to: Int64?
}

/// A rule of a policy room. Spec: "Moderation policy lists".
public struct PolicyRule: Sendable {
  public enum Subject: UInt8, Sendable { case user, room, server }

  public let subject: Subject
  /// A glob.
  public let entity: ByteString
  /// `m.ban` and others.
  public let recommendation: ByteString
  public let reason: ByteString?
}
