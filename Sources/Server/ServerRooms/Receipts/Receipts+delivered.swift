import Database
import JSON
import MatrixModel
import ServerAccounts

extension EventType {
  /// Account data: `send` is false for who lets nobody know what has reached their devices.
  package static let deliveryReceipts: EventType = "martlet.delivery_receipts"
}

/// Up to where a room has reached any device of a user. Extension: capability `martlet.delivered`.
///
/// Such a receipt is one per user and room, is never for a thread, counts nowhere as read, and only moves forward: what one
/// device has, the user has. A public `m.read` says as much and more, so up to there none is kept.
extension Receipts {
  /// In larger rooms no delivery is reported: with 1,000 members each message would cause a million
  /// reports.
  package static let deliveredMembersLimit = 100

  /// Notes that an event has reached a device. Changes nothing where the user or the size of the room does not want it.
  ///
  /// Throws `M_FORBIDDEN` where the user is not in the room, `M_NOT_FOUND` for an event that is not in it or not theirs to see.
  package func deliver(_ eventID: EventID, to user: UserID, in roomID: RoomID) async throws {
    let now = clock.now()
    try await database.write { [self] transaction in
      guard let room = try rooms.cache.newest(roomID, in: transaction), room.isJoined(user) else {
        throw MatrixError.forbidden("You are not in this room.")
      }
      let view = try RoomView(room, user: user, in: transaction, expiry: rooms.expiry(of: room))
      let event = try Self.event(eventID, in: view, transaction)
      guard room.joinedCount <= Self.deliveredMembersLimit, try Self.sendsDelivered(user, transaction) else { return }
      let read = try transaction.first(
        "SELECT event FROM receipt WHERE room = $1 AND user_id = $2 AND kind = $3 AND thread = ''", room.number, user,
        Receipt.Kind.read.rawValue
      ) { $0.integer(0) }
      if let read, read >= event.position { return }
      try store(
        Receipt(
          user: user, kind: .delivered, thread: "", eventID: eventID, event: event.position, timestamp: now, position: 0),
        in: room.number, transaction)
    }
  }

  private static func sendsDelivered(_ user: UserID, _ transaction: ReadTransaction) throws -> Bool {
    guard let content = try AccountData.content(transaction, of: .deliveryReceipts, user, in: nil) else { return true }
    return try JSON.parse(content)["send"]?.bool ?? true
  }
}
