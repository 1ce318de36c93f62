import JSON

/// Who may join a room. Spec: `m.room.join_rules`.
public enum JoinRule: UInt8, Sendable {
  case `public`, invite, knock, restricted, knockRestricted, `private`

  /// nil for rules outside the spec's set, under which nobody may join.
  public init?(_ json: JSON?) {
    guard let json else { return nil }
    if json.isString("public") {
      self = .public
    } else if json.isString("invite") {
      self = .invite
    } else if json.isString("knock") {
      self = .knock
    } else if json.isString("restricted") {
      self = .restricted
    } else if json.isString("knock_restricted") {
      self = .knockRestricted
    } else if json.isString("private") {
      self = .private
    } else {
      return nil
    }
  }

  public var name: StaticString {
    switch self {
    case .public: "public"
    case .invite: "invite"
    case .knock: "knock"
    case .restricted: "restricted"
    case .knockRestricted: "knock_restricted"
    case .private: "private"
    }
  }

  /// Whether people may ask to be let in.
  public var allowsKnocking: Bool { self == .knock || self == .knockRestricted }

  /// Whether membership of another room may stand in for an invitation.
  public var allowsRestrictedJoins: Bool { self == .restricted || self == .knockRestricted }
}
