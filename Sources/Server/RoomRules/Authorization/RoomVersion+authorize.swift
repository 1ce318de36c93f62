import JSON
import MatrixModel

extension RoomVersion {
  /// Whether the rules allow an event after the given state.
  ///
  /// The caller has checked format and signatures (`EventSignatures.required` says whose), and for events of other servers
  /// `checkAuthEvents`. Nothing is parsed but the event's own content; a message costs a few look-ups.
  /// Spec: "Authorisation rules" of the room version.
  package func authorize(_ event: some RoomEvent, in state: some AuthorizationState) throws(AuthorizationError) {
    if event.type == .create { return try authorizeCreate(event) }
    guard let create = state.create else { throw .noRoom }
    guard event.namedRoomID == create.roomID else { throw .otherRoom }
    if !create.isFederated, event.sender.serverName != create.sender.serverName { throw .notFederated }
    if event.type == .member {
      return try MemberRules(event: event, state: state, create: create).authorize()
    }
    guard state.membership(of: event.sender) == .join else {
      throw state.membership(of: event.sender) == .ban ? .banned : .notInRoom
    }
    let levels = state.powerLevels
    let level = levels.level(of: event.sender)
    if event.type == .thirdPartyInvite {
      guard level >= levels.required(.invite) else {
        throw .power(.invite, needed: levels.required(.invite), has: level)
      }
      return
    }
    let required = levels.required(for: event.type, isState: event.stateKey != nil)
    guard level >= required else { throw .power(.send(event.type), needed: required, has: level) }
    if let stateKey = event.stateKey, stateKey.hasPrefix("@"), stateKey != event.sender.text {
      throw .stateKeyOfOtherUser
    }
    if event.type == .powerLevels {
      let rules = PowerLevelRules(version: self, old: levels, sender: event.sender, senderLevel: level)
      try rules.authorize(event.content, replacesOld: event.stateKey?.isEmpty ?? false)
    }
  }

  private func authorizeCreate(_ event: some RoomEvent) throws(AuthorizationError) {
    guard event.prevEvents.isEmpty else { throw .createHasPrevEvents }
    if roomIDIsCreateHash {
      guard event.namedRoomID == nil else { throw .createNamesRoom }
    } else {
      guard event.namedRoomID?.serverName == event.sender.serverName else { throw .createOfOtherServer }
    }
    if let named = event.content["room_version"] {
      guard let name = named.text, RoomVersion(name) != nil else { throw .unknownRoomVersion }
    }
    if createNamesCreator, event.content["creator"] == nil { throw .malformedCreate("creator") }
    if hasPrivilegedCreators, let additional = event.content["additional_creators"] {
      guard additional.isArray, additional.elements.allSatisfy({ UserID($0) != nil }) else {
        throw .malformedCreate("additional_creators")
      }
    }
  }
}
