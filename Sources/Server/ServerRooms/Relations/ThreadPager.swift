import Database
import JSON
import MatrixModel

/// Walks the threads of a room, newest message first, until enough visible ones are found.
struct ThreadPager {
  let reader: AggregationReader
  let ignored: Set<UserID>
  let onlyParticipated: Bool
  private(set) var roots: [StoredEvent] = []
  private(set) var next: TimelineToken?
  private var found: [Int64: Aggregations.Thread] = [:]

  private static let batchLimit = 100
  /// Threads looked at when most are hidden from the reader, or not theirs.
  private static let scanLimit = 2_000

  private var transaction: ReadTransaction { reader.transaction }

  init(reader: AggregationReader, ignored: Set<UserID>, onlyParticipated: Bool) {
    self.reader = reader
    self.ignored = ignored
    self.onlyParticipated = onlyParticipated
  }

  /// - Parameter token: behind the newest message of the first thread to tell.
  mutating func run(from token: TimelineToken?, limit: Int) throws {
    var before = token.map { $0.position + 1 } ?? .max
    let loader = RoomLoader(transaction: transaction)
    var scanned = 0
    while scanned < Self.scanLimit {
      let batch = try transaction.all(
        "SELECT root, latest FROM room_thread WHERE room = $1 AND latest < $2 ORDER BY latest DESC LIMIT $3",
        reader.view.room.number, before, Self.batchLimit
      ) { row in (root: row.integer(0), latest: row.integer(1)) }
      for thread in batch {
        before = thread.latest
        guard let root = try loader.event(at: thread.root), try isWanted(root),
          let summary = try reader.summary(of: root, ignoring: ignored)
        else { continue }
        if roots.count == limit {
          next = TimelineToken(position: thread.latest)
          return
        }
        found[root.position] = summary
        // Spec: `GET /rooms/{roomId}/threads`, "the event is returned redacted to the caller".
        roots.append(ignored.contains(root.sender) ? root.reduced(reader.view.room.version) ?? root : root)
      }
      scanned += batch.count
      if batch.count < Self.batchLimit { return }
    }
    next = TimelineToken(position: before - 1)
  }

  func aggregations() throws -> Aggregations {
    var aggregations = try reader.aggregations(of: roots, ignoring: ignored)
    // Those of the redacted form of an ignored user's root are of its thread alone.
    for root in roots where root.stateKey == nil && ignored.contains(root.sender) {
      aggregations.entries[root.position, default: .init()].thread = found[root.position]
    }
    return aggregations
  }

  private func isWanted(_ root: StoredEvent) throws -> Bool {
    guard reader.view.canSee(root) else { return false }
    return try !onlyParticipated || reader.isParticipant(of: root)
  }
}
