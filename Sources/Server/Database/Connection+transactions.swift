// Transactions: of a reader, and of a batch with its parts.
extension Connection {
  /// Whether a transaction is open. SQLite closes one by itself after some errors (disk full, I/O), PostgreSQL with a lost connection.
  var isInTransaction: Bool {
    switch self {
    case .sqlite(let connection): connection.isInTransaction
    case .postgreSQL(let connection): connection.isInTransaction
    }
  }

  /// Begins a transaction that sees one state of the database. PostgreSQL hears of it with the first statement.
  func beginReading() throws(DatabaseError) {
    switch self {
    case .sqlite(let connection): try connection.run("BEGIN")
    case .postgreSQL(let connection): try connection.beginReading()
    }
  }

  func endReading() throws(DatabaseError) {
    switch self {
    case .sqlite(let connection): try connection.run("COMMIT")
    case .postgreSQL(let connection): try connection.endReading()
    }
  }

  /// Begins the transaction of a batch, which keeps other writers out.
  ///
  /// - Parameter head: where the last batch left the stream; nil if that is not known.
  /// - Returns: where the stream is, if it had to be looked up. Otherwise nil: it is at `head`, or PostgreSQL makes the batch fail
  ///   (`hasHeadMoved`). Nobody else moves SQLite's.
  func beginBatch(at head: Head?) throws(DatabaseError) -> Head? {
    switch self {
    case .sqlite(let connection):
      try connection.run("BEGIN IMMEDIATE")
      return nil
    case .postgreSQL(let connection):
      return try connection.beginBatch(at: head)
    }
  }

  /// Whether a statement of the batch has failed that nobody awaited, perhaps of a job that has ended: then all of it has to be undone.
  var hasFailed: Bool {
    switch self {
    case .sqlite: false
    case .postgreSQL(let connection): connection.pipeline.failure != nil
    }
  }

  /// Whether it has failed because the stream is not where the last batch left it.
  var hasHeadMoved: Bool {
    switch self {
    case .sqlite: false
    case .postgreSQL(let connection): connection.pipeline.failure?.head == .hasMoved
    }
  }

  /// The reason if it has failed because another node holds the stream: that is nobody's of the batch.
  var heldHead: DatabaseError? {
    switch self {
    case .sqlite: nil
    case .postgreSQL(let connection):
      connection.pipeline.failure.flatMap { $0.head == .isHeld ? $0.error : nil }
    }
  }

  /// Whether the connection was lost, and with it the batch.
  var isLost: Bool {
    switch self {
    case .sqlite: false
    case .postgreSQL(let connection): !connection.isConnected
    }
  }

  /// Whether a batch should have no more jobs: beyond 64 subtransactions every reader of PostgreSQL pays for them.
  var isBatchFull: Bool {
    switch self {
    case .sqlite: false
    case .postgreSQL(let connection): connection.part.savepoints >= 50
    }
  }

  /// Makes what follows a part that `undoPart` undoes alone.
  func beginPart() throws(DatabaseError) {
    switch self {
    case .sqlite(let connection): try connection.run("SAVEPOINT job")
    case .postgreSQL(let connection): connection.beginPart()
    }
  }

  func keepPart() throws(DatabaseError) {
    switch self {
    case .sqlite(let connection): try connection.run("RELEASE job")
    case .postgreSQL(let connection): try connection.keepPart()
    }
  }

  func undoPart() throws(DatabaseError) {
    switch self {
    case .sqlite(let connection):
      try connection.run("ROLLBACK TO job")
      try connection.run("RELEASE job")
    case .postgreSQL(let connection):
      try connection.undoPart()
    }
  }

  /// Runs `body` and undoes its rows, whether it throws or not.
  func rehearse(_ body: () -> Void) throws(DatabaseError) {
    try execute("SAVEPOINT rehearsal")
    body()
    guard isInTransaction else { return }
    try execute("ROLLBACK TO rehearsal")
    try execute("RELEASE rehearsal")
  }

  /// Makes the batch durable, with the new head of the stream if it moved, which it returns.
  ///
  /// Throws `.unavailable` with PostgreSQL if there was no answer: then the head tells whether it is durable.
  func commit(_ position: Int64, after head: Head) throws(DatabaseError) -> Head {
    switch self {
    case .sqlite(let connection):
      if position != head.position { try move(to: position) }
      try connection.run("COMMIT")
      return Head(position: position)
    case .postgreSQL(let connection):
      return try connection.commit(position, after: head)
    }
  }

  private func move(to position: Int64) throws(DatabaseError) {
    let statement = try take("UPDATE stream_head SET position = $1 WHERE id = 1")
    defer { giveBack(statement) }
    var binder = SQLBinder(statement, self)
    binder.integer(position)
    try binder.check()
    _ = try run(statement)
  }

  /// Sets the head of PostgreSQL's stream where no batch has led, and ends the batch.
  func jump(to head: Head) throws(DatabaseError) {
    if case .postgreSQL(let connection) = self { try connection.jump(to: head) }
  }

  func rollBack() {
    guard isInTransaction else { return }
    // A ROLLBACK that fails has still ended the transaction (SQLite's documentation of it), or the connection is lost and with it the transaction.
    do throws(DatabaseError) {
      switch self {
      case .sqlite(let connection): try connection.run("ROLLBACK")
      case .postgreSQL(let connection): try connection.rollBack()
      }
    } catch {}
  }

  /// Lets go of the database at once; nothing may be run afterwards.
  func close() {
    switch self {
    case .sqlite(let connection): connection.close()
    case .postgreSQL(let connection): connection.close()
    }
  }
}
