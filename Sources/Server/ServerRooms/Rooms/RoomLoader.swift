import Database
import JSON
import MatrixModel
import RoomRules
import ServerCore

/// Reads rooms and events from rows.
package struct RoomLoader {
  package let transaction: ReadTransaction

  package init(transaction: ReadTransaction) { self.transaction = transaction }

  // MARK: Rooms

  package func snapshot(of roomID: RoomID) throws -> RoomSnapshot? {
    let room = try transaction.first("SELECT room, version FROM room WHERE room_id = $1", roomID) { row in
      (RoomNumber(row.integer(0)), ByteString(row.text(1)))
    }
    return try room.flatMap { try snapshot($0.0, roomID, $0.1) }
  }

  package func snapshot(of number: RoomNumber) throws -> RoomSnapshot? {
    let room = try transaction.first("SELECT room_id, version FROM room WHERE room = $1", number) { row in
      (row.identifier(0, as: RoomID.self), ByteString(row.text(1)))
    }
    return try room.flatMap { try snapshot(number, $0.0, $0.1) }
  }

  private func snapshot(_ number: RoomNumber, _ roomID: RoomID, _ versionName: ByteString) throws -> RoomSnapshot? {
    guard let version = RoomVersion(versionName) else { return nil }
    let state = try events { body in
      try transaction.query(
        "SELECT e.* FROM current_state s JOIN client_event e ON e.position = s.event WHERE s.room = $1", number,
        forEach: body)
    }
    let tail = try events(in: number, before: .max, limit: RoomSnapshot.tailLimit)
    guard let newest = tail.first else { return nil }
    let others = try transaction.all(
      "SELECT event_id, depth FROM forward_extremity WHERE room = $1 ORDER BY event_id", number
    ) { row in
      RoomSnapshot.Extremity(eventID: row.identifier(0), depth: row.integer(1))
    }
    let isRelated = try transaction.first("SELECT 1 FROM event_relation WHERE room = $1 LIMIT 1", number) { _ in true }
    var snapshot = RoomSnapshot(
      number: number, roomID: roomID, version: version, state: state, tail: tail.reversed(),
      extremities: [RoomSnapshot.Extremity(eventID: newest.eventID, depth: newest.depth)] + others)
    if isRelated ?? false { snapshot.noteRelation() }
    return snapshot
  }

  // MARK: Single events

  package func event(_ eventID: EventID) throws -> StoredEvent? {
    try events { body in
      try transaction.query("SELECT * FROM client_event WHERE event_id = $1", eventID, forEach: body)
    }.first
  }

  package func event(at position: Int64) throws -> StoredEvent? {
    try events { body in
      try transaction.query("SELECT * FROM client_event WHERE position = $1", position, forEach: body)
    }.first
  }

  // MARK: Stretches of a room's timeline

  /// Events with positions below `position`, newest first.
  package func events(in room: RoomNumber, before position: Int64, limit: Int) throws -> [StoredEvent] {
    try events { body in
      try transaction.query(
        "SELECT * FROM client_event WHERE room = $1 AND position < $2 ORDER BY position DESC LIMIT $3", room, position,
        limit, forEach: body)
    }
  }

  /// Events with positions above `position`, oldest first.
  package func events(in room: RoomNumber, after position: Int64, limit: Int) throws -> [StoredEvent] {
    try events { body in
      try transaction.query(
        "SELECT * FROM client_event WHERE room = $1 AND position > $2 ORDER BY position LIMIT $3", room, position, limit,
        forEach: body)
    }
  }

  // MARK: State in the past

  /// The state of a room as of `position`, one event per type and key.
  package func state(of room: RoomNumber, at position: Int64) throws -> [StoredEvent] {
    try events { body in
      try transaction.query(
        """
        SELECT e.* FROM state_change c JOIN client_event e ON e.position = c.event
        WHERE c.room = $1 AND c.position = (
          SELECT MAX(newest.position) FROM state_change newest
          WHERE newest.room = c.room AND newest.type = c.type AND newest.state_key = c.state_key AND newest.position <= $2)
        ORDER BY c.type, c.state_key
        """, room, position, forEach: body)
    }
  }

  /// The event that was the room's state for one type and key as of `position`.
  package func state(
    of room: RoomNumber, _ type: EventType, _ key: ByteString, at position: Int64
  ) throws -> StoredEvent? {
    try events { body in
      try transaction.query(
        """
        SELECT e.* FROM state_change c JOIN client_event e ON e.position = c.event
        WHERE c.room = $1 AND c.type = $2 AND c.state_key = $3 AND c.position <= $4 ORDER BY c.position DESC LIMIT 1
        """, room, type, key, position, forEach: body)
    }.first
  }

  /// The member events of a room as of `position`, by user ID from behind `user` on.
  package func members(
    of room: RoomNumber, at position: Int64, after user: ByteString, limit: Int
  ) throws -> [StoredEvent] {
    try events { body in
      try transaction.query(
        """
        SELECT e.* FROM state_change c JOIN client_event e ON e.position = c.event
        WHERE c.room = $1 AND c.type = 'm.room.member' AND c.state_key > $2 AND c.position = (
          SELECT max(newest.position) FROM state_change newest
          WHERE newest.room = c.room AND newest.type = c.type AND newest.state_key = c.state_key AND newest.position <= $3)
        ORDER BY c.state_key LIMIT $4
        """, room, user, position, limit, forEach: body)
    }
  }

  /// All that one type and key went through, oldest first, each with the position from which on it held.
  package func history(
    of room: RoomNumber, _ type: EventType, _ key: ByteString
  ) throws -> [(position: Int64, event: StoredEvent)] {
    var positions: [Int64] = []
    let events = try events { body in
      try transaction.query(
        """
        SELECT e.*, c.position FROM state_change c JOIN client_event e ON e.position = c.event
        WHERE c.room = $1 AND c.type = $2 AND c.state_key = $3 ORDER BY c.position
        """, room, type, key
      ) { row in
        positions.append(row.integer(14))
        try body(row)
      }
    }
    return Array(zip(positions, events)).map { (position: $0.0, event: $0.1) }
  }

  /// The last changes of state after `from` up to `to`, one event per type and key.
  package func stateChanges(of room: RoomNumber, from: Int64, to: Int64) throws -> [StoredEvent] {
    var newest: [StateMapKey: StoredEvent] = [:]
    let events = try events { body in
      try transaction.query(
        """
        SELECT e.* FROM state_change c JOIN client_event e ON e.position = c.event
        WHERE c.room = $1 AND c.position > $2 AND c.position <= $3 ORDER BY c.position
        """, room, from, to, forEach: body)
    }
    for event in events { newest[StateMapKey(event.type, event.stateKey ?? "")] = event }
    return newest.values.sorted { $0.position < $1.position }
  }

  // MARK: Rows

  private func events(_ query: ((Row) throws -> Void) throws -> Void) throws -> [StoredEvent] {
    var events: [StoredEvent] = []
    try query { row in
      if let event = try event(from: row) { events.append(event) }
    }
    return events
  }

  /// Reads a row of `client_event`; nil for a fragment that is damaged.
  private func event(from row: Row) throws -> StoredEvent? {
    let shared = row.blob(12)
    guard let content = Self.content(ofFragment: shared) else { return nil }
    var origin: StoredEvent.Origin?
    if let device = row.optionalBytes(10), let transactionID = row.optionalBytes(11) {
      origin = StoredEvent.Origin(
        deviceID: DeviceID(trusted: device), transactionID: TransactionID(trusted: transactionID))
    }
    return StoredEvent(
      position: row.integer(0), eventID: row.identifier(2), room: RoomNumber(row.integer(1)), type: type(from: row),
      stateKey: row.optionalBytes(4), sender: row.identifier(5), timestamp: row.integer(6),
      depth: row.integer(7), shared: shared, content: content, origin: origin,
      replaced: try row.optionalInteger(9).flatMap { try replaced(at: $0) },
      redactedBecause: try row.optionalInteger(8).flatMap { try event(at: $0)?.clientForm },
      thread: row.optionalBytes(13).map { EventID(trusted: $0) })
  }

  /// Nearly all events of a history are of one of two types, whose names lie in memory already.
  private func type(from row: Row) -> EventType {
    row.withBytes(3) { bytes in
      if bytes.elementsEqual(EventType.message.text.utf8) { return .message }
      if bytes.elementsEqual(EventType.encrypted.text.utf8) { return .encrypted }
      return EventType(trusted: ByteString(decoding: bytes))
    }
  }

  /// The content of an event whose row has `fragment`; nil if the row is damaged.
  package static func content(ofFragment fragment: [UInt8]) -> JSON? {
    var object: [UInt8] = []
    object.reserveCapacity(fragment.count + 2)
    object.append(UInt8(ascii: "{"))
    object += fragment
    object.append(UInt8(ascii: "}"))
    return (try? JSON.parse(object))?["content"]
  }

  private func replaced(at position: Int64) throws -> StoredEvent.Replaced? {
    let replaced = try transaction.first("SELECT event_id, sender, shared FROM event WHERE position = $1", position) { row in
      Self.content(ofFragment: row.blob(2)).map {
        StoredEvent.Replaced(eventID: row.identifier(0), sender: row.identifier(1), content: Array($0.bytes))
      }
    }
    return replaced.flatMap { $0 }
  }
}
