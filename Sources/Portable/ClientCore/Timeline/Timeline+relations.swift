import JSON
import MatrixModel

extension Timeline {
  /// Notes an edit, reaction or redaction and renews the item it speaks of, if it is in memory. Returns the event it speaks of.
  @discardableResult
  mutating func relate(_ event: TimelineEvent, ownUserID: UserID, _ changes: inout [TimelineChange]) -> EventID? {
    let target: EventID
    switch event.kind {
    case .edit(let edited, let content):
      target = edited
      relations.add(
        TimelineEvent.Edit(
          eventID: event.eventID, sender: event.sender, timestampMilliseconds: event.timestampMilliseconds,
          content: content),
        to: edited)
    case .reaction(let marked, let key):
      target = marked
      relations.addReaction(event.eventID, sender: event.sender, key: key, to: marked)
    case .redaction(let redacted): target = relations.redact(redacted)
    case .item, .hidden: return nil
    }
    guard let i = index(of: target) else { return target }
    relations.decorate(&items[i], ownUserID: ownUserID)
    changes.append(.updated(at: i, items[i]))
    return target
  }
}
