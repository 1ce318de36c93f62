public import ClientCore
import JSON
public import MatrixModel

/// A handle for a room of a client. The user need not be a member. The handle is valid as long as the client.
///
///     guard let tea = await client.room(named: "Tea") else { return }
///     try await tea.send("Hello")
///
/// `state` is the current state of the room, as a value. `states()` gives a new value at each change. Unless their documentation says
/// otherwise, functions return when the server has carried them out, and throw the server's error if it refuses.
public struct MatrixRoom: Sendable, Hashable {
  public let client: MatrixClient
  public let id: RoomID

  public static func == (left: MatrixRoom, right: MatrixRoom) -> Bool {
    left.id == right.id && left.client === right.client
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(id) }

  /// The current state of the room; nil if the client does not know it.
  public var state: Room? { get async { await client.state(of: id) } }

  /// Returns a stream with the current state of the room, and a new one whenever one of these aspects changes.
  public func states(of aspects: RoomAspects = .all) async -> AsyncStream<Room> {
    await client.states(of: id, aspects)
  }
}

extension RoomAspects {
  public static let all = RoomAspects(rawValue: .max)
}

extension MatrixClient {
  func states(of id: RoomID, _ wanted: RoomAspects) -> AsyncStream<Room> {
    observe(startingWith: state(of: id)) { change, client in
      guard case .room(id, let aspects) = change, !aspects.isDisjoint(with: wanted) else { return nil }
      return client.state(of: id)
    }
  }
}
