import Database
import JSON
import MatrixModel
import ServerCore
import ServerRooms
import Synchronization
import Telemetry

/// What an operator decides about events that are sent later.
package struct DelayedEventLimits: Sendable {
  /// Milliseconds; a client may ask for no longer delay.
  package var delayMilliseconds: Int64 = 366 * 24 * 60 * 60 * 1_000
  /// Events of one user that wait.
  package var scheduledCount = 100

  package init() {}
}

/// Events that are sent later, by the server's clock, unless they are cancelled before. Spec: MSC4140.
///
/// Each is a row, and the commit of its event finalises the row: it is sent once, also where the server stops in between. The
/// sender's rights are those of when it is sent.
package final class DelayedEvents: NoteFollower {
  package enum Action: Sendable { case send, cancel, restart }

  /// For how long, and how many of one user's, events that came to their end can be looked up.
  package static let finalisedLifetimeMilliseconds: Int64 = 7 * 24 * 60 * 60 * 1_000
  package static let finalisedCountLimit: Int64 = 1_000

  package let limits: DelayedEventLimits
  let database: Database
  let rooms: Rooms
  let clock: WallClock
  let log: Log
  let signal = WorkSignal()
  private let state: DelayedState
  private let task = Mutex<Task<Void, Never>?>(nil)

  package init(
    _ limits: DelayedEventLimits, database: Database, rooms: Rooms, state: DelayedState, clock: WallClock, log: Log
  ) {
    self.limits = limits
    self.database = database
    self.rooms = rooms
    self.clock = clock
    self.log = log
    self.state = state
    database.follow(.delayed, .inUse, by: self)
  }

  /// Begins to send what is due, also what became due while the server did not run.
  package func start() { task.withLock { $0 = Task { await run() } } }

  package func stop() async {
    guard let task = task.withLock({ $0 }) else { return }
    task.cancel()
    await task.value
  }

  package func apply(_ note: Note, _ rows: CommittedRows) {
    if case .inUse(.delayed, let room) = note { state.scheduled(in: room) }
  }

  package func wake(_ note: Note) {
    if note == .delayed { signal.notify() }
  }

  package func reload(_ rows: CommittedRows) { state.forget() }

  // MARK: Scheduling

  /// Remembers an event to be sent later. The same transaction ID from the same device gives the same delayed event.
  ///
  /// Throws `M_FORBIDDEN` if the user is not in the room, `M_INVALID_PARAM` for a delay that is not positive, `M_UNKNOWN` with
  /// `M_MAX_DELAY_EXCEEDED` for one that is too long, `M_LIMIT_EXCEEDED` while too many of theirs wait.
  package func schedule(_ draft: DelayedEvent.Draft, by actor: Rooms.Actor) async throws -> DelayedEvent.ID {
    guard draft.delayMilliseconds > 0 else {
      throw MatrixError.invalidParameter("The delay is a number of milliseconds, at least 1.")
    }
    guard draft.delayMilliseconds <= limits.delayMilliseconds else {
      throw MatrixError.maxDelayExceeded(limits.delayMilliseconds)
    }
    if draft.type == .redaction, draft.stateKey == nil, EventID(draft.content["redacts"]) == nil {
      throw MatrixError.badJSON("'redacts' of a redaction is an event ID.")
    }
    guard draft.content.bytes.count <= Self.contentBytesLimit else {
      throw MatrixError.tooLarge("The content of an event has at most \(Self.contentBytesLimit) bytes.")
    }
    return try await database.write { [self] transaction in
      if let known = try scheduled(draft, by: actor, in: transaction) { return known }
      guard let room = try rooms.cache.newest(draft.roomID, in: transaction), room.isJoined(actor.userID) else {
        throw MatrixError.forbidden("You are not in this room.")
      }
      try requirePlace(for: actor.userID, in: transaction)
      let id = DelayedEvent.ID(trusted: ByteString("mld_" + RandomText.urlSafe(bytes: 24)))
      let now = clock.now()
      try transaction.execute(
        """
        INSERT INTO delayed_event(delay_id, user_id, device_id, transaction_id, room, type, state_key, content, timestamp,
          delay, since, send_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        """, id, actor.userID, actor.deviceID?.text ?? "", draft.transactionID?.text ?? "", room.number, draft.type,
        draft.stateKey, [UInt8](draft.content.bytes), actor.timestamp, draft.delayMilliseconds, now,
        now + draft.delayMilliseconds)
      if draft.stateKey != nil {
        state.scheduled(in: room.number)
        transaction.note(.inUse(.delayed, room.number))
      }
      transaction.note(.delayed)
      return id
    }
  }

  /// What the whole event may have: nothing longer could ever be sent.
  static let contentBytesLimit = 65_536

  private func scheduled(
    _ draft: DelayedEvent.Draft, by actor: Rooms.Actor, in transaction: ReadTransaction
  ) throws -> DelayedEvent.ID? {
    guard let transactionID = draft.transactionID, let deviceID = actor.deviceID else { return nil }
    return try transaction.first(
      """
      SELECT d.delay_id FROM delayed_event d JOIN room r ON r.room = d.room
      WHERE d.user_id = $1 AND d.device_id = $2 AND d.transaction_id = $3 AND r.room_id = $4 AND d.type = $5
      """, actor.userID, deviceID, transactionID, draft.roomID, draft.type
    ) { $0.identifier(0) }
  }

  private func requirePlace(for user: UserID, in transaction: ReadTransaction) throws {
    let waiting = try transaction.first(
      "SELECT COUNT(*), MIN(send_at) FROM delayed_event WHERE user_id = $1 AND finalised IS NULL", user
    ) { (count: $0.integer(0), next: $0.integer(1)) }
    guard let waiting, waiting.count >= Int64(limits.scheduledCount) else { return }
    throw MatrixError.limitExceeded(retryAfterMilliseconds: max(1_000, waiting.next - clock.now()))
  }
}

extension MatrixError {
  /// Spec: MSC4140 as clients in use know it, before it is in the specification.
  static func maxDelayExceeded(_ milliseconds: Int64) -> MatrixError {
    var error = MatrixError.unknown(status: 400, "The delay is longer than the \(milliseconds) milliseconds allowed.")
    error.maxDelayMilliseconds = milliseconds
    return error
  }
}
