import Database
import MatrixModel
import ServerAccounts

/// Reads aggregations for the events of one answer: two look-ups into indexes for all of them, and one for each thing found.
/// A room in which nothing relates to anything costs nothing.
package struct AggregationReader {
  let view: RoomView
  let transaction: ReadTransaction
  let erasures: Erasures

  package init(view: RoomView, transaction: ReadTransaction, erasures: Erasures) {
    self.view = view
    self.transaction = transaction
    self.erasures = erasures
  }

  /// References listed of one event; of more, the newest.
  static let referencesLimit = 500

  private var room: RoomSnapshot { view.room }

  /// - Parameter ignored: whose events do not count; nil reads it where it matters.
  package func aggregations(of events: [StoredEvent], ignoring ignored: Set<UserID>? = nil) throws -> Aggregations {
    guard room.hasRelations, !events.isEmpty else { return .none }
    var found = Found(events)
    try findBundled(&found)
    try findThreads(&found)
    guard !found.isEmpty else { return .none }
    let ignored = try ignored ?? IgnoredUsers.of(view.user, in: transaction)
    var aggregations = Aggregations()
    try addBundled(found, ignored, &aggregations)
    for (root, thread) in found.threads {
      guard let root = found.parents[root] else { continue }
      aggregations.entries[root.position, default: .init()].thread = try summary(of: root, thread, ignored)
    }
    // The latest event of a thread has aggregations too, but no thread of its own.
    var latest = Found(aggregations.entries.values.compactMap(\.thread?.latest))
    try findBundled(&latest)
    try addBundled(latest, ignored, &aggregations)
    return aggregations
  }

  // MARK: Looking

  private struct Child {
    let parent: Int64
    let position: Int64
    let isReplacement: Bool
    let sender: UserID
    let timestamp: Int64
  }

  private struct Found {
    let parents: [Int64: StoredEvent]
    let range: ClosedRange<Int64>
    var children: [Child] = []
    /// By the root's position: that of the newest event, and their number.
    var threads: [Int64: (latest: Int64, count: Int64)] = [:]

    init(_ events: [StoredEvent]) {
      parents = Dictionary(
        events.lazy.filter { $0.stateKey == nil }.map { ($0.position, $0) }, uniquingKeysWith: { first, _ in first })
      range = (parents.keys.min() ?? 0)...(parents.keys.max() ?? 0)
    }

    var isEmpty: Bool { children.isEmpty && threads.isEmpty }
  }

  private func findBundled(_ found: inout Found) throws {
    guard !found.parents.isEmpty else { return }
    var children: [Child] = []
    try transaction.query(
      """
      SELECT parent, position, kind, sender, timestamp FROM event_relation
      WHERE room = $1 AND parent >= $2 AND parent <= $3 AND bundled = 1 ORDER BY parent, position
      """, room.number, found.range.lowerBound, found.range.upperBound
    ) { row in
      let parent = row.integer(0)
      guard found.parents[parent] != nil else { return }
      children.append(
        Child(
          parent: parent, position: row.integer(1), isReplacement: row.text(2) == "m.replace", sender: row.identifier(3),
          timestamp: row.integer(4)))
    }
    found.children = children
  }

  private func findThreads(_ found: inout Found) throws {
    guard !found.parents.isEmpty else { return }
    var threads: [Int64: (latest: Int64, count: Int64)] = [:]
    try transaction.query(
      "SELECT root, latest, messages FROM room_thread WHERE room = $1 AND root >= $2 AND root <= $3", room.number,
      found.range.lowerBound, found.range.upperBound
    ) { row in
      if found.parents[row.integer(0)] != nil { threads[row.integer(0)] = (row.integer(1), row.integer(2)) }
    }
    found.threads = threads
  }

  // MARK: Replacements and references

  private func addBundled(_ found: Found, _ ignored: Set<UserID>, _ aggregations: inout Aggregations) throws {
    var newest: [Int64: [Child]] = [:]
    var references: [Int64: [Int64]] = [:]
    for child in found.children
    where !ignored.contains(child.sender) && view.canSee(messageAt: child.position, sentAt: child.timestamp) {
      guard child.isReplacement else {
        references[child.parent, default: []].append(child.position)
        continue
      }
      guard found.parents[child.parent]?.redactedBecause == nil else { continue }
      let known = newest[child.parent]?.first?.timestamp ?? .min
      if child.timestamp > known {
        newest[child.parent] = [child]
      } else if child.timestamp == known {
        newest[child.parent]?.append(child)
      }
    }
    for (parent, candidates) in newest {
      // Of one millisecond, the largest event ID counts as newest.
      let events = try candidates.compactMap { try event(at: $0.position) }
      // Of what its sender had erased, nothing is left that could replace anything.
      guard let newest = events.max(by: { $0.eventID < $1.eventID }), try shown(newest) === newest else { continue }
      aggregations.entries[parent, default: .init()].replacement = newest
    }
    for (parent, positions) in references {
      let eventIDs = try positions.suffix(Self.referencesLimit).compactMap { position in
        try transaction.first("SELECT event_id FROM event WHERE position = $1", position) { row -> EventID in
          row.identifier(0)
        }
      }
      aggregations.entries[parent, default: .init()].references = eventIDs
    }
  }

  // MARK: Threads

  /// nil where the reader may see nothing of it.
  func summary(of root: StoredEvent, ignoring ignored: Set<UserID>) throws -> Aggregations.Thread? {
    let thread = try transaction.first(
      "SELECT latest, messages FROM room_thread WHERE room = $1 AND root = $2", room.number, root.position
    ) { row in (latest: row.integer(0), count: row.integer(1)) }
    return try thread.flatMap { try summary(of: root, $0, ignored) }
  }

  private func summary(
    of root: StoredEvent, _ thread: (latest: Int64, count: Int64), _ ignored: Set<UserID>
  ) throws -> Aggregations.Thread? {
    var (latest, count) = thread
    if try !view.seesEverything || hasMessages(of: ignored, in: root) {
      (latest, count) = (0, 0)
      try transaction.query(
        """
        SELECT position, sender, timestamp FROM event_relation WHERE room = $1 AND parent = $2 AND kind = 'm.thread'
        ORDER BY position
        """,
        room.number, root.position
      ) { row in
        let position = row.integer(0)
        guard view.canSee(messageAt: position, sentAt: row.integer(2)), !ignored.contains(row.identifier(1)) else { return }
        latest = position
        count += 1
      }
    }
    guard let event = try event(at: latest) else { return nil }
    return Aggregations.Thread(latest: try shown(event), count: count, isParticipant: try isParticipant(of: root))
  }

  private func hasMessages(of users: Set<UserID>, in root: StoredEvent) throws -> Bool {
    try users.contains { try hasMessage(of: $0, in: root) }
  }

  private func hasMessage(of user: UserID, in root: StoredEvent) throws -> Bool {
    try transaction.first(
      "SELECT 1 FROM event_relation WHERE room = $1 AND parent = $2 AND sender = $3 AND kind = 'm.thread' LIMIT 1",
      room.number, root.position, user
    ) { _ in true } ?? false
  }

  /// Spec: "Server-side aggregation of `m.thread` relationships", `current_user_participated`.
  func isParticipant(of root: StoredEvent) throws -> Bool {
    try root.sender == view.user || hasMessage(of: view.user, in: root)
  }

  /// The event as the reader is shown it.
  func shown(_ event: StoredEvent) throws -> StoredEvent { try shown([event]).first ?? event }

  func shown(_ events: [StoredEvent]) throws -> [StoredEvent] {
    try erasures.shown(events, to: view.user, in: room) { RoomLoader(transaction: transaction) }
  }

  private func event(at position: Int64) throws -> StoredEvent? {
    if let recent = room.tail.last(where: { $0.position == position }) { return recent }
    return try RoomLoader(transaction: transaction).event(at: position)
  }
}
