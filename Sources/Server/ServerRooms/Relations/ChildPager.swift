import Database
import MatrixModel

/// Walks the children of an event, direct ones or those of children too, until enough visible ones are found.
struct ChildPager {
  let view: RoomView
  let parent: StoredEvent
  let query: Relations.Query
  let ignored: Set<UserID>
  let transaction: ReadTransaction
  private(set) var events: [StoredEvent] = []
  private(set) var next: TimelineToken?

  /// Rows looked at when most are hidden from the reader.
  private static let scanLimit = 5_000
  /// Rows read at once at least: with `recurse` each reading walks through all descendants.
  private static let batchLimit = 500

  init(
    view: RoomView, parent: StoredEvent, query: Relations.Query, ignored: Set<UserID>, transaction: ReadTransaction
  ) {
    self.view = view
    self.parent = parent
    self.query = query
    self.ignored = ignored
    self.transaction = transaction
  }

  mutating func run(limit: Int) throws {
    let isBackward = query.direction == .backward
    // Positions strictly between; a token stands behind the event at its position.
    var lower = (isBackward ? query.to?.position : query.from?.position) ?? .min
    var upper = (isBackward ? query.from?.position : query.to?.position).map { $0 + 1 } ?? .max
    let loader = RoomLoader(transaction: transaction)
    var scanned = 0
    while true {
      // One more than asked for tells whether there is a next page.
      let wanted = max(limit + 1 - events.count, Self.batchLimit)
      let positions = try positions(after: lower, before: upper, limit: wanted)
      for position in positions {
        if isBackward { upper = position } else { lower = position }
        guard let event = try loader.event(at: position), view.canSee(event), !ignored.contains(event.sender) else { continue }
        if events.count == limit {
          next = TimelineToken(position: isBackward ? position : position - 1)
          return
        }
        events.append(event)
      }
      if positions.count < wanted { return }
      scanned += positions.count
      if scanned >= Self.scanLimit {
        next = TimelineToken(position: isBackward ? upper - 1 : lower)
        return
      }
    }
  }

  private func positions(after lower: Int64, before upper: Int64, limit: Int) throws -> [Int64] {
    let (kind, type) = (query.kind ?? "", query.type?.text ?? "")
    let (room, parent) = (view.room.number, parent.position)
    if query.recurses {
      // No index gives the order of descendants, so that one statement does for both directions.
      return try transaction.all(
        """
        WITH RECURSIVE descendant(position, depth) AS (
          SELECT position, 1 FROM event_relation
            WHERE room = $1 AND parent = $2 AND ($5 = '' OR kind = $5) AND ($6 = '' OR type = $6)
          UNION ALL SELECT r.position, d.depth + 1 FROM descendant d JOIN event_relation r ON r.parent = d.position
            WHERE r.room = $1 AND d.depth < $8 AND ($5 = '' OR r.kind = $5) AND ($6 = '' OR r.type = $6))
        SELECT position FROM descendant WHERE position > $3 AND position < $4 ORDER BY position * $9 LIMIT $7
        """, room, parent, lower, upper, kind, type, limit, Relations.depthLimit, query.direction == .backward ? -1 : 1
      ) { $0.integer(0) }
    }
    switch query.direction {
    case .backward:
      return try transaction.all(
        """
        SELECT position FROM event_relation
        WHERE room = $1 AND parent = $2 AND position > $3 AND position < $4
          AND ($5 = '' OR kind = $5) AND ($6 = '' OR type = $6) ORDER BY position DESC LIMIT $7
        """, room, parent, lower, upper, kind, type, limit
      ) { $0.integer(0) }
    case .forward:
      return try transaction.all(
        """
        SELECT position FROM event_relation
        WHERE room = $1 AND parent = $2 AND position > $3 AND position < $4
          AND ($5 = '' OR kind = $5) AND ($6 = '' OR type = $6) ORDER BY position LIMIT $7
        """, room, parent, lower, upper, kind, type, limit
      ) { $0.integer(0) }
    }
  }
}
