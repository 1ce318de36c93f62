import Database
import EventLoop
import JSON
import MatrixModel
import Outbound
import ServerCore
import ServerRooms
import Synchronization
import Telemetry

/// Sends one application service what concerns it: one transaction at a time, in the order of the events, each until the
/// service has it.
///
/// The queue is the event log itself: while a transaction is under way nothing else is written down, and a service that comes
/// back after days goes on where it was.
/// Spec: Application Service API, "Pushing events".
final class AppServiceDelivery: Sendable {
  /// Events of one transaction.
  static let eventsLimit = 100
  /// Events looked at in one read transaction.
  private static let scanLimit = 1_000
  /// Positions passed without a find before progress is written down all the same.
  private static let progressInterval: Int64 = 2_000
  /// The service's time to take a transaction.
  static let timeout = Duration.seconds(60)
  static let retryDelay = RetryDelay(longestMilliseconds: 10 * 60 * 1_000)

  /// What the row has, and what is known since.
  private struct Progress: Sendable {
    var interest: AppServiceInterest
    var position: Int64
    var written: Int64
    var transactionID: Int64
    var body: [UInt8]?
    var attempts: Int64
    var retryAt: Int64?
  }

  enum Step: Sendable, Equatable {
    /// Everything is sent.
    case idle
    case sent
    /// The service did not take it; the time of the next attempt.
    case later(Int64)
  }

  let service: AppService
  private let ephemeral: AppServiceEphemeral
  private let signal: WorkSignal
  private let client: AppServiceClient
  private let database: Database
  let rooms: Rooms
  let clock: WallClock
  private let log: Log
  private let progress = Mutex<Progress?>(nil)

  init(
    _ inbox: AppServiceInbox, database: Database, rooms: Rooms, http: HTTPClient, clock: WallClock, log: Log
  ) {
    service = inbox.service
    ephemeral = inbox.ephemeral
    signal = inbox.signal
    client = AppServiceClient(service: inbox.service, http: http)
    self.database = database
    self.rooms = rooms
    self.clock = clock
    self.log = log
  }

  /// Works until the task is cancelled.
  func run() async {
    var timer: TimerToken?
    while !Task.isCancelled {
      do {
        switch try await step() {
        case .sent: continue
        case .idle: await signal.wait()
        case .later(let time):
          timer?.cancel()
          timer = Notifier.loop?.schedule(after: .milliseconds(max(50, time - clock.now()))) { [signal] in signal.notify() }
          await signal.wait()
        }
      } catch is CancellationError {
        break
      } catch DatabaseError.closed {
        break
      } catch {
        log.error("an application service stands still", ["service": .text(service.id.string), "error": .text("\(error)")])
        await signal.wait()
      }
    }
    timer?.cancel()
  }

  /// Makes the next transaction, if there is none under way, and sends it. One call at a time.
  func step() async throws -> Step {
    var progress = try await begin()
    if let retryAt = progress.retryAt, retryAt > clock.now() { return .later(retryAt) }
    if progress.body == nil {
      progress = try await collect(progress)
      guard progress.body != nil else { return .idle }
    }
    guard let body = progress.body else { return .idle }
    let isTaken = await send(body, progress.transactionID)
    try Task.checkCancellation()
    if isTaken {
      progress.body = nil
      progress.attempts = 0
      progress.retryAt = nil
    } else {
      progress.attempts += 1
      progress.retryAt = clock.now() + Self.retryDelay.milliseconds(after: progress.attempts)
    }
    try await write(&progress)
    return progress.retryAt.map { .later($0) } ?? .sent
  }

  // MARK: Rows

  /// A service that is new hears of what comes from now on.
  private func begin() async throws -> Progress {
    if let known = progress.withLock({ $0 }) { return known }
    let (id, committed) = (service.id, database.committedPosition)
    let progress = try await database.write { [service] tx in
      try tx.execute(
        """
        INSERT INTO app_service(id, position, transaction_id) VALUES ($1, $2, 0) ON CONFLICT(id) DO NOTHING
        """, id, committed)
      let row = try tx.first(
        "SELECT position, transaction_id, body, attempts, retry_at FROM app_service WHERE id = $1", id
      ) { ($0.integer(0), $0.integer(1), $0.optionalBlob(2), $0.integer(3), $0.optionalInteger(4)) }
      let (position, transactionID, body, attempts, retryAt) = row ?? (committed, 0, nil, 0, nil)
      return Progress(
        interest: try AppServiceInterest(of: service, at: position, tx), position: position, written: position,
        transactionID: transactionID, body: body, attempts: attempts, retryAt: retryAt)
    }
    self.progress.withLock { $0 = progress }
    return progress
  }

  private func write(_ progress: inout Progress) async throws {
    progress.written = progress.position
    let (row, id) = (progress, service.id)
    try await database.write { tx in
      try tx.execute(
        """
        UPDATE app_service SET position = $1, transaction_id = $2, body = $3, attempts = $4, retry_at = $5 WHERE id = $6
        """, row.position, row.transactionID, row.body, row.attempts, row.retryAt, id)
    }
    self.progress.withLock { $0 = row }
  }

  // MARK: Collecting

  private struct Batch: Sendable {
    var progress: Progress
    var events: [[UInt8]] = []
    var isComplete = true
    /// Who has come into view: the service learns how they are.
    var newcomers: Set<UserID> = []
  }

  /// Goes on until there is something to send or nothing is left; what is to be sent is written down first.
  private func collect(_ start: Progress) async throws -> Progress {
    var progress = start
    var news = service.registration.receivesEphemeral ? ephemeral.take() : AppServiceEphemeral.News()
    while true {
      let end = database.committedPosition
      let batch = try await database.read { [self, progress] tx in try look(tx, progress, upTo: end) }
      progress = batch.progress
      if service.registration.receivesEphemeral { news.notePresence(of: batch.newcomers) }
      if !batch.events.isEmpty || batch.isComplete {
        let told = try await database.read { [self, progress, news] tx in
          try write(news, progress.interest, tx)
        }
        if batch.events.isEmpty && told.isEmpty {
          if progress.position - progress.written >= Self.progressInterval { try await write(&progress) }
          self.progress.withLock { [progress] in $0 = progress }
          return progress
        }
        progress.body = Self.body(batch.events, told)
        progress.transactionID += 1
        try await write(&progress)
        return progress
      }
    }
  }

  private static func body(_ events: [[UInt8]], _ ephemeral: [UInt8]) -> [UInt8] {
    var writer = JSONWriter(capacity: events.reduce(ephemeral.count + 64) { $0 + $1.count + 1 })
    writer.object { writer in
      writer.array("events", events) { $1.raw($0) }
      if !ephemeral.isEmpty { writer.member("ephemeral", raw: ephemeral) }
    }
    return writer.bytes
  }

  private func look(_ tx: ReadTransaction, _ progress: Progress, upTo end: Int64) throws -> Batch {
    typealias Outline = (position: Int64, room: RoomNumber, sender: UserID, target: UserID?)
    let outlines = try tx.all(
      """
      SELECT position, room, sender, type, state_key FROM event WHERE position > $1 AND position <= $2
      ORDER BY position LIMIT $3
      """, progress.position, end, Self.scanLimit
    ) { row -> Outline in
      let isMember = row.identifier(3, as: EventType.self) == .member
      return (
        row.integer(0), RoomNumber(row.integer(1)), row.identifier(2),
        isMember ? row.optionalText(4).map { UserID(trusted: ByteString($0)) } : nil
      )
    }
    var batch = Batch(progress: progress)
    batch.isComplete = outlines.count < Self.scanLimit
    for outline in outlines {
      batch.progress.position = outline.position
      guard
        try batch.progress.interest.includes(
          sender: outline.sender, target: outline.target, in: outline.room, rooms, tx),
        let event = try RoomLoader(transaction: tx).event(at: outline.position),
        let room = try rooms.cache.snapshot(of: outline.room, in: tx)
      else { continue }
      batch.newcomers.formUnion(newcomers(by: event, in: room, batch.progress.interest))
      batch.progress.interest.pass(event)
      var writer = JSONWriter(capacity: event.shared.count + 256)
      event.write(
        to: &writer, for: EventReader(userID: service.sender, deviceID: nil, now: clock.now()), roomID: room.roomID)
      batch.events.append(writer.bytes)
      if batch.events.count == Self.eventsLimit {
        batch.isComplete = false
        return batch
      }
    }
    if batch.isComplete { batch.progress.position = end }
    return batch
  }

  // MARK: Sending

  private func send(_ body: [UInt8], _ transactionID: Int64) async -> Bool {
    let path = AppServiceClient.Path(
      current: "/_matrix/app/v1/transactions/\(transactionID)", legacy: "/transactions/\(transactionID)")
    do throws(OutboundError) {
      let answer = try await client.send("PUT", path, body: body, timeout: Self.timeout)
      if (200..<300).contains(answer.status) { return true }
      log.warning(
        "an application service refused", ["service": .text(service.id.string), "status": .integer(answer.status)])
    } catch {
      log.warning(
        "an application service cannot be reached",
        ["service": .text(service.id.string), "error": .text("\(error)")])
    }
    return false
  }
}
