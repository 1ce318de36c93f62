import Glibc
import Synchronization

/// The only thread that writes: takes all that is queued, runs it as one transaction, commits, tells everyone.
///
/// Where several nodes share the database, the head's row keeps their batches apart: this one runs when it has applied all before it, and the
/// `applier` publishes.
///
/// Unchecked: `connection`, `transaction`, `checkpoints`, `publisher` and `unanswered` belong to the thread after `start`, and to nobody after `stop`.
final class Writer: @unchecked Sendable {
  typealias WriteJob = Job<WriteTransaction>

  let queue: BoundedQueue<WriteJob>
  /// Closed when no other connection is open: only then the thread closes its own.
  let others = BoundedQueue<Never>(limit: 0)
  let position: StreamPosition
  let statistics = Mutex(DatabaseStatistics())
  private let connection: Connection
  private let transaction: WriteTransaction
  private let batchLimit: Int
  private let rehearsesJobs: Bool
  /// nil where there is no log of ours.
  private var checkpoints: Checkpoints?
  private var publisher: CommitPublisher
  /// nil where this node has the database alone.
  private let node: (applier: Applier, notes: CommitNoteBytes)?
  /// A commit that the server did not answer: its jobs were told that the database is gone, and whether it is durable is not known yet.
  private var unanswered: UnansweredCommit?

  private struct UnansweredCommit {
    let before: WriteTransaction.Mark
    /// Where it began.
    let head: Connection.Head
  }

  private static let retryMicroseconds: UInt32 = 100_000

  /// Jobs in a batch of PostgreSQL at most: beyond 64 savepoints every reader pays for them.
  private static let postgreSQLBatchLimit = 50

  /// `connection` has the newest schema already.
  init(
    _ configuration: DatabaseConfiguration, on connection: Connection, followers: CommitFollowers, position: StreamPosition,
    head: Connection.Head, applier: Applier?
  ) throws(DatabaseError) {
    publisher = CommitPublisher(to: followers, on: connection)
    self.connection = connection
    transaction = WriteTransaction(on: connection, position: head.position)
    self.position = position
    node = if let applier, let node = configuration.node { (applier, node.notes) } else { nil }
    queue = BoundedQueue(limit: configuration.writeQueueLimit)
    rehearsesJobs = configuration.rehearsesJobs
    switch connection {
    case .sqlite:
      batchLimit = max(1, configuration.batchLimit)
      checkpoints = Checkpoints(configuration)
    case .postgreSQL:
      batchLimit = max(1, min(configuration.batchLimit, Self.postgreSQLBatchLimit))
      checkpoints = nil
    }
  }

  func start() -> WorkerThread {
    WorkerThread { [self] in
      var batch: [WriteJob] = []
      while queue.take(upTo: batchLimit, into: &batch) {
        commit(batch)
        batch.removeAll(keepingCapacity: true)
        settle()
        keepLogSmall()
      }
      var none: [Never] = []
      _ = others.take(upTo: 0, into: &none)
      if case .sqlite(let connection) = connection { checkpoints?.finish(on: connection) }
      connection.close()
    }
  }

  private func keepLogSmall() {
    guard case .sqlite(let connection) = connection else { return }
    if checkpoints?.logHasGrown(on: connection) == true { statistics.withLock { $0.checkpoints += 1 } }
  }

  private func commit(_ batch: [WriteJob]) {
    var succeeded: [(job: WriteJob, resume: @Sendable () -> Void)] = []
    succeeded.reserveCapacity(batch.count)
    // Told after the commit like the others: what made a job throw may be rows that are not durable yet.
    var failed: [(job: WriteJob, error: any Error)] = []
    defer { for (job, error) in failed { job.fail(error) } }
    let head: Connection.Head?
    do throws(DatabaseError) {
      head = try begin()
    } catch {
      connection.rollBack()
      for job in batch { job.fail(error) }
      return
    }
    node?.applier.beginTurn()
    defer { node?.applier.endTurn() }
    let before = transaction.mark
    for (index, job) in batch.enumerated() {
      guard !job.isCancelled() else {
        failed.append((job, CancellationError()))
        continue
      }
      do {
        if rehearsesJobs { try rehearse(job) }
        succeeded.append((job, try batch.count == 1 ? runAlone(job) : run(job)))
      } catch {
        failed.append((job, error))
        statistics.withLock { $0.failedWrites += 1 }
        if batch.count == 1 { return }
        // Some errors (disk full, I/O) end the whole transaction: then nobody before or after in this batch has rows.
        guard connection.isInTransaction else {
          return giveUp(succeeded.map(\.job) + batch[(index + 1)...], to: before, because: Self.lost(error))
        }
      }
    }
    let started = Self.now(), resumes = succeeded.map(\.resume)
    do throws(DatabaseError) {
      if let head { try log(behind: head, hasMoved: transaction.position != before.position) }
      try connection.commit(transaction.position, hasMoved: transaction.position != before.position)
    } catch {
      guard case .unavailable = error, let head else { return giveUp(succeeded.map(\.job), to: before, because: error) }
      unanswered = UnansweredCommit(before: before, head: head)
      for (job, _) in succeeded { job.fail(error) }
      return
    }
    record(writes: succeeded.count, batch: batch.count, commitNanoseconds: Self.now() - started)
    publish(behind: head) { for resume in resumes { resume() } }
  }

  /// - Parameter head: where the batch began, with PostgreSQL.
  private func publish(behind head: Connection.Head?, _ resume: @escaping () -> Void) {
    guard let node, let head else {
      transaction.publish(to: &publisher, rereads: rehearsesJobs) { position.move(to: $0) }
      return resume()
    }
    guard connection.hasWritten else { return resume() }
    node.applier.take(
      Applier.OwnBatch(number: head.batch + 1, position: transaction.position, notes: transaction.takeNotes(), resume: resume))
  }

  /// Writes down for other nodes what the batch says.
  private func log(behind head: Connection.Head, hasMoved: Bool) throws(DatabaseError) {
    guard let node, hasMoved || connection.hasWritten || transaction.hasNotes else { return }
    try BatchLog.append(
      BatchLog.Entry(
        number: head.batch + 1, position: transaction.position, run: node.applier.run, notes: transaction.bytes(node.notes)),
      in: transaction)
  }

  /// Runs one job in its own savepoint; when it throws, its rows, position and staging are undone.
  private func run(_ job: WriteJob) throws -> @Sendable () -> Void {
    let mark = transaction.mark
    do {
      try connection.beginPart()
      let resume = try job.perform(transaction)
      try connection.keepPart()
      return resume
    } catch {
      if connection.isInTransaction {
        do throws(DatabaseError) {
          try connection.undoPart()
        } catch {
          // The savepoint cannot be undone alone: the transaction goes as a whole.
          connection.rollBack()
        }
      }
      transaction.undo(to: mark)
      throw error
    }
  }

  /// Runs the only job of a batch: the transaction itself is what is undone when it throws. A savepoint would cost two
  /// statements and a copy of each page the job changes.
  private func runAlone(_ job: WriteJob) throws -> @Sendable () -> Void {
    let mark = transaction.mark
    do {
      return try job.perform(transaction)
    } catch {
      connection.rollBack()
      transaction.undo(to: mark)
      throw error
    }
  }

  /// Runs a job and undoes it. Whether it throws is seen when it runs again.
  private func rehearse(_ job: WriteJob) throws(DatabaseError) {
    let mark = transaction.mark
    defer { transaction.undo(to: mark) }
    try connection.rehearse { _ = try? job.perform(transaction) }
  }

  /// Nothing of the batch is kept.
  private func giveUp(_ jobs: [WriteJob], to mark: WriteTransaction.Mark, because error: DatabaseError) {
    connection.rollBack()
    transaction.undo(to: mark)
    statistics.withLock { $0.failedCommits += 1 }
    for job in jobs { job.fail(error) }
  }

  private static func lost(_ error: any Error) -> DatabaseError {
    error as? DatabaseError ?? .io(message: "the transaction was rolled back: \(error)")
  }

  /// Nanoseconds of the monotonic clock.
  private static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  private func record(writes: Int, batch: Int, commitNanoseconds: UInt64) {
    let logPages = connection.logPages
    statistics.withLock {
      $0.commits += 1
      $0.writes += writes
      $0.largestBatch = max($0.largestBatch, batch)
      $0.commitNanoseconds += commitNanoseconds
      $0.longestCommitNanoseconds = max($0.longestCommitNanoseconds, commitNanoseconds)
      $0.logPages = logPages
    }
  }
}

// The stream's head: in memory while running, in one row of the database otherwise.
extension Writer {
  static func head(of connection: Connection) throws(DatabaseError) -> Connection.Head {
    let statement =
      switch connection {
      case .sqlite: try connection.takeOutside("SELECT position, 0 FROM stream_head WHERE id = 1")
      case .postgreSQL: try connection.takeOutside("SELECT position, batch FROM stream_head WHERE id = 1")
      }
    defer { connection.giveBack(statement) }
    guard try connection.step(statement) else { throw .corrupt(message: "stream_head has no row") }
    return Connection.Head(position: statement.row.integer(0), batch: statement.row.integer(1))
  }

  /// Begins a batch, and settles what the last one left open.
  private func begin() throws(DatabaseError) -> Connection.Head? {
    guard let head = try connection.beginBatch() else { return nil }
    if let unanswered {
      if try isDurable(unanswered, head) {
        self.unanswered = nil
        // Not in this transaction: followers read in one of their own.
        connection.rollBack()
        publish(behind: unanswered.head) {}
        return try begin()
      }
      self.unanswered = nil
      statistics.withLock { $0.failedCommits += 1 }
      transaction.undo(to: unanswered.before)
    }
    if let node {
      try node.applier.wait(until: head.batch)
      transaction.adopt(head.position)
    }
    guard head.position == transaction.position else {
      throw .corrupt(
        message:
          "the stream is at \(head.position) in the database and at \(transaction.position) here: the database was changed from outside, or went back to an earlier state; start the server anew"
      )
    }
    return head
  }

  /// Whether a commit without an answer has happened. Behind it may be commits of other nodes.
  private func isDurable(_ commit: UnansweredCommit, _ head: Connection.Head) throws(DatabaseError) -> Bool {
    guard let node else { return head.batch == commit.head.batch + 1 }
    guard head.batch > commit.head.batch else { return false }
    return try BatchLog.run(of: commit.head.batch + 1, on: connection) == node.applier.run
  }

  /// Finds out what became of a commit without an answer, as soon as the server can be reached; with the next batch, if there is one before.
  private func settle() {
    while unanswered != nil {
      do throws(DatabaseError) { _ = try begin() } catch {}
      connection.rollBack()
      guard unanswered != nil, queue.isWaiting else { return }
      usleep(Self.retryMicroseconds)
    }
  }
}
