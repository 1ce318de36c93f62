import JSON
import MatrixModel

extension StateChange {
  /// nil for what nobody needs to read: a member event without a difference, the settings a room begins with.
  init?(_ event: Event) {
    let content = event.content
    let before = event.unsigned?["prev_content"]
    switch event.type {
    case .member:
      guard let key = event.stateKey, let user = UserID(key) else {
        self = .other(event.type)
        return
      }
      self.init(member: user, sender: event.sender, content, before: before)
    case .joinRules, .historyVisibility, .guestAccess, .powerLevels:
      if before == nil { return nil }
      self.init(setting: event)
    case .create: self = .created
    case .name: self = .roomNamed(StateChange.text(content["name"]))
    case .topic: self = .topicSet(StateChange.text(content["topic"]))
    case .avatar: self = .roomAvatarChanged
    case .canonicalAlias: self = .addressSet(RoomAlias(content["alias"]))
    case .encryption: self = .encryptionEnabled
    case .pinnedEvents: self = .pinnedEventsChanged
    case .tombstone: self = .upgraded(to: RoomID(content["replacement_room"]))
    default: self = .other(event.type)
    }
  }

  private init(setting event: Event) {
    let content = event.content
    switch event.type {
    case .joinRules: self = .joinRuleSet(content["join_rule"]?.text ?? "")
    case .historyVisibility: self = .historyVisibilitySet(content["history_visibility"]?.text ?? "")
    case .guestAccess: self = .guestAccessSet(content["guest_access"]?.text ?? "")
    default: self = .powerLevelsChanged
    }
  }

  /// Spec: `m.room.member`, the table of transitions.
  private init?(member user: UserID, sender: UserID?, _ content: JSON, before: JSON?) {
    guard let now = Membership(content["membership"]) else {
      self = .other(.member)
      return
    }
    let old = Membership(before?["membership"]) ?? .leave
    let reason = StateChange.text(content["reason"])
    switch (old, now) {
    case (.join, .join):
      let oldName = StateChange.text(before?["displayname"])
      let newName = StateChange.text(content["displayname"])
      if oldName != newName {
        self = .displayNameChanged(user, from: oldName, to: newName)
      } else if StateChange.text(before?["avatar_url"]) != StateChange.text(content["avatar_url"]) {
        self = .avatarChanged(user)
      } else {
        return nil
      }
    case (_, .join): self = .joined(user)
    case (_, .invite): self = .invited(user)
    case (_, .knock): self = .knocked(user)
    case (_, .ban): self = .banned(user, reason: reason)
    case (.ban, .leave): self = .unbanned(user)
    case (.invite, .leave): self = sender == user ? .inviteRejected(user) : .inviteWithdrawn(user)
    case (_, .leave): self = sender == user ? .left(user) : .kicked(user, reason: reason)
    }
  }

  private static func text(_ json: JSON?) -> ByteString? { json?.text.flatMap { $0.isEmpty ? nil : $0 } }
}
