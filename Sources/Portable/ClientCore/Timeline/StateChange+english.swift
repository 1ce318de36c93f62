import JSON
import MatrixModel

/// Lines of the timeline for what is not a message.
extension StateChange {
  /// In English.
  /// - Parameters:
  ///   - sender: who did it.
  ///   - name: the shown name of a member.
  public func english(sender: String, name: (UserID) -> String) -> String {
    switch self {
    case .joined(let user): name(user) + " joined"
    case .left(let user, let reason): name(user) + " left" + StateChange.because(reason)
    case .invited(let user, let reason): sender + " invited " + name(user) + StateChange.because(reason)
    case .inviteRejected(let user): name(user) + " declined the invitation"
    case .inviteWithdrawn(let user): sender + " took back the invitation of " + name(user)
    case .kicked(let user, let reason): sender + " removed " + name(user) + StateChange.because(reason)
    case .banned(let user, let reason): sender + " banned " + name(user) + StateChange.because(reason)
    case .unbanned(let user): sender + " unbanned " + name(user)
    case .knocked(let user, let reason): name(user) + " would like to join" + StateChange.because(reason)
    case .knockAccepted(let user): sender + " lets " + name(user) + " join"
    case .knockDenied(let user, let reason): sender + " did not let " + name(user) + " join" + StateChange.because(reason)
    case .knockWithdrawn(let user): name(user) + " would no longer like to join"
    case .displayNameChanged(let user, let old, let new): StateChange.renamed(user, old, new)
    case .avatarChanged(let user): name(user) + " changed their picture"
    case .thirdPartyInvited(let who):
      who.map { sender + " invited " + ($0.isEmpty ? "someone" : $0.string) } ?? sender + " took an invitation back"
    default: aboutRoom(sender, name)
    }
  }

  private func aboutRoom(_ sender: String, _ name: (UserID) -> String) -> String {
    switch self {
    case .created: sender + " created the room"
    case .roomNamed(let name):
      name.map { sender + " named the room “" + $0.string + "”" } ?? sender + " took the room's name away"
    case .topicSet(let topic): topic.map { sender + " set the topic: " + $0.string } ?? sender + " took the topic away"
    case .roomAvatarChanged: sender + " changed the room's picture"
    case .addressSet(let alias):
      alias.map { sender + " set the address " + $0.string } ?? sender + " took the address away"
    case .alternativeAddressesChanged: sender + " changed the other addresses of the room"
    case .encryptionEnabled: sender + " turned on encryption"
    case .joinRuleSet(let rule): sender + StateChange.join(rule)
    case .historyVisibilitySet(let visibility): sender + StateChange.history(visibility)
    case .guestAccessSet(let access): sender + (access == "can_join" ? " lets guests join" : " lets no guests join")
    case .powerLevelsChanged(let changes): sender + StateChange.power(changes, name)
    case .pinnedEventsChanged(let pinned, let unpinned): sender + StateChange.pins(pinned.count, unpinned.count)
    case .serverACLChanged: sender + " changed which servers may take part"
    case .upgraded: sender + " moved this room to a new one"
    case .childAdded(let room): sender + " added " + room.string + " to this space"
    case .childRemoved(let room): sender + " removed " + room.string + " from this space"
    case .parentAdded(let room): sender + " put this room into the space " + room.string
    case .parentRemoved(let room): sender + " took this room out of the space " + room.string
    case .ruleSet(let rule):
      sender + " set the rule " + rule.recommendation.string + " for " + rule.entity.string
        + StateChange.because(rule.reason)
    case .ruleRemoved: sender + " removed a rule"
    default: sender + " changed the room's settings"
    }
  }

  private static func because(_ reason: ByteString?) -> String {
    reason.map { $0.isEmpty ? "" : ": " + $0.string } ?? ""
  }

  private static func renamed(_ user: UserID, _ old: ByteString?, _ new: ByteString?) -> String {
    let before = old?.string ?? user.string
    guard let new else { return before + " took their display name away" }
    return before + " is now called " + new.string
  }

  private static func join(_ rule: ByteString) -> String {
    if rule == "public" { return " lets anyone join" }
    if rule == "knock" || rule == "knock_restricted" { return " lets people ask to join" }
    if rule == "restricted" { return " lets members of certain rooms join" }
    return " lets only invited people join"
  }

  private static func history(_ visibility: ByteString) -> String {
    if visibility == "world_readable" { return " lets anyone read this room" }
    if visibility == "shared" { return " lets members read everything" }
    if visibility == "invited" { return " lets members read what was said since they were invited" }
    if visibility == "joined" { return " lets members read what was said since they joined" }
    return " changed who can read earlier messages"
  }

  private static func power(_ changes: [PowerChange], _ name: (UserID) -> String) -> String {
    var parts: [String] = []
    for change in changes {
      guard case .user(let user) = change.subject else { continue }
      parts.append(name(user) + " from " + level(change.from) + " to " + level(change.to))
    }
    if parts.isEmpty { return " changed who may do what" }
    return " changed the power level of " + parts.joined(separator: ", ")
  }

  private static func level(_ level: Int64?) -> String { level.map { "\($0)" } ?? "the default" }

  private static func pins(_ pinned: Int, _ unpinned: Int) -> String {
    switch (pinned, unpinned) {
    case (1, 0): " pinned a message"
    case (0, 1): " unpinned a message"
    default: " changed the pinned messages"
    }
  }
}
