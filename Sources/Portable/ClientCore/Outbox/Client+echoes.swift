import JSON
import MatrixModel

/// What is on its way, in the timeline: as an item of its own, or on the item it changes.
extension Client {
  mutating func showEcho(_ entry: OutboxEntry, _ user: UserID) {
    if let item = entry.item(sender: user) {
      changeTimeline(entry.roomID) { timeline, _ in timeline.loadState == .unloaded ? [] : timeline.appendEcho(item) }
    }
    showRelation(of: entry)
    notify(.sending(entry.roomID, entry.id, entry.progress))
  }

  /// What it speaks of has an event now: it may belong to a thread.
  mutating func showAgain(_ entry: OutboxEntry) {
    guard let user = session?.userID else { return }
    if let item = entry.item(sender: user), item.threadRoot != nil, !entry.isDelivered {
      changeTimeline(entry.roomID) { timeline, _ in
        timeline.loadState == .unloaded ? [] : timeline.removeEcho(item.id) + timeline.appendEcho(item)
      }
    }
    showRelation(of: entry)
  }

  mutating func showProgress(of entry: OutboxEntry) {
    if entry.hasItem {
      changeTimeline(entry.roomID) { timeline, _ in
        timeline.updateEcho(entry.itemID) { item in
          item.delivery = entry.delivery
          if let event = entry.eventID { item.eventID = event }
        }
      }
    }
    showRelation(of: entry)
    notify(.sending(entry.roomID, entry.id, entry.progress))
  }

  mutating func showRelation(of entry: OutboxEntry) {
    guard let user = session?.userID else { return }
    if let vote = entry.vote(by: user) {
      changeTimeline(entry.roomID) { timeline, _ in timeline.takeRelations(of: [vote], ownUserID: user) }
    }
    guard let echo = outbox.relationEcho(of: entry) else { return }
    changeTimeline(entry.roomID) { timeline, _ in
      timeline.loadState == .unloaded ? [] : timeline.setRelationEcho(echo, ownUserID: user)
    }
  }

  /// Takes the entry out and what shows of it; its record is the caller's.
  mutating func forget(_ entry: OutboxEntry) {
    outbox[entry.id] = nil
    roomLists.sending.insert(entry.roomID)
    for file in entry.payload.files { emit(.releaseBlob(file.blob)) }
    guard let user = session?.userID else { return }
    changeTimeline(entry.roomID) { timeline, _ in
      timeline.removeEcho(entry.itemID) + timeline.removeRelationEcho(of: entry, ownUserID: user)
    }
  }
}

extension Outbox {
  /// nil for what changes no other item.
  func relationEcho(of entry: OutboxEntry) -> RelationEchoes.Echo? {
    let change: RelationEchoes.Change
    var target = entry.payload.target
    switch entry.payload.kind {
    case .edit:
      guard let content = entry.editedContent else { return nil }
      change = .edit(content)
    case .reaction: change = .reaction(entry.payload.key ?? "")
    case .redaction:
      if let reactedTo = entry.payload.reactedTo {
        target = reactedTo
        change = .reactionBack(entry.payload.key ?? "")
      } else {
        change = .redaction
      }
    case .event, .reference, .state: return nil
    }
    switch target {
    case .event(let event):
      return RelationEchoes.Echo(entry: entry.id, target: event.text, change: change, delivery: entry.delivery)
    case .entry(let id):
      guard let transaction = self[id]?.transactionID else { return nil }
      return RelationEchoes.Echo(entry: entry.id, target: transaction.text, change: change, delivery: entry.delivery)
    case nil: return nil
    }
  }
}
