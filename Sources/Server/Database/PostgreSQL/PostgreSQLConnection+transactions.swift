import CPostgreSQL

// Transactions. BEGIN travels with the first statement, and so does what compares the head; COMMIT travels with the last.
extension PostgreSQLConnection {
  /// What is sent before the next statement.
  enum Beginning: Equatable {
    case reading
    /// A batch, where the head should be.
    case batch(Connection.Head)
    /// A batch that looks where the head is.
    case look
  }

  static let savepoint: StaticString = "SAVEPOINT job"

  /// Locks the row of the stream's head, which every batch of every node does, and fails by a division by zero if it is not where this node left
  /// it: so no answer has to be awaited before the batch goes on, and a COMMIT behind it does nothing.
  static let headCheck: StaticString =
    "SELECT 1 / CAST(position = $1 AND batch = $2 AND epoch = $3 AS INTEGER) FROM stream_head WHERE id = 1 FOR UPDATE"
  /// SQLSTATE of a division by zero.
  static let headIsMoved = "22012"

  var isInTransaction: Bool { isOpen && isConnected }

  func sendBeginning() throws(DatabaseError) {
    guard let beginning else { return }
    self.beginning = nil
    switch beginning {
    case .reading: try send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    case .look: try send("BEGIN")
    case .batch(let head):
      try send("BEGIN")
      let check = try take(Self.headCheck)
      defer { check.end() }
      for value in [head.position, head.batch, head.epoch] { check.bind(value) }
      try send(check, as: .head(Self.headCheck))
    }
  }

  private func begin(_ beginning: Beginning) throws(DatabaseError) {
    try connectAgain()
    part = PostgreSQLPart()
    pipeline.failure = nil
    answers.removeAll()
    hasWritten = false
    self.beginning = beginning
    isOpen = true
  }

  // MARK: Reading

  func beginReading() throws(DatabaseError) { try begin(.reading) }

  /// Nobody waits for the answer: the next transaction takes it.
  func endReading() throws(DatabaseError) {
    guard beginning == nil else { return forget() }
    try send("COMMIT")
    guard PQpipelineSync(handle) == 1 else { throw lost("COMMIT") }
    pipeline.sent(.sync)
    isOpen = false
  }

  /// Nothing of the transaction was sent.
  private func forget() {
    beginning = nil
    isOpen = false
    dropQueued()
  }

  // MARK: A batch

  /// Begins a batch under the lock of the head's row; READ COMMITTED is enough under it. Where the head was when the connection is new or
  /// `head` is nil; otherwise nil: the server compares it with `head`, and if it is elsewhere, the first exchange fails.
  func beginBatch(at head: Connection.Head?) throws(DatabaseError) -> Connection.Head? {
    try connectAgain()
    if let head, knowsHead {
      try begin(.batch(head))
      return nil
    }
    return try look()
  }

  private func look() throws(DatabaseError) -> Connection.Head {
    try begin(.look)
    let statement = try take("SELECT position, batch, epoch FROM stream_head WHERE id = 1 FOR UPDATE")
    defer { statement.end() }
    guard try step(statement) else { throw .corrupt(message: "stream_head has no row") }
    knowsHead = true
    let row = statement.currentRow
    return Connection.Head(position: row.integer(0), batch: row.integer(1), epoch: row.integer(2))
  }

  func beginPart() { part.begin() }

  /// What the job has queued belongs to the batch now.
  func keepPart() throws(DatabaseError) {
    part.end()
    if let failure = pipeline.failure { throw failure.error }
    try sendQueued()
  }

  /// Undoes what the job did. Throws if the whole batch has to be undone.
  func undoPart() throws(DatabaseError) {
    part.end()
    dropQueued()
    if let failure = pipeline.failure, failure.part != part.number || !part.isSaved { throw failure.error }
    guard part.isSaved else { return }
    pipeline.failure = nil
    _ = try command("ROLLBACK TO job")
  }

  /// Makes the batch durable. Returns where the head is then.
  func commit(_ position: Int64, after head: Connection.Head) throws(DatabaseError) -> Connection.Head {
    // How it ended, the head tells.
    guard isInTransaction else { throw .unavailable(message: "the transaction has ended before its COMMIT") }
    if let failure = pipeline.failure { throw failure.error }
    var new = head
    if hasWritten || position != head.position {
      new.position = position
      new.batch += 1
      try move(to: new)
    } else if beginning != nil {
      forget()
      return head
    }
    let commit = try take("COMMIT")
    defer { commit.end() }
    let result = try ask(commit)
    defer { PQclear(result) }
    // In a transaction that has failed, COMMIT undoes it and calls that a success.
    guard PQcmdStatus(result).map({ String(cString: $0) }) == "COMMIT" else {
      throw .io(message: "the transaction was undone, because a statement in it had failed")
    }
    isOpen = false
    return new
  }

  private func move(to head: Connection.Head) throws(DatabaseError) {
    let update = try take("UPDATE stream_head SET position = $1, batch = $2, epoch = $3 WHERE id = 1")
    for value in [head.position, head.batch, head.epoch] { update.bind(value) }
    defer { update.end() }
    try queue(update)
  }

  /// Where a head is set that no batch has led to. Ends the batch.
  func jump(to head: Connection.Head) throws(DatabaseError) {
    var before = head
    before.batch -= 1
    try move(to: head)
    _ = try commit(before.position, after: before)
  }

  func rollBack() throws(DatabaseError) {
    dropQueued()
    if beginning != nil, isConnected { return forget() }
    defer { (isOpen, beginning, pipeline.failure) = (false, nil, nil) }
    _ = try command("ROLLBACK")
  }
}
