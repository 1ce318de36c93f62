import Glibc

// The stream's head: in memory while running, in one row of the database otherwise.
extension Connection {
  /// Where the stream is, outside a batch.
  func head() throws(DatabaseError) -> Head {
    let statement: Statement
    switch self {
    case .sqlite: statement = try takeOutside("SELECT position, 0, 0 FROM stream_head WHERE id = 1")
    case .postgreSQL: statement = try takeOutside("SELECT position, batch, epoch FROM stream_head WHERE id = 1")
    }
    defer { giveBack(statement) }
    guard try step(statement) else { throw .corrupt(message: "stream_head has no row") }
    let row = statement.row
    return Head(position: row.integer(0), batch: row.integer(1), epoch: row.integer(2))
  }
}

extension Writer {
  /// A commit without an answer.
  struct UnansweredCommit {
    let before: WriteTransaction.Mark
    /// Where it would have left the stream.
    let head: Connection.Head
  }

  /// Added to the position when the database went back: no position that was given out is given out again, by whichever node.
  static let jump: Int64 = 1_000_000

  /// Begins a batch, and settles what the last one left open.
  func begin() throws(DatabaseError) {
    // Others have committed: the head is not where this node left it.
    if let node, node.applier.appliedNumber != head.batch { isHeadKnown = false }
    guard let found = try connection.beginBatch(at: isHeadKnown && unanswered == nil ? head : nil) else { return }
    isHeadKnown = true
    if let unanswered {
      self.unanswered = nil
      if try isDurable(unanswered, found) { return try keep(unanswered.head) }
      transaction.undo(to: unanswered.before)
      statistics.withLock { $0.unansweredUndone += 1 }
      report(.unansweredCommit(isDurable: false))
    }
    if let node, !isBehind(found) {
      try node.catchUp(to: found.batch)
      head = found
      return transaction.move(to: found.position)
    }
    guard found != head else { return }
    try follow(found)
    try begin()
  }

  /// Whether a commit without an answer has happened. Behind it there may be commits of other nodes, whose log tells.
  private func isDurable(_ commit: UnansweredCommit, _ found: Connection.Head) throws(DatabaseError) -> Bool {
    guard let node else { return found == commit.head }
    guard !isBehind(found), found.batch >= commit.head.batch else { return false }
    return try BatchLog.run(of: commit.head.batch, on: connection) == node.applier.run
  }

  /// Whether the database is in an earlier state than this node has seen.
  private func isBehind(_ found: Connection.Head) -> Bool {
    found.position < head.position || found.batch < head.batch || found.epoch < head.epoch
  }

  /// Finds out what became of a commit without an answer as soon as the server can be reached, or with the next batch.
  func settleUnanswered() {
    while unanswered != nil, queue.isWaiting {
      do throws(DatabaseError) { try begin() } catch {}
      connection.rollBack()
      if unanswered != nil { usleep(Self.retryMicroseconds) }
    }
  }

  private static let retryMicroseconds: UInt32 = 100_000

  /// The commit without an answer is durable.
  private func keep(_ kept: Connection.Head) throws(DatabaseError) {
    // Not in this transaction: followers read in one of their own.
    connection.rollBack()
    head = kept
    isHeadKnown = false
    statistics.withLock { $0.unansweredKept += 1 }
    report(.unansweredCommit(isDurable: true))
    publish()
    try begin()
  }

  /// The server did not answer COMMIT: finds out at once, if it can be reached, whether it is durable, and publishes it if so. If it cannot be
  /// reached, the next batch finds out, and the jobs are told that the database is gone.
  func settle(_ before: WriteTransaction.Mark) -> Bool {
    let new = Connection.Head(position: transaction.position, batch: head.batch + 1, epoch: head.epoch)
    unanswered = UnansweredCommit(before: before, head: new)
    let kept = statistics.withLock { $0.unansweredKept }
    connection.rollBack()
    do throws(DatabaseError) { try begin() } catch {}
    connection.rollBack()
    return statistics.withLock { $0.unansweredKept } > kept
  }

  /// The database is in another state than this node left it: forgets what memory has of it, and goes on from there. If it went back, to a
  /// backup or with a standby that lacked commits, the stream jumps first.
  private func follow(_ found: Connection.Head) throws(DatabaseError) {
    var new = found
    if isBehind(found) {
      new.position = max(found.position, head.position) + Self.jump
      new.batch = max(found.batch, head.batch) + 1
      new.epoch = max(found.epoch, head.epoch) + 1
      try connection.jump(to: new)
      report(.wentBack(lostCommits: max(0, head.batch - found.batch), position: new.position))
    } else {
      connection.rollBack()
      report(.changedFromOutside(position: new.position))
    }
    head = new
    transaction.move(to: new.position)
    // An applier finds that the log does not lead there.
    if node == nil {
      publisher.reloadAll()
      position.move(to: new.position)
    }
    statistics.withLock { $0.jumps += 1 }
  }
}
