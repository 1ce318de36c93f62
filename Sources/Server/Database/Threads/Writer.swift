import Glibc
import Synchronization

/// The only thread that writes: takes all that is queued, runs it as one transaction, commits, tells everyone.
///
/// Unchecked: `connection`, `transaction`, `checkpoints`, `publisher` and `unanswered` belong to the thread after `start`, and to nobody after `stop`.
final class Writer: @unchecked Sendable {
  typealias WriteJob = Job<WriteTransaction>

  let queue: BoundedQueue<WriteJob>
  /// Closed when no other connection is open: only then the thread closes its own.
  let others = BoundedQueue<Never>(limit: 0)
  let committedPosition: Atomic<Int64>
  let statistics = Mutex(DatabaseStatistics())
  private let connection: Connection
  private let transaction: WriteTransaction
  private let batchLimit: Int
  private let rehearsesJobs: Bool
  /// nil where there is no log of ours.
  private var checkpoints: Checkpoints?
  private var publisher: CommitPublisher
  /// A commit that the server did not answer: its jobs were told that the database is gone, and whether it is durable is not known yet.
  private var unanswered: UnansweredCommit?

  private struct UnansweredCommit {
    let before: WriteTransaction.Mark
    /// The number in the head's row that it would have made.
    let batch: Int64
  }

  /// Jobs in a batch of PostgreSQL at most: beyond 64 savepoints every reader pays for them.
  private static let postgreSQLBatchLimit = 50

  /// `connection` has the newest schema already.
  init(
    _ configuration: DatabaseConfiguration, on connection: Connection, followers: CommitFollowers
  ) throws(DatabaseError) {
    let head = try Self.head(of: connection)
    publisher = CommitPublisher(to: followers, on: connection)
    self.connection = connection
    transaction = WriteTransaction(on: connection, position: head)
    committedPosition = Atomic(head)
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
    let started = Self.now()
    do throws(DatabaseError) {
      try connection.commit(transaction.position, hasMoved: transaction.position != before.position)
    } catch {
      guard case .unavailable = error, let head else { return giveUp(succeeded.map(\.job), to: before, because: error) }
      unanswered = UnansweredCommit(before: before, batch: head.batch + 1)
      for (job, _) in succeeded { job.fail(error) }
      return settle()
    }
    record(writes: succeeded.count, batch: batch.count, commitNanoseconds: Self.now() - started)
    publish()
    for (_, resume) in succeeded { resume() }
  }

  private func publish() {
    transaction.publish(to: &publisher, rereads: rehearsesJobs) { committedPosition.store($0, ordering: .releasing) }
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
  private static func head(of connection: Connection) throws(DatabaseError) -> Int64 {
    let statement = try connection.takeOutside("SELECT position FROM stream_head WHERE id = 1")
    defer { connection.giveBack(statement) }
    guard try connection.step(statement) else { throw .corrupt(message: "stream_head has no row") }
    return statement.row.integer(0)
  }

  /// Begins a batch, and settles what the last one left open.
  private func begin() throws(DatabaseError) -> Connection.Head? {
    guard let head = try connection.beginBatch() else { return nil }
    if let unanswered {
      self.unanswered = nil
      if head.batch == unanswered.batch {
        // Not in this transaction: followers read in one of their own.
        connection.rollBack()
        publish()
        return try begin()
      }
      statistics.withLock { $0.failedCommits += 1 }
      transaction.undo(to: unanswered.before)
    }
    guard head.position == transaction.position else {
      throw .corrupt(
        message:
          "the stream is at \(head.position) in the database and at \(transaction.position) here: the database was changed from outside, or went back to an earlier state; start the server anew"
      )
    }
    return head
  }

  /// Finds out at once, if the server can be reached, what became of a commit without an answer; otherwise the next batch does.
  private func settle() {
    do throws(DatabaseError) { _ = try begin() } catch {}
    connection.rollBack()
  }
}
