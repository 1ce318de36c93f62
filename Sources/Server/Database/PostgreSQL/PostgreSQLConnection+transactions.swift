import CPostgreSQL

// Transactions.
extension PostgreSQLConnection {
  static let beginReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

  var isInTransaction: Bool {
    if beginsWithNext { return true }
    switch PQtransactionStatus(handle) {
    case PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE: return true
    default: return false
    }
  }

  /// A statement has failed: the server refuses all others until the transaction, or the part, is undone.
  private var hasFailed: Bool { PQtransactionStatus(handle) == PQTRANS_INERROR }

  func beginReading() throws(DatabaseError) {
    try connectAgain()
    beginsWithNext = true
  }

  func endReading() throws(DatabaseError) {
    if beginsWithNext { beginsWithNext = false } else { _ = try command("COMMIT") }
  }

  func rollBack() throws(DatabaseError) {
    part = PostgreSQLPart()
    if beginsWithNext { beginsWithNext = false } else { _ = try command("ROLLBACK") }
  }

  /// Begins a batch by locking the row of the stream's head, which every batch of every node does. READ COMMITTED is enough under that lock.
  func beginBatch() throws(DatabaseError) -> Connection.Head {
    try connectAgain()
    part = PostgreSQLPart()
    hasWritten = false
    let begin = "BEGIN; SELECT position, batch FROM stream_head WHERE id = 1 FOR UPDATE"
    let row: [String?]
    do throws(DatabaseError) {
      row = try execute(begin)
    } catch .unavailable {
      // The connection was lost since it was last used.
      try connect()
      row = try execute(begin)
    }
    guard row.count == 2, let position = row[0].flatMap({ Int64($0) }), let batch = row[1].flatMap({ Int64($0) }) else {
      throw .corrupt(message: "stream_head has no row")
    }
    self.batch = batch
    return Connection.Head(position: position, batch: batch)
  }

  func beginPart() { part.begin() }

  func keepPart() throws(DatabaseError) {
    part.isOpen = false
    if hasFailed { throw .io(message: "the job went on after a statement that failed") }
  }

  func undoPart() throws(DatabaseError) {
    part.isOpen = false
    if part.isSaved {
      _ = try command("ROLLBACK TO job")
    } else if hasFailed {
      throw .io(message: "a statement that reads has failed, and the whole batch with it")
    }
  }

  func commit(_ position: Int64, hasMoved: Bool) throws(DatabaseError) {
    // How it ended, the head tells.
    guard isInTransaction else { throw .unavailable(message: "the transaction has ended before its COMMIT") }
    let head = "UPDATE stream_head SET position = \(position), batch = \(batch + 1) WHERE id = 1; "
    // In a transaction that has failed, COMMIT undoes it and calls that a success.
    guard try command((hasWritten || hasMoved ? head : "") + "COMMIT") == "COMMIT" else {
      throw .io(message: "the transaction was undone, because a statement in it had failed")
    }
  }
}

/// A job's share of a batch. Its savepoint is set before its first write: a job that only reads costs none.
struct PostgreSQLPart {
  var isOpen = false
  /// Whether the part has its savepoint.
  private(set) var isSaved = false
  /// Whether a savepoint of this part, or of an earlier part, exists.
  private var hasSavepoint = false

  mutating func begin() {
    isOpen = true
    isSaved = false
  }

  /// What to send before a statement that writes; nil if nothing.
  mutating func savepointBeforeWriting() -> String? {
    guard isOpen, !isSaved else { return nil }
    defer { (isSaved, hasSavepoint) = (true, true) }
    return hasSavepoint ? "RELEASE job; SAVEPOINT job" : "SAVEPOINT job"
  }
}
