import JSON

/// The type of an event, account data or to-device message: an open set of names, at most 255 bytes.
public struct EventType: Identifier, ExpressibleByStringLiteral {
  public let text: ByteString

  public init(trusted text: ByteString) { self.text = text }
  public init(stringLiteral value: StaticString) { text = ByteString(stringLiteral: value) }

  public static func accepts(_ text: ByteString) -> Bool { text.count <= 255 }
}

extension EventType {
  // State
  public static let create: EventType = "m.room.create"
  public static let member: EventType = "m.room.member"
  public static let powerLevels: EventType = "m.room.power_levels"
  public static let joinRules: EventType = "m.room.join_rules"
  public static let historyVisibility: EventType = "m.room.history_visibility"
  public static let guestAccess: EventType = "m.room.guest_access"
  public static let canonicalAlias: EventType = "m.room.canonical_alias"
  public static let name: EventType = "m.room.name"
  public static let topic: EventType = "m.room.topic"
  public static let avatar: EventType = "m.room.avatar"
  public static let encryption: EventType = "m.room.encryption"
  public static let tombstone: EventType = "m.room.tombstone"
  public static let serverACL: EventType = "m.room.server_acl"
  public static let thirdPartyInvite: EventType = "m.room.third_party_invite"
  public static let pinnedEvents: EventType = "m.room.pinned_events"
  public static let spaceChild: EventType = "m.space.child"
  public static let spaceParent: EventType = "m.space.parent"
  public static let policyRuleUser: EventType = "m.policy.rule.user"
  public static let policyRuleRoom: EventType = "m.policy.rule.room"
  public static let policyRuleServer: EventType = "m.policy.rule.server"
  public static let beaconInfo: EventType = "m.beacon_info"

  // Timeline
  public static let message: EventType = "m.room.message"
  public static let encrypted: EventType = "m.room.encrypted"
  public static let redaction: EventType = "m.room.redaction"
  public static let reaction: EventType = "m.reaction"
  public static let sticker: EventType = "m.sticker"
  public static let pollStart: EventType = "m.poll.start"
  public static let pollResponse: EventType = "m.poll.response"
  public static let pollEnd: EventType = "m.poll.end"
  public static let beacon: EventType = "m.beacon"

  // The same before they were in the spec (MSC3381, MSC3489)
  public static let unstablePollStart: EventType = "org.matrix.msc3381.poll.start"
  public static let unstablePollResponse: EventType = "org.matrix.msc3381.poll.response"
  public static let unstablePollEnd: EventType = "org.matrix.msc3381.poll.end"
  public static let unstableBeacon: EventType = "org.matrix.msc3672.beacon"
  public static let unstableBeaconInfo: EventType = "org.matrix.msc3672.beacon_info"

  // Ephemeral and account data
  public static let typing: EventType = "m.typing"
  public static let receipt: EventType = "m.receipt"
  public static let presence: EventType = "m.presence"
  public static let fullyRead: EventType = "m.fully_read"
  public static let tag: EventType = "m.tag"
  /// Of a room: whether the user marked it as unread. Spec: "Unread markers".
  public static let markedUnread: EventType = "m.marked_unread"
  /// Of a room, ours: until when it is hidden. Documentation/Extensions.md.
  public static let hidden: EventType = "martlet.hidden"
  /// Of a room, ours: messages that the user does not want to see any more. Documentation/Extensions.md.
  public static let removed: EventType = "martlet.removed"
  /// Martlet's own, for rooms and the account: notification settings beyond the push rules. Documentation/Extensions.md.
  public static let snooze: EventType = "martlet.snooze"
  public static let quietHours: EventType = "martlet.quiet_hours"
  public static let reactionNotifications: EventType = "martlet.reaction_notifications"
  /// Where one has put a space among the others. MSC3230
  public static let spaceOrder: EventType = "org.matrix.msc3230.space_order"
  public static let direct: EventType = "m.direct"
  public static let ignoredUserList: EventType = "m.ignored_user_list"
  public static let pushRules: EventType = "m.push_rules"
}
