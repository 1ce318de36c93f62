import Database
import EventLoop
import JSON
import MatrixModel
import Outbound
import Telemetry

/// Brings what waits in the queue to the push gateways: for each pusher one request at a time, in the order of the events.
///
/// A pusher's row says up to where it has pushed and when it may try again: a restart neither loses nor repeats a push that
/// was answered.
final class PushDelivery: Sendable {
  /// Requests to gateways under way at once.
  static let requestsLimit = 32
  /// The gateway's time to answer.
  static let timeout = Duration.seconds(15)
  /// Bytes of an answer that are looked at.
  static let answerBytesLimit = 64 << 10
  static let retryDelay = RetryDelay(longestMilliseconds: 60 * 60 * 1_000)
  /// A notification that could not be pushed for this long is given up: nobody wants to be woken for it any more.
  static let ageMillisecondsLimit: Int64 = 24 * 60 * 60 * 1_000

  private let runs = PusherRuns(limit: requestsLimit)
  private let database: Database
  private let pushers: Pushers
  private let rooms: Rooms
  private let badges: UnreadBadges
  private let http: HTTPClient
  private let clock: WallClock
  private let log: Log

  init(
    database: Database, pushers: Pushers, rooms: Rooms, badges: UnreadBadges, http: HTTPClient, clock: WallClock, log: Log
  ) {
    self.database = database
    self.pushers = pushers
    self.rooms = rooms
    self.badges = badges
    self.http = http
    self.clock = clock
    self.log = log
  }

  // MARK: Running

  /// Has a pusher look for what it has to push. Returns at once.
  func start(_ id: Pusher.ID) { runs.start(id) { [self] in await deliver($0) } }

  /// Returns when no pusher has anything to do now.
  func settle() async { await runs.settle() }

  /// Cancels what is under way: it is pushed after the next start.
  func stop() async { await runs.stop(cancels: true) }

  // MARK: One pusher

  /// One request and the row it stands on.
  private struct Plan: Sendable {
    let notification: PushNotification
    let url: String
    let destinations: DestinationPolicy
    /// Everything up to here is done when the gateway has it.
    let position: Int64
    let attempts: Int64
  }

  private enum Next: Sendable {
    case nothing
    case push(Plan)
    /// Passed over without a request.
    case pass(upTo: Int64)
    case retry(at: Int64)
  }

  private enum Outcome: Sendable { case pushed, rejected, failed }

  private func deliver(_ id: Pusher.ID) async {
    do {
      while !Task.isCancelled {
        // Before the transaction begins, so that it sees at least this.
        let committed = database.committedPosition
        switch try await database.read({ [self] tx in try next(id, tx, committed) }) {
        case .nothing: return
        case .retry(let time):
          Notifier.loop?.schedule(after: .milliseconds(max(50, time - clock.now()))) { [weak self] in self?.start(id) }
          return
        case .pass(let position): try await write(id) { try Self.pass(id, upTo: position, $0) }
        case .push(let plan):
          let outcome = await push(plan)
          if Task.isCancelled, outcome == .failed { return }
          try await note(outcome, of: plan)
        }
      }
    } catch is CancellationError {
    } catch DatabaseError.closed {
    } catch {
      log.error("a pusher stands still", ["app": .text(id.appID.string), "error": .text("\(error)")])
    }
  }

  /// What the pusher has to do first.
  private func next(_ id: Pusher.ID, _ tx: ReadTransaction, _ committed: Int64) throws -> Next {
    typealias Found = (pusher: Pusher, updated: Int64, position: Int64, badge: Int64, attempts: Int64, retryAt: Int64?)
    let row = try tx.first(
      """
      SELECT user_id, app_id, pushkey, kind, device_id, app_display_name, device_display_name, profile_tag, lang, data,
        updated, position, badge, attempts, retry_at
      FROM pusher WHERE user_id = $1 AND app_id = $2 AND pushkey = $3
      """, id.userID, id.appID, id.pushkey
    ) { row -> Found in
      (Pusher(row), row.integer(10), row.integer(11), row.integer(12), row.integer(13), row.optionalInteger(14))
    }
    guard let row, row.pusher.kind == .http else { return .nothing }
    let now = clock.now()
    if let retryAt = row.retryAt, retryAt > now { return .retry(at: retryAt) }
    let queued = try tx.first(
      "SELECT event, actions, queued FROM push_queue WHERE user_id = $1 AND event > $2 ORDER BY event LIMIT 1", id.userID,
      row.position
    ) { (event: $0.integer(0), actions: $0.blob(1), queued: $0.integer(2)) }
    guard try Accounts.mayBePushed(tx, id.userID, now: now) else {
      return queued.map { .pass(upTo: $0.event) } ?? .nothing
    }
    guard let url = row.pusher.data["url"]?.text, let destinations = pushers.gateways.destination(of: url) else {
      return queued.map { .pass(upTo: $0.event) } ?? .nothing
    }
    var news: PushNotification.News?
    if let queued {
      guard now - queued.queued < Self.ageMillisecondsLimit,
        let found = try self.news(queued.event, queued.actions, for: id.userID, tx, committed)
      else { return .pass(upTo: queued.event) }
      news = found
    }
    let badge = try badges.badge(of: id.userID, now: now, SyncRows(tx, completeUpTo: committed))
    guard news != nil || badge.unread != row.badge else { return .nothing }
    return .push(
      Plan(
        notification: PushNotification(pusher: row.pusher, updated: row.updated, badge: badge, news: news),
        url: url.string, destinations: destinations, position: queued?.event ?? row.position, attempts: row.attempts))
  }

  /// nil for what is no news any more: it was read, redacted, or happened in a room that the user has left.
  private func news(
    _ position: Int64, _ actions: [UInt8], for user: UserID, _ tx: ReadTransaction, _ committed: Int64
  ) throws -> PushNotification.News? {
    guard let event = try RoomLoader(transaction: tx).event(at: position), event.redactedBecause == nil,
      let room = try rooms.cache.snapshot(of: event.room, in: tx),
      room.isJoined(user) || room.membership(of: user) == .invite,
      try !badges.hasRead(event, by: user, SyncRows(tx, completeUpTo: committed))
    else { return nil }
    return PushNotification.News(event: event, room: room, actions: actions)
  }

  private func push(_ plan: Plan) async -> Outcome {
    let request = OutgoingRequest(
      "POST", url: plan.url, headers: [("Content-Type", "application/json")], body: plan.notification.bytes,
      timeout: Self.timeout, responseBytesLimit: Self.answerBytesLimit, destinations: plan.destinations)
    let pushkey = plan.notification.pusher.id.pushkey
    do throws(OutboundError) {
      let answer = try await http.send(request)
      guard (200..<300).contains(answer.status) else {
        log.info("a push gateway refused", ["status": .integer(answer.status)])
        return .failed
      }
      let rejected = (try? JSON.parse(answer.body))?["rejected"]?.elements.contains { $0.text == pushkey }
      return rejected ?? false ? .rejected : .pushed
    } catch {
      log.info("a push gateway cannot be reached", ["error": .text("\(error)")])
      return .failed
    }
  }

  // MARK: Rows

  private func note(_ outcome: Outcome, of plan: Plan) async throws {
    let id = plan.notification.pusher.id
    try await write(id) { [self] tx in
      switch outcome {
      case .pushed:
        try tx.execute(
          """
          UPDATE pusher SET badge = $1, attempts = 0, retry_at = NULL WHERE user_id = $2 AND app_id = $3 AND pushkey = $4
          """, plan.notification.badge.unread, id.userID, id.appID, id.pushkey)
        try Self.pass(id, upTo: plan.position, tx)
      case .rejected: try pushers.remove(tx, id)
      case .failed:
        let attempts = plan.attempts + 1
        try tx.execute(
          "UPDATE pusher SET attempts = $1, retry_at = $2 WHERE user_id = $3 AND app_id = $4 AND pushkey = $5", attempts,
          clock.now() + Self.retryDelay.milliseconds(after: attempts), id.userID, id.appID, id.pushkey)
      }
    }
  }

  private func write(_ id: Pusher.ID, _ body: @escaping @Sendable (WriteTransaction) throws -> Void) async throws {
    try await database.write { [pushers] tx in
      try body(tx)
      try pushers.forgetDelivered(tx, id.userID)
    }
  }

  private static func pass(_ id: Pusher.ID, upTo position: Int64, _ tx: WriteTransaction) throws {
    try tx.execute(
      "UPDATE pusher SET position = $1 WHERE user_id = $2 AND app_id = $3 AND pushkey = $4 AND position < $1", position,
      id.userID, id.appID, id.pushkey)
  }
}

extension UnreadBadges {
  /// Whether a receipt of the user covers the event.
  func hasRead(_ event: StoredEvent, by user: UserID, _ rows: SyncRows) throws -> Bool {
    try readPositions(of: user, in: event.room, rows).hasRead(event.position, in: event.thread?.text ?? "main")
  }
}

extension Accounts {
  /// Whether the account may be told of anything: it is neither deactivated nor locked nor suspended.
  static func mayBePushed(_ tx: ReadTransaction, _ userID: UserID, now: Int64) throws -> Bool {
    guard let account = try account(tx, userID) else { return false }
    let standing = account.standing
    return !account.isDeactivated && !standing.isLocked && !standing.isSuspended && standing.validUntil ?? .max > now
  }
}
