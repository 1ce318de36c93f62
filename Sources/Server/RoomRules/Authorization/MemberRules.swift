import JSON
import MatrixModel

/// The rules of `m.room.member`: rule 4 of room versions 6 to 11, rule 5 of version 12.
struct MemberRules<Event: RoomEvent, State: AuthorizationState> {
  let event: Event
  let state: State
  let create: RoomCreate

  func authorize() throws(AuthorizationError) {
    guard let stateKey = event.stateKey else { throw .malformedMember("state_key") }
    guard let target = UserID(stateKey) else { throw .malformedMember("state_key") }
    guard let membership = Membership(event.content["membership"]) else { throw .malformedMember("membership") }
    switch membership {
    case .join: try authorizeJoin(target)
    case .invite: try authorizeInvite(target)
    case .leave: try authorizeLeave(target)
    case .ban: try authorizeBan(target)
    case .knock:
      guard create.version.hasKnocking else { throw .malformedMember("membership") }
      try authorizeKnock(target)
    }
  }

  private var sender: UserID { event.sender }
  private var joinRule: JoinRule? { create.version.understood(state.joinRule) }

  private func authorizeJoin(_ target: UserID) throws(AuthorizationError) {
    if event.prevEvents == [create.eventID], target == create.creator { return }
    guard sender == target else { throw .notOneself }
    let current = state.membership(of: target)
    if current == .ban { throw .banned }
    switch joinRule {
    case .public: return
    case .invite, .knock: guard current == .invite || current == .join else { throw .notInvited }
    case .restricted, .knockRestricted:
      if current == .join || current == .invite { return }
      guard let authoriser = UserID(event.content["join_authorised_via_users_server"]),
        state.membership(of: authoriser) == .join, state.powerLevels.canInvite(by: authoriser)
      else { throw .joinRestricted }
    case .private, nil: throw .notInvited
    }
  }

  private func authorizeInvite(_ target: UserID) throws(AuthorizationError) {
    if let invite = event.content["third_party_invite"] { return try authorizeThirdPartyInvite(invite, target) }
    try requireSenderInRoom()
    switch state.membership(of: target) {
    case .join: throw .alreadyMember
    case .ban: throw .targetBanned
    default: break
    }
    let levels = state.powerLevels
    guard levels.canInvite(by: sender) else {
      throw .power(.invite, needed: levels.required(.invite), has: levels.level(of: sender))
    }
  }

  private func authorizeThirdPartyInvite(_ invite: JSON, _ target: UserID) throws(AuthorizationError) {
    if state.membership(of: target) == .ban { throw .targetBanned }
    guard let signed = invite["signed"] else { throw .thirdPartyInvite("it is not signed") }
    guard let user = signed["mxid"]?.text, let token = signed["token"]?.text else {
      throw .thirdPartyInvite("'mxid' or 'token' is missing")
    }
    guard user == target.text else { throw .thirdPartyInvite("it is for another user") }
    guard let offer = state.thirdPartyInvite(token: token) else { throw .thirdPartyInvite("it was withdrawn") }
    guard offer.sender == sender else { throw .thirdPartyInvite("another user made it") }
    guard SignedJSON(signed).isSigned(byAnyOf: publicKeys(of: offer)) else {
      throw .thirdPartyInvite("no signature fits")
    }
  }

  private func publicKeys(of offer: ThirdPartyInvite) -> [[UInt8]] {
    var keys = [offer.content["public_key"]]
    keys += offer.content["public_keys"]?.elements.map { $0["public_key"] } ?? []
    return keys.compactMap { $0?.text.flatMap { UnpaddedBase64.decode($0.utf8) } }
  }

  private func authorizeLeave(_ target: UserID) throws(AuthorizationError) {
    let current = state.membership(of: target)
    if sender == target {
      switch current {
      case .invite, .join, .knock: return
      case .ban: throw .banned
      default: throw .nothingToLeave
      }
    }
    try requireSenderInRoom()
    let levels = state.powerLevels
    let level = levels.level(of: sender)
    if current == .ban, level < levels.required(.ban) {
      throw .power(.unban, needed: levels.required(.ban), has: level)
    }
    guard level >= levels.required(.kick) else { throw .power(.kick, needed: levels.required(.kick), has: level) }
    guard levels.level(of: target) < level else { throw .targetNotBelow(current == .ban ? .unban : .kick) }
  }

  private func authorizeBan(_ target: UserID) throws(AuthorizationError) {
    try requireSenderInRoom()
    let levels = state.powerLevels
    let level = levels.level(of: sender)
    guard level >= levels.required(.ban) else { throw .power(.ban, needed: levels.required(.ban), has: level) }
    guard levels.level(of: target) < level else { throw .targetNotBelow(.ban) }
  }

  private func authorizeKnock(_ target: UserID) throws(AuthorizationError) {
    guard joinRule?.allowsKnocking ?? false else { throw .knockNotAllowed }
    guard sender == target else { throw .notOneself }
    switch state.membership(of: sender) {
    case .ban: throw .banned
    case .invite, .join: throw .alreadyMember
    default: break
    }
  }

  private func requireSenderInRoom() throws(AuthorizationError) {
    switch state.membership(of: sender) {
    case .join: break
    case .ban: throw .banned
    default: throw .notInRoom
    }
  }
}
