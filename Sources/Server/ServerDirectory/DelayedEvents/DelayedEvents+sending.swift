import Database
import EventLoop
import JSON
import MatrixModel
import ServerAccounts
import ServerCore
import ServerRooms

extension DelayedEvents {
  /// Sends, cancels or restarts a delayed event. What is at its end as asked already is no error.
  ///
  /// Throws `M_NOT_FOUND`, `M_UNKNOWN` (409) where it came to another end, and for `send` whatever sending it throws: it waits on
  /// then.
  package func perform(_ action: Action, on id: DelayedEvent.ID) async throws {
    try await database.write { [self] transaction in
      guard let event = try Self.event(id, in: transaction) else { throw Self.unknown() }
      if let finalised = event.finalised { return try Self.check(action, finalised.outcome) }
      switch action {
      case .send: try send(event, in: transaction)
      case .cancel: try finalise(event, event: nil, error: nil, in: transaction)
      case .restart:
        let now = clock.now()
        try transaction.execute(
          "UPDATE delayed_event SET since = $1, send_at = $2 WHERE delay_id = $3", now, now + event.delayMilliseconds, id)
        transaction.note(.delayed)
      }
    }
  }

  private static func check(_ action: Action, _ outcome: DelayedEvent.Outcome) throws {
    switch (action, outcome) {
    case (.send, .sent), (.cancel, .cancelled), (.cancel, .failed): return
    case (_, .sent): throw MatrixError.unknown(status: 409, "The event has been sent already.")
    default: throw MatrixError.unknown(status: 409, "The event has been cancelled already.")
    }
  }

  // MARK: At the time

  /// The longest that the loop sleeps: the wall clock may be set.
  private static let sleepMillisecondsLimit: Int64 = 30_000
  /// Events looked up at once.
  private static let batchCount = 100

  func run() async {
    var timer: TimerToken?
    while !Task.isCancelled {
      do {
        try await sendDue()
        let next = try await nextTime() ?? .max
        timer?.cancel()
        let wait = min(max(1, next.subtractingReportingOverflow(clock.now()).partialValue), Self.sleepMillisecondsLimit)
        if next < .max {
          timer = Notifier.loop?.schedule(after: .milliseconds(wait)) { [signal] in signal.notify() }
        }
      } catch {
        if Task.isCancelled { break }
        log.error("delayed events stand still", ["error": .text("\(error)")])
        timer?.cancel()
        timer = Notifier.loop?.schedule(after: .milliseconds(Self.sleepMillisecondsLimit)) { [signal] in signal.notify() }
      }
      await signal.wait()
    }
    timer?.cancel()
  }

  private func nextTime() async throws -> Int64? {
    try await database.read { transaction in
      try transaction.first("SELECT send_at FROM delayed_event WHERE finalised IS NULL ORDER BY send_at, delay_id LIMIT 1") {
        $0.integer(0)
      }
    }
  }

  /// Sends everything whose time has come, the earliest first. Answers how many came to their end.
  @discardableResult
  package func sendDue() async throws -> Int {
    var count = 0
    while !Task.isCancelled {
      let now = clock.now()
      let due = try await database.read { transaction in
        try transaction.all(
          "SELECT delay_id FROM delayed_event WHERE finalised IS NULL AND send_at <= $1 ORDER BY send_at, delay_id LIMIT $2",
          now, Self.batchCount
        ) { $0.identifier(0, as: DelayedEvent.ID.self) }
      }
      guard !due.isEmpty else { break }
      for id in due {
        try await sendAtItsTime(id, now)
        count += 1
      }
    }
    return count
  }

  private func sendAtItsTime(_ id: DelayedEvent.ID, _ now: Int64) async throws {
    do {
      try await database.write { [self] transaction in
        guard let event = try Self.event(id, in: transaction), event.isDue(at: now) else { return }
        try send(event, in: transaction)
      }
    } catch let error as MatrixError {
      try await database.write { [self] transaction in
        guard let event = try Self.event(id, in: transaction), event.isDue(at: now) else { return }
        try finalise(event, event: nil, error: error, in: transaction)
      }
    }
  }

  /// The event and the end of the wait are one commit.
  private func send(_ delayed: DelayedEvent, in transaction: WriteTransaction) throws {
    guard let roomID = delayed.roomID, let room = try rooms.cache.newest(roomID, in: transaction) else {
      throw MatrixError.notFound("The room is gone.")
    }
    var actor = try Accounts.sender(delayed.user, of: delayed.type, at: clock.now(), in: transaction)
    actor.timestamp = delayed.timestamp
    if actor.isShadowBanned {
      return try finalise(
        delayed, event: EventID(trusted: ByteString("$" + RandomText.urlSafe(bytes: 32))), error: nil, in: transaction)
    }
    var editor = RoomEditor(room, in: transaction, of: rooms)
    let eventID = try rooms.append(
      Rooms.Sending(
        type: delayed.type, stateKey: delayed.stateKey, content: try JSON.parse(delayed.content),
        origin: StoredEvent.Origin(delayID: delayed.id)), by: actor, to: &editor)
    try finalise(delayed, event: eventID, error: nil, in: transaction)
    editor.stage()
  }

  private func finalise(
    _ delayed: DelayedEvent, event: EventID?, error: MatrixError?, in transaction: WriteTransaction
  ) throws {
    try transaction.execute(
      "UPDATE delayed_event SET finalised = $1, event_id = $2, error = $3 WHERE delay_id = $4", clock.now(), event,
      error?.bytes, delayed.id)
  }

  // MARK: Forgetting

  /// Forgets events that came to their end long ago, and of each user all but the last. Hourly.
  package func forgetFinalised() async throws {
    let oldest = clock.now() - Self.finalisedLifetimeMilliseconds
    while try await database.write({ transaction in
      try transaction.changes(
        """
        DELETE FROM delayed_event WHERE delay_id IN (
          SELECT delay_id FROM delayed_event WHERE finalised IS NOT NULL AND finalised < $1 LIMIT 500)
        """, oldest)
    }) > 0 {}
    let excess = try await database.read { transaction in
      try transaction.all(
        """
        SELECT user_id, COUNT(*) FROM delayed_event WHERE finalised IS NOT NULL GROUP BY user_id HAVING COUNT(*) > $1
        """, Self.finalisedCountLimit
      ) { (user: $0.identifier(0, as: UserID.self), count: $0.integer(1) - Self.finalisedCountLimit) }
    }
    for (user, count) in excess {
      try await database.write { transaction in
        try transaction.execute(
          """
          DELETE FROM delayed_event WHERE delay_id IN (
            SELECT delay_id FROM delayed_event WHERE user_id = $1 AND finalised IS NOT NULL
            ORDER BY finalised, delay_id LIMIT $2)
          """, user, count)
      }
    }
  }
}

extension DelayedEvent {
  fileprivate func isDue(at now: Int64) -> Bool { finalised == nil && sendAt <= now }
}
