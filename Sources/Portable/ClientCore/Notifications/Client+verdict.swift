import JSON
import MatrixModel

/// What the push rules say to an event: the evaluator that the server has, on what the syncs have told of the room.
extension Client {
  /// The actions of the first rule that matches; nil where none does, for own events, and for rooms that are not known. None for what
  /// was sent silently, and where the room is snoozed: it is counted as unread all the same. Quiet hours are not looked at (`isQuiet`).
  ///
  /// An edit or a reaction is looked at as what it is (`reactionTarget`); an encrypted event as what is in it, once that is known.
  public func pushActions(for event: Event, in room: RoomID) -> PushActions? {
    rule(for: event, in: room).map { isHeldBack(event, in: room) ? .none : $0.actions }
  }

  /// The event that this one reacts to, if the user wants notifications about reactions. The caller checks whether the user wrote that
  /// event. nil if the reaction does not notify.
  public func reactionTarget(of event: Event, in room: RoomID) -> EventID? {
    guard notificationWishes.hasReactions, event.type == .reaction, event.sender != session?.userID,
      rule(for: event, in: room)?.isOfReactions ?? true, !isHeldBack(event, in: room)
    else { return nil }
    return EventID(event.content["m.relates_to"]?["event_id"])
  }

  private func rule(for event: Event, in room: RoomID) -> PushRule? {
    guard let sender = event.sender, let state = rooms[room]?.state, let user = session?.userID else { return nil }
    return Verdicts(rules: pushRules, profileName: ownDisplayName).rule(
      for: event, from: sender, in: room, state, ownUserID: user)
  }

  /// Whether the event does not notify now, whatever the rules say.
  func isHeldBack(_ event: Event, in room: RoomID) -> Bool {
    event.content.isSentSilently || rooms[room]?.state.marks.snoozedUntil ?? 0 > now
  }

  /// Whether nothing notifies now: in the account's quiet hours, and while the user does not want to be disturbed.
  public var isQuiet: Bool {
    notificationWishes.snoozedUntilMilliseconds > now || notificationWishes.quietHours?.contains(now) ?? false
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
