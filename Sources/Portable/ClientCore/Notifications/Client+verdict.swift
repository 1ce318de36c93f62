import JSON
import MatrixModel

/// What the push rules say to an event: the evaluator that the server has, on what the syncs have told of the room.
extension Client {
  /// The actions of the first rule that matches; nil where none does, for own events, and for rooms that are not known.
  ///
  /// An edit or a reaction is looked at as what it is; an encrypted event as what is in it, once that is known.
  public func pushActions(for event: Event, in room: RoomID) -> PushActions? {
    guard let sender = event.sender, let state = rooms[room]?.state, let user = session?.userID else { return nil }
    return Verdicts(rules: pushRules, profileName: ownDisplayName).actions(
      for: event, from: sender, in: room, state, ownUserID: user)
  }
}

/// Judges events of many rooms by the same rules.
struct Verdicts: Sendable {
  let rules: PushRuleSet
  /// The own name where that in the room is not in memory.
  let profileName: ByteString?

  func actions(
    for event: Event, from sender: UserID, in room: RoomID, _ state: RoomState, ownUserID: UserID
  ) -> PushActions? {
    judge(event, from: sender, in: room, state, ownUserID) { $0.actions(of: rules, displayName: $1) }
  }

  func rule(
    for event: Event, from sender: UserID, in room: RoomID, _ state: RoomState, ownUserID: UserID
  ) -> PushRule? {
    judge(event, from: sender, in: room, state, ownUserID) { $0.rule(of: rules, displayName: $1) }
  }

  private func judge<Verdict>(
    _ event: Event, from sender: UserID, in room: RoomID, _ state: RoomState, _ ownUserID: UserID,
    _ verdict: (PushEvaluator, ByteString?) -> Verdict?
  ) -> Verdict? {
    guard sender != ownUserID else { return nil }
    let own = state.members[ownUserID]
    let event = PushEvent(
      event, sender: sender, in: room, memberCount: state.joinedCount, powerLevels: state.power.forPushRules)
    return verdict(PushEvaluator(event), own == nil ? profileName : own?.displayName)
  }
}
