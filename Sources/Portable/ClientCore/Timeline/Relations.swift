import JSON
import MatrixModel

/// What events say about each other, by the event they speak of, whether it is in memory yet or not.
///
/// Everything is kept as it was said, and an item is decorated with all of it each time anew: so the order in which events
/// arrive makes no difference.
struct Relations: Sendable {
  struct Mark: Sendable {
    let event: EventID
    let sender: UserID
    let timestampMilliseconds: Int64
    let key: ByteString
  }

  struct Vote: Sendable {
    let event: EventID
    let sender: UserID
    let timestampMilliseconds: Int64
    /// Whether it may count in a poll that came encrypted.
    let wasEncrypted: Bool
    /// Empty where it takes the vote back, or where it ends the poll.
    var selections: [ByteString] = []
  }

  /// What others say of one event.
  struct About: Sendable {
    var edits: [TimelineEvent.Edit] = []
    /// What an item with an edit said before, for when the edit is redacted.
    var original: MessageContent?
    var marks: [Mark] = []
    var votes: [Vote] = []
    var pollEnds: [Vote] = []
    var positions: [LiveLocation.Position] = []
    var references: [EventID] = []
    var verificationSigns: [SeenVerification] = []
    /// Empty but of a thread's root.
    var thread = ThreadReplies()
  }

  private var known: [EventID: Boxed<About>] = [:]
  var shares: [UserID: [Share]] = [:]
  var rootOfReply: [EventID: EventID] = [:]
  /// By `call_id`.
  var calls: [ByteString: CallSigns] = [:]
  /// In the room's calls of many.
  var callStays = CallStays()
  /// The event that a relation speaks of, by the relation's own ID.
  private var targets: [EventID: EventID] = [:]
  private var redacted: Set<EventID> = []
  /// What is on its way.
  var echoes = RelationEchoes()
  /// Events whose items look different now.
  private(set) var touched: Set<EventID> = []
  /// When live locations in memory expire.
  var expiries: [EventID: Int64] = [:]
  /// Whose words count nowhere.
  var ignored: Set<UserID> = []
  /// What the account has removed for itself.
  var removed: Set<EventID> = []
  /// Who may end polls of others; nil where unknown.
  var power: PowerLevels?
  /// Milliseconds since 1970.
  var now: Int64 = 0
  /// When the room was encrypted; nil if it is not, or if that is not known.
  var encryptedAt: Int64?

  /// What is known of the event; nothing where nobody spoke of it.
  func about(_ event: EventID) -> About? { known[event]?.wrappedValue }

  @inline(never)
  mutating func change(_ event: EventID, _ body: (inout About) -> Void) {
    body(&known[event, default: Boxed(wrappedValue: About())].wrappedValue)
  }

  mutating func touch(_ event: EventID) {
    touched.insert(event)
    if let root = rootOfReply[event] { touched.insert(root) }
  }

  mutating func takeTouched() -> Set<EventID> {
    defer { touched = [] }
    return touched
  }

  // MARK: Taking in

  /// Notes what the event says about others. The same event twice is as once.
  mutating func take(_ event: TimelineEvent) {
    if let id = event.transactionID { drop(TimelineEvent.echoID(of: id)) }
    takeBundle(of: event)
    guard !redacted.contains(event.eventID), !event.isHidden(from: ignored) else { return }
    takeReply(event)
    switch event.kind {
    case .edit(let target, let content): add(TimelineEvent.Edit(event, content), to: target)
    case .reaction(let target, let key):
      guard relate(event.eventID, to: target) else { return }
      let mark = Mark(
        event: event.eventID, sender: event.sender, timestampMilliseconds: event.timestampMilliseconds, key: key)
      change(target) { $0.marks.append(mark) }
    case .vote(let target, let selections):
      guard relate(event.eventID, to: target) else { return }
      let vote = vote(event, selections)
      change(target) { $0.votes.append(vote) }
    case .pollEnd(let target):
      guard relate(event.eventID, to: target) else { return }
      let end = vote(event, [])
      change(target) { $0.pollEnds.append(end) }
    case .position(let target, let position):
      guard relate(event.eventID, to: target) else { return }
      add(position, by: event.sender, to: target)
    case .reference(let target): addReference(event.eventID, to: target)
    case .verificationSign(let target, let sign):
      guard about(target)?.verificationSigns.count ?? 0 < Limits.verificationSigns, relate(event.eventID, to: target) else {
        return
      }
      change(target) { $0.verificationSigns.append(SeenVerification(event: event.eventID, sign: sign)) }
    case .redaction(let target): redact(target)
    case .liveLocationEnd: addShare(event)
    case .callSign(let call, let sign): take(sign, of: call, event)
    case .item(.call(let call), _): take(callMadeBy: event.eventID, call.id)
    case .item(.state(let change), _):
      for changed in callStays.take(change, event) { touch(changed) }
    case .item(.message(let message), _):
      if message.kind == .liveLocation { addShare(event) }
    case .item, .hidden: break
    }
  }

  private func vote(_ event: TimelineEvent, _ selections: [ByteString]) -> Vote {
    Vote(
      event: event.eventID, sender: event.sender, timestampMilliseconds: event.timestampMilliseconds,
      wasEncrypted: event.wasEncrypted || event.isEcho, selections: selections)
  }

  private mutating func takeBundle(of event: TimelineEvent) {
    if let edit = event.bundledEdit { add(edit, to: event.eventID) }
    if let thread = event.bundledThread { take(thread, of: event.eventID) }
    for reference in event.bundledReferences { addReference(reference, to: event.eventID) }
  }

  /// False where it is known already.
  private mutating func relate(_ event: EventID, to target: EventID) -> Bool {
    guard targets[event] == nil else { return false }
    targets[event] = target
    touch(target)
    return true
  }

  private mutating func add(_ edit: TimelineEvent.Edit, to target: EventID) {
    guard !redacted.contains(edit.eventID) else { return }
    guard relate(edit.eventID, to: target) else { return renew(edit, of: target) }
    change(target) { $0.edits.append(edit) }
  }

  /// More is known now of how far it is proven.
  private mutating func renew(_ edit: TimelineEvent.Edit, of target: EventID) {
    let place = about(target)?.edits.firstIndex { known in
      known.eventID == edit.eventID && known.sender == edit.sender && known.wasEncrypted && edit.wasEncrypted
        && known.trust != edit.trust
    }
    guard let place else { return }
    change(target) { $0.edits[place].trust = edit.trust }
    touch(target)
  }

  private mutating func addReference(_ event: EventID, to target: EventID) {
    guard about(target)?.references.count ?? 0 < Limits.references, relate(event, to: target) else { return }
    change(target) { $0.references.append(event) }
  }

  // MARK: Redactions

  func isRedacted(_ event: EventID) -> Bool { redacted.contains(event) }

  private mutating func redact(_ event: EventID) {
    guard redacted.insert(event).inserted else { return }
    if about(event) != nil { change(event) { $0.original = nil } }
    drop(event)
    touch(event)
    dropReply(event)
  }

  /// What the event said about another counts no more: it was redacted, or it is an echo whose event has come.
  mutating func drop(_ event: EventID) {
    guard let target = targets.removeValue(forKey: event) else { return }
    touch(target)
    change(target) { about in
      about.marks.removeAll { $0.event == event }
      about.edits.removeAll { $0.eventID == event }
      about.votes.removeAll { $0.event == event }
      about.pollEnds.removeAll { $0.event == event }
      about.positions.removeAll { $0.event == event }
      about.references.removeAll { $0 == event }
      about.verificationSigns.removeAll { $0.event == event }
    }
  }

  /// What these users said about others counts no more.
  mutating func forget(_ users: Set<UserID>) {
    var events: [EventID] = []
    var replies: Set<EventID> = []
    for about in known.values.map({ $0.wrappedValue }) {
      for mark in about.marks where users.contains(mark.sender) { events.append(mark.event) }
      for vote in about.votes + about.pollEnds where users.contains(vote.sender) { events.append(vote.event) }
      for edit in about.edits where users.contains(edit.sender) { events.append(edit.eventID) }
      replies.formUnion(about.thread.replies(by: users))
    }
    for event in events.ordered() { drop(event) }
    for reply in replies.ordered() { dropReply(reply) }
  }

  // MARK: Decorating

  /// Whether the event would have been encrypted.
  func isAfterEncryption(_ event: TimelineEvent) -> Bool { encryptedAt.map { event.timestampMilliseconds >= $0 } ?? false }

  /// Everything known about the item's event.
  mutating func decorate(_ item: inout TimelineItem, ownUserID: UserID) {
    echoes.uncover(&item)
    defer { echoes.cover(&item, ownUserID: ownUserID) }
    guard let id = item.eventID else { return }
    if redacted.contains(id) { item.redact() }
    if case .message(let shown) = item.content {
      decorate(&item, id, shown, ownUserID: ownUserID)
    } else {
      item.isEdited = false
      if case .call(var call) = item.content {
        call.outcome = outcome(of: call.id, by: item.sender)
        item.content = .call(call)
      } else if case .verification(var verification) = item.content {
        verification.state = Relations.state(about(id)?.verificationSigns ?? [])
        item.content = .verification(verification)
      } else if case .state(.callLeft(let after, _)) = item.content {
        item.content = .state(.callLeft(after: after, ending: callStays.ended(by: id)))
      }
    }
    item.reactions = item.takesReactions ? reactions(about(id)?.marks ?? [], ownUserID: ownUserID) : []
    item.thread = summary(of: id, rootSender: item.sender, ownUserID: ownUserID)
  }

  private mutating func decorate(
    _ item: inout TimelineItem, _ id: EventID, _ shown: MessageContent, ownUserID: UserID
  ) {
    let about = about(id)
    let original = about?.original ?? shown
    let edit = newest(of: about?.edits ?? [], of: item, original)
    item.trust = item.trust(with: edit)
    // What nobody speaks of stays as it is.
    if edit == nil, about?.original == nil, original.kind != .poll, original.kind != .liveLocation {
      item.isEdited = false
      return
    }
    if about != nil { change(id) { $0.original = edit == nil ? nil : original } }
    var content = edit?.content ?? original
    content.attachment?.blob = shown.attachment?.blob
    if case .poll(var poll) = content.details {
      count(&poll, id, of: item, ownUserID: ownUserID)
      content.details = .poll(poll)
    } else if case .liveLocation(var share) = content.details {
      follow(&share, id, by: item.sender)
      content.details = .liveLocation(share)
    }
    item.content = .message(content)
    item.isEdited = edit != nil
  }

  /// Spec: "Event replacements": of the sender's own edits the latest by time, then by event ID.
  private func newest(
    of edits: [TimelineEvent.Edit], of item: TimelineItem, _ original: MessageContent
  ) -> TimelineEvent.Edit? {
    var newest: TimelineEvent.Edit?
    for edit in edits where item.isEdited(by: edit, original) {
      guard let known = newest else {
        newest = edit
        continue
      }
      if (known.timestampMilliseconds, known.eventID) < (edit.timestampMilliseconds, edit.eventID) { newest = edit }
    }
    return newest
  }

  /// What the message has said so far, the first first; the last is what it says now.
  func history(of item: TimelineItem) -> [MessageVersion] {
    guard let id = item.eventID, case .message(let shown) = item.content else { return [] }
    let about = about(id)
    let original = about?.original ?? shown
    let own = (about?.edits ?? []).filter { item.isEdited(by: $0, original) }.ordered {
      ($0.timestampMilliseconds, $0.eventID) < ($1.timestampMilliseconds, $1.eventID)
    }
    return [MessageVersion(content: original, timestampMilliseconds: item.timestampMilliseconds)]
      + own.map { MessageVersion(content: $0.content, timestampMilliseconds: $0.timestampMilliseconds) }
  }

  /// The event by which that user reacted so.
  func reaction(_ key: ByteString, to event: EventID, by user: UserID) -> EventID? {
    about(event)?.marks.first { $0.sender == user && $0.key == key }?.event
  }

  private func reactions(_ marks: [Mark], ownUserID: UserID) -> [Reaction] {
    if marks.isEmpty { return [] }
    var reactions: [Reaction] = []
    var places: [ByteString: Int] = [:]
    var seen: [Set<UserID>] = []
    let inOrder = marks.ordered { ($0.timestampMilliseconds, $0.event) < ($1.timestampMilliseconds, $1.event) }
    for mark in inOrder {
      let i = places[mark.key] ?? reactions.count
      if i == reactions.count {
        places[mark.key] = i
        seen.append([])
        reactions.append(Reaction(key: mark.key, senders: [], ownEventID: nil, isOwn: false))
      }
      if mark.sender == ownUserID {
        reactions[i].isOwn = true
        if reactions[i].ownEventID == nil, !mark.event.text.hasPrefix("~") { reactions[i].ownEventID = mark.event }
      }
      if seen[i].insert(mark.sender).inserted { reactions[i].senders.append(mark.sender) }
    }
    return reactions
  }
}

extension MessageContent {
  /// An edit has the type of what it edits. Spec: "Validity of replacement events".
  func canReplace(_ original: MessageContent) -> Bool {
    original.kind != .liveLocation && (kind == .poll) == (original.kind == .poll)
      && (kind == .sticker) == (original.kind == .sticker)
  }
}

extension TimelineItem {
  /// Spec: "Validity of replacement events".
  fileprivate func isEdited(by edit: TimelineEvent.Edit, _ original: MessageContent) -> Bool {
    edit.sender == sender && edit.mayEdit(encrypted: wasEncrypted) && edit.content.canReplace(original)
  }

  /// How far what is shown is proven: as far as the event and its edit both are.
  fileprivate func trust(with edit: TimelineEvent.Edit?) -> MessageTrust? {
    guard let edit, let other = edit.trust else { return eventTrust }
    guard let eventTrust, eventTrust.concern.rawValue > other.concern.rawValue else { return other }
    return eventTrust
  }

  var takesReactions: Bool {
    switch content {
    case .message, .call, .verification, .undecryptable, .custom, .unparsable: true
    case .state, .redacted, .gap: false
    }
  }

  /// Whatever its sender had said is gone.
  mutating func redact() {
    switch content {
    case .gap, .redacted: break
    case .state(let change): content = change.redacted.map { .state($0) } ?? .redacted
    case .message, .call, .verification, .undecryptable, .custom, .unparsable: content = .redacted
    }
    replyTo = nil
    quoted = nil
  }
}
