import JSON
import MatrixModel

/// Edits and reactions by the event they speak of, whether it is in memory yet or not.
struct Relations: Sendable {
  private struct Mark: Sendable {
    let event: EventID
    let sender: UserID
    let key: ByteString
  }

  /// The newest edit of each sender: only that of the event's own sender counts, and the event may come later.
  private var edits: [EventID: [TimelineEvent.Edit]] = [:]
  /// What an item with an edit said before, for when the edit is redacted.
  private var originals: [EventID: MessageContent] = [:]
  private var marks: [EventID: [Mark]] = [:]
  private var targetOfMark: [EventID: EventID] = [:]
  private var targetOfEdit: [EventID: EventID] = [:]
  /// Events redacted before they came.
  private var redacted: Set<EventID> = []
  /// What is on its way.
  var echoes = RelationEchoes()

  /// Spec: "Event replacements": the latest by time, then by event ID.
  mutating func add(_ edit: TimelineEvent.Edit, to target: EventID) {
    guard !redacted.contains(edit.eventID) else { return }
    targetOfEdit[edit.eventID] = target
    guard let i = edits[target]?.firstIndex(where: { $0.sender == edit.sender }) else {
      edits[target, default: []].append(edit)
      return
    }
    if let known = edits[target]?[i],
      (known.timestampMilliseconds, known.eventID) < (edit.timestampMilliseconds, edit.eventID)
    {
      edits[target]?[i] = edit
    }
  }

  mutating func addReaction(_ event: EventID, sender: UserID, key: ByteString, to target: EventID) {
    if redacted.contains(event) { return }
    if marks[target]?.contains(where: { $0.sender == sender && $0.key == key }) ?? false { return }
    marks[target, default: []].append(Mark(event: event, sender: sender, key: key))
    targetOfMark[event] = target
  }

  /// The event whose item looks different once this one is redacted.
  mutating func redact(_ event: EventID) -> EventID {
    redacted.insert(event)
    if let target = targetOfMark.removeValue(forKey: event) {
      marks[target]?.removeAll { $0.event == event }
      return target
    }
    if let target = targetOfEdit.removeValue(forKey: event) {
      edits[target]?.removeAll { $0.eventID == event }
      return target
    }
    return event
  }

  /// Redaction, newest edit, reactions.
  mutating func decorate(_ item: inout TimelineItem, ownUserID: UserID) {
    echoes.uncover(&item)
    defer { echoes.cover(&item, ownUserID: ownUserID) }
    guard let id = item.eventID else { return }
    if redacted.contains(id), item.isMessage {
      item.content = .redacted
      item.replyTo = nil
    }
    if case .message(let shown) = item.content {
      let original = originals[id] ?? shown
      let edit = edits[id]?.first { $0.sender == item.sender }
      originals[id] = edit == nil ? nil : original
      var content = edit?.content ?? original
      content.attachment?.blob = shown.attachment?.blob
      item.content = .message(content)
      item.isEdited = edit != nil
      item.reactions = reactions(to: id, ownUserID: ownUserID)
    } else {
      item.isEdited = false
      item.reactions = item.isMessage ? reactions(to: id, ownUserID: ownUserID) : []
    }
  }

  /// The event by which that user reacted so.
  func reaction(_ key: ByteString, to event: EventID, by user: UserID) -> EventID? {
    marks[event]?.first { $0.sender == user && $0.key == key }?.event
  }

  private func reactions(to event: EventID, ownUserID: UserID) -> [Reaction] {
    var reactions: [Reaction] = []
    for mark in marks[event] ?? [] {
      if let i = reactions.firstIndex(where: { $0.key == mark.key }) {
        reactions[i].count += 1
        if mark.sender == ownUserID { reactions[i].isOwn = true }
      } else {
        reactions.append(Reaction(key: mark.key, count: 1, isOwn: mark.sender == ownUserID))
      }
    }
    return reactions
  }
}
