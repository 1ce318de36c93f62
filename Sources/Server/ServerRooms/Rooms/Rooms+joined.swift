import Database
import MatrixModel
import ServerCore

extension Rooms {
  /// The rooms of a list as the next command sees them, or all that the user is in.
  ///
  /// Throws `M_TOO_LARGE` for more than `limit`, `M_FORBIDDEN` for one the user is not in.
  package func joined(
    _ roomIDs: [RoomID]?, _ user: UserID, limit: Int, in transaction: WriteTransaction
  ) throws -> [(number: RoomNumber, roomID: RoomID)] {
    let own = try memberships.rooms(of: user, in: transaction)
    if let roomIDs {
      guard roomIDs.count <= limit else { throw MatrixError.tooLarge("One request names at most \(limit) rooms.") }
      return try roomIDs.map { roomID in
        guard let room = try cache.newest(roomID, in: transaction), room.isJoined(user) else {
          throw MatrixError.forbidden("You are not in the room \(roomID).")
        }
        return (room.number, roomID)
      }
    }
    let joined = own.filter { $0.value.membership == .join }.keys.sorted { $0.value < $1.value }
    guard joined.count <= limit else {
      throw MatrixError.tooLarge("You are in more than \(limit) rooms; name them in several requests.")
    }
    return try joined.compactMap { number in
      try transaction.first("SELECT room_id FROM room WHERE room = $1", number) { (number, $0.identifier(0)) }
    }
  }
}
