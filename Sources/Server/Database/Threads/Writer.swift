import Synchronization

/// The only thread that writes: takes all that is queued, runs it as one transaction, commits, tells everyone.
///
/// Where several nodes share the database, the head's row keeps their batches apart: this node's run when it has applied all before them, and its
/// applier publishes.
///
/// Unchecked: all that changes, `queue` and `statistics` aside, belongs to the thread after `start`, and to nobody after `stop`.
final class Writer: @unchecked Sendable {
  typealias WriteJob = Job<WriteTransaction>

  let queue: BoundedQueue<WriteJob>
  /// Closed when no other connection is open: only then the thread closes its own.
  let others = BoundedQueue<Never>(limit: 0)
  let position: StreamPosition
  let statistics = Mutex(DatabaseStatistics())
  let connection: Connection
  let transaction: WriteTransaction
  private let batchLimit: Int
  let rehearsesJobs: Bool
  let report: @Sendable (DatabaseIncident) -> Void
  /// nil where there is no log of ours.
  private var checkpoints: Checkpoints?
  var publisher: CommitPublisher
  /// nil where this node has the database alone.
  let node: WriterNode?
  /// Where the last batch left the stream.
  var head: Connection.Head
  /// Whether nobody else can have moved it since.
  var isHeadKnown = false
  /// A commit that the server did not answer, and of which is not known yet whether it is durable: its jobs were told that the database is gone.
  var unanswered: UnansweredCommit?

  /// `connection` has the newest schema already.
  init(
    _ configuration: DatabaseConfiguration, on connection: Connection, followers: CommitFollowers, position: StreamPosition,
    head: Connection.Head, applier: Applier?, bus: Bus?
  ) throws(DatabaseError) {
    self.head = head
    self.position = position
    node = if let applier, let node = configuration.node { WriterNode(applier, node.notes, bus) } else { nil }
    publisher = CommitPublisher(to: followers, on: connection)
    self.connection = connection
    transaction = WriteTransaction(on: connection, position: head.position)
    queue = BoundedQueue(limit: configuration.writeQueueLimit)
    rehearsesJobs = configuration.rehearsesJobs
    report = configuration.report
    batchLimit = max(1, configuration.batchLimit)
    if case .sqlite = connection { checkpoints = Checkpoints(configuration) }
  }

  func start() -> WorkerThread {
    WorkerThread { [self] in
      var batch: [WriteJob] = []
      while queue.take(upTo: batchLimit, into: &batch) {
        commit(batch[...])
        batch.removeAll(keepingCapacity: true)
        settleUnanswered()
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

  // MARK: A batch

  /// What became of an attempt to run jobs as one transaction.
  private enum Attempt {
    /// The first so many have their answers.
    case ended(Int)
    /// Nothing is kept, nobody has an answer, and the same may succeed now: the connection was lost before the COMMIT, or the head had moved.
    case mayRepeat(DatabaseError)
    /// Nothing is kept, nobody has an answer: a statement has failed that nobody awaited. One by one, the jobs tell whose it is.
    case mustSplit
  }

  /// Jobs that have run. They are told after the commit, those that threw as well: what made a job throw may be rows that are not durable yet.
  struct Batch: Sendable {
    var succeeded: [(job: WriteJob, resume: @Sendable () -> Void)] = []
    var failed: [(job: WriteJob, error: any Error)] = []

    var count: Int { succeeded.count + failed.count }

    /// - Parameter error: of the commit, which those that succeeded share.
    func answer(_ error: DatabaseError?) {
      for (job, resume) in succeeded { if let error { job.fail(error) } else { resume() } }
      for (job, error) in failed { job.fail(error) }
    }
  }

  private func commit(_ jobs: ArraySlice<WriteJob>) {
    var jobs = jobs
    var isRepeated = false
    while !jobs.isEmpty {
      switch attempt(jobs) {
      case .ended(let count):
        jobs = jobs.dropFirst(count)
        isRepeated = false
      case .mayRepeat(let error):
        if isRepeated { return fail(jobs, error) }
        isRepeated = true
      case .mustSplit:
        statistics.withLock { $0.splitBatches += 1 }
        for index in jobs.indices { commit(jobs[index...index]) }
        return
      }
    }
  }

  private func attempt(_ jobs: ArraySlice<WriteJob>) -> Attempt {
    do throws(DatabaseError) {
      try begin()
    } catch {
      connection.rollBack()
      fail(jobs, error)
      return .ended(jobs.count)
    }
    node?.beginTurn()
    defer { node?.endTurn() }
    let before = transaction.mark
    let isAlone = jobs.count == 1
    var batch = Batch()
    batch.succeeded.reserveCapacity(jobs.count)
    do throws(DatabaseError) {
      if connection.takesQuestions {
        for job in jobs { for question in job.questions?() ?? [] { try connection.foresee(question) } }
      }
    } catch { return repeatable(before, because: error) }
    for job in jobs {
      if connection.isBatchFull { break }
      run(job, isAlone: isAlone, in: &batch)
      if let attempt = trouble(with: jobs, batch, before) { return attempt }
    }
    return commit(batch, before, isAlone: isAlone)
  }

  private func run(_ job: WriteJob, isAlone: Bool, in batch: inout Batch) {
    guard !job.isCancelled() else { return batch.failed.append((job, CancellationError())) }
    do {
      if rehearsesJobs { try rehearse(job) }
      // A job that is alone needs no savepoint: the transaction itself is undone. One would cost two statements, and with SQLite a copy of each
      // page that the job changes.
      batch.succeeded.append((job, try isAlone ? job.perform(transaction) : runPart(job)))
    } catch {
      batch.failed.append((job, error))
      statistics.withLock { $0.failedWrites += 1 }
    }
  }

  /// Runs one job of several; when it throws, its rows, position and staging are undone.
  private func runPart(_ job: WriteJob) throws -> @Sendable () -> Void {
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
        } catch  where !connection.hasFailed {
          // The savepoint cannot be undone alone: the transaction goes as a whole.
          connection.rollBack()
        } catch {}
      }
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

  /// After a job: nil if the batch goes on.
  private func trouble(with jobs: ArraySlice<WriteJob>, _ batch: Batch, _ before: WriteTransaction.Mark) -> Attempt? {
    let error = batch.failed.last?.error
    if connection.isLost || connection.hasHeadMoved { return repeatable(before, because: Self.lost(error)) }
    if let error = connection.heldHead {
      undo(to: before)
      statistics.withLock { $0.failedCommits += 1 }
      fail(jobs, error)
      return .ended(jobs.count)
    }
    if jobs.count == 1 {
      guard let error else { return nil }
      undo(to: before)
      batch.failed[0].job.fail(error)
      return .ended(1)
    }
    if connection.hasFailed {
      undo(to: before)
      return .mustSplit
    }
    // Some errors (disk full, I/O) end the whole transaction: then nobody before or after in this batch has rows.
    guard !connection.isInTransaction else { return nil }
    undo(to: before)
    statistics.withLock { $0.failedCommits += 1 }
    for (job, error) in batch.failed { job.fail(error) }
    for (job, _) in batch.succeeded { job.fail(Self.lost(error)) }
    fail(jobs.dropFirst(batch.count), Self.lost(error))
    return .ended(jobs.count)
  }

  private func commit(_ batch: Batch, _ before: WriteTransaction.Mark, isAlone: Bool) -> Attempt {
    let started = MonotonicClock.nanoseconds()
    var error: DatabaseError?
    do throws(DatabaseError) {
      try log()
      let new = try connection.commit(transaction.position, after: head)
      let isLogged = new != head
      head = new
      publish(isLogged: isLogged)
    } catch let caught {
      error = caught
      switch caught {
      case _ where connection.hasHeadMoved: return repeatable(before, because: caught)
      case .unavailable: if settle(before) { error = nil }
      case _ where connection.hasFailed && connection.heldHead == nil && !isAlone:
        undo(to: before)
        return .mustSplit
      default:
        undo(to: before)
        statistics.withLock { $0.failedCommits += 1 }
      }
    }
    if error == nil {
      record(writes: batch.succeeded.count, batch: batch.count, commitNanoseconds: MonotonicClock.nanoseconds() - started)
    }
    answer(batch, error)
    return .ended(batch.count)
  }

  private func repeatable(_ before: WriteTransaction.Mark, because error: DatabaseError) -> Attempt {
    isHeadKnown = false
    undo(to: before)
    return .mayRepeat(error)
  }

  /// Nothing of the batch is kept.
  private func undo(to mark: WriteTransaction.Mark) {
    connection.rollBack()
    transaction.undo(to: mark)
  }

  private func fail(_ jobs: ArraySlice<WriteJob>, _ error: DatabaseError) { for job in jobs { job.fail(error) } }

  private static func lost(_ error: (any Error)?) -> DatabaseError {
    error as? DatabaseError
      ?? .io(message: "the transaction was rolled back: \(error.map { "\($0)" } ?? "the connection is lost")")
  }

  private func record(writes: Int, batch: Int, commitNanoseconds: UInt64) {
    let (logPages, exchanges) = (connection.logPages, connection.exchanges)
    statistics.withLock {
      $0.commits += 1
      $0.writes += writes
      $0.largestBatch = max($0.largestBatch, batch)
      $0.commitNanoseconds += commitNanoseconds
      $0.longestCommitNanoseconds = max($0.longestCommitNanoseconds, commitNanoseconds)
      $0.logPages = logPages
      $0.exchanges = exchanges
    }
  }
}
