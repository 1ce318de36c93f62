import ClientCore
import JSON
import MatrixModel

/// Lines of the timeline for what is not a message.
extension Strings {
  /// - Parameters:
  ///   - sender: who did it.
  ///   - name: the shown name of a member.
  static func line(_ change: StateChange, sender: String, name: (UserID) -> String) -> String {
    switch change {
    case .created: sender + " created the room"
    case .joined(let user): name(user) + " joined"
    case .left(let user): name(user) + " left"
    case .invited(let user): sender + " invited " + name(user)
    case .inviteRejected(let user): name(user) + " declined the invitation"
    case .inviteWithdrawn(let user): sender + " took back the invitation of " + name(user)
    case .kicked(let user, let reason): sender + " removed " + name(user) + because(reason)
    case .banned(let user, let reason): sender + " banned " + name(user) + because(reason)
    case .unbanned(let user): sender + " unbanned " + name(user)
    case .knocked(let user): name(user) + " would like to join"
    case .displayNameChanged(let user, let old, let new): renamed(user, old, new)
    case .avatarChanged(let user): name(user) + " changed their picture"
    default: aboutRoom(change, sender)
    }
  }

  private static func aboutRoom(_ change: StateChange, _ sender: String) -> String {
    switch change {
    case .roomNamed(let name):
      name.map { sender + " named the room “" + $0.string + "”" } ?? sender + " took the room's name away"
    case .topicSet(let topic): topic.map { sender + " set the topic: " + $0.string } ?? sender + " took the topic away"
    case .roomAvatarChanged: sender + " changed the room's picture"
    case .addressSet(let alias): alias.map { sender + " set the address " + $0.string } ?? sender + " took the address away"
    case .encryptionEnabled: sender + " turned on encryption"
    case .joinRuleSet(let rule):
      rule == "public" ? sender + " lets anyone join" : sender + " lets only invited people join"
    case .historyVisibilitySet: sender + " changed who can read earlier messages"
    case .guestAccessSet: sender + " changed whether guests may join"
    case .powerLevelsChanged: sender + " changed who may do what"
    case .pinnedEventsChanged: sender + " changed the pinned messages"
    case .upgraded: sender + " moved this room to a new one"
    default: sender + " changed the room's settings"
    }
  }

  private static func because(_ reason: ByteString?) -> String { reason.map { $0.isEmpty ? "" : ": " + $0.string } ?? "" }

  private static func renamed(_ user: UserID, _ old: ByteString?, _ new: ByteString?) -> String {
    let before = old?.string ?? user.string
    guard let new else { return before + " took their display name away" }
    return before + " is now called " + new.string
  }
}
