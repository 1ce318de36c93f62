/// What a connection still has to send, and what it has sent without an answer: libpq's pipeline mode.
///
/// A statement whose answer nobody looks at is queued and costs no way to the server. One whose answer is looked at takes with it all that is
/// queued. What the running job has queued is not sent before the job ends or looks at an answer: so a job that throws is mostly undone by
/// forgetting.
struct PostgreSQLPipeline {
  /// What the server has to answer yet.
  enum Unanswered {
    case prepare(PostgreSQLStatement.Names, name: String, StaticString, part: Int)
    case statement(StaticString, part: Int)
    /// The comparison of the head.
    case head(StaticString)
    /// What a job will ask.
    case question(StaticString, key: [UInt8])
    /// The end of an exchange: behind an error, the server passes over all that comes before it.
    case sync
  }

  /// The first statement that failed: the server refuses all others until the transaction, or the part, is undone.
  struct Failure {
    let error: DatabaseError
    /// Whose statement it was.
    let part: Int
    var head = Head.isThere

    /// What the comparison of the head has to do with it.
    enum Head {
      case isThere
      /// It is not where it was thought to be, and nothing else is wrong.
      case hasMoved
      /// It could not be had: another node held it for too long.
      case isHeld
    }
  }

  /// Of the running job.
  private(set) var queued: [PostgreSQLStatement] = []
  private var queuedBytes = 0
  /// Sent, oldest first.
  private(set) var unanswered: [Unanswered] = []
  var failure: Failure?

  /// A job that writes more has it sent and answered on the way: neither side's memory, nor a socket, has to hold all of it.
  private static let statementsLimit = 256
  private static let bytesLimit = 1 << 20

  var isFull: Bool {
    queued.count >= Self.statementsLimit || queuedBytes >= Self.bytesLimit || unanswered.count >= 4 * Self.statementsLimit
  }

  mutating func queue(_ statement: PostgreSQLStatement) {
    queued.append(statement)
    queuedBytes += statement.byteCount
  }

  mutating func queueFirst(_ statement: PostgreSQLStatement) { queued.insert(statement, at: 0) }

  mutating func takeQueued() -> [PostgreSQLStatement] {
    queuedBytes = 0
    defer { queued.removeAll(keepingCapacity: true) }
    return queued
  }

  mutating func sent(_ message: Unanswered) { unanswered.append(message) }

  mutating func takeUnanswered() -> [Unanswered] {
    defer { unanswered.removeAll(keepingCapacity: true) }
    return unanswered
  }
}

/// A job's share of a batch.
struct PostgreSQLPart {
  /// Counts the jobs of a batch from 1; 0 is the batch itself.
  private(set) var number = 0
  private(set) var isOpen = false
  /// Whether it has a savepoint: it looked at an answer after it had written, and may throw afterwards.
  private(set) var isSaved = false
  /// Savepoints of the batch.
  private(set) var savepoints = 0

  mutating func begin() {
    number += 1
    isOpen = true
    isSaved = false
  }

  mutating func end() { isOpen = false }

  mutating func save() {
    isSaved = true
    savepoints += 1
  }
}
