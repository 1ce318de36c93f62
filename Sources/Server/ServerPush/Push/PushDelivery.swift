import Database
import JSON
import MatrixModel
import Outbound
import ServerAccounts
import ServerCore
import ServerRooms
import Telemetry

/// Brings what waits in the queue to push gateways and push services: for each pusher one request at a time, in the order of the
/// events.
///
/// A pusher's row says up to where it has pushed and when it may try again: a restart neither loses nor repeats a push that
/// was answered.
final class PushDelivery: Sendable {
  /// Requests under way at once.
  static let requestsLimit = 32
  /// The gateway's time to answer.
  static let timeout = Duration.seconds(15)
  /// Bytes of an answer that are looked at.
  static let answerBytesLimit = 64 << 10
  static let retryDelay = RetryDelay(longestMilliseconds: 60 * 60 * 1_000)
  /// A notification that could not be pushed for this long is given up: nobody wants to be woken for it any more.
  static let ageMillisecondsLimit: Int64 = 24 * 60 * 60 * 1_000

  private let runs = PusherRuns(limit: requestsLimit)
  private let timers = PusherTimers()
  private let database: Database
  private let pushers: Pushers
  private let evaluation: PushEvaluation
  private let rooms: Rooms
  private let badges: UnreadBadges
  /// nil where there is no Web Push.
  private let webPush: WebPush?
  private let http: HTTPClient
  private let clock: WallClock
  private let log: Log

  init(
    database: Database, pushers: Pushers, evaluation: PushEvaluation, rooms: Rooms, badges: UnreadBadges, webPush: WebPush?,
    http: HTTPClient, clock: WallClock, log: Log
  ) {
    self.database = database
    self.pushers = pushers
    self.evaluation = evaluation
    self.rooms = rooms
    self.badges = badges
    self.webPush = webPush
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
  func stop() async {
    await runs.stop(cancels: true)
    timers.cancelAll()
  }

  // MARK: One pusher

  /// One request and the row it stands on.
  private struct Plan: Sendable {
    enum Content: Sendable {
      case notification(badge: Int64)
      case activation(token: String)
    }

    let pusher: Pusher
    let request: OutgoingRequest
    let content: Content
    /// Everything up to here is done when it has arrived.
    let position: Int64
    let attempts: Int64
  }

  private struct State {
    let pusher: Pusher
    let updated: Int64
    let position: Int64
    let badge: Int64
    let attempts: Int64
    let retryAt: Int64?
    /// The token that is still to be pushed.
    let activation: String?
  }

  private enum Next: Sendable {
    case nothing
    case push(Plan)
    /// Passed over without a request.
    case pass(upTo: Int64)
    case retry(at: Int64)
  }

  enum Outcome: Sendable, Equatable {
    case pushed
    /// The pusher is void.
    case rejected
    /// - afterMilliseconds: what the other side asks to wait, where it does.
    case failed(afterMilliseconds: Int64? = nil)
  }

  private func deliver(_ id: Pusher.ID) async {
    do {
      while !Task.isCancelled {
        // Before the transaction begins, so that it sees at least this.
        let committed = database.committedPosition
        switch try await database.read({ [self] tx in try next(id, tx, committed) }) {
        case .nothing: return
        case .retry(let time):
          timers.set(id, after: .milliseconds(max(50, time - clock.now()))) { [weak self] in self?.start(id) }
          return
        case .pass(let position): try await write(id) { try Self.pass(id, upTo: position, $0) }
        case .push(let plan):
          let outcome = await push(plan)
          if Task.isCancelled, case .failed = outcome { return }
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
    let now = clock.now()
    guard let state = try state(id, now, tx) else { return .nothing }
    if let retryAt = state.retryAt, retryAt > now { return .retry(at: retryAt) }
    let queued = try tx.first(
      "SELECT event, actions, queued FROM push_queue WHERE user_id = $1 AND event > $2 ORDER BY event LIMIT 1", id.userID,
      state.position
    ) { (event: $0.integer(0), actions: $0.blob(1), queued: $0.integer(2)) }
    guard try Accounts.mayBePushed(tx, id.userID, now: now) else {
      return state.pusher.isActive ? queued.map { .pass(upTo: $0.event) } ?? .nothing : .nothing
    }
    guard state.pusher.isActive else { return activation(of: state, now).map { .push($0) } ?? .nothing }
    var news: PushNotification.News?
    if let queued {
      guard now - queued.queued < Self.ageMillisecondsLimit,
        let found = try self.news(queued.event, queued.actions, for: id.userID, tx, committed),
        // A gateway that could not be reached may be back at night.
        try !NotificationWishes.holdBack(found.room.roomID, from: id.userID, at: now, tx)
      else { return .pass(upTo: queued.event) }
      news = found
    }
    let badge = try badges.badge(of: id.userID, now: now, SyncRows(tx, completeUpTo: committed))
    if news == nil {
      guard badge.unread != state.badge, !state.pusher.isEventsOnly, evaluation.hasLooked(upTo: committed, for: id.userID)
      else { return .nothing }
    }
    let notification = PushNotification(pusher: state.pusher, updated: state.updated, badge: badge, news: news)
    guard let request = request(for: notification, now) else { return queued.map { .pass(upTo: $0.event) } ?? .nothing }
    return .push(
      Plan(
        pusher: state.pusher, request: request, content: .notification(badge: badge.unread),
        position: queued?.event ?? state.position, attempts: state.attempts))
  }

  /// nil for a pusher that is not there or of a kind that is not pushed to from here.
  private func state(_ id: Pusher.ID, _ now: Int64, _ tx: ReadTransaction) throws -> State? {
    let state = try tx.first(
      """
      SELECT user_id, app_id, pushkey, kind, device_id, app_display_name, device_display_name, profile_tag, lang, data,
        is_active, updated, position, badge, attempts, retry_at, activation, activation_expires, activation_pushed
      FROM pusher WHERE user_id = $1 AND app_id = $2 AND pushkey = $3
      """, id.userID, id.appID, id.pushkey
    ) { row in
      State(
        pusher: Pusher(row), updated: row.integer(11), position: row.integer(12), badge: row.integer(13),
        attempts: row.integer(14), retryAt: row.optionalInteger(15),
        activation: row.optionalInteger(17) ?? 0 > now && row.integer(18) == 0 ? row.optionalText(16) : nil)
    }
    return state?.pusher.kind == .email ? nil : state
  }

  private func activation(of state: State, _ now: Int64) -> Plan? {
    guard let webPush, let token = state.activation else { return nil }
    let payload = PusherActivation.payload(token, for: state.pusher.id)
    return webPush.request(payload, isUrgent: true, topic: nil, to: state.pusher, pushers.gateways, now: now).map {
      Plan(
        pusher: state.pusher, request: $0, content: .activation(token: token), position: state.position,
        attempts: state.attempts)
    }
  }

  /// nil where the operator or the administrator of networks does not allow any more what was allowed when the pusher was set.
  private func request(for notification: PushNotification, _ now: Int64) -> OutgoingRequest? {
    let pusher = notification.pusher
    if pusher.kind == .webPush {
      return webPush?.request(
        notification.bytes(upTo: WebPushEncryption.plaintextBytesLimit), isUrgent: notification.isUrgent,
        topic: notification.news == nil ? WebPush.countsTopic : nil, to: pusher, pushers.gateways, now: now)
    }
    guard let url = pusher.data["url"]?.text, let destinations = pushers.gateways.destination(of: url) else { return nil }
    return OutgoingRequest(
      "POST", url: url.string, headers: [("Content-Type", "application/json")], body: notification.bytes,
      timeout: Self.timeout, responseBytesLimit: Self.answerBytesLimit, destinations: destinations)
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
    do throws(OutboundError) {
      let answer = try await http.send(plan.request)
      let outcome = plan.pusher.kind == .webPush ? WebPush.outcome(of: answer) : Self.outcome(of: answer, for: plan.pusher)
      if outcome != .pushed { log.info("a push was refused", ["status": .integer(answer.status)]) }
      return outcome
    } catch {
      log.info("a push cannot be delivered", ["error": .text("\(error)")])
      return .failed()
    }
  }

  /// What the answer of a push gateway means. Spec: Push Gateway API.
  private static func outcome(of answer: IncomingResponse, for pusher: Pusher) -> Outcome {
    guard (200..<300).contains(answer.status) else { return .failed() }
    let rejected = (try? JSON.parse(answer.body))?["rejected"]?.elements.contains { $0.text == pusher.id.pushkey }
    return rejected ?? false ? .rejected : .pushed
  }

  // MARK: Rows

  private func note(_ outcome: Outcome, of plan: Plan) async throws {
    let id = plan.pusher.id
    try await write(id) { [self] tx in
      switch outcome {
      case .pushed: try Self.notePushed(plan, tx)
      case .rejected: try pushers.remove(tx, id)
      case .failed(let afterMilliseconds):
        let attempts = plan.attempts + 1
        let delay = max(Self.retryDelay.milliseconds(after: attempts), afterMilliseconds ?? 0)
        try tx.execute(
          "UPDATE pusher SET attempts = $1, retry_at = $2 WHERE user_id = $3 AND app_id = $4 AND pushkey = $5", attempts,
          clock.now() + delay, id.userID, id.appID, id.pushkey)
      }
    }
  }

  private static func notePushed(_ plan: Plan, _ tx: WriteTransaction) throws {
    let id = plan.pusher.id
    switch plan.content {
    case .notification(let badge):
      try tx.execute(
        """
        UPDATE pusher SET badge = $1, attempts = 0, retry_at = NULL WHERE user_id = $2 AND app_id = $3 AND pushkey = $4
        """, badge, id.userID, id.appID, id.pushkey)
      try pass(id, upTo: plan.position, tx)
    case .activation(let token):
      // A pusher that was set anew meanwhile has another token to push.
      try tx.execute(
        """
        UPDATE pusher SET activation_pushed = 1, attempts = 0, retry_at = NULL
        WHERE user_id = $1 AND app_id = $2 AND pushkey = $3 AND activation = $4
        """, id.userID, id.appID, id.pushkey, token)
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
