import Synchronization

/// What a server has besides writer and readers when others share its database.
final class Nodes: Sendable {
  let node: NodeConfiguration
  let applier: Applier
  let leases = Leases()
  let talk = NodeTalk()
  let lease = NodeLease()
  private let watch: HeadWatch
  private let threads: Mutex<[WorkerThread]> = Mutex([])

  /// nil if the server has the database alone.
  init?(
    _ configuration: DatabaseConfiguration, from head: Connection.Head, position: StreamPosition, followers: CommitFollowers
  ) throws(DatabaseError) {
    guard let node = configuration.node else { return nil }
    self.node = node
    applier = Applier(
      on: try Connection(configuration, as: .reader), run: .random(in: 1..<1 << 40), from: head, position: position,
      followers: followers, decode: node.notes.decode)
    watch = try HeadWatch(configuration, node: node, applier: applier, leases: leases, lease: lease, talk: talk)
  }

  func start() { threads.withLock { $0 = [applier.start(), watch.start()] } }

  /// After the writer: its last commits are applied and answered.
  func close() {
    watch.close()
    applier.close()
    for thread in threads.withLock({ $0 }) { thread.join() }
  }

  func want(_ lease: String, granted: @escaping @Sendable (Fence) -> Void, lost: @escaping @Sendable () -> Void) {
    leases.want(lease, granted: granted, lost: lost)
    watch.ring()
  }

  func say(_ bytes: [UInt8], about subject: UInt8) {
    if talk.say(bytes, about: subject) { watch.ring() }
  }

  func catchUp() async throws(DatabaseError) {
    let result: Result<Void, DatabaseError> = await withCheckedContinuation { continuation in
      watch.ask { continuation.resume(returning: $0) }
    }
    try result.get()
  }

  /// Makes the tables that nodes share, and runs `body`, which changes the schema, while no other node does so.
  static func alone(
    on connection: Connection, if isNode: Bool, _ body: () throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    guard isNode, case .postgreSQL(let server) = connection else { return try body() }
    try PostgreSQLNodeLock.alone(on: server) { () throws(DatabaseError) in
      try body()
      for table in [BatchLog.table, NodeTable.table, Leases.table, Holdings.table] { try connection.execute(table) }
    }
  }
}
