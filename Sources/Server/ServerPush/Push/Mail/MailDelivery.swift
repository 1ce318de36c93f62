import Database
import MatrixModel
import Outbound
import ServerAccounts
import ServerCore
import ServerRooms
import ServerSync
import Telemetry

/// Sends mails about what waits for e-mail pushers and is not read: for each pusher one mail at a time, each about all rooms of
/// which the last mail is long enough ago.
///
/// What waits and what was sent are rows: a restart loses nothing. A mail whose fate a crash left open is sent once more under
/// the same `Message-ID`, by which mail servers know it.
final class MailDelivery: Sendable {
  /// Mails under way at once.
  static let mailsLimit = 8
  static let retryDelay = RetryDelay(firstMilliseconds: 60_000, longestMilliseconds: 6 * 60 * 60 * 1_000)

  private let runs = PusherRuns(limit: mailsLimit)
  private let timers = PusherTimers()
  private let database: Database
  private let reader: UnreadMailReader
  private let mail: MailSender
  private let settings: NotificationMails
  private let base: String
  private let server: ServerName
  private let clock: WallClock
  private let log: Log

  /// - Parameter base: the URL that links in mails begin with.
  init(
    _ settings: NotificationMails, base: String, database: Database, sources: SyncSources, mail: MailSender,
    clock: WallClock, log: Log
  ) {
    self.settings = settings
    self.base = base
    self.database = database
    self.mail = mail
    self.clock = clock
    self.log = log
    reader = UnreadMailReader(sources, showsMessages: settings.showsMessages)
    server = sources.rooms.configuration.serverName
  }

  /// Has a pusher look for what it has to send. Returns at once.
  func start(_ id: Pusher.ID) { runs.start(id) { [self] in await deliver($0) } }

  /// Returns when no pusher has anything to do now.
  func settle() async { await runs.settle() }

  /// Returns when the mails that are on their way are written down as sent.
  func stop() async {
    await runs.stop(cancels: false)
    timers.cancelAll()
  }

  // MARK: One pusher

  private struct Plan: Sendable {
    let message: MailMessage
    /// The rooms it tells of, up to which event, and what is known of them from then on.
    let rooms: [(number: RoomNumber, newest: Int64, mailed: MailQueue.Mailed)]
    let attempts: Int64
  }

  private enum Next: Sendable {
    case nothing
    case wait(until: Int64)
    /// What waits is no news any more.
    case pass([(room: RoomNumber, events: [Int64])])
    /// Nothing is to be told at all.
    case passAll
    case send(Plan)
  }

  private func deliver(_ id: Pusher.ID) async {
    do {
      while true {
        // Before the transaction begins, so that it sees at least this.
        let committed = database.committedPosition
        switch try await database.read({ [self] tx in try next(id, tx, committed) }) {
        case .nothing: return
        case .wait(let time): return wake(id, at: time)
        case .pass(let rooms):
          try await database.write { tx in
            for (room, events) in rooms { for event in events { try MailQueue.pass(id, event, in: room, tx) } }
          }
        case .passAll: try await database.write { tx in try MailQueue.deleteWaiting(of: id, tx) }
        case .send(let plan):
          do throws(OutboundError) { try await mail.send(plan.message) } catch {
            if error != .shutDown { try await noteFailure(of: plan, id) }
            if error == .shutDown { return }
            continue
          }
          try await note(plan, id)
        }
      }
    } catch is CancellationError {
    } catch DatabaseError.closed {
    } catch {
      log.error("mails of a pusher stand still", ["user": .text(id.userID), "error": .text("\(error)")])
    }
  }

  private func wake(_ id: Pusher.ID, at time: Int64) {
    timers.set(id, after: .milliseconds(max(50, time - clock.now()))) { [weak self] in self?.start(id) }
  }

  // MARK: What is due

  private func next(_ id: Pusher.ID, _ tx: ReadTransaction, _ committed: Int64) throws -> Next {
    let row = try tx.first(
      """
      SELECT unsubscribe, attempts, retry_at FROM pusher WHERE user_id = $1 AND app_id = $2 AND pushkey = $3
        AND kind = 'email'
      """, id.userID, id.appID, id.pushkey
    ) { (unsubscribe: $0.optionalText(0), attempts: $0.integer(1), retryAt: $0.optionalInteger(2)) }
    guard let row, let secret = row.unsubscribe, let address = id.mailAddress else { return .nothing }
    let waiting = try MailQueue.rooms(of: id, tx)
    guard !waiting.isEmpty else { return .nothing }
    let now = clock.now()
    guard try Accounts.mayBePushed(tx, id.userID, now: now) else { return .passAll }
    if let retryAt = row.retryAt, retryAt > now { return .wait(until: retryAt) }

    let pauses = try self.pauses(of: waiting, id.userID, tx)
    let earliest = zip(waiting, pauses).map { max($0.since + settings.delayMilliseconds, $1.end) }.min() ?? now
    guard earliest <= now else { return .wait(until: earliest) }
    let open = zip(waiting, pauses).filter { $1.end <= now }
    let found = try reader.find(open.map(\.0), of: id, SyncRows(tx, completeUpTo: committed))
    guard found.contains(where: { isDue($0, at: now) }) else {
      return .pass(found.map { ($0.room.number, $0.passed) })
    }
    let told = zip(found, open.map(\.1)).filter { found, _ in found.count > 0 }
    let link = base + Pushers.unsubscribePath + "?token=" + secret
    let text = UnreadMailText(base: base, server: server, unsubscribe: link)
    let message = text.message(
      Self.mail(told.map(\.0), to: id.userID), to: address, unique: Self.unique(told.map(\.0), id))
    let rooms = told.map { found, pause in
      let mailed = MailQueue.Mailed(count: pause.mails + 1, time: now, position: committed)
      return (found.room.number, found.room.newest, mailed)
    }
    return .send(Plan(message: message, rooms: rooms, attempts: row.attempts))
  }

  /// How many mails each room had since the user was in it last, and until when there is no further one.
  private func pauses(
    of waiting: [MailQueue.Room], _ user: UserID, _ tx: ReadTransaction
  ) throws -> [(mails: Int64, end: Int64)] {
    try waiting.map { room in
      guard let last = room.last, try !reader.hasBeen(user, in: room.number, after: last.position, tx) else { return (0, 0) }
      return (last.count, last.time + settings.pauseMilliseconds(after: last.count))
    }
  }

  private func isDue(_ found: UnreadMailReader.Found, at now: Int64) -> Bool {
    guard found.count > 0, let since = found.since else { return false }
    return since + settings.delayMilliseconds <= now
  }

  private static func mail(_ found: [UnreadMailReader.Found], to user: UserID) -> UnreadMail {
    let rooms = found.compactMap(\.shown)
    return UnreadMail(
      user: user, rooms: rooms, otherRooms: found.count - rooms.count, count: found.reduce(0) { $0 + $1.count })
  }

  /// The oldest event that a mail tells of is in no other mail to the same address.
  private static func unique(_ found: [UnreadMailReader.Found], _ id: Pusher.ID) -> String {
    let first = found.map(\.first).min() ?? 0
    let hash = AccessTokenHash(of: Array("\(id.userID) \(id.pushkey) \(first)".utf8)[...])
    return hash.bytes.prefix(20).map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
  }

  // MARK: Rows

  private func note(_ plan: Plan, _ id: Pusher.ID) async throws {
    try await database.write { tx in
      let changed = try tx.changes(
        "UPDATE pusher SET attempts = 0, retry_at = NULL WHERE user_id = $1 AND app_id = $2 AND pushkey = $3", id.userID,
        id.appID, id.pushkey)
      // Unsubscribed meanwhile.
      guard changed > 0 else { return }
      for (number, newest, mailed) in plan.rooms {
        try MailQueue.pass(id, in: number, upTo: newest, tx)
        try MailQueue.note(mailed, of: id, in: number, tx)
      }
    }
  }

  private func noteFailure(of plan: Plan, _ id: Pusher.ID) async throws {
    let attempts = plan.attempts + 1
    let retryAt = clock.now() + Self.retryDelay.milliseconds(after: attempts)
    try await database.write { tx in
      try tx.execute(
        "UPDATE pusher SET attempts = $1, retry_at = $2 WHERE user_id = $3 AND app_id = $4 AND pushkey = $5", attempts,
        retryAt, id.userID, id.appID, id.pushkey)
    }
  }
}
