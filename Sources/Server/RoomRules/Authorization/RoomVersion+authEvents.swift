import JSON
import MatrixModel

extension RoomVersion {
  /// The state that permits an event: where it exists, its event goes into `auth_events`. Empty for `m.room.create`.
  ///
  /// Spec: Server-Server API, "Auth events selection".
  package func authEventKeys(for event: some RoomEvent) -> [StateMapKey] {
    if event.type == .create { return [] }
    var keys: [StateMapKey] = roomIDIsCreateHash ? [] : [StateMapKey(.create)]
    keys.append(StateMapKey(.powerLevels))
    keys.append(StateMapKey(.member, event.sender.text))
    guard event.type == .member, let target = event.stateKey else { return keys }
    if target != event.sender.text { keys.append(StateMapKey(.member, target)) }
    let membership = Membership(event.content["membership"])
    if membership == .join || membership == .invite || membership == .knock { keys.append(StateMapKey(.joinRules)) }
    if membership == .invite, let token = event.content["third_party_invite"]?["signed"]?["token"]?.text {
      keys.append(StateMapKey(.thirdPartyInvite, token))
    }
    if membership == .join, hasRestrictedJoins,
      let authoriser = event.content["join_authorised_via_users_server"]?.text
    {
      let key = StateMapKey(.member, authoriser)
      if !keys.contains(key) { keys.append(key) }
    }
    return keys
  }

  /// The rules about the `auth_events` of an event from another server: rule 2 of room versions 10 and 11, rule 3 of 12.
  ///
  /// - Parameter authEvents: the events that `event.authEvents` names, `isRejected` set where it is.
  package func checkAuthEvents(_ authEvents: [PDU], of event: PDU) throws(AuthorizationError) {
    if event.type == .create { return }
    let expected = authEventKeys(for: event)
    var seen: Set<StateMapKey> = []
    for authEvent in authEvents {
      guard let key = authEvent.stateMapKey, expected.contains(key) else {
        throw .malformedAuthEvents("an event there has no say in it")
      }
      guard seen.insert(key).inserted else { throw .malformedAuthEvents("two events there stand for the same state") }
      if authEvent.isRejected { throw .malformedAuthEvents("an event there was itself refused") }
      guard authEvent.roomID == event.roomID else { throw .malformedAuthEvents("an event there is of another room") }
    }
    if !roomIDIsCreateHash, !seen.contains(StateMapKey(.create)) {
      throw .malformedAuthEvents("the create event is missing")
    }
  }
}
