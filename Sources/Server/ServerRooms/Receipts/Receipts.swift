import Database
import JSON
import MatrixModel
import ServerAccounts
import ServerCore
import Synchronization

/// Receipts and fully-read markers: commands, and what sync and unread counts read of them.
///
/// Spec: Client-Server API, "Receipts" and "Fully read markers".
package final class Receipts: NoteFollower {
  /// What one request moves; each is an event ID of the room.
  package struct Markers: Sendable {
    package var read: EventID?
    package var readPrivate: EventID?
    package var fullyRead: EventID?
    /// Of `read` and `readPrivate`: nil for the whole room, `main`, or a thread root's event ID.
    package var thread: ByteString?

    package init(
      read: EventID? = nil, readPrivate: EventID? = nil, fullyRead: EventID? = nil, thread: ByteString? = nil
    ) {
      self.read = read
      self.readPrivate = readPrivate
      self.fullyRead = fullyRead
      self.thread = thread
    }
  }

  private struct State {
    var rooms: [RoomNumber: RoomReceipts] = [:]
    /// Those that commands of this node have moved and that are not committed yet.
    var staged: [RoomNumber: [Receipt]] = [:]
    /// Of the newest receipt of any room: rows that may lack it are not kept.
    var newest: Int64
  }

  private let state: Mutex<State>
  let database: Database
  let rooms: Rooms
  let accountData: AccountData
  let clock: WallClock

  package init(database: Database, rooms: Rooms, accountData: AccountData, clock: WallClock) {
    self.database = database
    self.rooms = rooms
    self.accountData = accountData
    self.clock = clock
    state = Mutex(State(newest: database.committedPosition))
    database.follow(.receipts, .onlyFor, by: self)
  }

  // MARK: Moving

  /// Moves markers forward; one that is further already stays where it is.
  ///
  /// Throws `M_FORBIDDEN` where the user is not in the room, `M_NOT_FOUND` for an event that is not in it or not theirs to see,
  /// `M_INVALID_PARAM` for a thread the event is not in.
  package func move(_ markers: Markers, of user: UserID, in roomID: RoomID) async throws {
    let now = clock.now()
    let questions = { @Sendable [self] in Self.questions(markers, of: user, in: rooms.cache.cachedSnapshot(of: roomID)) }
    try await database.write(asking: questions) { [self] transaction in
      guard let room = try rooms.cache.newest(roomID, in: transaction), room.isJoined(user) else {
        throw MatrixError.forbidden("You are not in this room.")
      }
      let view = try RoomView(room, user: user, in: transaction, expiry: rooms.expiry(of: room))
      for (kind, eventID) in [(Receipt.Kind.read, markers.read), (.readPrivate, markers.readPrivate)] {
        guard let eventID else { continue }
        let event = try Self.event(eventID, in: view, transaction)
        if let thread = markers.thread { try Self.check(thread, of: event, in: room, transaction) }
        try store(
          Receipt(
            user: user, kind: kind, thread: markers.thread ?? "", eventID: eventID, event: event.position,
            timestamp: now,
            position: 0), in: room.number, transaction)
      }
      if let eventID = markers.fullyRead {
        let event = try Self.event(eventID, in: view, transaction)
        try moveFullyRead(to: eventID, at: event.position, of: user, in: roomID, transaction)
      }
    }
    rooms.presence.active(user, nil)
  }

  private static let readEvent: StaticString =
    "SELECT event FROM receipt WHERE room = $1 AND user_id = $2 AND kind = $3 AND thread = $4"

  /// What `store` will read.
  private static func questions(_ markers: Markers, of user: UserID, in room: RoomSnapshot?) -> [Question] {
    guard let room else { return [] }
    return [(Receipt.Kind.read, markers.read), (.readPrivate, markers.readPrivate)].compactMap { kind, event in
      event.map { _ in Question(readEvent, room.number, user, kind.rawValue, markers.thread ?? "") }
    }
  }

  func store(_ receipt: Receipt, in room: RoomNumber, _ transaction: WriteTransaction) throws {
    let current = try transaction.first(Self.readEvent, room, receipt.user, receipt.kind.rawValue, receipt.thread) {
      $0.integer(0)
    }
    if let current, current >= receipt.event { return }
    let position = transaction.nextPosition()
    let stored = Receipt(
      user: receipt.user, kind: receipt.kind, thread: receipt.thread, eventID: receipt.eventID, event: receipt.event,
      timestamp: receipt.timestamp, position: position)
    try transaction.execute(
      """
      INSERT INTO receipt(room, user_id, kind, thread, event_id, event, timestamp, position)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      ON CONFLICT(room, user_id, kind, thread) DO UPDATE SET event_id = excluded.event_id, event = excluded.event,
        timestamp = excluded.timestamp, position = excluded.position
      """, room, stored.user, stored.kind.rawValue, stored.thread, stored.eventID, stored.event, stored.timestamp,
      position)
    stage(stored, in: room, transaction)
  }

  func moveFullyRead(
    to eventID: EventID, at position: Int64, of user: UserID, in roomID: RoomID, _ transaction: WriteTransaction
  ) throws {
    let content = try AccountData.content(transaction, of: .fullyRead, user, in: roomID)
    if let content, let current = EventID(try JSON.parse(content)["event_id"]),
      let known = try RoomLoader(transaction: transaction).event(current), known.position >= position
    {
      return
    }
    var writer = JSONWriter(capacity: 96)
    writer.object { $0.member("event_id", eventID) }
    try accountData.store(transaction, .fullyRead, writer.bytes, of: user, in: roomID)
  }

  /// The event, where the user may see it.
  static func event(_ eventID: EventID, in view: RoomView, _ transaction: ReadTransaction) throws -> StoredEvent {
    let event = try event(eventID, in: view.room, transaction)
    guard view.canSee(event) else { throw MatrixError.notFound("There is no such event in this room.") }
    return event
  }

  private static func event(
    _ eventID: EventID, in room: RoomSnapshot, _ transaction: ReadTransaction
  ) throws -> StoredEvent {
    if let recent = room.tail.last(where: { $0.eventID == eventID }) { return recent }
    guard let event = try RoomLoader(transaction: transaction).event(eventID), event.room == room.number else {
      throw MatrixError.notFound("There is no such event in this room.")
    }
    return event
  }

  /// Throws where a threaded receipt names an event of another thread. A root is in the main timeline, and as well where its
  /// thread begins. Spec: "Threaded read receipts".
  private static func check(
    _ thread: ByteString, of event: StoredEvent, in room: RoomSnapshot, _ transaction: ReadTransaction
  ) throws {
    guard event.thread == nil else {
      if event.thread?.text == thread { return }
      throw MatrixError.invalidParameter("The event is not in the thread of 'thread_id'.")
    }
    if thread == "main" || event.eventID.text == thread { return }
    // What relates to a root without being in its thread.
    var event = event
    for _ in 0..<RoomEditor.threadHopsLimit {
      guard let relation = event.relation, let parent = try? Self.event(relation.parent, in: room, transaction) else { break }
      if parent.eventID.text == thread { return }
      event = parent
    }
    throw MatrixError.invalidParameter("The event is not in the thread of 'thread_id'.")
  }

  // MARK: Reading

  /// Receipts with positions after `start`, up to and with `end`, that `reader` may see.
  package func changes(in room: RoomNumber, after start: Int64, upTo end: Int64, for reader: UserID, _ rows: SyncRows) throws
    -> [Receipt]
  {
    try withReceipts(of: room, rows) { $0.changes(after: start, upTo: end, for: reader) }
  }

  package func readPositions(of user: UserID, in room: RoomNumber, _ rows: SyncRows) throws -> ReadPositions {
    try withReceipts(of: room, rows) { $0.readPositions(of: user) }
  }

  func withReceipts<Value: Sendable>(
    of room: RoomNumber, _ rows: SyncRows, _ body: (RoomReceipts) -> Value
  ) throws -> Value {
    let known = state.withLock { state in state.rooms[room].map(body) }
    if let known { return known }
    let loaded = try Self.load(room, try rows.transaction())
    state.withLock { state in
      if state.newest <= rows.completeUpTo, state.rooms[room] == nil { state.rooms[room] = loaded }
    }
    return body(loaded)
  }

  /// The same for what the receipts of a room keep beside them.
  func withReceipts<Value: Sendable>(
    of room: RoomNumber, changing rows: SyncRows, _ body: (inout RoomReceipts) -> Value
  ) throws -> Value {
    try withReceipts(of: room, rows) { _ in }
    let kept = state.withLock { state -> Value? in
      guard var receipts = state.rooms.removeValue(forKey: room) else { return nil }
      defer { state.rooms[room] = receipts }
      return body(&receipts)
    }
    if let kept { return kept }
    var receipts = try Self.load(room, try rows.transaction())
    return body(&receipts)
  }

  private static func load(_ room: RoomNumber, _ transaction: ReadTransaction) throws -> RoomReceipts {
    var receipts = RoomReceipts()
    try transaction.query(
      """
      SELECT user_id, kind, thread, event_id, event, timestamp, position FROM receipt WHERE room = $1 ORDER BY position
      """, room
    ) { receipts.insert(Receipt($0)) }
    return receipts
  }

  // MARK: With the commit

  /// Remembers a receipt until its note comes.
  private func stage(_ receipt: Receipt, in room: RoomNumber, _ transaction: WriteTransaction) {
    state.withLock { $0.staged[room, default: []].append(receipt) }
    transaction.onRollback { self.state.withLock { _ = $0.staged[room]?.popLast() } }
    transaction.note(
      receipt.kind.isPublic
        ? .receipts(room, of: [receipt.user], upTo: receipt.position)
        : .onlyFor(receipt.user, in: room, position: receipt.position))
  }

  package func apply(_ note: Note, _ rows: CommittedRows) throws {
    switch note {
    case .receipts(let room, let users, let position): try show(users, in: room, upTo: position, rows)
    case .onlyFor(let user, let room, let position): try show([user], in: room, upTo: position, rows)
    default: break
    }
  }

  package func reload(_ rows: CommittedRows) {
    state.withLock { $0.rooms = [:] }
  }

  /// Shows the receipts that commands of this node have staged, or reads those of another node: at the first note of a batch for a room,
  /// all of the room.
  private func show(_ users: [UserID], in room: RoomNumber, upTo position: Int64, _ rows: CommittedRows) throws {
    let (staged, newest) = state.withLock { ($0.staged.removeValue(forKey: room) ?? [], $0.newest) }
    guard staged.isEmpty else { return show(staged, in: room) }
    guard position > newest else { return }
    let read = try rows.read { transaction in
      try users.flatMap { user in
        try transaction.all(
          """
          SELECT user_id, kind, thread, event_id, event, timestamp, position FROM receipt
          WHERE room = $1 AND user_id = $2 AND position > $3
          """, room, user, newest
        ) { Receipt($0) }
      }
    }
    show(read, in: room)
  }

  private func show(_ receipts: [Receipt], in room: RoomNumber) {
    state.withLock { state in
      for receipt in receipts {
        state.newest = max(state.newest, receipt.position)
        state.rooms[room]?.insert(receipt)
      }
    }
    for receipt in receipts { for observer in rooms.observers { observer.received(receipt, in: room) } }
  }
}

extension Receipt {
  /// Reads a row of user, kind, thread, event ID, event, timestamp and position.
  fileprivate init(_ row: Row) {
    self.init(
      user: row.identifier(0), kind: Kind(rawValue: row.integer(1)) ?? .readPrivate, thread: ByteString(row.text(2)),
      eventID: row.identifier(3), event: row.integer(4), timestamp: row.integer(5), position: row.integer(6))
  }
}
