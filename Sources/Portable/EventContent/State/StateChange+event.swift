import JSON
import MatrixModel

extension StateChange {
  /// nil for what nobody needs to read: a member event without a difference, the settings a room begins with.
  package init?(_ event: Event) {
    let content = event.content
    let before = event.unsigned?["prev_content"]
    switch event.type {
    case .member:
      guard let key = event.stateKey, let user = UserID(key) else {
        self = .other(event.type)
        return
      }
      self.init(member: user, sender: event.sender, content, before: before)
    case .joinRules, .historyVisibility, .guestAccess, .powerLevels, .serverACL, .pinnedEvents:
      if before == nil, event.type != .pinnedEvents { return nil }
      self.init(setting: event, before: before)
    case .create: self = .created(predecessor: RoomID(content["predecessor"]?["room_id"]))
    case .name: self = .roomNamed(StateChange.text(content["name"]))
    case .topic: self = .topicSet(StateChange.text(content["topic"]))
    case .avatar: self = .roomAvatarChanged
    case .canonicalAlias: self.init(addresses: content, before: before)
    case .encryption: self = .encryptionEnabled
    case .tombstone: self = .upgraded(to: RoomID(content["replacement_room"]))
    case .callMember:
      let wasIn = before.map { $0.count > 0 } ?? false
      guard wasIn != (content.count > 0) else { return nil }
      self = wasIn ? .callLeft(after: StateChange.duration(since: before, event), ending: nil) : .callJoined
    case .thirdPartyInvite:
      self = .thirdPartyInvited(content.count == 0 ? nil : StateChange.text(content["display_name"]) ?? "")
    default: self.init(other: event)
    }
  }

  private static func duration(since before: JSON?, _ event: Event) -> Int64? {
    guard let begun = before?.integer("created_ts"), let ended = event.originServerTimestamp, begun > 0, begun <= ended else {
      return nil
    }
    return ended - begun
  }

  private init(other event: Event) {
    let room = event.stateKey.flatMap { RoomID($0) }
    let isRemoved = !(event.content["via"]?.isArray ?? false)
    switch (event.type, room) {
    case (.spaceChild, let room?): self = isRemoved ? .childRemoved(room) : .childAdded(room)
    case (.spaceParent, let room?): self = isRemoved ? .parentRemoved(room) : .parentAdded(room)
    case (.policyRuleUser, _): self.init(rule: event.content, .user)
    case (.policyRuleRoom, _): self.init(rule: event.content, .room)
    case (.policyRuleServer, _): self.init(rule: event.content, .server)
    default: self = .other(event.type)
    }
  }

  private init(rule content: JSON, _ subject: PolicyRule.Subject) {
    guard let entity = content.text("entity"), let recommendation = content.text("recommendation") else {
      self = .ruleRemoved(subject)
      return
    }
    self = .ruleSet(
      PolicyRule(
        subject: subject, entity: entity, recommendation: recommendation, reason: StateChange.text(content["reason"])))
  }

  private init(setting event: Event, before: JSON?) {
    let content = event.content
    switch event.type {
    case .joinRules: self = .joinRuleSet(content.text("join_rule") ?? "")
    case .historyVisibility: self = .historyVisibilitySet(content.text("history_visibility") ?? "")
    case .guestAccess: self = .guestAccessSet(content.text("guest_access") ?? "")
    case .serverACL: self = .serverACLChanged
    case .pinnedEvents:
      let now = StateChange.events(content)
      let old = StateChange.events(before)
      let (known, kept) = (Set(old), Set(now))
      self = .pinnedEventsChanged(
        pinned: now.filter { !known.contains($0) }, unpinned: old.filter { !kept.contains($0) })
    default: self = .powerLevelsChanged(PowerChange.between(before, content))
    }
  }

  package static func events(_ pinned: JSON?) -> [EventID] {
    guard let listed = pinned?["pinned"], listed.isArray else { return [] }
    return listed.elements.prefix(ContentLimits.pinnedEvents).compactMap { EventID($0) }
  }

  private init(addresses content: JSON, before: JSON?) {
    let main = RoomAlias(content["alias"])
    if main != RoomAlias(before?["alias"]) {
      self = .addressSet(main)
      return
    }
    let now = StateChange.aliases(content)
    let old = StateChange.aliases(before)
    let (known, kept) = (Set(old), Set(now))
    self = .alternativeAddressesChanged(
      added: now.filter { !known.contains($0) }, removed: old.filter { !kept.contains($0) })
  }

  private static func aliases(_ content: JSON?) -> [RoomAlias] {
    guard let listed = content?["alt_aliases"], listed.isArray else { return [] }
    return listed.elements.prefix(ContentLimits.alternativeAddresses).compactMap { RoomAlias($0) }
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
    case (.knock, .invite): self = .knockAccepted(user)
    case (_, .invite): self = .invited(user, reason: reason)
    case (_, .knock): self = .knocked(user, reason: reason)
    case (_, .ban): self = .banned(user, reason: reason)
    case (.ban, .leave): self = .unbanned(user)
    case (.invite, .leave): self = sender == user ? .inviteRejected(user) : .inviteWithdrawn(user)
    case (.knock, .leave): self = sender == user ? .knockWithdrawn(user) : .knockDenied(user, reason: reason)
    case (_, .leave): self = sender == user ? .left(user, reason: reason) : .kicked(user, reason: reason)
    }
  }

  /// As it can stand in a line.
  static func text(_ json: JSON?) -> ByteString? {
    guard let text = json?.text.map({ $0.inOneLine }), !text.isEmpty else { return nil }
    return text
  }

  /// What somebody was called who may have had the name of somebody else: with the user ID.
  public static func formerName(_ name: ByteString?, of user: UserID) -> String {
    name.map { $0.string + " (" + user.string + ")" } ?? user.string
  }

  /// What is left when the event is redacted: who came and went, without their words; nil where nothing is.
  package var redacted: StateChange? {
    switch self {
    case .joined, .inviteRejected, .inviteWithdrawn, .unbanned, .knockAccepted, .knockWithdrawn, .created: self
    case .left(let user, _): .left(user, reason: nil)
    case .invited(let user, _): .invited(user, reason: nil)
    case .kicked(let user, _): .kicked(user, reason: nil)
    case .banned(let user, _): .banned(user, reason: nil)
    case .knocked(let user, _): .knocked(user, reason: nil)
    case .knockDenied(let user, _): .knockDenied(user, reason: nil)
    default: nil
    }
  }
}
