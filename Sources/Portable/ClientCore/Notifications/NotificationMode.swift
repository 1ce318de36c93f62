import JSON
import MatrixModel

/// Which messages of a room notify.
public enum NotificationMode: UInt8, Sendable, CaseIterable {
  case allMessages
  case mentionsAndKeywords
  /// Nothing, not even mentions.
  case mute
}

/// Kinds of rooms that have a default mode of their own. The rules tell them apart by how many have joined, two or not, and
/// by whether a message is encrypted.
public enum NotificationRoomKind: UInt8, Sendable, CaseIterable {
  case oneToOne, encryptedOneToOne, group, encryptedGroup

  public init(isEncrypted: Bool, isOneToOne: Bool) {
    switch (isEncrypted, isOneToOne) {
    case (false, true): self = .oneToOne
    case (true, true): self = .encryptedOneToOne
    case (false, false): self = .group
    case (true, false): self = .encryptedGroup
    }
  }

  /// The rule for messages, then those for polls where a server has them (MSC3930).
  var ruleIDs: [ByteString] {
    switch self {
    case .oneToOne:
      [
        ".m.rule.room_one_to_one", ".m.rule.poll_start_one_to_one", ".m.rule.poll_end_one_to_one",
        ".org.matrix.msc3930.rule.poll_start_one_to_one", ".org.matrix.msc3930.rule.poll_end_one_to_one"
      ]
    case .encryptedOneToOne: [".m.rule.encrypted_room_one_to_one"]
    case .group:
      [
        ".m.rule.message", ".m.rule.poll_start", ".m.rule.poll_end", ".org.matrix.msc3930.rule.poll_start",
        ".org.matrix.msc3930.rule.poll_end"
      ]
    case .encryptedGroup: [".m.rule.encrypted"]
    }
  }

  var isOneToOne: Bool { self == .oneToOne || self == .encryptedOneToOne }
}

/// What one can turn on and off as a whole.
public enum NotificationSubject: UInt8, Sendable, CaseIterable {
  /// Mentions of the user. On servers older than v1.7 of the specification: the user's name in a text.
  case userMentions
  /// `@room`.
  case roomMentions
  case invitations
  case calls
  /// Anything at all.
  case everything

  /// A rule of the server and what it does where it is on.
  struct Rule: Sendable {
    let kind: PushRuleKind
    let ruleID: ByteString
    let actions: PushActions
  }

  /// The rule of today first, then those it took the place of.
  var rules: [Rule] {
    switch self {
    case .userMentions:
      [
        Rule(kind: .override, ruleID: ".m.rule.is_user_mention", actions: .soundingAndHighlighting),
        Rule(kind: .override, ruleID: ".m.rule.contains_display_name", actions: .soundingAndHighlighting),
        Rule(kind: .content, ruleID: ".m.rule.contains_user_name", actions: .soundingAndHighlighting)
      ]
    case .roomMentions:
      [
        Rule(kind: .override, ruleID: ".m.rule.is_room_mention", actions: .highlighting),
        Rule(kind: .override, ruleID: ".m.rule.roomnotif", actions: .highlighting)
      ]
    case .invitations: [Rule(kind: .override, ruleID: ".m.rule.invite_for_me", actions: .sounding)]
    case .calls: [Rule(kind: .underride, ruleID: ".m.rule.call", actions: .ringing)]
    // It is the one that is on where the subject is off.
    case .everything: [Rule(kind: .override, ruleID: ".m.rule.master", actions: .none)]
    }
  }
}

extension PushActions {
  static let sounding = list(#"["notify",{"set_tweak":"sound","value":"default"}]"#)
  static let ringing = list(#"["notify",{"set_tweak":"sound","value":"ring"}]"#)
  static let highlighting = list(#"["notify",{"set_tweak":"highlight"}]"#)
  static let soundingAndHighlighting = list(#"["notify",{"set_tweak":"sound","value":"default"},{"set_tweak":"highlight"}]"#)

  private static func list(_ text: StaticString) -> PushActions {
    let bytes = [UInt8](UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    return Answer.parse(bytes).flatMap { PushActions($0) } ?? .none
  }
}
