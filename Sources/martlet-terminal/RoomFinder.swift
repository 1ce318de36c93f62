import JSON
import MatrixClient
import MatrixModel

/// From what a person calls a room to the room: its ID, an alias, or a name that only one has.
enum RoomFinder {
  static func find(_ text: String, of client: MatrixClient) async throws -> Room {
    let rooms = await client.rooms
    if let alias = RoomAlias(text) {
      if let room = rooms.first(where: { $0.canonicalAlias == alias }) { return room }
      let id: RoomID
      do throws(ClientError) { id = try await client.resolve(alias).roomID } catch {
        if case .refused(404, _, _, _) = error { throw TerminalError.noSuchRoom("there is no room \(alias)") }
        throw error
      }
      return try known(id, rooms)
    }
    if let id = RoomID(text), rooms.contains(where: { $0.id == id }) { return try known(id, rooms) }
    return try named(text, rooms)
  }

  private static func known(_ id: RoomID, _ rooms: [Room]) throws(TerminalError) -> Room {
    guard let room = rooms.first(where: { $0.id == id }) else {
      throw .noSuchRoom("you are not in the room \(id); martlet rooms lists yours")
    }
    return room
  }

  private static func named(_ name: String, _ rooms: [Room]) throws(TerminalError) -> Room {
    let choices = rooms.map { (name: $0.name.english.string, id: $0.id) }
    let id = try choose(name, choices)
    return try known(id, rooms)
  }

  /// The one room of that name; small and capital letters count only where they tell rooms apart.
  static func choose(_ name: String, _ rooms: [(name: String, id: RoomID)]) throws(TerminalError) -> RoomID {
    var matches = rooms.filter { ByteString($0.name) == ByteString(name) }
    if matches.isEmpty { matches = rooms.filter { $0.name.lowercased() == name.lowercased() } }
    guard let first = matches.first else {
      throw .noSuchRoom("you are in no room called “\(name)”; martlet rooms lists yours")
    }
    guard matches.count == 1 else {
      let ids = matches.map { $0.id.string }.joined(separator: ", ")
      throw .noSuchRoom("\(matches.count) rooms are called “\(name)”; name one by its ID: \(ids)")
    }
    return first.id
  }
}
