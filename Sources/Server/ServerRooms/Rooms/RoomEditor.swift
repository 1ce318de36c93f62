import Database
import JSON
import MatrixModel
import RoomRules
import ServerCore

/// One room inside one write: appends events to it and stages the result when all of them were accepted.
///
/// Each event is drafted on the newest snapshot, authorized by the room version's rules, hashed, signed and written with its
/// state delta. If anything throws, the job's savepoint undoes the rows, and nothing was staged.
package struct RoomEditor {
  /// What a caller decides about an event; the rest follows from the room.
  package struct Draft {
    let type: EventType
    let sender: UserID
    var stateKey: ByteString?
    let content: JSON
    var redacts: EventID?
    var origin: StoredEvent.Origin?
    /// Milliseconds since 1970; nil for now.
    var timestamp: Int64?

    package init(
      type: EventType, sender: UserID, stateKey: ByteString? = nil, content: JSON, redacts: EventID? = nil,
      origin: StoredEvent.Origin? = nil, timestamp: Int64? = nil
    ) {
      self.type = type
      self.sender = sender
      self.stateKey = stateKey
      self.content = content
      self.redacts = redacts
      self.origin = origin
      self.timestamp = timestamp
    }
  }

  package let transaction: WriteTransaction
  package private(set) var room: RoomSnapshot
  private(set) var appended: [StoredEvent] = []
  /// What other nodes have to know of the new events, besides where they are.
  private var news: Note.RoomNews
  private let rooms: Rooms
  /// Milliseconds since 1970: the timestamp of the events.
  private var now: Int64

  package init(_ room: RoomSnapshot, in transaction: WriteTransaction, of rooms: Rooms) {
    self.room = room
    self.transaction = transaction
    self.rooms = rooms
    now = rooms.configuration.clock.now()
    news = Note.RoomNews(number: room.number, upTo: room.position)
  }

  /// Writes `draft` as the room's newest event.
  ///
  /// Throws `MatrixError`: `M_FORBIDDEN` with the reason where the rules refuse it, `M_TOO_LARGE` and `M_BAD_JSON` where it
  /// is no event.
  @discardableResult
  package mutating func append(_ draft: Draft) throws -> StoredEvent {
    // As state it would say to clients that something is redacted, and nobody would have checked whether it may be.
    guard draft.type != .redaction || draft.stateKey == nil else {
      throw MatrixError.forbidden("A redaction is no state of a room.")
    }
    let isFounding = draft.type == .create && room.tail.isEmpty && room.version.roomIDIsCreateHash
    var event = EventDraft(
      version: room.version, roomID: isFounding ? nil : room.roomID, type: draft.type, sender: draft.sender,
      stateKey: draft.stateKey, content: draft.content, redacts: draft.redacts, prevEvents: room.extremities.map(\.eventID),
      depth: (room.extremities.map(\.depth).max() ?? 0) + 1, originServerTimestamp: draft.timestamp ?? now)
    event.authEvents = room.version.authEventKeys(for: event).compactMap { room[$0.type, $0.stateKey]?.eventID }
    var signed = try rooms.authorizeAndSign(event, in: room)
    if isFounding {
      // Two rooms made alike by one user in one millisecond would be one room.
      while try isKnown(signed.eventID) {
        event.originServerTimestamp += 1
        signed = try rooms.authorizeAndSign(event, in: room)
      }
      now = max(now, event.originServerTimestamp)
      room.take(signed.roomID)
    }
    let relation = try relation(of: draft)
    let stored = try write(signed, draft, event, thread: relation?.thread)
    room.append(stored)
    if let relation {
      try record(relation, of: stored)
      room.noteRelation()
      news.hasRelation = true
    }
    appended.append(stored)
    if stored.type == .member, let user = stored.stateKey { news.members.append(UserID(trusted: user)) }
    if stored.type == .powerLevels { news.hasPowerLevels = true }
    for observer in rooms.observers { try observer.appended(stored, to: room, in: transaction) }
    return stored
  }

  /// Begins a room that does not exist yet; its first event must be `m.room.create`.
  init(
    founding version: RoomVersion, roomID: RoomID?, in transaction: WriteTransaction, of rooms: Rooms
  ) {
    let room = RoomSnapshot(
      number: RoomNumber(transaction.nextPosition()), roomID: roomID ?? RoomID(trusted: ""), version: version, state: [],
      tail: [], extremities: [])
    self.init(room, in: transaction, of: rooms)
  }

  /// Replaces an event by its redacted form, everywhere.
  mutating func redact(_ event: StoredEvent, because redaction: StoredEvent) throws {
    try forgetRelation(of: event)
    guard
      let federation = try transaction.first(
        "SELECT federation FROM event WHERE position = $1", event.position, row: { $0.blob(0) })
    else { return }
    let fragments = EventFragments(client: event.shared, federation: federation)
    let whole = try PDU(fragments, roomID: room.roomID, eventID: event.eventID, version: room.version)
    let redacted = try whole.redacted()
    let reduced = EventFragments(redacted)
    try transaction.execute(
      "UPDATE event SET shared = $1, federation = $2, redacted_by = $3 WHERE position = $4", reduced.client,
      reduced.federation, redaction.position, event.position)
    room.replace(
      StoredEvent(
        position: event.position, eventID: event.eventID, room: event.room, type: event.type, stateKey: event.stateKey,
        sender: event.sender, timestamp: event.timestamp, depth: event.depth, shared: reduced.client,
        content: redacted.content, origin: event.origin, replaced: event.replaced, redactedBecause: redaction.clientForm,
        thread: event.thread))
    news.replaced.append(event.position)
    for observer in rooms.observers { try observer.redacted(event, in: room, transaction) }
  }

  /// Makes the appended events visible with the commit and wakes who is concerned.
  package func stage() {
    guard !appended.isEmpty else { return }
    rooms.cache.stage(room, appended, in: transaction)
    var news = news
    news.upTo = room.position
    news.count = appended.count
    transaction.note(.room(news))
  }

  // MARK: Rows

  private func isKnown(_ eventID: EventID) throws -> Bool {
    try transaction.first("SELECT 1 FROM event WHERE event_id = $1", eventID) { _ in true } ?? false
  }

  private func write(
    _ signed: SignedEvent, _ draft: Draft, _ event: EventDraft, thread: EventID?
  ) throws -> StoredEvent {
    let position = transaction.nextPosition()
    let replaced = draft.stateKey.flatMap { room[draft.type, $0] }
    try transaction.execute(
      """
      INSERT INTO event(position, room, event_id, type, state_key, sender, timestamp, depth, redacted_by, replaces, device_id,
        transaction_id, shared, federation, thread)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, NULL, $9, $10, $11, $12, $13, $14)
      """, position, room.number, signed.eventID, draft.type, draft.stateKey, draft.sender, event.originServerTimestamp,
      event.depth,
      replaced?.position, draft.origin?.deviceID, draft.origin?.transactionID, signed.fragments.client,
      signed.fragments.federation, thread)
    if room.extremities.count > 1 {
      try transaction.execute("DELETE FROM forward_extremity WHERE room = $1", room.number)
    }
    if let stateKey = draft.stateKey { try writeState(draft, stateKey, position) }
    return StoredEvent(
      position: position, eventID: signed.eventID, room: room.number, type: draft.type, stateKey: draft.stateKey,
      sender: draft.sender, timestamp: event.originServerTimestamp, depth: event.depth, shared: signed.fragments.client,
      content: draft.content,
      origin: draft.origin,
      replaced: replaced.map { .init(eventID: $0.eventID, sender: $0.sender, content: Array($0.content.bytes)) },
      thread: thread)
  }

  private func writeState(_ draft: Draft, _ stateKey: ByteString, _ position: Int64) throws {
    try transaction.execute(
      """
      INSERT INTO current_state(room, type, state_key, event) VALUES ($1, $2, $3, $4)
      ON CONFLICT(room, type, state_key) DO UPDATE SET event = excluded.event
      """, room.number, draft.type, stateKey, position)
    try transaction.execute(
      "INSERT INTO state_change(room, type, state_key, position, event) VALUES ($1, $2, $3, $4, $4)", room.number,
      draft.type, stateKey, position)
    guard draft.type == .member else { return }
    let membership = Membership(draft.content["membership"]) ?? .leave
    try transaction.execute(
      """
      INSERT INTO membership(user_id, room, membership, position, event, forgotten) VALUES ($1, $2, $3, $4, $4, $5)
      ON CONFLICT(user_id, room) DO UPDATE
        SET membership = excluded.membership, position = excluded.position, event = excluded.event,
          forgotten = excluded.forgotten
      """, stateKey, room.number, Int64(membership.rawValue), position, rooms.forgets(membership))
  }
}
