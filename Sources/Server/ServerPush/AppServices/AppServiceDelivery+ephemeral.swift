import Database
import JSON
import MatrixModel
import ServerRooms

/// What a transaction tells besides events. Spec: Application Service API, "Pushing ephemeral data".
extension AppServiceDelivery {
  /// The users who are not offline and come into the service's view by an event: who joins one of its rooms, or with the first of
  /// its own users to join everyone there.
  func newcomers(by event: StoredEvent, in room: RoomSnapshot, _ interest: AppServiceInterest) -> [UserID] {
    guard event.isJoining, let user = event.stateKey.map({ UserID(trusted: $0) }) else { return [] }
    if service.covers(user), !interest.isIn(room.number) {
      return rooms.presence.present().compactMap { room.isJoined($0.user) ? $0.user : nil }
    }
    return rooms.presence.shown(of: user).map { $0.state != .offline } ?? false ? [user] : []
  }

  /// The array `ephemeral`; empty where there is nothing for the service.
  func write(
    _ news: AppServiceEphemeral.News, _ interest: AppServiceInterest, _ tx: ReadTransaction
  ) throws -> [UInt8] {
    if news.isEmpty { return [] }
    var writer = JSONWriter()
    writer.beginArray()
    try news.write(
      to: &writer, for: service, typing: { rooms.typing.users(in: $0).users },
      roomID: { room in
        try interest.includes(room, rooms, tx) ? try rooms.cache.snapshot(of: room, in: tx)?.roomID : nil
      },
      status: { user in
        guard let status = rooms.presence.shown(of: user), try interest.includes(presenceOf: user, rooms, tx) else {
          return nil
        }
        return status
      }, now: clock.now())
    writer.endArray()
    return writer.bytes.count == 2 ? [] : writer.bytes
  }
}
