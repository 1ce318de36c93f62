import Glibc

/// Applies the commits of all nodes to this node's memory, in their order, on a thread of its own: so a node hears of others while its writer
/// waits for the head's row.
///
/// Own commits come from the writer with their notes, those of others are read from the log. Whoever began to wait for a number goes on when
/// it is applied.
///
/// Unchecked: what changes after `init` is used between `lock` and `unlock`, `connection` and `publisher` by the thread alone.
final class Applier: @unchecked Sendable {
  /// A commit of this node.
  struct OwnBatch {
    let number, position: Int64
    let notes: [any CommitNote]
  }

  private enum Step {
    case publish(OwnBatch)
    case read
    case end
  }

  /// How long `wait` waits.
  private static let patienceSeconds = 2
  private static let retryMicroseconds: UInt32 = 100_000

  /// Of this run of this node, among all.
  let run: Int64
  /// The position up to which commits are applied.
  private let position: StreamPosition
  private let decode: @Sendable ([UInt8]) -> [any CommitNote]?
  private let connection: Connection
  private let transaction: ReadTransaction
  private var publisher: CommitPublisher

  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let turn = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var applied: Int64
  /// The newest number that somebody has told of.
  private var known: Int64
  /// A number of this node's own: its notes come from the writer.
  private var awaited: Int64?
  private var own: [OwnBatch] = []
  private var waiting: [(number: Int64, resume: @Sendable () -> Void)] = []
  private var isClosed = false

  /// - Parameter connection: reads; the applier closes it.
  init(
    on connection: Connection, run: Int64, from head: Connection.Head, position: StreamPosition, followers: CommitFollowers,
    decode: @escaping @Sendable ([UInt8]) -> [any CommitNote]?
  ) {
    self.connection = connection
    self.run = run
    self.position = position
    self.decode = decode
    transaction = ReadTransaction(on: connection)
    publisher = CommitPublisher(to: followers, on: connection)
    (applied, known) = (head.batch, head.batch)
    pthread_mutex_init(mutex, nil)
    pthread_mutex_init(turn, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    for mutex in [mutex, turn] {
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
    }
    condition.deallocate()
  }

  func start() -> WorkerThread {
    WorkerThread { [self] in
      while true {
        switch next() {
        case .publish(let batch): publish(batch)
        case .read: readOn()
        case .end:
          connection.close()
          return
        }
      }
    }
  }

  /// Applies what the writer has handed over, then ends.
  func close() {
    locked {
      isClosed = true
      pthread_cond_broadcast(condition)
    }
  }

  // MARK: For others

  /// Of the newest commit that is applied.
  var appliedNumber: Int64 { locked { applied } }

  /// Commits that are known and not applied yet.
  var lag: Int64 { locked { known - applied } }

  /// There is a commit of that number, whoever made it.
  func learn(of number: Int64) {
    locked {
      guard number > known else { return }
      known = number
      pthread_cond_broadcast(condition)
    }
  }

  /// Calls `resume` when the commits up to a number are applied: here, if they are.
  func whenApplied(_ number: Int64, _ resume: @escaping @Sendable () -> Void) {
    let isApplied = locked {
      if applied >= number { return true }
      waiting.append((number, resume))
      known = max(known, number)
      pthread_cond_broadcast(condition)
      return false
    }
    if isApplied { resume() }
  }

  // MARK: For the writer

  /// Blocks until the commits up to a number are applied. Throws `.unavailable` if that takes too long.
  func wait(until number: Int64) throws(DatabaseError) {
    learn(of: number)
    var deadline = MonotonicClock.now()
    deadline.tv_sec += Self.patienceSeconds
    let isApplied = locked {
      while applied < number, pthread_cond_timedwait(condition, mutex, &deadline) == 0 {}
      return applied >= number
    }
    guard isApplied else { throw .unavailable(message: "the commits of other servers could not be read in time") }
  }

  /// While jobs run nothing is applied: a job stages in memory what only its own notes may show.
  func beginTurn() { pthread_mutex_lock(turn) }

  func endTurn() { pthread_mutex_unlock(turn) }

  /// A commit of this node is durable.
  func take(_ batch: OwnBatch) {
    locked {
      own.append(batch)
      known = max(known, batch.number)
      pthread_cond_broadcast(condition)
    }
  }

  // MARK: The thread

  private func next() -> Step {
    locked {
      while true {
        if let first = own.first, first.number <= applied + 1 {
          awaited = nil
          return .publish(own.removeFirst())
        }
        if isClosed { return .end }
        if known > applied, awaited != applied + 1 { return .read }
        pthread_cond_wait(condition, mutex)
      }
    }
  }

  private func publish(_ batch: OwnBatch) {
    // What was skipped after a gap is known already.
    if batch.number > appliedNumber { apply(batch.notes, number: batch.number, position: batch.position) }
  }

  private func readOn() {
    do {
      try connection.beginReading()
      let entries = try BatchLog.entries(after: applied, in: transaction)
      let head = try BatchLog.head(in: transaction)
      try connection.endReading()
      guard let head else { return }
      if head.batch > applied, entries.first?.number != applied + 1 { return forgetEverything(upTo: head) }
      for entry in entries {
        if entry.run == run { return locked { awaited = entry.number } }
        apply(decode(entry.notes), number: entry.number, position: entry.position)
      }
      // Somebody has told of a number that is not there.
      locked { if entries.isEmpty { known = min(known, max(applied, head.batch)) } }
    } catch {
      connection.rollBack()
      usleep(Self.retryMicroseconds)
    }
  }

  /// - Parameter notes: nil if they cannot be read: then all that is remembered may be wrong.
  private func apply(_ notes: [any CommitNote]?, number: Int64, position: Int64) {
    beginTurn()
    defer { endTurn() }
    if let notes { publisher.apply(notes) } else { publisher.reloadAll() }
    self.position.move(to: position, batch: number)
    publisher.wake(notes ?? [])
    let resumed = locked {
      applied = number
      pthread_cond_broadcast(condition)
      let resumed = waiting.filter { $0.number <= number }
      waiting.removeAll { $0.number <= number }
      return resumed
    }
    for (_, resume) in resumed { resume() }
  }

  /// The log does not have the next commit any more: this node was away for too long.
  private func forgetEverything(upTo head: Connection.Head) { apply(nil, number: head.batch, position: head.position) }

  private func locked<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}
