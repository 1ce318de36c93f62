import JSON
import MatrixModel

/// Something that power levels allow or not.
public enum RoomAction: Sendable, Hashable {
  case invite
  case kick(UserID)
  case ban(UserID)
  case unban(UserID)
  case redactOwn
  case redactOthers
  case send(EventType)
  /// With an empty state key, or one that is not somebody else's user ID.
  case sendState(EventType)
  case setPowerLevel(of: UserID, to: Int64)
  /// `@room`.
  case notifyRoom
  case pin
  case setName
  case setTopic
  case setAvatar
  case upgrade
}

extension PowerLevels {
  /// Whether the levels let the user do that; who is in the room and who is not is another question.
  public func can(_ action: RoomAction, by user: UserID) -> Bool {
    switch action {
    case .invite: canInvite(by: user)
    case .kick(let target): canKick(target, by: user)
    case .ban(let target): canBan(target, by: user)
    case .unban(let target): canUnban(target, by: user)
    case .redactOwn: canRedact(eventOf: user, by: user)
    case .redactOthers: canSend(.redaction, by: user) && level(of: user) >= required(.redact)
    case .send(let type): canSend(type, by: user)
    // Nobody makes a room twice.
    case .sendState(.create): false
    case .sendState(let type): canSend(type, isState: true, by: user)
    case .setPowerLevel(let target, let level): canSetLevel(of: target, to: level, by: user)
    case .notifyRoom: canNotifyRoom(by: user)
    case .pin: canSend(.pinnedEvents, isState: true, by: user)
    case .setName: canSend(.name, isState: true, by: user)
    case .setTopic: canSend(.topic, isState: true, by: user)
    case .setAvatar: canSend(.avatar, isState: true, by: user)
    case .upgrade: canSend(.tombstone, isState: true, by: user)
    }
  }

  /// What a user is called by their level.
  public func role(of user: UserID) -> RoomRole { RoomRole(level(of: user)) }
}

/// What people call a power level. A level between two is called by the lower one.
public enum RoomRole: UInt8, Sendable, Comparable {
  /// Below everybody else: too low to speak, as long as a room lets its members speak at all.
  case muted
  case user, moderator, administrator
  /// From room version 12 on: above every level.
  case creator

  public init(_ level: PowerLevel) {
    if level.isCreator {
      self = .creator
    } else {
      self = level.value >= 100 ? .administrator : level.value >= 50 ? .moderator : level.value >= 0 ? .user : .muted
    }
  }

  /// The level to give somebody for that role; nil for what cannot be given.
  public var suggestedLevel: Int64? {
    switch self {
    case .muted: -1
    case .user: 0
    case .moderator: 50
    case .administrator: 100
    case .creator: nil
    }
  }

  public static func < (left: RoomRole, right: RoomRole) -> Bool { left.rawValue < right.rawValue }
}

extension Client {
  /// Whether the account's user may do this, by power levels and by both memberships, as far as they are known. nil if only
  /// the server can decide.
  public func can(_ action: RoomAction, in id: RoomID) -> Bool? {
    guard let user = session?.userID, let room = rooms[id] else { return nil }
    return room.can(action, by: user)
  }
}

extension Room {
  /// The same for any member.
  public func can(_ action: RoomAction, by user: UserID) -> Bool? {
    guard let levels = powerLevels else { return nil }
    if let membership = membership(of: user), membership != .join { return false }
    switch action {
    case .kick(let target):
      // Spec: `POST /kick`: who is in the room, invited or knocking.
      if membership(of: target) == .leave || membership(of: target) == .ban { return false }
    case .unban(let target): if let membership = membership(of: target), membership != .ban { return false }
    default: break
    }
    return levels.can(action, by: user)
  }
}
