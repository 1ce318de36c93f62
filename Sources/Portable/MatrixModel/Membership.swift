import JSON

/// Where a user stands to a room. Spec: `m.room.member`.
public enum Membership: UInt8, Sendable {
  case leave = 0
  case invite, join, ban, knock

  /// nil for names outside the spec's set.
  public init?(_ json: JSON?) {
    guard let json else { return nil }
    if json.isString("join") {
      self = .join
    } else if json.isString("leave") {
      self = .leave
    } else if json.isString("invite") {
      self = .invite
    } else if json.isString("ban") {
      self = .ban
    } else if json.isString("knock") {
      self = .knock
    } else {
      return nil
    }
  }

  public var name: StaticString {
    switch self {
    case .leave: "leave"
    case .invite: "invite"
    case .join: "join"
    case .ban: "ban"
    case .knock: "knock"
    }
  }
}
