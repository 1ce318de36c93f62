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
    guard let found = try connection.beginBatch(at: isHeadKnown && unanswered == nil ? head : nil) else { return }
    isHeadKnown = true
    if let unanswered {
      self.unanswered = nil
      if found == unanswered.head { return try keep(found) }
      transaction.undo(to: unanswered.before)
      statistics.withLock { $0.unansweredUndone += 1 }
      report(.unansweredCommit(isDurable: false))
    }
    guard found != head else { return }
    try follow(found)
    try begin()
  }

  /// The commit without an answer is durable.
  private func keep(_ found: Connection.Head) throws(DatabaseError) {
    // Not in this transaction: followers read in one of their own.
    connection.rollBack()
    head = found
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
    connection.rollBack()
    do throws(DatabaseError) { try begin() } catch {}
    connection.rollBack()
    return unanswered == nil && head == new
  }

  /// The database is in another state than this node left it: forgets what memory has of it, and goes on from there. If it went back, to a
  /// backup or with a standby that lacked commits, the stream jumps first.
  private func follow(_ found: Connection.Head) throws(DatabaseError) {
    var new = found
    if found.position < head.position || found.batch < head.batch || found.epoch < head.epoch {
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
    publisher.reloadAll()
    committedPosition.store(new.position, ordering: .releasing)
    statistics.withLock { $0.jumps += 1 }
  }
}
