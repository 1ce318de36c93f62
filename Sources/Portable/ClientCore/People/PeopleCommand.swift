import JSON
import MatrixModel

/// The members of rooms and their power, ignored users, and the user's presence.
public enum PeopleCommand: Sendable {
  /// The whole member list.
  case loadMembers(RoomID)
  case invite(RoomID, user: ByteString)
  case kick(RoomID, UserID, reason: ByteString?)
  case ban(RoomID, UserID, reason: ByteString?)
  case unban(RoomID, UserID)
  /// The level of one user; nil for the default level. The rest of the event stays. Fails with `notAllowed` if the user's own level
  /// is too low.
  case setPowerLevel(RoomID, of: UserID, to: Int64?)
  /// The level that something requires; otherwise like `setPowerLevel`.
  case setRequiredLevel(RoomID, PowerSubject, to: Int64)
  /// Hides everything of that user but what changes the room, or shows it again.
  case setIgnored(UserID, Bool)
  /// The user's presence, told now and with every sync.
  case setPresence(Presence, message: ByteString?)
}

extension Client {
  mutating func handle(_ command: PeopleCommand, _ id: CommandID) {
    switch command {
    case .loadMembers(let room): loadMembers(room, id)
    case .invite(let room, let user): invite(user, to: room, id)
    case .kick(let room, let user, let reason): moderate(.kick, room, user, reason, id)
    case .ban(let room, let user, let reason): moderate(.ban, room, user, reason, id)
    case .unban(let room, let user): moderate(.unban, room, user, nil, id)
    case .setPowerLevel(let room, let user, let level): setPowerLevel(of: .user(user), to: level, in: room, id)
    case .setRequiredLevel(let room, let subject, let level): setPowerLevel(of: subject, to: level, in: room, id)
    case .setIgnored(let user, let isIgnored): setIgnored(user, isIgnored, id)
    case .setPresence(let presence, let message): setPresence(presence, message: message, id)
    }
  }
}
