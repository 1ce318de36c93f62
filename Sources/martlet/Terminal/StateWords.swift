import JSON
import MatrixClient
import MatrixModel

/// State changes in words.
enum StateWords {
  /// - Parameters:
  ///   - sender: how who did it is called.
  ///   - name: how a member is called.
  static func line(_ change: StateChange, sender: String, name: (UserID) -> String = { $0.string }) -> String {
    switch change {
    case .joined(let user): name(user) + " joined"
    case .left(let user): name(user) + " left"
    case .invited(let user): sender + " invited " + name(user)
    case .inviteRejected(let user): name(user) + " declined the invitation"
    case .inviteWithdrawn(let user): sender + " took back the invitation of " + name(user)
    case .kicked(let user, let reason): sender + " removed " + name(user) + because(reason)
    case .banned(let user, let reason): sender + " banned " + name(user) + because(reason)
    case .unbanned(let user): sender + " unbanned " + name(user)
    case .knocked(let user): name(user) + " asks to be let in"
    case .displayNameChanged(let user, let old, let new):
      (old?.string ?? user.string) + (new.map { " is now called " + $0.string } ?? " took their display name away")
    case .avatarChanged(let user): name(user) + " changed their picture"
    default: sender + " " + done(change)
    }
  }

  private static func done(_ change: StateChange) -> String {
    switch change {
    case .created: "created the room"
    case .roomNamed(let name): name.map { "named the room “\($0)”" } ?? "took the room's name away"
    case .topicSet(let topic): topic.map { "set the topic: \($0)" } ?? "took the topic away"
    case .roomAvatarChanged: "changed the room's picture"
    case .addressSet(let alias): alias.map { "set the address \($0)" } ?? "took the address away"
    case .encryptionEnabled: "turned on encryption"
    case .joinRuleSet(let rule): "set who may join: \(rule)"
    case .historyVisibilitySet(let who): "set who can read earlier messages: \(who)"
    case .guestAccessSet(let access): "set whether guests may join: \(access)"
    case .powerLevelsChanged: "changed who may do what"
    case .pinnedEventsChanged: "changed the pinned messages"
    case .upgraded(let room): "moved this room to a new one" + (room.map { ": \($0)" } ?? "")
    case .other(let type): "changed \(type)"
    default: "changed the room"
    }
  }

  private static func because(_ reason: ByteString?) -> String { reason.map { ": \($0)" } ?? "" }
}
