import JSON
import MatrixModel

/// An event with what is needed to tell a person of it, wherever that came from.
package struct NotificationSource: Sendable {
  package let event: JSON
  /// State of the room around the event, members above all.
  package var state: [Event] = []
  /// Stored records of members.
  package var members: [StoreRecord] = []
  /// What it is a reaction to (`reactionTarget`).
  package var target: JSON?
  /// What has become of it since, as far as it is known here.
  package var isRedacted = false
  var edit: TimelineEvent.Edit?

  /// The answer of `/context`.
  init?(context json: JSON) {
    guard let event = json["event"], event.isObject else { return nil }
    self.event = event
    state = json["state"]?.elements.compactMap { Event($0) } ?? []
  }

  /// nil where the event is not in the segments.
  package init?(_ id: EventID, in records: [StoreRecord]) {
    var found: JSON?
    var isRedacted = false
    var edits: [TimelineEvent.Edit] = []
    for record in records {
      guard let events = Answer.parse(record.value)?["events"], events.isArray else { continue }
      for json in events.elements {
        if json.text("event_id") == id.text { found = json }
        guard let event = TimelineEvent(json) else { continue }
        switch event.kind {
        case .redaction(id): isRedacted = true
        case .edit(id, let content):
          edits.append(TimelineEvent.Edit(event, content))
        default: break
        }
      }
    }
    guard let found else { return nil }
    event = found
    self.isRedacted = isRedacted
    let sender = found.text("sender"), wasEncrypted = TimelineEvent(found)?.wasEncrypted ?? false
    edit = edits.filter { $0.sender.text == sender && $0.mayEdit(encrypted: wasEncrypted) }.max {
      ($0.timestampMilliseconds, $0.eventID) < ($1.timestampMilliseconds, $1.eventID)
    }
  }

  package var sender: UserID? { UserID(event["sender"]) }
  /// Whether its key was not there when it was stored.
  package var isEncrypted: Bool { event["type"]?.isString("m.room.encrypted") ?? false }

  /// What one should know besides: nil where it is no reaction.
  package var reactionTarget: EventID? {
    guard case .reaction(let target, _)? = TimelineEvent(event)?.kind else { return nil }
    return target
  }
}

extension Query {
  /// The event and the state around it.
  package static func notificationSource(_ event: EventID, in room: RoomID) -> Query<NotificationSource> {
    Query<NotificationSource>(
      .getEventContext, Endpoint.getEventContext.path(room.text, event.text), parameters: URLQuery().adding("limit", 0)
    ) { NotificationSource(context: $0) }
  }

  /// A look at that room alone, as a sync from the beginning shows it.
  package static func peek(_ room: RoomID) -> Query<JSON> {
    let filter = JSONWriter.object { writer in
      for part in ["presence", "account_data"] as [StaticString] {
        writer.key(part)
        writer.object { writer in
          writer.key("not_types")
          writer.array { $0.write("*" as ByteString) }
        }
      }
      writer.key("room")
      writer.object { writer in
        writer.key("rooms")
        writer.array { $0.write(room) }
        writer.key("timeline")
        writer.object { $0.member("limit", 1) }
      }
    }
    let parameters = URLQuery().adding("filter", ByteString(decoding: filter)).adding("timeout", 0 as Int)
    return Query<JSON>(.sync, Endpoint.sync.path(), parameters: parameters) { $0 }
  }
}

extension Client {
  /// Segments in which to look for a new event.
  package static func newestSegments(of room: RoomID) -> StoreRange {
    StoreRange(prefix: StoreKey.timeline(of: room), isDescending: true, limit: Limits.loadedSegments)
  }

  /// Where the store has a member.
  package static func storedMember(_ user: UserID, in room: RoomID) -> StoreRange {
    StoreRange(prefix: StoreKey.member(user, in: room), limit: 1)
  }

  /// Takes over what a look at a room has shown, in a client that is not to sync.
  package mutating func take(peeked json: JSON) {
    guard let user = session?.userID, let sync = prepareV3(json, ownUserID: user) else { return }
    for room in sync.rooms where rooms[room.id]?.membership != room.state.membership && room.state.membership != .leave {
      rooms[room.id] = Room(id: room.id, state: room.$state)
    }
  }

  /// The notification about the invitation to this room; nil if the user is not invited.
  package func invitation(to id: RoomID) -> NotificationOutcome? {
    guard let user = session?.userID, let state = rooms[id]?.state, state.membership == .invite,
      let inviter = state.inviter
    else { return nil }
    let json = JSONWriter.object { writer in
      writer.member("type", EventType.member)
      writer.member("state_key", user)
      writer.member("sender", inviter)
      writer.key("content")
      writer.object { $0.member("membership", "invite" as ByteString) }
    }
    guard let event = Answer.parse(json).flatMap({ Event($0) }) else { return nil }
    return outcome(event, .invitation, nil, from: inviter, in: id, state)
  }

  /// What to tell of the event.
  package func notification(of source: NotificationSource, in id: RoomID) -> NotificationOutcome {
    guard let user = session?.userID, let read = Event(source.event), let event = TimelineEvent(source.event, read) else {
      return .filteredOut
    }
    if source.isRedacted || read.isRedacted { return .redacted }
    let state = state(of: id, for: source, ownUserID: user)
    var isEdited = false
    let subject: NotificationContent.Subject
    switch event.kind {
    case .item(.redacted, _): return .redacted
    case .item(.message(let original), _):
      let bundled = event.bundledEdit.flatMap { $0.sender == event.sender ? $0 : nil }
      let edit = source.edit ?? bundled
      isEdited = edit != nil
      subject = .item(.message(edit?.content ?? original))
    case .item(let content, _): subject = .item(content)
    case .edit(_, let content):
      isEdited = true
      subject = .item(.message(content))
    case .reaction(_, let key):
      guard let target = source.target.flatMap({ TimelineEvent($0) }), target.sender == user,
        reactionTarget(of: read, in: id) == target.eventID
      else { return .filteredOut }
      var message: MessageContent?
      if case .item(.message(let content), _) = target.kind { message = content }
      return outcome(read, .reaction(key: key, to: message), event, from: event.sender, in: id, state, telling: .notifying)
    default: subject = .item(.custom(CustomEvent(type: read.type)))
    }
    return outcome(read, subject, event, from: event.sender, in: id, state, isEdited: isEdited)
  }

  private func outcome(
    _ event: Event, _ subject: NotificationContent.Subject, _ read: TimelineEvent?, from sender: UserID, in id: RoomID,
    _ state: RoomState, isEdited: Bool = false, telling known: PushActions? = nil
  ) -> NotificationOutcome {
    guard let user = session?.userID, !isHeldBack(event, in: id), !isQuiet else { return .filteredOut }
    let verdicts = Verdicts(rules: pushRules, profileName: ownDisplayName)
    let actions = known ?? verdicts.actions(for: event, from: sender, in: id, state, ownUserID: user)
    guard let actions, actions.notifies else { return .filteredOut }
    return .content(
      NotificationContent(
        roomID: id, eventID: event.eventID, subject: subject, sender: sender,
        senderName: state.members.displayName(of: sender), senderAvatar: state.members[sender]?.avatar,
        roomName: state.computedName, roomAvatar: state.computedAvatar,
        isDirect: state.directUserID != nil || (state.membership == .invite && state.isDirectInvite),
        isEncrypted: state.isEncrypted, threadRoot: read?.threadRoot, isEdited: isEdited,
        timestampMilliseconds: event.originServerTimestamp ?? 0, isHighlight: actions.highlights, sound: actions.sound))
  }

  /// The room as it is known, with the members that the source brings; a room that is not known as the source has it.
  private func state(of id: RoomID, for source: NotificationSource, ownUserID: UserID) -> RoomState {
    let known = rooms[id]?.state
    var state = known ?? RoomState(membership: .join)
    var members: [Member] = []
    for record in source.members {
      if let member = Answer.parse(record.value).flatMap({ Member(record: $0) }) { members.append(member) }
    }
    for member in members where state.members[member.userID] == nil { _ = state.members.set(member) }
    var delta = RoomDelta()
    for event in source.state {
      if known != nil {
        guard event.type == .member, let user = event.stateKey.flatMap({ UserID($0) }), state.members[user] == nil else {
          continue
        }
      }
      state.apply(event, &delta, ownUserID: ownUserID)
    }
    guard known == nil else { return state }
    state.joinedCount = state.members.all.reduce(0) { $0 + ($1.membership == .join ? 1 : 0) }
    state.directUserID = directRooms.user(of: id)
    state.settleName(for: ownUserID)
    return state
  }
}
