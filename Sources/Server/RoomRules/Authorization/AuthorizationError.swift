import JSON
import MatrixModel

/// What the authorization rules refused, and for what reason.
package enum AuthorizationError: Error, Sendable {
  /// What needed more power than the sender has.
  package enum Action: Sendable {
    case send(EventType)
    case invite, kick, ban, unban
    case change(StaticString)
  }

  // The room
  case noRoom
  case otherRoom
  case notFederated
  // `m.room.create`
  case createHasPrevEvents
  case createNamesRoom
  case createOfOtherServer
  case unknownRoomVersion
  case malformedCreate(StaticString)
  // `auth_events`
  case malformedAuthEvents(StaticString)
  // Membership
  case malformedMember(StaticString)
  case notInRoom
  case notOneself
  case banned
  case notInvited
  case joinRestricted
  case knockNotAllowed
  case alreadyMember
  case targetBanned
  case nothingToLeave
  case thirdPartyInvite(StaticString)
  // Power
  case power(Action, needed: PowerLevel, has: PowerLevel)
  case targetNotBelow(Action)
  case levelNotBelow
  case stateKeyOfOtherUser
  case malformedPowerLevels(StaticString)
  case creatorInPowerLevels

  /// A sentence for people.
  package var message: String {
    switch self {
    case .noRoom: "The room does not exist."
    case .otherRoom: "The event belongs to another room."
    case .notFederated: "This room is closed to users of other servers."
    case .createHasPrevEvents: "The room already exists: a create event must be the first."
    case .createNamesRoom: "The create event of this room version has no 'room_id'."
    case .createOfOtherServer: "The room ID is not of the creator's server."
    case .unknownRoomVersion: "The room version is not known."
    case .malformedCreate(let name): "'\(name)' of the create event is missing or malformed."
    case .malformedAuthEvents(let what): "The event's 'auth_events' are wrong: \(what)."
    case .malformedMember(let name): "'\(name)' of the member event is missing or malformed."
    case .notInRoom: "You are not in this room."
    case .notOneself: "Only the user can do this for themselves."
    case .banned: "You are banned from this room."
    case .notInvited: "You need an invitation to join this room."
    case .joinRestricted: "You do not meet the conditions for joining this room."
    case .knockNotAllowed: "You cannot ask to join this room."
    case .alreadyMember: "The user is already in the room."
    case .targetBanned: "The user is banned from the room."
    case .nothingToLeave: "You are neither in this room nor invited to it."
    case .thirdPartyInvite(let what): "The third-party invitation is not valid: \(what)."
    case .power(let action, let needed, let has): Self.message(action, needed: needed, has: has)
    case .targetNotBelow(let action): "You cannot \(Self.verb(action)) a user whose power level is not below yours."
    case .levelNotBelow: "You cannot change the level of a user who has as much power as you."
    case .stateKeyOfOtherUser: "Only the user whose ID is the state key can set this state."
    case .malformedPowerLevels(let name): "'\(name)' of the power levels is malformed."
    case .creatorInPowerLevels: "The power levels must not list the room's creators."
    }
  }

  private static func message(_ action: Action, needed: PowerLevel, has: PowerLevel) -> String {
    let needed = needed.isCreator ? "that of a creator" : "\(needed.value)"
    return "You need power level \(needed) to \(verb(action)); you have \(has.value)."
  }

  private static func verb(_ action: Action) -> String {
    switch action {
    case .send(let type): "send '\(type)'"
    case .invite: "invite"
    case .kick: "remove"
    case .ban: "ban"
    case .unban: "unban"
    case .change(let name): "change '\(name)' of the power levels"
    }
  }
}
