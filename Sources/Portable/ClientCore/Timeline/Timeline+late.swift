import MatrixModel

/// Events whose keys, or proofs, came late.
extension Timeline {
  /// The event could not be read, and now it can. Its item stays the same one; an event that shows in another's item loses its own.
  mutating func disclose(_ event: TimelineEvent, ownUserID: UserID) -> [TimelineChange] {
    guard let i = index(of: event.eventID), case .undecryptable = items[i].content else {
      var changes = takeRelations(of: [event], ownUserID: ownUserID)
      // A server can give its own words, and another's, the ID of an encrypted event.
      if let i = index(of: event.eventID), event.wasEncrypted, items[i].wasEncrypted, items[i].sender == event.sender,
        items[i].eventTrust != event.trust
      {
        (items[i].eventTrust, items[i].trust) = (event.trust, event.trust)
        decorate(i, ownUserID: ownUserID)
        changes.append(.updated(at: i, items[i]))
      }
      return changes
    }
    guard items[i].sender == event.sender else { return [] }
    var changes: [TimelineChange] = []
    relations.take(event)
    if case .item(let content, let replyTo) = event.kind, accepts(event) {
      var item = makeItem(items[i].id, event, content, replyTo)
      item.readerCount = items[i].readerCount
      items[i] = item
      decorate(i, ownUserID: ownUserID)
      link(i, ownUserID: ownUserID)
      changes.append(.updated(at: i, items[i]))
      renewQuotes(of: event.eventID, ownUserID: ownUserID, &changes)
    } else {
      itemOfEvent[event.eventID] = i > 0 ? items[i - 1].id : 0
      items.remove(at: i)
      remoteCount -= 1
      changes.append(.removed(i..<(i + 1)))
    }
    renewTouched(ownUserID: ownUserID, &changes)
    return changes
  }
}
