/// The reader threads: each has a connection of its own and runs one job at a time in one read transaction.
final class Readers: Sendable {
  typealias ReadJob = Job<ReadTransaction>

  let queue: BoundedQueue<ReadJob>
  private let readers: [Reader]

  init(_ configuration: DatabaseConfiguration, position: StreamPosition?) throws(DatabaseError) {
    queue = BoundedQueue(limit: configuration.readQueueLimit)
    var readers: [Reader] = []
    for _ in 0..<max(1, configuration.readerCount) {
      readers.append(Reader(on: try Connection(configuration, as: .reader), position: position))
    }
    self.readers = readers
  }

  func start() -> [WorkerThread] {
    readers.map { [queue] reader in WorkerThread { reader.run(queue) } }
  }
}

/// Unchecked: handed to its thread once, used by no other.
private final class Reader: @unchecked Sendable {
  private let connection: Connection
  private let transaction: ReadTransaction

  init(on connection: Connection, position: StreamPosition?) {
    self.connection = connection
    transaction = ReadTransaction(on: connection, position: position)
  }

  func run(_ queue: BoundedQueue<Job<ReadTransaction>>) {
    var jobs: [Job<ReadTransaction>] = []
    while queue.take(upTo: 1, into: &jobs) {
      for job in jobs { run(job) }
      jobs.removeAll(keepingCapacity: true)
    }
    connection.close()
  }

  private func run(_ job: Job<ReadTransaction>) {
    guard !job.isCancelled() else { return job.fail(CancellationError()) }
    do {
      transaction.noteBegin()
      try connection.beginReading()
      let resume = try job.perform(transaction)
      // Before the caller goes on: an open read transaction holds back the log.
      try connection.endReading()
      resume()
    } catch {
      connection.rollBack()
      job.fail(error)
    }
  }
}
