import Synchronization

/// What a server has besides writer and readers when others share its database.
final class Nodes: Sendable {
  let node: NodeConfiguration
  let applier: Applier
  let leases = Leases()
  let talk = NodeTalk()
  let lease = NodeLease()
  /// nil where the database carries what nodes tell each other.
  let bus: Bus?
  private let presence: DatabasePresence?
  private let watch: HeadWatch
  private let threads: Mutex<[WorkerThread]> = Mutex([])

  /// nil if the server has the database alone.
  init?(
    _ configuration: DatabaseConfiguration, from head: Connection.Head, position: StreamPosition, followers: CommitFollowers
  ) throws(DatabaseError) {
    guard let node = configuration.node else { return nil }
    self.node = node
    presence = configuration.presence
    applier = Applier(
      on: try Connection(configuration, as: .reader), run: .random(in: 1..<1 << 40), from: head, position: position,
      followers: followers, decode: node.notes.decode)
    bus = configuration.bus.map { [applier, talk] configuration in
      Bus(configuration) { topic, text in
        switch topic {
        case .batch: Int64(text).map { applier.learn(of: $0) }
        case .talk: talk.hear(text, run: applier.run)
        }
      }
    }
    watch = try HeadWatch(
      configuration, node: node, applier: applier, leases: leases, lease: lease, talk: talk, bus: bus)
  }

  func start() {
    bus?.start()
    threads.withLock { $0 = [applier.start(), watch.start()] }
  }

  /// After the writer: its last commits are applied and answered.
  func close() {
    watch.close()
    applier.close()
    for thread in threads.withLock({ $0 }) { thread.join() }
    bus?.close()
  }

  func want(_ lease: String, granted: @escaping @Sendable (Fence) -> Void, lost: @escaping @Sendable () -> Void) {
    leases.want(lease, granted: granted, lost: lost)
    watch.ring()
  }

  func say(_ bytes: [UInt8], about subject: UInt8) {
    guard let bus else {
      if talk.say(bytes, about: subject) { watch.ring() }
      return
    }
    if let digits = NodeTalk.digits(bytes, about: subject) { bus.publish("\(applier.run) \(digits)", on: .talk) }
  }

  /// As long as the writer waits for its connection.
  private static let patience = Duration.nanoseconds(Int64(DatabasePresence.patienceNanoseconds))
  private static let pause = Duration.milliseconds(100)

  func catchUp(isPatient: Bool) async throws(DatabaseError) {
    let deadline = ContinuousClock.now + Self.patience
    while true {
      let result: Result<Void, DatabaseError> = await withCheckedContinuation { continuation in
        watch.ask { continuation.resume(returning: $0) }
      }
      guard case .failure(.unavailable) = result, isPatient, presence?.isGivenUp != true, ContinuousClock.now < deadline,
        !Task.isCancelled
      else {
        return try result.get()
      }
      try? await Task.sleep(for: Self.pause)
    }
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
