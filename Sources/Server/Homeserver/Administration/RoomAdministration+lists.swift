import Database
import JSON
import MatrixModel
import ServerCore
import ServerRooms

extension RoomAdministration {
  package struct Page: Sendable {
    package let rooms: [RoomOverview]
    /// All rooms that fit the query, on any page.
    package let total: Int
  }

  /// Rooms read in one transaction: the list of a large server must not keep a reader from everyone else.
  private static let batchRooms = 500

  /// A page of all rooms. Reads every room's name and counts: milliseconds for hundreds, about a second for tens of thousands.
  package func list(_ query: RoomQuery) async throws -> Page {
    var found: [RoomOverview] = []
    var last: Int64 = 0
    while true {
      let start = last
      let batch = try await database.read { tx in
        try tx.all("SELECT room, room_id, version FROM room WHERE room > $1 ORDER BY room LIMIT $2", start, Self.batchRooms) {
          (number: $0.integer(0), room: try Self.room(RoomNumber($0.integer(0)), $0.identifier(1), ByteString($0.text(2)), tx))
        }
      }
      guard let end = batch.last?.number else { break }
      found += batch.map(\.room).filter(query.fits)
      last = end
    }
    let isDescending = query.order.isDescending != query.isReversed
    let sorted = found.map { (key: query.key($0), room: $0) }.sorted { left, right in
      if left.key == right.key { return left.room.roomID < right.room.roomID }
      return (left.key < right.key) != isDescending
    }
    let limit = min(max(query.limit, RoomQuery.limitRange.lowerBound), RoomQuery.limitRange.upperBound)
    return Page(
      rooms: sorted.dropFirst(Int(clamping: query.offset)).prefix(limit).map(\.room), total: sorted.count)
  }

  /// Throws `M_NOT_FOUND`.
  package func room(_ roomID: RoomID) async throws -> (room: RoomOverview, devices: Int64) {
    let found = try await database.read { tx in
      try tx.first("SELECT room, version FROM room WHERE room_id = $1", roomID) { row in
        let number = RoomNumber(row.integer(0))
        let devices = try tx.first(
          """
          SELECT COUNT(*) FROM membership m JOIN device d ON d.user_id = m.user_id WHERE m.room = $1 AND m.membership = $2
          """, number, Int64(Membership.join.rawValue)
        ) { $0.integer(0) }
        return (room: try Self.room(number, roomID, ByteString(row.text(1)), tx), devices: devices ?? 0)
      }
    }
    guard let found else { throw MatrixError.notFound("There is no such room on this server.") }
    return found
  }

  /// The state of a room, or its entries of one type. Throws `M_NOT_FOUND`.
  package func state(of roomID: RoomID, type: EventType? = nil) async throws -> [StoredEvent] {
    let room = try await snapshot(of: roomID)
    let state = room.state.values.sorted { $0.position < $1.position } + room.members.values.map(\.event)
    return type.map { type in state.filter { $0.type == type } } ?? state
  }

  /// Returns an event, redacted or not, without regard to who may see it; nil if it does not exist (any more).
  package func event(_ eventID: EventID) async throws -> StoredEvent? {
    try await database.read { tx in try RoomLoader(transaction: tx).event(eventID) }
  }

  /// Returns the messages before and after an event, each in the order of time, at most `limit`, without regard to who may see them.
  package func neighbours(of event: StoredEvent, limit: Int) async throws -> (before: [StoredEvent], after: [StoredEvent]) {
    try await database.read { tx in
      let loader = RoomLoader(transaction: tx)
      let before = try loader.events(in: event.room, before: event.position, limit: limit)
      let after = try loader.events(in: event.room, after: event.position, limit: limit)
      return (before.reversed().filter { $0.stateKey == nil }, after.filter { $0.stateKey == nil })
    }
  }

  /// Who is in a room. Throws `M_NOT_FOUND`.
  package func members(of roomID: RoomID) async throws -> [UserID] { try await snapshot(of: roomID).joinedUsers.sorted() }

  private static func room(_ number: RoomNumber, _ roomID: RoomID, _ version: ByteString, _ tx: ReadTransaction) throws
    -> RoomOverview
  {
    let create = try content(of: .create, in: number, tx)
    func text(_ type: EventType, _ member: StaticString) throws -> ByteString? {
      try content(of: type, in: number, tx)?.content[member]?.text
    }
    func count(_ sql: StaticString) throws -> Int64 {
      try tx.first(sql, number, Int64(Membership.join.rawValue)) { $0.integer(0) } ?? 0
    }
    // Without federation all members are users of this server.
    let joined = try count("SELECT COUNT(*) FROM membership WHERE room = $1 AND membership = $2")
    return RoomOverview(
      roomID: roomID, version: version, creator: create?.content["creator"]?.text ?? create?.sender,
      name: try text(.name, "name"), topic: try text(.topic, "topic"), avatar: try text(.avatar, "url"),
      canonicalAlias: try text(.canonicalAlias, "alias"), encryption: try text(.encryption, "algorithm"),
      joinRule: try text(.joinRules, "join_rule"), guestAccess: try text(.guestAccess, "guest_access"),
      historyVisibility: try text(.historyVisibility, "history_visibility"), roomType: create?.content["type"]?.text,
      isFederated: create?.content["m.federate"]?.bool ?? true,
      isPublic: try tx.first("SELECT 1 FROM public_room_list WHERE room = $1 AND list = 'main'", number) { _ in true } ?? false,
      joined: joined, joinedHere: joined,
      stateEvents: try tx.first("SELECT COUNT(*) FROM current_state WHERE room = $1", number) { $0.integer(0) } ?? 0)
  }

  private static func content(of type: EventType, in room: RoomNumber, _ tx: ReadTransaction) throws
    -> (sender: ByteString, content: JSON)?
  {
    try tx.first(
      """
      SELECT e.sender, e.shared FROM current_state s JOIN event e ON e.position = s.event
      WHERE s.room = $1 AND s.type = $2 AND s.state_key = ''
      """, room, type
    ) { row -> (sender: ByteString, content: JSON)? in
      let event = try JSON.parse([UInt8(ascii: "{")] + row.blob(1) + [UInt8(ascii: "}")])
      return event["content"].map { (ByteString(row.text(0)), $0) }
    } ?? nil
  }
}
