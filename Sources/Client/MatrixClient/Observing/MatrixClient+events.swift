public import ClientCore
import JSON
public import MatrixModel

/// Streams of events.
extension MatrixClient {
  /// A stream of everything that happens in the account from now on. It includes rooms that are not open, and the user's own actions.
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

  /// Returns a stream of events of these types from now on, as the server sent them.
  /// - Parameters:
  ///   - types: the types; without any, all types.
  ///   - room: the room; nil for all rooms.
  public func events(ofTypes types: EventType..., in room: RoomID? = nil) -> AsyncStream<RoomEvent> {
    reportArrivals()
    return stream { change, _ in
      guard case .arrived(let id, let events) = change, room == nil || room == id else { return [] }
      return events.filter { types.isEmpty || types.contains($0.type) }.map { RoomEvent(roomID: id, event: $0) }
    }
  }

  /// Returns a stream of changes of account data from now on. The room is nil for data of the whole account.
  public func accountDataChanges() -> AsyncStream<(room: RoomID?, event: Event)> {
    reportArrivals()
    return stream { change, _ in
      guard case .accountData(let room, let events) = change else { return [] }
      return events.map { (room, $0) }
    }
  }
}

/// An event that arrived in a room.
public struct RoomEvent: Sendable {
  public let roomID: RoomID
  public let event: Event
}
