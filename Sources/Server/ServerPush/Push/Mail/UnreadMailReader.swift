import Database
import JSON
import MatrixModel
import ServerCore
import ServerRooms
import ServerSync

/// Finds what of the notifications that wait a user has still not read.
///
/// What counts is what sync counts: receipts, what the user wrote themselves, the push rules as they are now.
final class UnreadMailReader: Sendable {
  /// A room as it is now.
  struct Found: Sendable {
    let room: MailQueue.Room
    /// nil for a room that is not shown.
    var shown: UnreadMail.Room?
    /// Unread notifications.
    var count: Int64 = 0
    /// When the oldest unread one came.
    var since: Int64?
    /// Position of the oldest unread one.
    var first: Int64 = 0
    /// Positions of those that are no news any more.
    var passed: [Int64] = []
  }

  private let rooms: Rooms
  private let unread: Unread
  private let receipts: Receipts
  private let showsMessages: Bool

  init(_ sources: SyncSources, showsMessages: Bool) {
    rooms = sources.rooms
    unread = sources.unread
    receipts = sources.receipts
    self.showsMessages = showsMessages
  }

  /// The first `UnreadMail.roomsLimit` rooms with something unread are looked at event by event, of the others only the number of
  /// unread messages.
  func find(_ waiting: [MailQueue.Room], of id: Pusher.ID, _ rows: SyncRows) throws -> [Found] {
    let account = try AccountSummary.read(of: id.userID, rows)
    var shown = 0
    return try waiting.map { room in
      let found = try find(room, of: id, account, showing: shown < UnreadMail.roomsLimit, rows)
      if found.shown != nil { shown += 1 }
      return found
    }
  }

  /// Whether the user has read or written something in a room after `position`.
  func hasBeen(_ user: UserID, in room: RoomNumber, after position: Int64, _ tx: ReadTransaction) throws -> Bool {
    let receipt = try tx.first(
      "SELECT 1 FROM receipt WHERE room = $1 AND user_id = $2 AND kind <> $3 AND position > $4 LIMIT 1", room, user,
      Receipt.Kind.delivered.rawValue, position
    ) { _ in true }
    if receipt ?? false { return true }
    let tail = try rooms.cache.snapshot(of: room, in: tx)?.tail ?? []
    return tail.contains { $0.position > position && $0.sender == user && ($0.type != .member || $0.isJoining) }
  }

  private func find(
    _ waiting: MailQueue.Room, of id: Pusher.ID, _ account: AccountSummary, showing isShown: Bool, _ rows: SyncRows
  ) throws -> Found {
    let tx = try rows.transaction()
    var found = Found(room: waiting)
    let room = try rooms.cache.snapshot(of: waiting.number, in: tx)
    let isInvited = room?.membership(of: id.userID) == .invite
    let queued = try MailQueue.events(of: id, in: waiting.number, tx)
    guard let room, isInvited || room.isJoined(id.userID) else {
      found.passed = queued.map(\.event)
      return found
    }
    let counts =
      isInvited ? UnreadCounts() : try unread.counts(of: id.userID, in: room, upTo: rows.completeUpTo, account, rows)
    if !isInvited, counts.total.notifications == 0 {
      found.passed = queued.map(\.event)
      return found
    }
    guard isShown else {
      found.count = isInvited ? 1 : counts.total.notifications
      found.since = waiting.since
      found.first = queued.first?.event ?? waiting.newest
      return found
    }
    let read = try receipts.readPositions(of: id.userID, in: waiting.number, rows)
    var left = counts.threads.mapValues(\.notifications)
    var events: [StoredEvent] = []
    for (position, time) in queued.reversed() {
      guard let event = try RoomLoader(transaction: tx).event(at: position),
        isNews(event, in: room, to: id.userID, account.ignored, read, &left)
      else {
        found.passed.append(position)
        continue
      }
      events.append(event)
      found.since = time
      found.first = position
    }
    found.count = Int64(events.count)
    if !events.isEmpty { found.shown = shown(events, in: room, to: id.userID, isInvitation: isInvited) }
    return found
  }

  /// - Parameter left: unread notifications of each thread among the events up to this one. What is beyond it the user has
  ///   answered to.
  private func isNews(
    _ event: StoredEvent, in room: RoomSnapshot, to user: UserID, _ ignored: Set<UserID>, _ read: ReadPositions,
    _ left: inout [ByteString: Int64]
  ) -> Bool {
    guard event.redactedBecause == nil, !ignored.contains(event.sender) else { return false }
    if event.type == .member, event.stateKey == user.text { return room.members[user]?.event.eventID == event.eventID }
    let thread = event.thread?.text ?? "main"
    guard let number = left[thread], number > 0, !read.hasRead(event.position, in: thread) else { return false }
    left[thread] = number - 1
    return true
  }

  /// - Parameter events: newest first.
  private func shown(
    _ events: [StoredEvent], in room: RoomSnapshot, to user: UserID, isInvitation: Bool
  ) -> UnreadMail.Room {
    let lines = events.prefix(showsMessages || isInvitation ? UnreadMail.linesLimit : 0).reversed().map { event in
      UnreadMail.Line(sender: room.personTitle(of: event.sender), preview: MessagePreview(event))
    }
    return UnreadMail.Room(
      roomID: room.roomID, title: room.title(for: user), lines: lines, count: Int64(events.count), isInvitation: isInvitation)
  }
}
