import Database
import JSON
import MatrixModel
import ServerAccounts
import ServerCore
import ServerRooms
import Synchronization

/// Counts unread events when a sync answers, from the last counted position on.
///
/// Counting costs the reader, not the sender: a send stays O(1) in the members of its room.
package final class Unread: Sendable {
  private struct Key: Hashable {
    let user: UserID
    let room: RoomNumber
  }

  private struct State {
    var folds: [Key: UnreadFold] = [:]
    /// Of the newest events of rooms: what all members' rules have in common is decided once.
    var evaluators: [RoomNumber: [(position: Int64, evaluator: PushEvaluator)]] = [:]
    var evaluatorCount = 0
  }

  /// Counts kept in RAM, about 300 bytes each; beyond it all are counted anew.
  private static let foldsLimit = 100_000
  private static let evaluatorsLimit = 4_096
  /// Events counted between two checkpoints.
  static let checkpointInterval = 256
  /// Newest events of a room that are counted at most, where there is no checkpoint.
  static let countLimit = 10_000
  private static let batchLimit = 500

  private let state = Mutex(State())
  private let database: Database
  private let receipts: Receipts
  private let pushRules: PushRules

  package init(database: Database, receipts: Receipts, pushRules: PushRules) {
    self.database = database
    self.receipts = receipts
    self.pushRules = pushRules
  }

  /// What `user` has not read of the events up to `end`.
  ///
  /// - Parameter account: the ignored users, whose events do not count, and the position of that list and of the push rules.
  package func counts(
    of user: UserID, in room: RoomSnapshot, upTo end: Int64, _ account: AccountSummary, _ rows: SyncRows
  ) throws -> UnreadCounts {
    let rules = account.rulesPosition
    let read = try receipts.readPositions(of: user, in: room.number, rows)
    let key = Key(user: user, room: room.number)
    var fold: UnreadFold
    if let known = state.withLock({ $0.folds[key] }), known.receipts == read, known.rules == rules {
      if known.position >= min(room.position, end) { return known.counts }
      fold = known
    } else {
      fold = try begin(user, room, read, rules, end, rows)
    }
    let counted = fold.counts
    try add(to: &fold, user, room, upTo: end, ignoring: account.ignored, rows)
    if fold.hasSeenRedaction {
      if counted != UnreadCounts() {
        fold = try begin(user, room, read, rules, end, rows, usesCheckpoint: false)
        try add(to: &fold, user, room, upTo: end, ignoring: account.ignored, rows)
      }
      fold.hasSeenRedaction = false
    }
    let needsCheckpoint = fold.sinceCheckpoint >= Self.checkpointInterval
    if needsCheckpoint { fold.sinceCheckpoint = 0 }
    let kept = fold
    state.withLock { state in
      if state.folds.count >= Self.foldsLimit { state.folds.removeAll(keepingCapacity: true) }
      if let newer = state.folds[key], newer.receipts == read, newer.rules == rules, newer.position > kept.position {
        return
      }
      state.folds[key] = kept
    }
    if needsCheckpoint { store(kept, of: key) }
    return kept.counts
  }

  // MARK: Beginning

  /// Where counting starts: at a checkpoint that stands on the same receipts and rules, else at what the user has read or,
  /// before that, at the join.
  private func begin(
    _ user: UserID, _ room: RoomSnapshot, _ read: ReadPositions, _ rules: Int64, _ end: Int64, _ rows: SyncRows,
    usesCheckpoint: Bool = true
  ) throws -> UnreadFold {
    let join = room.members[user]?.event
    let start = max(read.all, join.map { $0.isJoining ? $0.position : 0 } ?? 0)
    if room.tailCovers(after: start) { return UnreadFold(receipts: read, rules: rules, from: start) }
    let transaction = try rows.transaction()
    let checkpoint = try transaction.first(
      "SELECT position, counts FROM unread_checkpoint WHERE user_id = $1 AND room = $2 AND rules = $3 AND receipts = $4",
      user, room.number, rules, read.text
    ) { row in (row.integer(0), UnreadCounts(bytes: row.blob(1))) }
    if usesCheckpoint, let checkpoint, let counts = checkpoint.1, checkpoint.0 >= start, checkpoint.0 <= end {
      return UnreadFold(receipts: read, rules: rules, from: checkpoint.0, counts: counts)
    }
    let oldest = try transaction.first(
      "SELECT position FROM event WHERE room = $1 AND position <= $2 ORDER BY position DESC LIMIT 1 OFFSET $3",
      room.number, end, Self.countLimit
    ) { $0.integer(0) }
    return UnreadFold(receipts: read, rules: rules, from: max(start, oldest ?? 0))
  }

  // MARK: Counting

  private func add(
    to fold: inout UnreadFold, _ user: UserID, _ room: RoomSnapshot, upTo end: Int64, ignoring ignored: Set<UserID>,
    _ rows: SyncRows
  ) throws {
    guard fold.position < min(end, room.position) else { return }
    let rules = try pushRules.cached(user) ?? pushRules.rules(try rows.transaction(), of: user)
    let member = room.members[user]?.event
    let displayName = member?.content["displayname"]?.text
    func count(_ event: StoredEvent, _ fold: inout UnreadFold) {
      fold.add(
        event, for: user,
        ignored.contains(event.sender) ? nil : evaluator(of: event, in: room).actions(of: rules, displayName: displayName))
    }
    if room.tailCovers(after: fold.position) {
      for event in room.tail where event.position > fold.position && event.position <= end { count(event, &fold) }
      return
    }
    let loader = try rows.loader()
    while fold.position < end {
      let batch = try loader.events(in: room.number, after: fold.position, limit: Self.batchLimit)
      for event in batch where event.position <= end { count(event, &fold) }
      guard batch.count == Self.batchLimit, let last = batch.last, last.position <= end else { return }
    }
  }

  /// The evaluator of an event; those of the newest events are kept for the other members.
  private func evaluator(of event: StoredEvent, in room: RoomSnapshot) -> PushEvaluator {
    let isRecent = event.position >= (room.tail.first?.position ?? .max)
    if isRecent {
      let known = state.withLock { state in
        state.evaluators[room.number]?.last { $0.position == event.position }?.evaluator
      }
      if let known { return known }
    }
    let evaluator = PushEvaluator(event, in: room)
    if isRecent { keep(evaluator, at: event.position, in: room.number) }
    return evaluator
  }

  private func keep(_ evaluator: PushEvaluator, at position: Int64, in room: RoomNumber) {
    state.withLock { state in
      if state.evaluatorCount >= Self.evaluatorsLimit {
        state.evaluators = [:]
        state.evaluatorCount = 0
      }
      if state.evaluators[room, default: []].count >= RoomSnapshot.tailLimit {
        state.evaluators[room]?.removeFirst(RoomSnapshot.tailLimit / 2)
        state.evaluatorCount -= RoomSnapshot.tailLimit / 2
      }
      state.evaluators[room, default: []].append((position, evaluator))
      state.evaluatorCount += 1
    }
  }

  // MARK: Checkpoints

  /// Written when the writer gets to it: a lost checkpoint costs counting again.
  private func store(_ fold: UnreadFold, of key: Key) {
    let database = database
    Task {
      _ = try? await database.write { transaction in
        try transaction.execute(
          """
          INSERT INTO unread_checkpoint(user_id, room, position, rules, receipts, counts) VALUES ($1, $2, $3, $4, $5, $6)
          ON CONFLICT(user_id, room) DO UPDATE SET position = excluded.position, rules = excluded.rules,
            receipts = excluded.receipts, counts = excluded.counts
          """, key.user, key.room, fold.position, fold.rules, fold.receipts.text, fold.counts.bytes)
      }
    }
  }
}

extension ReadPositions {
  /// The same for the same positions.
  fileprivate var text: String {
    "\(all)" + threads.sorted { $0.key < $1.key }.map { "|\($0.key)=\($0.value)" }.joined()
  }
}
