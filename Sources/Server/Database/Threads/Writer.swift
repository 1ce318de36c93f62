import CSQLite
import Glibc
import Synchronization

/// The only thread that writes: takes all that is queued, runs it as one transaction, commits, tells everyone.
///
/// Unchecked: `connection`, `transaction`, `checkpoints` and `publisher` belong to the thread after `start`, and to nobody after `stop`.
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
  private var checkpoints: Checkpoints
  private var publisher: CommitPublisher

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
    batchLimit = max(1, configuration.batchLimit)
    rehearsesJobs = configuration.rehearsesJobs
    checkpoints = Checkpoints(configuration)
  }

  func start() -> WorkerThread {
    WorkerThread { [self] in
      var batch: [WriteJob] = []
      while queue.take(upTo: batchLimit, into: &batch) {
        commit(batch)
        batch.removeAll(keepingCapacity: true)
        if checkpoints.logHasGrown(on: connection) { statistics.withLock { $0.checkpoints += 1 } }
      }
      var none: [Never] = []
      _ = others.take(upTo: 0, into: &none)
      checkpoints.finish(on: connection)
      connection.close()
    }
  }

  private func commit(_ batch: [WriteJob]) {
    let before = transaction.mark
    var succeeded: [(job: WriteJob, resume: @Sendable () -> Void)] = []
    succeeded.reserveCapacity(batch.count)
    // Told after the commit like the others: what made a job throw may be rows that are not durable yet.
    var failed: [(job: WriteJob, error: any Error)] = []
    defer { for (job, error) in failed { job.fail(error) } }
    do throws(DatabaseError) {
      try connection.run("BEGIN IMMEDIATE")
    } catch {
      for job in batch { job.fail(error) }
      return
    }
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
      if transaction.position != before.position { try saveHead() }
      try connection.run("COMMIT")
    } catch {
      return giveUp(succeeded.map(\.job), to: before, because: error)
    }
    record(writes: succeeded.count, batch: batch.count, commitNanoseconds: Self.now() - started)
    transaction.publish(to: &publisher, rereads: rehearsesJobs) { committedPosition.store($0, ordering: .releasing) }
    for (_, resume) in succeeded { resume() }
  }

  /// Runs one job in its own savepoint; when it throws, its rows, position and staging are undone.
  private func run(_ job: WriteJob) throws -> @Sendable () -> Void {
    let mark = transaction.mark
    do {
      try connection.run("SAVEPOINT job")
      let resume = try job.perform(transaction)
      try connection.run("RELEASE job")
      return resume
    } catch {
      if connection.isInTransaction {
        do throws(DatabaseError) {
          try connection.run("ROLLBACK TO job")
          try connection.run("RELEASE job")
        } catch {
          // The savepoint cannot be undone alone: the transaction goes as a whole.
          rollBack()
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
      rollBack()
      transaction.undo(to: mark)
      throw error
    }
  }

  /// Runs a job and undoes it. Whether it throws is seen when it runs again.
  private func rehearse(_ job: WriteJob) throws(DatabaseError) {
    let mark = transaction.mark
    try connection.run("SAVEPOINT rehearsal")
    _ = try? job.perform(transaction)
    if connection.isInTransaction {
      try connection.run("ROLLBACK TO rehearsal")
      try connection.run("RELEASE rehearsal")
    }
    transaction.undo(to: mark)
  }

  /// Nothing of the batch is kept.
  private func giveUp(_ jobs: [WriteJob], to mark: WriteTransaction.Mark, because error: DatabaseError) {
    rollBack()
    transaction.undo(to: mark)
    statistics.withLock { $0.failedCommits += 1 }
    for job in jobs { job.fail(error) }
  }

  private func rollBack() {
    guard connection.isInTransaction else { return }
    // A ROLLBACK that fails has still ended the transaction (SQLite's documentation of it).
    do throws(DatabaseError) { try connection.run("ROLLBACK") } catch {}
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
  static let headTable = "CREATE TABLE stream_head(id INTEGER PRIMARY KEY, position INTEGER NOT NULL) STRICT"

  private static func head(of connection: Connection) throws(DatabaseError) -> Int64 {
    let statement = try connection.takeOutside("SELECT position FROM stream_head WHERE id = 1")
    defer { connection.giveBack(statement) }
    guard try connection.step(statement) else { throw .corrupt(message: "stream_head has no row") }
    return Row(statement: statement.handle).integer(0)
  }

  private func saveHead() throws(DatabaseError) {
    try transaction.execute("UPDATE stream_head SET position = $1 WHERE id = 1", transaction.position)
  }
}
