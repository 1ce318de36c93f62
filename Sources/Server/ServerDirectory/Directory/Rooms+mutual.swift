import Database
import JSON
import MatrixModel
import ServerRooms

extension Rooms {
  /// Rooms in an answer to `/mutual_rooms`.
  package static let mutualRoomsLimit = 100

  package struct MutualRooms: Sendable {
    package let rooms: [RoomID]
    /// Of all of them.
    package let count: Int
    /// The start of the next page; nil on the last page.
    package let next: ByteString?
  }

  /// The rooms that both users are in, oldest first.
  ///
  /// Spec: `GET /_matrix/client/v1/mutual_rooms`. Throws `M_INVALID_PARAM` for the asking user themself and for what is no token.
  package func mutualRooms(of user: UserID, and other: UserID, from token: ByteString?) async throws -> MutualRooms {
    guard user != other else { throw MatrixError.invalidParameter("'user_id' is you; name another user.") }
    let start = try token.map { try Self.roomNumber(inMutualToken: $0) } ?? -1
    return try await database.read { transaction in
      let own = try self.memberships.rooms(of: user, in: transaction)
      // An unknown user would only fill the memory.
      let isKnown = try transaction.first("SELECT 1 FROM membership WHERE user_id = $1 LIMIT 1", other) { _ in true }
      guard isKnown != nil else { return MutualRooms(rooms: [], count: 0, next: nil) }
      let others = try self.memberships.rooms(of: other, in: transaction)
      let mutual = own.filter { $0.value.membership == .join && others[$0.key]?.membership == .join }.keys
        .sorted { $0.value < $1.value }
      let page = mutual.filter { $0.value > start }.prefix(Self.mutualRoomsLimit + 1)
      let shown = page.prefix(Self.mutualRoomsLimit)
      return MutualRooms(
        rooms: try shown.compactMap { try self.cache.snapshot(of: $0, in: transaction)?.roomID }, count: mutual.count,
        next: page.count > shown.count ? shown.last.map { ByteString("r\($0.value)") } : nil)
    }
  }

  private static func roomNumber(inMutualToken token: ByteString) throws(MatrixError) -> Int64 {
    guard token.hasPrefix("r"), let number = Int64(token.string.dropFirst()), number >= 0 else {
      throw .invalidParameter("'from' is not a 'next_batch' of this server.")
    }
    return number
  }
}
