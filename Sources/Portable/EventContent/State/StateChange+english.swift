import JSON
import MatrixModel

/// Lines of the timeline for what is not a message.
extension StateChange {
  /// In English.
  /// - Parameters:
  ///   - sender: who did it.
  ///   - name: the shown name of a member.
  public func english(sender: String, name: (UserID) -> String) -> String {
    if case .displayNameChanged(let user, let old, let new) = self { return StateChange.renamed(user, old, new) }
    return (subject.map(name) ?? sender) + aboutMembers(name) + StateChange.because(reason)
  }

  /// The user that the line is about, if that is not the sender.
  private var subject: UserID? {
    switch self {
    case .joined(let user), .left(let user, _), .inviteRejected(let user), .knocked(let user, _),
      .knockWithdrawn(let user), .avatarChanged(let user):
      user
    default: nil
    }
  }

  private var reason: ByteString? {
    switch self {
    case .left(_, let reason), .invited(_, let reason), .kicked(_, let reason), .banned(_, let reason),
      .knocked(_, let reason), .knockDenied(_, let reason):
      reason
    case .ruleSet(let rule): rule.reason
    default: nil
    }
  }

  private func aboutMembers(_ name: (UserID) -> String) -> String {
    switch self {
    case .joined: " joined"
    case .left: " left"
    case .invited(let user, _): " invited " + name(user)
    case .inviteRejected: " declined the invitation"
    case .inviteWithdrawn(let user): " withdrew the invitation of " + name(user)
    case .kicked(let user, _): " removed " + name(user)
    case .banned(let user, _): " banned " + name(user)
    case .unbanned(let user): " unbanned " + name(user)
    case .knocked: " would like to join"
    case .knockAccepted(let user): " lets " + name(user) + " join"
    case .knockDenied(let user, _): " did not let " + name(user) + " join"
    case .knockWithdrawn: " would no longer like to join"
    case .avatarChanged: " changed their picture"
    case .thirdPartyInvited(nil): " withdrew an invitation"
    case .thirdPartyInvited(let who?): " invited " + (who.isEmpty ? "someone" : who.string)
    default: aboutRoom(name)
    }
  }

  private func aboutRoom(_ name: (UserID) -> String) -> String {
    switch self {
    case .created: " created the room"
    case .roomNamed(nil): " removed the room's name"
    case .roomNamed(let name?): " named the room “" + name.string + "”"
    case .topicSet(nil): " removed the topic"
    case .topicSet(let topic?): " set the topic: " + topic.string
    case .roomAvatarChanged: " changed the room's picture"
    case .addressSet(nil): " took the address away"
    case .addressSet(let alias?): " set the address " + alias.string
    case .alternativeAddressesChanged: " changed the other addresses of the room"
    case .encryptionEnabled: " turned on encryption"
    case .joinRuleSet(let rule): StateChange.join(rule)
    case .historyVisibilitySet(let visibility): StateChange.history(visibility)
    case .guestAccessSet(let access): access == "can_join" ? " lets guests join" : " lets no guests join"
    case .powerLevelsChanged(let changes): StateChange.power(changes, name)
    case .pinnedEventsChanged(let pinned, let unpinned): StateChange.pins(pinned.count, unpinned.count)
    case .serverACLChanged: " changed which servers may take part"
    case .upgraded: " moved this room to a new one"
    case .callJoined: " joined the call"
    case .callLeft(_, nil): " left the call"
    case .callLeft(_, let call?):
      " left the call, which had \(call.participants.count) people and lasted \(call.durationMilliseconds / 1_000) seconds"
    case .childAdded(let room): " added " + room.string + " to this space"
    case .childRemoved(let room): " removed " + room.string + " from this space"
    case .parentAdded(let room): " put this room into the space " + room.string
    case .parentRemoved(let room): " took this room out of the space " + room.string
    case .ruleSet(let rule): " set the rule " + rule.recommendation.string + " for " + rule.entity.string
    case .ruleRemoved: " removed a rule"
    default: " changed the room's settings"
    }
  }

  private static func because(_ reason: ByteString?) -> String {
    reason.map { $0.isEmpty ? "" : ": " + $0.string } ?? ""
  }

  private static func renamed(_ user: UserID, _ old: ByteString?, _ new: ByteString?) -> String {
    let before = formerName(old, of: user)
    guard let new else { return before + " removed their display name" }
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
    if parts.isEmpty { return " changed who can do what" }
    return " changed the role of " + parts.joined(separator: ", ")
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
