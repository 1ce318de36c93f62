import Glibc
import Synchronization

/// The server's rows: one writer with group commit, several readers, one gapless stream of positions.
///
/// A closure given to `read` or `write` runs on a database thread: it computes and calls its transaction, it never waits
/// for anything else, and it never calls `read` or `write`.
package final class Database: Sendable {
  private let writer: Writer
  private let position: StreamPosition
  /// nil where there are no other nodes.
  let nodes: Nodes?
  private let followers = CommitFollowers()
  private let presence: DatabasePresence
  private let readers: Readers
  private let readerThreads: [WorkerThread]
  private let writerThread: WorkerThread
  private let lock: Mutex<LockFile?>
  private let isClosed = Atomic<Bool>(false)

  /// Opens or creates the database and brings it to the newest of `migrations`.
  ///
  /// Throws `.unusable` for a path or a database that cannot be used, `.unavailable` for a server that cannot be reached, `.locked` or
  /// `.occupied` while another process has the database, `.newer` and `.migration` for a schema this program must not touch.
  package init(_ configuration: DatabaseConfiguration, migrations: [Migration]) throws(DatabaseError) {
    var configuration = configuration
    presence = DatabasePresence(configuration.report)
    configuration.presence = presence
    lock = Mutex(try configuration.path.map { path throws(DatabaseError) in try LockFile(for: path) })
    if let path = configuration.path { try Self.create(path) }
    let connection = try Connection(configuration, as: .writer)
    do throws(DatabaseError) {
      guard try !connection.hasTable(DatabaseCopy.progressTable) else {
        throw .unusable(path: configuration.name, reason: "a copy into it has not ended; run martlet database copy once more")
      }
      try Nodes.alone(on: connection, if: configuration.node != nil) { () throws(DatabaseError) in
        try Migrator(name: configuration.name, connection: connection).apply(migrations)
      }
    } catch .corrupt(let message) {
      throw .unusable(path: configuration.name, reason: message)
    }
    // Both before either starts a thread: what fails here leaves nothing running.
    let head = try connection.head()
    let position = StreamPosition(head)
    self.position = position
    readers = try Readers(configuration, position: configuration.node == nil ? nil : position)
    let nodes = try Nodes(configuration, from: head, position: position, followers: followers)
    self.nodes = nodes
    writer = try Writer(
      configuration, on: connection, followers: followers, position: position, head: head, applier: nodes?.applier,
      bus: nodes?.bus)
    nodes?.start()
    readerThreads = readers.start()
    writerThread = writer.start()
  }

  deinit { close() }

  /// Runs `body` in one read transaction on a reader thread. It sees at least every commit whose `write` has returned.
  ///
  /// Throws what `body` throws, `.overloaded` when too many jobs wait, `.closed` after `close()`, and `CancellationError`
  /// when the task is cancelled before `body` starts.
  package nonisolated(nonsending) func read<Value: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws -> Value
  ) async throws -> Value {
    try await readers.queue.run(body)
  }

  /// Runs `body` on the writer thread and returns once the group commit that holds it is durable.
  ///
  /// Work of a lease writes only while this node has the lease: else `.displaced` is thrown.
  ///
  /// When `body` throws, its changes alone are undone and the error is thrown here. When the commit fails, every job of
  /// the batch is undone and throws the commit's error. Otherwise throws as `read` does; a job that has started is not
  /// dropped by cancellation.
  package nonisolated(nonsending) func write<Value: Sendable>(
    _ body: @escaping @Sendable (WriteTransaction) throws -> Value
  ) async throws -> Value {
    guard let fence else { return try await writer.queue.run(body) }
    return try await writer.queue.run(asking: { [fence.question] }) { transaction in
      try fence.check(in: transaction)
      return try body(transaction)
    }
  }

  /// What writes of the running task have to check; nil for most tasks.
  private var fence: Fence? { nodes == nil ? nil : Fence.current }

  /// `write` for hot commands: `questions` are reads that `body` will make, so that PostgreSQL answers those of all jobs of a batch at once. Called
  /// on the writer thread, and with PostgreSQL only.
  package nonisolated(nonsending) func write<Value: Sendable>(
    asking questions: @escaping @Sendable () -> [Question], _ body: @escaping @Sendable (WriteTransaction) throws -> Value
  ) async throws -> Value {
    guard let fence else { return try await writer.queue.run(asking: questions, body) }
    return try await writer.queue.run(asking: { [fence.question] + questions() }) { transaction in
      try fence.check(in: transaction)
      return try body(transaction)
    }
  }

  /// `read` for starting up and for commands: blocks the calling thread, so never on a loop or in a task.
  package func readBlocking<Value: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws -> Value
  ) throws -> Value {
    try readers.queue.runBlocking(body)
  }

  /// `write` for starting up and for commands: blocks the calling thread, so never on a loop or in a task.
  package func writeBlocking<Value: Sendable>(
    _ body: @escaping @Sendable (WriteTransaction) throws -> Value
  ) throws -> Value {
    try writer.queue.runBlocking(body)
  }

  /// The newest position that is durable and whose notes have been applied.
  package var committedPosition: Int64 { position.committed }

  /// Returns once everything is applied here that any node had committed when this was called. At once where there are no other nodes.
  ///
  /// - Parameter isPatient: whether to wait for a database that is away for as long as writes do.
  ///
  /// Throws `.unavailable` while the database cannot be reached.
  package nonisolated(nonsending) func catchUp(isPatient: Bool = false) async throws(DatabaseError) {
    try await nodes?.catchUp(isPatient: isPatient)
  }

  /// As `catchUp()`, if this node is not that far yet: for positions that clients have from other nodes.
  package nonisolated(nonsending) func catchUp(to position: Int64) async throws(DatabaseError) {
    if position > committedPosition { try await catchUp() }
  }

  /// Calls `follower`, which the database does not keep alive, for the notes of some kinds in all commits from now on. Those
  /// of one kind are called in the order in which they began to follow.
  package func follow(_ kinds: [UInt8], by follower: any CommitFollower) { followers.add(follower, to: kinds) }

  /// Has work that only one node may do begin here, if this node gets its lease: at once where there are no other nodes.
  ///
  /// - Parameters:
  ///   - granted: called when the node gets the lease, from any thread; must not block. What tasks that it begins write is refused once another
  ///     node has the lease.
  ///   - lost: called when another node has got it, because this one was stopped for too long.
  package func lease(_ name: String, granted: @escaping @Sendable () -> Void, lost: @escaping @Sendable () -> Void) {
    guard let nodes else { return granted() }
    nodes.want(name, granted: { Fence.$current.withValue($0, operation: granted) }, lost: lost)
  }

  /// Compares what nodes must have alike with the others, and tells them. Once, before this one answers requests. Nothing where there are no
  /// others.
  ///
  /// Throws `.disagreement` if it differs from one that runs.
  package nonisolated(nonsending) func join(with terms: NodeTerms) async throws {
    guard let nodes else { return }
    try await write { transaction in
      try NodeTable.agree(
        terms, nodes.node, run: nodes.applier.run, applied: nodes.applier.appliedNumber, in: transaction)
    }
  }

  /// Whether others may share the database.
  package var isNode: Bool { nodes != nil }

  /// Of this node among those that share the database: another after each start. 0 where there are no others.
  package var run: Int64 { nodes?.applier.run ?? 0 }

  /// The name of this node; nil where there are no others. It stays over a restart.
  package var nodeName: String? { nodes?.node.name }

  /// The run of the node with a name; nil if it has ended, or has not been heard of for ten seconds.
  package nonisolated(nonsending) func run(ofNode name: String) async throws -> Int64? {
    try await read { try NodeTable.run(of: name, in: $0) }
  }

  /// The other nodes that run, and who has a lease. Empty where there are no others.
  package nonisolated(nonsending) func census(of lease: String) async throws -> NodeCensus {
    guard isNode else { return NodeCensus() }
    let run = run
    return try await read { try NodeTable.census(without: run, lease: lease, in: $0) }
  }

  /// How far this machine's clock is off from that of the PostgreSQL server, at least: positive if it is ahead. Zero if they may agree, as the time
  /// that the question and its answer took is not known apart.
  package nonisolated(nonsending) func clockOffset() async throws -> Duration {
    try await read { try ClockComparison.offset(in: $0) }
  }

  /// Tells all other nodes something that is in no row, at most once: it may be lost. Nothing where there are none.
  ///
  /// - Parameters:
  ///   - subject: which listeners it is for.
  ///   - bytes: 3,900 at most; longer ones are not sent.
  package func tellNodes(_ bytes: [UInt8], about subject: UInt8) { nodes?.say(bytes, about: subject) }

  /// Calls `handler`, from one thread, with what other nodes tell about a subject. It must not block.
  package func listenToNodes(about subject: UInt8, _ handler: @escaping @Sendable ([UInt8]) -> Void) {
    nodes?.talk.listen(to: subject, handler)
  }

  /// Whether the PostgreSQL server cannot be reached, as the last connection that was tried has found. Nodes try all the time, others when they read
  /// or write. false with SQLite.
  package var isAway: Bool { presence.isAway }

  /// Whether the bus is there; nil where there is none to be.
  package var isBusConnected: Bool? { nodes?.bus?.isConnected }

  package var statistics: DatabaseStatistics {
    var statistics = writer.statistics.withLock { $0 }
    statistics.waitingWrites = writer.queue.count
    statistics.waitingReads = readers.queue.count
    if let nodes { (statistics.lag, statistics.leases) = (Int(nodes.applier.lag), nodes.leases.heldCount) }
    return statistics
  }

  /// Finishes what is queued, refuses the rest, moves SQLite's log into the database and lets go of it. Blocks until that
  /// is done. A second call does nothing.
  package func close() {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    writer.queue.close()
    readers.queue.close()
    for thread in readerThreads { thread.join() }
    // The log goes with the last connection, and readers may not delete it.
    writer.others.close()
    writerThread.join()
    nodes?.close()
    lock.withLock { $0 = nil }
  }

  /// SQLite creates with the umask's mode, and gives its log the mode of the file: so the file is made first.
  static func create(_ path: String) throws(DatabaseError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .unusable(path: path, reason: String(cString: strerror(errno))) }
    Glibc.close(descriptor)
  }
}
