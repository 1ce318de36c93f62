import Database
import JSON
import MatrixModel
import ServerAccounts
import ServerCore
import ServerRooms
import Synchronization

/// Holds new events against the push rules of who has pushers, and puts what notifies into their queue.
///
/// It follows the committed positions in the background, so that a send never waits for it. What it has looked at is written
/// with what it found: after a crash it goes on where it was.
final class PushEvaluation: Sendable {
  /// Events looked at in one read transaction.
  private static let batchLimit = 500
  /// Positions passed without a find before progress is written down all the same.
  private static let progressInterval: Int64 = 2_000

  private struct Progress {
    var position: Int64
    var written: Int64
  }

  private struct Find: Sendable {
    let user: UserID
    let room: RoomNumber
    let event: Int64
    let actions: [UInt8]
  }

  private struct Look: Sendable {
    var end: Int64
    var finds: [Find] = []
    /// Who has sent something and so read what was before it, or got something that is counted in silence.
    var counted: Set<UserID> = []
  }

  private struct State {
    /// nil before the first run.
    var progress: Progress?
    /// Whose numbers wait until all of what is committed was looked at.
    var waiting: Set<UserID> = []
  }

  private let state = Mutex(State())
  private let database: Database
  private let rooms: Rooms
  private let pushRules: PushRules
  private let audience: PushAudience
  private let sendsMail: Bool
  private let clock: WallClock

  /// - Parameter sendsMail: whether pushers of kind `email` are at work.
  init(
    database: Database, rooms: Rooms, pushRules: PushRules, audience: PushAudience, sendsMail: Bool, clock: WallClock
  ) {
    self.database = database
    self.rooms = rooms
    self.pushRules = pushRules
    self.audience = audience
    self.sendsMail = sendsMail
    self.clock = clock
  }

  /// Looks at everything committed so far, where anybody has pushers. Answers whose pushers have news. One call at a time.
  func run() async throws -> Set<UserID> {
    var progress = try await begin()
    var users: Set<UserID> = []
    while !audience.isEmpty, progress.position < database.committedPosition {
      let end = database.committedPosition
      progress.position = max(progress.position, min(audience.beginning, end))
      let look = try await database.read { [self, progress] tx in try self.look(tx, after: progress.position, upTo: end) }
      progress.position = look.end
      if !look.finds.isEmpty || look.end - progress.written >= Self.progressInterval {
        try await write(look)
        progress.written = look.end
      }
      state.withLock { [progress] in $0.progress = progress }
      users.formUnion(look.finds.map(\.user))
      users.formUnion(look.counted)
    }
    return state.withLock { state in
      defer { state.waiting = [] }
      return users.union(state.waiting)
    }
  }

  /// Whether everything up to `position` was looked at. If not, the next run answers `user` too: until then nobody knows
  /// whether an event that is counted already is also told.
  func hasLooked(upTo position: Int64, for user: UserID) -> Bool {
    state.withLock { state in
      if let progress = state.progress, progress.position >= position { return true }
      state.waiting.insert(user)
      return false
    }
  }

  /// Where to go on: what was written down, or the oldest pusher, whichever is later.
  private func begin() async throws -> Progress {
    if let known = state.withLock({ $0.progress }) { return known }
    let position = try await database.read { [audience] tx in
      try audience.load(tx)
      let written = try tx.first("SELECT position FROM push_progress WHERE id = 1") { $0.integer(0) } ?? 0
      let oldest = try tx.first("SELECT MIN(position) FROM pusher", row: { $0.integer(0) }) ?? 0
      return max(written, oldest)
    }
    let progress = Progress(position: position, written: position)
    state.withLock { $0.progress = progress }
    return progress
  }

  // MARK: Looking

  private func look(_ tx: ReadTransaction, after start: Int64, upTo end: Int64) throws -> Look {
    typealias Outline = (position: Int64, room: RoomNumber, type: EventType, stateKey: ByteString?)
    let outlines = try tx.all(
      "SELECT position, room, type, state_key FROM event WHERE position > $1 AND position <= $2 ORDER BY position LIMIT $3",
      start, end, Self.batchLimit
    ) { row -> Outline in
      (row.integer(0), RoomNumber(row.integer(1)), row.identifier(2), row.optionalText(3).map { ByteString($0) })
    }
    var look = Look(end: outlines.count == Self.batchLimit ? outlines.last?.position ?? end : end)
    for outline in outlines {
      var users = audience.users(in: outline.room)
      var target: UserID?
      if outline.type == .member, let user = outline.stateKey.map({ UserID(trusted: $0) }), audience.contains(user) {
        target = user
      }
      guard !users.isEmpty || target != nil,
        let event = try RoomLoader(transaction: tx).event(at: outline.position)
      else { continue }
      if let target {
        let membership = Membership(event.content["membership"]) ?? .leave
        audience.note(membership, of: target, in: outline.room)
        // An invitation is the one event of a room that is news to somebody outside of it.
        if membership == .invite { users.insert(target) }
      }
      try hold(event, against: users, tx, &look)
    }
    return look
  }

  private func hold(_ event: StoredEvent, against users: Set<UserID>, _ tx: ReadTransaction, _ look: inout Look) throws {
    guard !users.isEmpty, let room = try rooms.cache.snapshot(of: event.room, in: tx) else { return }
    let evaluator = PushEvaluator(event, in: room)
    let reactedTo = try Self.author(ofTargetOf: event, tx)
    let now = clock.now()
    for user in users {
      if event.sender == user || event.content.isSentSilently {
        look.counted.insert(user)
        continue
      }
      let displayName = room.members[user]?.event.content["displayname"]?.text
      let rules = try pushRules.rules(tx, of: user)
      let actions =
        user == reactedTo
        ? try NotificationWishes.actions(forReactionBy: evaluator.rule(of: rules, displayName: displayName), to: user, tx)
        : evaluator.actions(of: rules, displayName: displayName)
      guard let actions, actions.notifies, try !IgnoredUsers.of(user, in: tx).contains(event.sender),
        try !NotificationWishes.holdBack(room.roomID, from: user, at: now, tx)
      else { continue }
      look.finds.append(Find(user: user, room: event.room, event: event.position, actions: actions.json))
    }
  }

  /// Who sent what a reaction is to; nil for other events.
  private static func author(ofTargetOf event: StoredEvent, _ tx: ReadTransaction) throws -> UserID? {
    guard event.type == .reaction, let id = EventID(event.content["m.relates_to"]?["event_id"]),
      let target = try RoomLoader(transaction: tx).event(id), target.room == event.room, target.redactedBecause == nil
    else { return nil }
    return target.sender
  }

  private func write(_ look: Look) async throws {
    let now = clock.now()
    try await database.write { [sendsMail] tx in
      for find in look.finds {
        try tx.execute(
          """
          INSERT INTO push_queue(user_id, event, actions, queued) SELECT $1, $2, $3, $4
          WHERE EXISTS (SELECT 1 FROM pusher WHERE user_id = $1 AND is_active = 1 AND position < $2)
          ON CONFLICT(user_id, event) DO NOTHING
          """, find.user, find.event, find.actions, now)
        if sendsMail { try MailQueue.add(find.event, in: find.room, for: find.user, now: now, tx) }
      }
      try tx.execute(
        "INSERT INTO push_progress(id, position) VALUES (1, $1) ON CONFLICT(id) DO UPDATE SET position = excluded.position",
        look.end)
    }
  }
}
