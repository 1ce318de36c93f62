import CPostgreSQL
import Glibc
import Synchronization

/// Learns of the commits of other nodes: the bus or the database tells of each, and it looks at the head's row every second, or when somebody has to
/// know what is committed by now. It also says in the node's own row how far this node is, and renews its leases. What nodes say to
/// each other apart from commits goes by it, too.
///
/// Unchecked: what changes after `init` is the thread's, `asking` aside.
final class HeadWatch: @unchecked Sendable {
  typealias Answer = @Sendable (Result<Void, DatabaseError>) -> Void

  private static let lookMilliseconds: Int32 = 1_000
  /// While there should be a bus, and is none.
  private static let lookWithoutBusMilliseconds: Int32 = 50
  private static let retryMicroseconds: UInt32 = 100_000
  /// The node's row is its lease, which lasts five seconds.
  private static let tellSeconds = 1, trimSeconds = 60
  /// A lease that ended while the database was away for everybody is its owner's again if that one comes back as soon: in the time that one try to
  /// connect may take, and a second.
  private static let courtesyNanoseconds: UInt64 = 6_000_000_000
  /// A bus that was gone for less is not worth a line.
  private static let busPatienceNanoseconds: UInt64 = 2_000_000_000

  private let configuration: DatabaseConfiguration
  private let node: NodeConfiguration
  private let applier: Applier
  private let leases: Leases
  private let lease: NodeLease
  private let talk: NodeTalk
  private let bus: Bus?
  private let asking = Mutex<[Answer]>([])
  private let isClosed = Atomic<Bool>(false)
  /// A pipe that wakes the thread.
  private let bell: (reading: Int32, writing: Int32)
  private var connection: PostgreSQLConnection?
  private var lastTold = 0, lastTrimmed = 0
  /// When the connection was made anew, after it had been lost.
  private var returned: UInt64?
  private var hasConnected = false
  private var busOutage = Outage(patienceNanoseconds: busPatienceNanoseconds)

  init(
    _ configuration: DatabaseConfiguration, node: NodeConfiguration, applier: Applier, leases: Leases, lease: NodeLease,
    talk: NodeTalk, bus: Bus?
  ) throws(DatabaseError) {
    self.configuration = configuration
    self.node = node
    self.applier = applier
    self.leases = leases
    self.lease = lease
    self.talk = talk
    self.bus = bus
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw .io(message: "pipe: \(String(cString: strerror(errno)))") }
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    bell = (ends[0], ends[1])
  }

  deinit {
    Glibc.close(bell.reading)
    Glibc.close(bell.writing)
  }

  func start() -> WorkerThread {
    WorkerThread { [self] in
      while !isClosed.load(ordering: .acquiring) {
        noteBus()
        do throws(DatabaseError) {
          try follow()
        } catch {
          connection?.close()
          connection = nil
          answer(takeAsking(), .failure(error))
          usleep(Self.retryMicroseconds)
        }
      }
      if let connection {
        // Who cannot say so is gone for the others when its leases end.
        do throws(DatabaseError) { try sayGoodbye(on: connection) } catch {}
        connection.close()
      }
      answer(takeAsking(), .failure(.closed))
    }
  }

  func close() {
    isClosed.store(true, ordering: .releasing)
    ring()
  }

  /// Calls `answer` once everything is applied that was committed when this was called. Who asks meanwhile shares the question.
  func ask(_ answer: @escaping Answer) {
    let isFirst = asking.withLock { asking in
      asking.append(answer)
      return asking.count == 1
    }
    if isFirst { ring() }
  }

  /// Somebody wants the thread: a question, or something to say.
  func ring() {
    var byte: UInt8 = 1
    // A full pipe wakes the thread, too.
    _ = write(bell.writing, &byte, 1)
  }

  // MARK: The thread

  private func follow() throws(DatabaseError) {
    let connection = try connected()
    wait(on: connection)
    guard PQconsumeInput(connection.handle) == 1 else { throw connection.lost("waiting for commits") }
    let asked = takeAsking()
    let hasHeard = hear(on: connection)
    if !asked.isEmpty || !hasHeard { try look(on: connection, for: asked) }
    for payload in talk.take() { try say(payload, on: connection) }
    try tell(on: connection)
  }

  private func connected() throws(DatabaseError) -> PostgreSQLConnection {
    if let connection { return connection }
    guard case .server(let address) = configuration.place else { throw .misuse(message: "nodes share a PostgreSQL server") }
    let connection: PostgreSQLConnection
    do throws(DatabaseError) { connection = try PostgreSQLConnection(address, configuration, as: .reader) } catch {
      if case .unavailable(let message) = error { configuration.presence?.noteAway(message) }
      throw error
    }
    configuration.presence?.noteBack()
    if hasConnected { returned = MonotonicClock.nanoseconds() }
    hasConnected = true
    if bus == nil {
      _ = try connection.execute(BatchLog.listening)
      _ = try connection.execute(NodeTalk.listening)
    }
    self.connection = connection
    try look(on: connection, for: [])
    try tell(on: connection)
    return connection
  }

  /// Until there is something to read, somebody asks, or it is time to look.
  private func wait(on connection: PostgreSQLConnection) {
    var descriptors = [PQsocket(connection.handle), bell.reading].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    poll(&descriptors, 2, bus?.isConnected == false ? Self.lookWithoutBusMilliseconds : Self.lookMilliseconds)
    var rings = [UInt8](repeating: 0, count: 64)
    while read(bell.reading, &rings, rings.count) == rings.count {}
  }

  /// Whether there was a notification.
  private func hear(on connection: PostgreSQLConnection) -> Bool {
    var newest: Int64?
    var hasHeard = false
    while let notification = PQnotifies(connection.handle) {
      defer { PQfreemem(notification) }
      hasHeard = true
      guard let channel = notification.pointee.relname, let text = notification.pointee.extra else { continue }
      if strcmp(channel, NodeTalk.channel) == 0 {
        talk.hear(String(cString: text), run: applier.run)
      } else if let number = Int64(String(cString: text)) {
        newest = number
      }
    }
    if let newest { applier.learn(of: newest) }
    return hasHeard
  }

  private func say(_ payload: String, on connection: PostgreSQLConnection) throws(DatabaseError) {
    _ = try connection.execute("NOTIFY \(NodeTalk.channel), '\(applier.run) \(payload)'")
  }

  private func look(on connection: PostgreSQLConnection, for asked: [Answer]) throws(DatabaseError) {
    do throws(DatabaseError) {
      let row = try connection.execute("SELECT batch FROM stream_head WHERE id = 1")
      guard let number = row.first?.flatMap({ Int64($0) }) else { throw .corrupt(message: "stream_head has no row") }
      applier.whenApplied(number) { for answer in asked { answer(.success(())) } }
    } catch {
      answer(asked, .failure(error))
      throw error
    }
  }

  private func tell(on connection: PostgreSQLConnection) throws(DatabaseError) {
    let now = MonotonicClock.now().tv_sec
    guard now - lastTold >= Self.tellSeconds || leases.hasNew else { return }
    let transaction = WriteTransaction(on: .postgreSQL(connection), position: 0)
    let began = NodeLease.now()
    _ = try connection.execute("BEGIN")
    try NodeTable.tell(node, run: applier.run, applied: applier.appliedNumber, in: transaction)
    let held = try renewed(in: transaction)
    if now - lastTrimmed >= Self.trimSeconds {
      try BatchLog.trim(in: transaction)
      try Holdings.trim(in: transaction)
      lastTrimmed = now
    }
    _ = try connection.execute("COMMIT")
    lastTold = now
    lease.renew(from: began)
    leases.note(held)
  }

  private func renewed(in transaction: WriteTransaction) throws(DatabaseError) -> [String: Fence?] {
    do { return try leases.renew(for: applier.run, takingEnded: !isPolite, in: transaction) } catch {
      throw error as? DatabaseError ?? .misuse(message: "\(error)")
    }
  }

  /// Whether nodes that had leases when the database went away are given time to come back.
  private var isPolite: Bool {
    returned.map { MonotonicClock.nanoseconds() - $0 < Self.courtesyNanoseconds } ?? false
  }

  private func noteBus() {
    guard let bus else { return }
    switch busOutage.note(isAway: !bus.isConnected, at: MonotonicClock.nanoseconds()) {
    case .began: configuration.report(.busAway)
    case .ended: configuration.report(.busBack)
    case nil: break
    }
  }

  /// Nobody has to wait until this node's leases end.
  private func sayGoodbye(on connection: PostgreSQLConnection) throws(DatabaseError) {
    let transaction = WriteTransaction(on: .postgreSQL(connection), position: 0)
    _ = try connection.execute("BEGIN")
    try Leases.giveUp(applier.run, in: transaction)
    try NodeTable.forget(node.name, run: applier.run, in: transaction)
    _ = try connection.execute("COMMIT")
  }

  private func takeAsking() -> [Answer] {
    asking.withLock { asking in
      defer { asking = [] }
      return asking
    }
  }

  private func answer(_ asked: [Answer], _ result: Result<Void, DatabaseError>) { for answer in asked { answer(result) } }
}
