import Database
import JSON
import MatrixModel

extension RoomEditor {
  /// A relation whose parent is in the room.
  struct FoundRelation {
    let relation: EventRelation
    let parent: StoredEvent
    /// The root of the thread that the child is in by it; nil for the main timeline.
    let thread: EventID?
  }

  /// Relations followed until a thread is found. Spec: "Threaded read receipts", "a maximum of 3 hops".
  static let threadHopsLimit = 3

  /// The relation of an event to be appended; nil where it has none that counts.
  ///
  /// Throws `M_DUPLICATE_ANNOTATION`, and `M_UNKNOWN` (400) for a thread whose root is itself related to something.
  func relation(of draft: Draft) throws -> FoundRelation? {
    guard let relation = EventRelation(draft.content), let parent = try event(relation.parent) else { return nil }
    if relation.isThread, parent.relation != nil {
      throw MatrixError.unknown(
        status: 400, "A thread cannot start at an event that relates to another; name the thread's root.")
    }
    if relation.isAnnotation, try hasAnnotated(parent, draft, relation.key) {
      throw MatrixError(
        status: 400, .duplicateAnnotation, "You have annotated this event with the same key already.")
    }
    return FoundRelation(relation: relation, parent: parent, thread: try thread(of: relation, parent))
  }

  /// Keeps the relation of the event just written.
  func record(_ found: FoundRelation, of event: StoredEvent) throws {
    let (relation, parent) = (found.relation, found.parent)
    let isBundled =
      relation.isReference && parent.stateKey == nil
      || relation.isReplacement
        && parent.canBeReplaced(bySender: event.sender, type: event.type, stateKey: event.stateKey, event.content)
    try transaction.execute(
      """
      INSERT INTO event_relation(room, parent, position, kind, type, sender, timestamp, bundled, annotation)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      """, room.number, parent.position, event.position, relation.kind, event.type, event.sender, event.timestamp,
      isBundled, relation.isAnnotation ? Array(relation.key.utf8) : [])
    if relation.isThread {
      try transaction.execute(
        """
        INSERT INTO room_thread(room, root, latest, messages) VALUES ($1, $2, $3, 1)
        ON CONFLICT(room, root) DO UPDATE SET latest = excluded.latest, messages = room_thread.messages + 1
        """, room.number, parent.position, event.position)
    }
  }

  /// Drops the relation of an event that is being redacted: it no longer counts.
  func forgetRelation(of event: StoredEvent) throws {
    guard let relation = event.relation, let parent = try self.event(relation.parent) else { return }
    let removed = try transaction.changes(
      "DELETE FROM event_relation WHERE room = $1 AND parent = $2 AND position = $3", room.number, parent.position,
      event.position)
    guard removed > 0, relation.isThread else { return }
    let latest = try transaction.first(
      """
      SELECT position FROM event_relation WHERE room = $1 AND parent = $2 AND kind = 'm.thread'
      ORDER BY position DESC LIMIT 1
      """, room.number, parent.position
    ) { $0.integer(0) }
    if let latest {
      try transaction.execute(
        "UPDATE room_thread SET latest = $3, messages = messages - 1 WHERE room = $1 AND root = $2", room.number,
        parent.position, latest)
    } else {
      try transaction.execute("DELETE FROM room_thread WHERE room = $1 AND root = $2", room.number, parent.position)
    }
  }

  /// The event, where it is in this room.
  private func event(_ eventID: EventID) throws -> StoredEvent? {
    if let recent = room.tail.last(where: { $0.eventID == eventID }) { return recent }
    let event = try RoomLoader(transaction: transaction).event(eventID)
    return event?.room == room.number ? event : nil
  }

  private func hasAnnotated(_ parent: StoredEvent, _ draft: Draft, _ key: ByteString) throws -> Bool {
    try transaction.first(
      """
      SELECT 1 FROM event_relation
      WHERE room = $1 AND parent = $2 AND sender = $3 AND kind = 'm.annotation' AND type = $4 AND annotation = $5
      """, room.number, parent.position, draft.sender, draft.type, Array(key.utf8)
    ) { _ in true } ?? false
  }

  private func thread(of relation: EventRelation, _ parent: StoredEvent) throws -> EventID? {
    var (relation, parent) = (relation, parent)
    for _ in 0..<Self.threadHopsLimit {
      if relation.isThread { return relation.parent }
      // A redacted parent has lost its relation, but not its place.
      guard let next = parent.relation else { return parent.thread }
      guard let grandparent = try event(next.parent) else { return nil }
      (relation, parent) = (next, grandparent)
    }
    return relation.isThread ? relation.parent : nil
  }
}
