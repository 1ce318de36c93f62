import Database
import JSON
import MatrixModel

extension Receipts {
  /// How many members have read an event, its sender left out.
  package struct ReadCount: Sendable {
    package let eventID: EventID
    package let read: Int
    package let total: Int

    package var unread: Int { total - read }
  }

  /// Events of one request.
  package static let countedEventsLimit = 100

  /// Ours (`martlet.read_counts`): how many of the room's members have read each event, by their public receipts. Events that
  /// the user may not see are left out.
  ///
  /// Throws `M_FORBIDDEN` for who is not in the room, `M_INVALID_PARAM` for too many events. O(log members) an event.
  package func readCounts(of eventIDs: [EventID], in roomID: RoomID, for user: UserID) async throws -> [ReadCount] {
    guard eventIDs.count <= Self.countedEventsLimit else {
      throw MatrixError.invalidParameter("At most \(Self.countedEventsLimit) events can be asked for at once.")
    }
    let upTo = database.committedPosition
    return try await database.read { [self] transaction in
      let view = try rooms.view(of: roomID, for: user, in: transaction)
      guard view.membership == .join else { throw MatrixError.forbidden("You are not in this room.") }
      let events = try eventIDs.compactMap { try view.event($0, in: transaction) }
      let rows = SyncRows(transaction, completeUpTo: upTo)
      let changed = try changedMembers(of: view.room, rows)
      return try withReceipts(of: view.room.number, changing: rows) { receipts in
        receipts.follow(view.room, changed: changed)
        return events.map { event in
          let (read, total) = receipts.readCount(of: event, in: view.room)
          return ReadCount(eventID: event.eventID, read: read, total: total)
        }
      }
    }
  }

  /// Who came or went since the room's members were last looked at; nil where nobody has looked yet.
  private func changedMembers(of room: RoomSnapshot, _ rows: SyncRows) throws -> Set<UserID>? {
    guard let asOf = try withReceipts(of: room.number, rows, { $0.membersAsOf }) else { return nil }
    guard asOf < room.position else { return [] }
    let events =
      room.tailCovers(after: asOf)
      ? room.tail.filter { $0.position > asOf }
      : try rows.loader().stateChanges(of: room.number, from: asOf, to: room.position)
    return Set(events.compactMap { $0.type == .member ? $0.stateKey.map { UserID(trusted: $0) } : nil })
  }
}

extension RoomReceipts {
  var membersAsOf: Int64? { index?.asOf }

  /// Brings the members that are counted up to those of `room`.
  ///
  /// - Parameter changed: who may have come or gone since; nil counts all anew. O(members) then.
  mutating func follow(_ room: RoomSnapshot, changed: Set<UserID>?) {
    guard var index, let changed else {
      if self.index == nil { self.index = ReadIndex(members: Set(room.joinedUsers), asOf: room.position) }
      return
    }
    self.index = nil
    defer { self.index = index }
    // Someone has looked at a newer state of the room meanwhile.
    guard room.position >= index.asOf else { return }
    for user in changed { index.set(user, isMember: room.isJoined(user), publicPositions(of: user)) }
    index.asOf = room.position
  }

  /// The members who have read an event, and all members; its sender is neither.
  mutating func readCount(of event: StoredEvent, in room: RoomSnapshot) -> (read: Int, total: Int) {
    guard var index else { return (0, 0) }
    self.index = nil
    let thread = event.thread?.text ?? "main"
    var read = index.readers(of: event.position, in: thread, publicPositions)
    self.index = index
    guard index.members.contains(event.sender) else { return (read, index.members.count) }
    if publicPositions(of: event.sender).hasRead(event.position, in: thread) { read -= 1 }
    return (read, index.members.count - 1)
  }

  func publicPositions(of user: UserID) -> ReadPositions { readPositions(of: user) { $0.kind == .read } }
}
