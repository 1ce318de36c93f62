import Database
import JSON
import MatrixModel
import ServerDirectory

extension PublicRooms {
  /// Lists a room under a network of an application service, or takes it back. A listed room's name is anyone's to read: the
  /// service has a user in it, or the room or one of its aliases in its namespaces. Taking back asks nothing.
  ///
  /// Spec: Application Service API, `PUT /directory/list/appservice/{networkId}/{roomId}`. Throws `M_NOT_FOUND`, `M_FORBIDDEN`,
  /// `M_INVALID_PARAM`.
  package func setListed(
    _ isListed: Bool, _ roomID: RoomID, network: ByteString, by service: AppService
  ) async throws {
    guard !network.isEmpty, network.count <= 255 else {
      throw MatrixError.invalidParameter("The ID of a network has 1 to 255 bytes.")
    }
    try await database.write { transaction in
      guard let room = try self.rooms.cache.newest(roomID, in: transaction) else { throw Self.notFound }
      guard try !isListed || service.covers(room, transaction) else {
        throw MatrixError.forbidden("Neither the room nor one of its members is the application service's.")
      }
      try PublicRoomRows.set(isListed, room, in: PublicRoomRows.network(network), transaction)
    }
  }
}
