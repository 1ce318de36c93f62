import Database
import JSON
import MatrixModel
import ServerCore
import ServerRooms

/// Brings the full-text index up to the events of the room tables.
///
/// The document of an event has the event's position and its newest text: that of its latest valid edit. Every step can be
/// repeated without harm.
struct SearchIndexer {
  let transaction: WriteTransaction
  var limits = SearchProgress.Limits()

  /// Indexes the next `limits.stepEvents` events. Returns whether more wait.
  func advance() throws -> Bool {
    let position = try self.position()
    let events = try searchableEvents(after: position)
    for event in events { try index(event) }
    let isFull = events.count == limits.stepEvents
    let reached = isFull ? events.last?.position ?? position : transaction.position
    if reached > position {
      try transaction.execute("UPDATE search_progress SET position = $1 WHERE id = 1", reached)
    }
    return isFull
  }

  /// The next events of all rooms that have text to be found, oldest first.
  private func searchableEvents(after position: Int64) throws -> [SearchableEvent] {
    try transaction.all(
      """
      SELECT position, room, type, state_key, sender, shared FROM event
      WHERE position > $1 AND type IN ('m.room.message', 'm.room.name', 'm.room.topic') ORDER BY position LIMIT $2
      """, position, limits.stepEvents
    ) { row in
      SearchableEvent(
        position: row.integer(0), room: RoomNumber(row.integer(1)), type: row.identifier(2),
        stateKey: row.optionalText(3).map { ByteString($0) }, sender: row.identifier(4),
        content: RoomLoader.content(ofFragment: row.blob(5)))
    }
  }

  /// Every event up to it is in the index.
  private func position() throws -> Int64 {
    try transaction.first("SELECT position FROM search_progress WHERE id = 1") { $0.integer(0) } ?? 0
  }

  /// Takes out an event that has just been redacted; the original of a redacted edit gets back the text before it.
  func forget(_ event: StoredEvent, relation: EventRelation?) throws {
    try transaction.removeFullText(document: event.position)
    guard let relation, relation.isReplacement else { return }
    let parent = try RoomLoader(transaction: transaction).event(relation.parent)
    // One that is not in the index yet will be read as it is when its turn comes.
    if let parent, isEdit(event.searchable, of: parent), try parent.position <= position() { try refresh(parent) }
  }

  private func index(_ event: SearchableEvent) throws {
    guard let content = event.content else { return }
    if let relation = EventRelation(content), relation.isReplacement {
      let parent = try RoomLoader(transaction: transaction).event(relation.parent)
      if let parent, isEdit(event, of: parent) { return try refresh(parent) }
    }
    guard event.type == .message ? event.stateKey == nil : event.stateKey?.isEmpty ?? false else { return }
    if let text = SearchableText.text(ofType: event.type, content) {
      try transaction.addFullText(text, document: event.position, scope: event.room.value)
    }
  }

  private func isEdit(_ event: SearchableEvent, of parent: StoredEvent) -> Bool {
    guard let content = event.content, parent.room == event.room else { return false }
    return parent.canBeReplaced(bySender: event.sender, type: event.type, stateKey: event.stateKey, content)
  }

  /// Gives an event's document the text of its latest edit.
  private func refresh(_ event: StoredEvent) throws {
    let edit = try transaction.first(
      """
      SELECT r.position FROM event_relation r JOIN event e ON e.position = r.position
      WHERE r.room = $1 AND r.parent = $2 AND r.bundled = 1 AND r.kind = 'm.replace'
      ORDER BY r.timestamp DESC, e.event_id DESC LIMIT 1
      """, event.room, event.position
    ) { $0.integer(0) }
    let content = try edit.flatMap { try RoomLoader(transaction: transaction).event(at: $0) }?.content["m.new_content"]
    if event.redactedBecause == nil, let text = SearchableText.text(ofType: event.type, content ?? event.content) {
      try transaction.replaceFullText(text, document: event.position, scope: event.room.value)
    } else {
      try transaction.removeFullText(document: event.position)
    }
  }
}

/// What indexing reads of an event.
struct SearchableEvent: Sendable {
  let position: Int64
  let room: RoomNumber
  let type: EventType
  let stateKey: ByteString?
  let sender: UserID
  /// nil if the row is damaged.
  let content: JSON?
}

extension StoredEvent {
  fileprivate var searchable: SearchableEvent {
    SearchableEvent(position: position, room: room, type: type, stateKey: stateKey, sender: sender, content: content)
  }
}
