public import ClientCore
import JSON
public import MatrixModel

/// A room of a client: a handle, good as long as the client is, for rooms one is in and for others.
///
///     guard let tea = await client.room(named: "Tea") else { return }
///     try await tea.send("Hello")
///
/// What is known of a room is a value (`state`), as of the moment it is asked for; `states()` gives a new one whenever something is
/// different. Verbs end when the server has done what they say, unless they say otherwise, and throw what it said where it did not.
public struct MatrixRoom: Sendable, Hashable {
  public let client: MatrixClient
  public let id: RoomID

  public static func == (left: MatrixRoom, right: MatrixRoom) -> Bool {
    left.id == right.id && left.client === right.client
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(id) }

  /// What is known of it now; nil where it is not known.
  public var state: Room? { get async { await client.state(of: id) } }

  /// The room as it is now and whenever one of these aspects is different.
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
