public import ClientCore
import JSON
public import MatrixModel

/// What happens, as it happens.
extension MatrixClient {
  /// Everything that happens in the account from now on, in rooms that are open and others, own doings included.
  ///
  ///     for await event in await client.events {
  ///       if case .message(let room, let message) = event { print(room, message.sender, message.content?.body ?? "") }
  ///     }
  public var events: AsyncStream<ClientEvent> {
    reportArrivals()
    let reader = Memory(ClientEventReader(core))
    return stream { change, client in
      let core = client.core
      return reader.change { $0.read(change, in: core) }
    }
  }

  /// Events of these types as the server sent them, from now on.
  /// - Parameters:
  ///   - types: none for all.
  ///   - room: nil for all rooms.
  public func events(ofTypes types: EventType..., in room: RoomID? = nil) -> AsyncStream<RoomEvent> {
    reportArrivals()
    return stream { change, _ in
      guard case .arrived(let id, let events) = change, room == nil || room == id else { return [] }
      return events.filter { types.isEmpty || types.contains($0.type) }.map { RoomEvent(roomID: id, event: $0) }
    }
  }

  /// Account data of the account (room nil) and of rooms that is different from now on.
  public func accountDataChanges() -> AsyncStream<(room: RoomID?, event: Event)> {
    reportArrivals()
    return stream { change, _ in
      guard case .accountData(let room, let events) = change else { return [] }
      return events.map { (room, $0) }
    }
  }
}

/// An event that came into a room.
public struct RoomEvent: Sendable {
  public let roomID: RoomID
  public let event: Event
}
